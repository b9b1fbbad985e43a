"""The contests at a tree's nodes against the tree itself, which was grown by the compiled grower."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.experiments.contests import contests
from modelsel.core.fingerprint import generator
from modelsel.core.spec import make
from modelsel.core.types import Feature, Task
from modelsel.dataset.play_tennis import PlayTennis
from modelsel.learner.tree import Splits, Tree
from modelsel.tree.conditions import branch_words
from modelsel.tree.growing.growth import MISSING, GrowthParams
from modelsel.tree.node import EQUALITY, THRESHOLD, PrunedView

NOISY = ("entropy", "gini", "gain_ratio", "chi_square", "hellinger", "nunez")


def _task(rng: np.random.Generator) -> Task:
    n = int(rng.integers(20, 70))
    features = (Feature("number", "numeric"), Feature("colour", "nominal", ("r", "g", "b")),
                Feature("size", "ordered", ("s", "m", "l"), cost=2.0))  # fmt: skip
    values = np.column_stack([rng.integers(0, 12, n) / 4, rng.integers(0, 3, n), rng.integers(0, 3, n)]).astype(float)
    values[rng.random(values.shape) < 0.1] = np.nan
    return Task(name="drawn", features=features, values=values, rows=np.arange(n), classes=("a", "b", "c"),
                target=rng.integers(0, 3, n).astype(np.int32))  # fmt: skip


def _fitted(learner: Tree, task: Task) -> tuple[PrunedView, GrowthParams]:
    return learner.fit(task, np.arange(len(task)), generator(0)).cut, learner.growth


@pytest.mark.sampled(7)
@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize("kind", NOISY)
def test_the_first_of_the_largest_is_the_test_that_was_made(kind: str, missing: str) -> None:
    rng = np.random.default_rng([NOISY.index(kind), MISSING.index(missing)])
    for _ in range(6):
        task = _task(rng)
        nominal = str(rng.choice(["equality", "subset"] if missing == "surrogate" else ["equality", "subset", "multiway"]))
        threshold = str(rng.choice(["midpoint", "observed"]))
        learner = Tree(
            criterion=make("criterion", kind), missing=missing, splits=Splits(nominal=nominal, threshold=threshold), min_leaf=2
        )
        cut, growth = _fitted(learner, task)
        held = list(contests(cut, task, np.arange(len(task)), learner.criterion, growth))
        assert [contest.node for contest in held] == np.flatnonzero(~cut.leaf).tolist()
        for contest in held:
            goodness = np.array([rival.goodness for rival in contest.rivals])
            first = contest.rivals[int(np.argmax(goodness >= goodness.max() - 1e-9))]
            assert first.goodness == pytest.approx(cut.tree.goodness[contest.node], abs=1e-9)
            (made,) = (rival for rival in contest.rivals if rival.feature == cut.tree.feature[contest.node])
            assert made.goodness == pytest.approx(first.goodness, abs=1e-9)
            if cut.tree.test[contest.node] in (THRESHOLD, EQUALITY):
                assert made.test == branch_words(cut.tree, contest.node, 0)


def test_a_pruned_tree_has_the_contests_of_the_tests_that_stand() -> None:
    task = _task(np.random.default_rng(5))
    learner = Tree(pruner=make("pruner", "pessimistic"), missing="fractional")
    cut, growth = _fitted(learner, task)
    held = contests(cut, task, np.arange(len(task)), learner.criterion, growth)
    assert [contest.node for contest in held] == np.flatnonzero(~cut.leaf).tolist()


def test_nothing_is_said_where_other_rows_grew_the_tree() -> None:
    task = PlayTennis().read()
    cut, growth = _fitted(Tree(), task)
    moved = replace(cut, tree=replace(cut.tree, counts=cut.tree.counts[:, ::-1].copy()))
    assert list(contests(moved, task, np.arange(14), Tree().criterion, growth)) == []


def test_a_threshold_is_named_by_the_two_values_it_lies_between() -> None:
    """Mitchell 1997, section 3.7.2: temperatures 40 48 60 72 80 90, cuts at 54 and 85; 54 gains most."""
    features = (Feature("temperature", "numeric"),)
    task = Task(name="mitchell", features=features, values=np.array([[40.0], [48.0], [60.0], [72.0], [80.0], [90.0]]),
                rows=np.arange(6), classes=("No", "Yes"), target=np.array([0, 0, 1, 1, 1, 0], np.int32))  # fmt: skip
    cut, growth = _fitted(Tree(), task)
    found = [rival.test for contest in contests(cut, task, np.arange(6), Tree().criterion, growth) for rival in contest.rivals]
    assert found == ["temperature <= 54", "temperature <= 85"]
