"""Objectives of a search over widths: one soft pass over the training rows and one reduction, both compiled."""

from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Floats, Integers, Task
from modelsel.kernels.compiler import load
from modelsel.softener.objective.contrasts import ClassContrast, ObjectiveRows
from modelsel.softener.objective.numpy_objective import evaluate
from modelsel.tree.softening.soft import layout
from modelsel.tree.softening.widths import Widths, ramps
from modelsel.tree.structure.node import LEAF, PrunedView

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
