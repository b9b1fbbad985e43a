"""What a search over widths minimises: one soft pass over the training rows and one reduction, both compiled."""

from dataclasses import dataclass
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Floats, Integers, Task
from modelsel.kernels.compiler import load
from modelsel.tree.softening.soft import Widths, layout, ramps
from modelsel.tree.structure.node import LEAF, DecisionTree, PrunedView

SHAPES = {"diff": 0, "square": 1, "exptr": 2}


@dataclass(frozen=True, eq=False)
class ClassContrast:
    """One class against the rest: its score per leaf, which rows are of it, and the order of the last scores."""

    of_leaf: Floats
    positive: NDArray[np.uint8]
    share: float  # of the training weight
    order: Integers


@dataclass(frozen=True, eq=False)
class Objective:
    """Called with widths; the mean by class share over classes that do not have all rows (two classes: the second alone)."""

    tree: DecisionTree
    x: Floats
    weights: Floats
    classes: tuple[ClassContrast, ...]
    kind: str
    scores: Floats  # scratch, as is `scratch`
    scratch: Integers
    by_test: Floats | None = None  # x, tests × rows, where every test is a ramp and no row is divided

    @classmethod
    def of(cls, cut: PrunedView, x: Floats, task: Task, rows: Integers, kind: str) -> "Objective":
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
        soft, ranks = load("soft"), load("ranks")
        if soft is None or ranks is None:
            from modelsel.softener.objective.numpy_objective import evaluate

            return evaluate(self, widths)
        tree = layout(self.tree, widths)
        return self.mean([self._of_class(each, tree, soft, ranks) for each in self.classes])

    def mean(self, values: list[float]) -> float:
        """Mean over classes by their share; NaN when there is only one class."""
        return float(np.average(values, weights=[each.share for each in self.classes])) if values else np.nan

    def _of_class(
        self, each: ClassContrast, tree: tuple[NDArray[np.generic], ...], soft: ModuleType, ranks: ModuleType
    ) -> float:
        if self.by_test is None:
            soft.mean(self.x, tree, each.of_leaf, self.scores)
        else:
            soft.mean_of_ramps(self.by_test, tree, each.of_leaf, self.scores)
        if self.kind == "auc":
            return -float(ranks.auc(self.scores, each.positive, self.weights, each.order, self.scratch))
        return float(soft.deviation(self.scores, each.positive, self.weights, SHAPES[self.kind]))
