"""Softening: what one evaluation of the search over widths costs beside one soft pass over the training rows (12,000 × 21)."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from benchmarks._frame import Row, side_by_side
from benchmarks.pruning import waves
from modelsel.core.spec import make
from modelsel.core.types import Task
from modelsel.kernels import soft
from modelsel.learner.tree import Tree
from modelsel.softener._numpy_objective import evaluate
from modelsel.softener._objective import Objective
from modelsel.softener.range_fraction import RangeFraction
from modelsel.tree.node import Cut
from modelsel.tree.soft import layout, met

REPEATS = 50


def rows() -> Iterable[Row]:
    task = waves(12_000)
    for leaves in (6, 27):
        yield _evaluation(task, _tree_of(task, leaves), leaves)


def _evaluation(task: Task, cut: Cut, leaves: int) -> Row:
    everybody = np.arange(len(task))
    loss = Objective.of(cut, met(cut.tree, task, everybody), task, everybody, "auc")
    widths = RangeFraction(1.0).widths(cut, task, everybody)
    arrays, of_leaf = layout(cut.tree, widths), loss.classes[0].of_leaf
    assert abs(loss(widths) - evaluate(loss, widths)) < 1e-12

    def one_pass() -> None:
        for _ in range(REPEATS):
            soft.mean(loss.x, arrays, of_leaf, loss.scores)

    def evaluation() -> None:
        for _ in range(REPEATS):
            loss(widths)

    work = f"{REPEATS} evaluations of AUC under {leaves} leaves"
    row = side_by_side(work, "as many soft passes (left)", one_pass, evaluation, equal="AUC of the NumPy twin (1e-12)")
    return replace(row, most=2.0)


def _tree_of(task: Task, leaves: int) -> Cut:
    """The pruned tree whose number of leaves is nearest."""
    learner = Tree(pruner=make("pruner", "cost_complexity", alpha="path", impurity="entropy"))
    path = learner.fit_path(task, np.arange(len(task)), np.random.default_rng(0))
    members = path.members(learner)
    nearest = int(np.argmin(np.abs(path.complexity(members) - leaves)))
    return path.model(members[nearest]).cut
