"""All widths of a tree together, by the simplex search of Nelder and Mead on the training rows.

a_j = z_j p_j², b_j = z_{s+j} p_{s+j}² for s softened nodes, z the widths of DR(1), start p = (1, …, 1). Minimised: the mean
of d (`diff`), of d² (`square`), of exp(4(d − 1)) (`exptr`), d = |r(x) − [x positive]| and r the class score; or − AUC (`auc`).
Beyond two classes the mean by class share of each against the rest.

Nelder and Mead 1965; Dvořák 2019, *Softening splits in classification trees*.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from modelsel.core.spec import one_of, whole
from modelsel.core.types import Floats, Integers, Task
from modelsel.softener.ramp_objective import Objective
from modelsel.softener.range_fraction import RangeFraction
from modelsel.tree.softening import Widths, met
from modelsel.tree.structure.node import PrunedView

PER_NODE = 200  # iterations per softened node
EACH = 1.25  # evaluations per iteration, as a plan expects them
TRIED = 20  # iterations that a plan tries
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

    def widths(self, cut: PrunedView, task: Task, rows: Integers) -> Widths:
        return self.search(cut, task, rows).widths

    def shortened(self) -> "NelderMead":
        """A search of a few iterations, after the first simplex of a point per width and one more."""
        return replace(self, iterations=min(self.iterations or TRIED, TRIED))

    def times_as_long(self, splits: float) -> float:
        """Return the ratio of all iterations' evaluations to those of `shortened`, on a tree of so many splits.

        >>> round(NelderMead().times_as_long(10))  # 2,521 evaluations instead of 46
        55
        """
        first, tried = 2.0 * splits + 1.0, EACH * (self.shortened().iterations or 0)
        return (first + EACH * (self.iterations or PER_NODE * splits)) / (first + tried)

    def search(self, cut: PrunedView, task: Task, rows: Integers) -> Search:
        """The widths, and how they were found."""
        from scipy.optimize import minimize

        start = RangeFraction(1.0).widths(cut, task, rows)
        z = np.concatenate([start.below, start.above])
        free = np.flatnonzero(z > 0)
        loss = Objective.of(cut, met(cut.tree, task, rows), task, rows, self.objective)
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
