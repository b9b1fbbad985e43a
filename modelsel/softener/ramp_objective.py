"""Objectives of a search over widths: one soft pass over the training rows and one reduction, both compiled."""

from dataclasses import dataclass
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Floats, Integers, Task
from modelsel.kernels.compiler import load
from modelsel.statistics.auc import auc
from modelsel.tree.softening import Widths, layout, ramps
from modelsel.tree.softening import walk_in_numpy as walk
from modelsel.tree.structure.node import LEAF, DecisionTree, PrunedView

# The training rows of a search over widths: their values at the tests, and each class against the rest.


@dataclass(frozen=True, eq=False)
class ClassContrast:
    """One class against the rest: its score per leaf, which rows are of it, and the order of the last scores."""

    of_leaf: Floats
    positive: NDArray[np.uint8]
    share: float  # of the training weight
    order: Integers


@dataclass(frozen=True, eq=False)
class ObjectiveRows:
    """Rows (values at the tests, weights) and the classes that do not have all rows (two classes: the second alone)."""

    tree: DecisionTree
    x: Floats
    weights: Floats
    classes: tuple[ClassContrast, ...]
    kind: str
    scores: Floats  # scratch, as is `scratch`
    scratch: Integers
    by_test: Floats | None = None  # x, tests × rows, where every test is a ramp and no row is divided

    def mean(self, values: list[float]) -> float:
        """Mean over classes by their share; NaN when there is only one class."""
        return float(np.average(values, weights=[each.share for each in self.classes])) if values else np.nan


SHAPES = {"diff": 0, "square": 1, "exptr": 2}


class Objective(ObjectiveRows):
    """Called with widths; the mean by class share over classes that do not have all rows (two classes: the second alone)."""

    @classmethod
    def of(cls, cut: PrunedView, x: Floats, task: Task, rows: Integers, kind: str) -> "Objective":
        """Prepare the objective: classes, weights and arrays that are written over in each call."""
        weight = cut.counts.sum(axis=1, keepdims=True)
        shares = np.divide(cut.counts, weight, out=np.zeros_like(cut.counts), where=weight > 0)
        target, weights = task.target[rows], np.ascontiguousarray(task.row_weights[rows])
        wanted = (1,) if shares.shape[1] == 2 else range(shares.shape[1])
        against = tuple(
            ClassContrast(
                np.ascontiguousarray(shares[:, label]), (target == label).astype(np.uint8), float(part), np.arange(len(rows))
            )
            for label in wanted
            if 0 < (part := weights[target == label].sum() / weights.sum()) < 1
        )
        plain = bool((ramps(cut.tree) == (cut.tree.test != LEAF)).all()) and not np.isnan(x).any()
        return cls(
            cut.tree, np.ascontiguousarray(x), weights, against, kind, np.empty(len(rows)), np.empty(len(rows), np.int64),
            np.ascontiguousarray(x.T) if plain else None,
        )  # fmt: skip

    def __call__(self, widths: Widths) -> float:
        """Compute the objective at some widths."""
        soft, ranks = load("soft"), load("ranks")
        if soft is None or ranks is None:
            return evaluate(self, widths)
        tree = layout(self.tree, widths)
        return self.mean([self._of_class(each, tree, soft, ranks) for each in self.classes])

    def _of_class(
        self, each: ClassContrast, tree: tuple[NDArray[np.generic], ...], soft: ModuleType, ranks: ModuleType
    ) -> float:
        """Compute the objective of one class by the kernels."""
        if self.by_test is None:
            soft.mean(self.x, tree, each.of_leaf, self.scores)
        else:
            soft.mean_of_ramps(self.by_test, tree, each.of_leaf, self.scores)
        if self.kind == "auc":
            return -float(ranks.auc(self.scores, each.positive, self.weights, each.order, self.scratch))
        return float(soft.deviation(self.scores, each.positive, self.weights, SHAPES[self.kind]))


# The objective in NumPy: the twin of the compiled one.


def evaluate(objective: ObjectiveRows, widths: Widths) -> float:
    """The same number as calling the objective."""
    owner, leaf, part = walk(objective.tree, widths, objective.x)
    values = []
    for each in objective.classes:
        r = np.asarray(np.bincount(owner, part * each.of_leaf[leaf], len(objective.x)), np.float64)
        values.append(_of_class(objective, each, r))
    return objective.mean(values)


def _of_class(objective: ObjectiveRows, each: ClassContrast, r: Floats) -> float:
    """Compute the objective of one class from scores r."""
    if objective.kind == "auc":
        return -float(auc(each.positive.astype(bool), r, objective.weights))
    d = np.abs(r - each.positive)
    loss = {"diff": d, "square": d**2, "exptr": np.exp(4 * (d - 1))}[objective.kind]
    return float(np.average(loss, weights=objective.weights))
