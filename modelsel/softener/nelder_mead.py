"""All widths of a tree together, by the simplex search of Nelder and Mead on the training rows.

a_j = z_j p_j², b_j = z_{s+j} p_{s+j}² for s softened nodes, z the widths of DR(1), start p = (1, …, 1). Minimised: the mean
of d (`diff`), of d² (`square`), of exp(4(d − 1)) (`exptr`), d = |r(x) − [x positive]| and r the class score; or − AUC (`auc`).
Beyond two classes the mean by class share of each against the rest.

Nelder and Mead 1965; Dvořák 2019, *Softening splits in classification trees*.
"""

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from modelsel.core.spec import one_of, whole
from modelsel.core.types import AnyTask, Floats, Integers, Task
from modelsel.kernels.compiler import load
from modelsel.softener.range_fraction import RangeFraction
from modelsel.tree.node import LEAF, DecisionTree, PrunedView
from modelsel.tree.softening import Widths, layout, ramps, values_at_tests

# The objective: one soft pass over the training rows and one reduction, both compiled.


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


PER_NODE = 200  # iterations per softened node
COLLAPSED = 1e-7  # extent of the simplex, in p and in the objective, below which it can improve nothing that is seen


@dataclass(frozen=True)
class Search:
    """The result of a search: `collapsed` when it ended before its iterations did."""

    widths: Widths
    start: float
    value: float
    iterations: int
    evaluations: int
    collapsed: bool


@dataclass(frozen=True)
class NelderMead:
    """Fits the training rows: compare it on others."""

    objective: str = one_of("auc", "exptr", "square", "diff", help="what the widths are to improve on the training rows")
    iterations: int | None = whole(None, least=1, help="of the simplex; by default 200 per softened node")

    dear: ClassVar[bool] = True  # seconds per tree: each tree is a cell of its own

    @classmethod
    def kernels(cls, task: AnyTask) -> tuple[str, ...]:
        """Return the files of kernels that it uses, which a study compiles before its cells."""
        return "soft", "ranks"

    def widths(self, cut: PrunedView, task: Task, rows: Integers) -> Widths:
        return self.search(cut, task, rows).widths

    def search(self, cut: PrunedView, task: Task, rows: Integers) -> Search:
        """The widths, and how they were found."""
        from scipy.optimize import minimize

        start = RangeFraction(1.0).widths(cut, task, rows)
        z = np.concatenate([start.below, start.above])
        free = np.flatnonzero(z > 0)
        loss = Objective.of(cut, values_at_tests(cut.tree, task, rows), task, rows, self.objective)
        value = loss(start)
        if not len(free) or not np.isfinite(value):
            return Search(start, value, value, 0, 1, True)
        softened = int(np.count_nonzero((start.below > 0) | (start.above > 0)))
        limit = self.iterations or PER_NODE * softened
        found = minimize(
            _in_p(loss, z, free),
            np.ones(len(free)),
            method="Nelder-Mead",
            options={"maxiter": limit, "maxfev": 1000 * limit, "xatol": COLLAPSED, "fatol": COLLAPSED},
        )
        return Search(_widths(z, free, found.x), value, float(found.fun), int(found.nit), int(found.nfev), bool(found.success))


def _in_p(loss: Callable[[Widths], float], z: Floats, free: NDArray[np.intp]) -> Callable[[Floats], float]:
    return lambda p: loss(_widths(z, free, p))


def _widths(z: Floats, free: NDArray[np.intp], p: Floats) -> Widths:
    """Turn the search's parameters into widths, which their squares keep at least 0."""
    scaled = z.copy()
    scaled[free] *= np.square(p)
    below, above = np.split(scaled, 2)
    return Widths(below, above)
