"""Softening: what searching over widths costs beside soft passes over the training rows, from one evaluation to the experiment.

A soft pass sends all training rows of a tree down its ramps: row by row as prediction does it (`mean`), or, what the search
does, the rows of a node together (`mean_of_ramps`, the same numbers to the last bit).
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks.common.timing import Row, side_by_side
from modelsel.config.compose import compose
from modelsel.core.fingerprint import generator
from modelsel.core.types import Integers, Task
from modelsel.kernels.trees import soft
from modelsel.planning.make import fit_digest
from modelsel.runner.evaluation.preprocessing import rows_digest
from modelsel.runner.study_data import prepare
from modelsel.softener.nelder_mead import NelderMead, Objective
from modelsel.softener.range_fraction import RangeFraction
from modelsel.tree.node import PrunedView
from modelsel.tree.softening import Widths, layout, values_at_tests

REPEATS = 50
SETS = 10  # training sets of the whole experiment
OBJECTIVES = ("diff", "square", "exptr", "auc")


def rows() -> Iterable[Row]:
    grown = _Grown.first_training_set()
    for step in (9, 1):
        yield _evaluation(grown, step)
        yield _together(grown, step)
    for step in (9, 5):
        yield _iteration(grown, step)
    yield from _experiment(grown)


@dataclass(frozen=True, eq=False)
class _Grown:
    """The trees of one training set of the experiment on waveform A, at full size."""

    task: Task
    learner: Any
    path: Any

    @classmethod
    def first_training_set(cls) -> "_Grown":
        config = compose(["experiment=soft_trees", "dataset.sets=1", "tracking=off"])
        material, candidate = prepare(config), config.candidates[0]
        task, fold = material.development, material.resampling.folds[0]
        rng = generator(config.seed, rows_digest(task, fold.analysis), fit_digest(candidate))
        return cls(task, candidate.learner, candidate.learner.fit_path(task, fold.analysis, rng))

    @property
    def rows(self) -> Integers:
        rows: Integers = self.path.rows
        return rows

    def cut(self, step: int) -> PrunedView:
        cut: PrunedView = self.path.model(replace(self.learner, pruner=replace(self.learner.pruner, step=step))).cut
        return cut

    def objective(self, cut: PrunedView, kind: str) -> Objective:
        return Objective.of(cut, values_at_tests(cut.tree, self.task, self.rows), self.task, self.rows, kind)


def _evaluation(grown: _Grown, step: int) -> Row:
    """Widths differ from one evaluation to the next as they do in a simplex, so that the order of scores changes."""
    cut = grown.cut(step)
    loss, widths = grown.objective(cut, "auc"), _simplex(grown, cut)
    arrays, of_leaf = layout(cut.tree, widths[0]), loss.classes[0].of_leaf
    work = f"{REPEATS} evaluations of AUC, {_splits(cut)} splits, {len(grown.rows):,} rows"
    row = side_by_side(
        work, "as many soft passes row by row (left)",
        lambda: [soft.mean(loss.x, arrays, of_leaf, loss.scores) for _ in widths], lambda: [loss(one) for one in widths],
    )  # fmt: skip
    return replace(row, most=2.0)


def _together(grown: _Grown, step: int) -> Row:
    cut = grown.cut(step)
    loss, widths = grown.objective(cut, "auc"), _simplex(grown, cut)
    each, of_leaf, other = [layout(cut.tree, one) for one in widths], loss.classes[0].of_leaf, np.empty(len(grown.rows))
    assert loss.by_test is not None
    for arrays in each:
        soft.mean(loss.x, arrays, of_leaf, other)
        soft.mean_of_ramps(loss.by_test, arrays, of_leaf, loss.scores)
        assert np.array_equal(loss.scores, other)
    return side_by_side(
        f"{REPEATS} soft passes, rows of a node together, {_splits(cut)} splits", "row by row",
        lambda: [soft.mean_of_ramps(loss.by_test, arrays, of_leaf, loss.scores) for arrays in each],
        lambda: [soft.mean(loss.x, arrays, of_leaf, other) for arrays in each],
        equal="to the last bit",
    )  # fmt: skip


def _iteration(grown: _Grown, step: int) -> Row:
    """A whole search, SciPy's loop included, by iteration."""
    cut = grown.cut(step)
    found = NelderMead("auc").search(cut, grown.task, grown.rows)
    loss, arrays = grown.objective(cut, "auc"), layout(cut.tree, found.widths)
    row = side_by_side(
        f"a search for AUC over {_splits(cut)} splits: {found.iterations:,} iterations, {found.evaluations:,} evaluations",
        "as many soft passes row by row as iterations (left)",
        lambda: [soft.mean(loss.x, arrays, loss.classes[0].of_leaf, loss.scores) for _ in range(found.iterations)],
        lambda: NelderMead("auc").search(cut, grown.task, grown.rows),
        equal="AUC found is that of the widths found", turns=3,
    )  # fmt: skip
    assert abs(loss(found.widths) - found.value) < 1e-12
    return replace(row, most=2.0)


