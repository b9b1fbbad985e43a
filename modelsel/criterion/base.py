"""Base of criteria. A new one is a frozen dataclass with `goodness`; the rest makes it faster.

@dataclass(frozen=True)
class Gini(Criterion):
    def goodness(self, tables):
        weight = tables.sum(axis=-1)
        ...
"""

from collections.abc import Callable, Iterable
from typing import ClassVar

import numpy as np

from modelsel.core.types import Floats, Table
from modelsel.kernels.layout import GENERAL
from modelsel.tree.growing.growth import same


class BaseCriterion:
    """Defaults of `tree.growing.growth.Criterion`: a slow but complete criterion, compared as it is.

    `convex` (a mean of a concave impurity) spares trying all sets of levels for two classes; among equal sets another may
    win then, and `min_leaf` chooses among prefixes only.
    """

    fused: ClassVar[int] = GENERAL
    boundary: ClassVar[bool] = False
    convex: ClassVar[bool] = False
    ratio: ClassVar[bool] = False
    binary: ClassVar[bool] = False  # not defined for more than two branches
    loop: ClassVar[Callable[..., float] | None] = None
    worth_loop: ClassVar[Callable[..., float]] = staticmethod(same)

    @property
    def average(self) -> bool:
        return False

    @property
    def penalty(self) -> bool:
        return False

    @property
    def exponent(self) -> float:
        return 0.0

    def worth(self, goodness: Floats, cost: Floats) -> Floats:
        return goodness

    def problems(self, task: Table | None = None) -> Iterable[str]:
        return ()


def decrease(impurity: Callable[[Floats], Floats], tables: Floats) -> Floats:
    """Impurity of the node less the weighted mean of its branches; `impurity` maps class weights (… × classes) to a number."""
    weight = tables.sum(axis=-1)
    total = weight.sum(axis=-1)
    inner = (weight * impurity(tables)).sum(axis=-1)
    gain: Floats = impurity(tables.sum(axis=-2)) - np.divide(inner, total, out=np.zeros_like(inner), where=total > 0)
    return gain


def shares(weights: Floats) -> Floats:
    """Class shares; zeros where there is no weight."""
    total = weights.sum(axis=-1, keepdims=True)
    share: Floats = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    return share


def one_against_rest(goodness: Callable[[Floats], Floats], tables: Floats) -> Floats:
    """Mean over classes, weighted by their share, of a goodness for two classes: each class against all others."""
    share = shares(tables.sum(axis=-2))
    rest = [np.delete(tables, c, axis=-1).sum(axis=-1) for c in range(tables.shape[-1])]  # no difference: 0 stays 0
    parts = [goodness(np.stack([tables[..., c], other], axis=-1)) for c, other in enumerate(rest)]
    mean: Floats = (share * np.stack(parts, axis=-1)).sum(axis=-1)
    return mean
