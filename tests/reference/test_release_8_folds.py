"""What release 8 predicts, after pruning, for the rows that a fold leaves out.

That it keeps values, adds and compares in single precision shows in some folds of four sets. Grown as it computes and pruned
here, the tree of such a fold predicts as release 8 does.
"""

from collections.abc import Callable

import numpy as np
import pytest

from modelsel.core.spec import make
from modelsel.core.types import Task, positions
from modelsel.learner.trees.path import TreePath
from modelsel.tree.cutting import PruningData
from modelsel.tree.routing import RerouteState
from tests.conftest import about
from tests.reference.single_precision import C45 as Twin
from tests.reference.single_precision import as_tree
from tests.reference.test_error_based import c45

RUNS = {"m2_c25": (2, 0.25), "m1_c25": (1, 0.25), "m2_c10": (2, 0.10)}
SINGLE_PRECISION = {
    "sk_breast_cancer m1_c25", *(f"{name} {run}" for name in ("hepatitis", "segment_train", "waveform5000") for run in RUNS),
}  # fmt: skip


def grown(task: Task, min_leaf: int) -> TreePath:
    return c45(min_leaf).fit_path(task, positions(task), np.random.default_rng(0))


def grown_in_single_precision(task: Task, min_leaf: int) -> TreePath:
    twin = Twin(task, min_leaf, np.float32)
    tree, rows = as_tree(twin.grown(), twin), positions(task)
    return TreePath(tree, PruningData(float(len(task)), reroute=RerouteState(tree, task, rows)), task, rows, certain=False)


def rounded(task: Task) -> Task:
    return task.with_features(task.features, task.values.astype(np.float32).astype(np.float64))


def alike(
    grow: Callable[[Task, int], TreePath], task: Task, run: str, fold: np.ndarray, left_out: int, theirs: np.ndarray
) -> bool:
    """Does the tree of a fold, pruned, predict the rows left out as theirs?"""
    min_leaf, confidence = RUNS[run]
    learner = c45(min_leaf, make("pruner", "error_based", confidence=confidence, bound="c45_table"))
    path, rows = grow(task.take(np.flatnonzero(fold != left_out)), min_leaf), np.flatnonzero(fold == left_out)
    return bool((path.outputs([learner], task, rows, scores=False).predicted[0] == theirs[rows]).all())


def predicted(reference: dict, run: str) -> np.ndarray | None:
    found = reference["runs"].get(run, {}).get("cv")
    return None if found is None else np.array(found["predicted_class_index_after_pruning"])


@pytest.mark.slow
def test_rows_left_out_are_predicted_as_by_release_8(enough, answers, reference_task, reference_folds) -> None:
    """Every data set with predictions: every row."""
    sets = set()
    for name, reference in answers("c45r8/*").items():
        task, fold = reference_task(name), reference_folds(name)
        for run in RUNS:
            theirs = predicted(reference, run)
            if theirs is not None:
                same = all(alike(grown, task, run, fold, left_out, theirs) for left_out in np.unique(fold))
                assert same != (f"{name} {run}" in SINGLE_PRECISION), f"{name} {run}"
                sets.add(name)
    if not sets:
        pytest.skip("no runs of release 8 in the reference")
    assert enough(len(sets), 20)


@pytest.mark.slow
@pytest.mark.parametrize("case", about(SINGLE_PRECISION))
def test_where_they_differ_the_tree_grown_in_single_precision_predicts_the_same(
    answers, reference_task, reference_folds, case: str
) -> None:
    """In the first of the folds that differ."""
    name, run = case.split()
    reference = answers(f"c45r8/{name}")
    task, fold, theirs = reference_task(name), reference_folds(name), predicted(reference[name], run)
    assert theirs is not None
    first = next(each for each in np.unique(fold) if not alike(grown, task, run, fold, each, theirs))
    assert alike(grown_in_single_precision, rounded(task), run, fold, first, theirs)