def _experiment(grown: _Grown) -> Iterable[Row]:
    """All searches of a training set beside the soft passes that their evaluations are, in seconds of one thread."""
    total, by_row, together, evaluations, parts = 0.0, 0.0, 0.0, 0, dict.fromkeys(OBJECTIVES, 0.0)
    for step in range(1, 11):
        cut = grown.cut(step)
        for kind in OBJECTIVES:
            start = time.thread_time()
            found = NelderMead(kind).search(cut, grown.task, grown.rows)
            parts[kind] += time.thread_time() - start
            alone, joint = _passes(grown.objective(cut, kind), found.widths)
            evaluations += found.evaluations
            by_row, together = by_row + alone * found.evaluations, together + joint * found.evaluations
    total = sum(parts.values())
    words = ", ".join(f"{kind} {seconds:.1f} s" for kind, seconds in parts.items())
    note = (
        f"{evaluations:,} evaluations: {words}. {SETS} training sets are {SETS * total / 60:.1f} minutes of one thread; what "
        f"needs no search takes {_read_off(grown):.2f} s per training set, growing included."
    )
    work = "the 40 searches of one training set of waveform A (10 trees × 4 objectives)"
    equal = "see the evaluation above"
    yield Row(work, "a soft pass row by row for each evaluation", (by_row / total,), total, by_row, equal, goal=0.5, note=note)
    yield Row(work + " ", "a soft pass as the search makes it for each", (together / total,), total, together, equal)


def _passes(loss: Objective, widths: Widths) -> tuple[float, float]:
    """Seconds of a soft pass, row by row and together, at the widths that were found."""
    arrays, of_leaf = layout(loss.tree, widths), loss.classes[0].of_leaf
    return (
        _each(lambda: soft.mean(loss.x, arrays, of_leaf, loss.scores)),
        _each(lambda: soft.mean_of_ramps(loss.by_test, arrays, of_leaf, loss.scores)),
    )


def _each(work: Callable[[], object], times: int = 20) -> float:
    start = time.thread_time()
    for _ in range(times):
        work()
    return (time.thread_time() - start) / times


def _read_off(grown: _Grown) -> float:
    """Seconds of one growth and of all candidates without a search, on the test rows."""
    config = compose(["experiment=soft_trees", "dataset.sets=1", "tracking=off"])
    fold = prepare(config).resampling.folds[0]
    learners = [one.learner for one in config.candidates if not one.learner.apart()]
    start = time.thread_time()
    path = grown.learner.fit_path(grown.task, fold.analysis, np.random.default_rng(0))
    path.outputs(learners, grown.task, fold.assessment, True)
    path.held_back(learners)
    return time.thread_time() - start


def _simplex(grown: _Grown, cut: PrunedView) -> Sequence[Widths]:
    start, rng = RangeFraction(1.0).widths(cut, grown.task, grown.rows), np.random.default_rng(0)
    factors = rng.uniform(0.9, 1.1, (REPEATS, 2, len(cut.tree)))
    return [Widths(start.below * below, start.above * above) for below, above in factors]


def _splits(cut: PrunedView) -> int:
    return int(np.count_nonzero(cut.leaf)) - 1
