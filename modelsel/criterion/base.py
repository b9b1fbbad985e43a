"""Base of criteria. A new one is a frozen dataclass with `goodness`; the rest makes it faster.

@dataclass(frozen=True)
class Gini(BaseCriterion):
    def goodness(self, tables):
        weight = tables.sum(axis=-1)
        ...
"""

from collections.abc import Callable, Iterable
from operator import attrgetter

import numpy as np

from modelsel.core.spec import kind_of
from modelsel.core.types import Floats, Table
from modelsel.tree.growing.growth import BaseCriterion

__all__ = ["BaseCriterion", "decrease", "one_against_rest", "shares"]


def decrease(impurity: Callable[[Floats], Floats], tables: Floats) -> Floats:
    """Compute the impurity of the node less the weighted mean of its branches.

    Parameters
    ----------
    impurity : callable
        Maps class weights (… × classes) to a number.
    tables : Floats
        Class weights of the branches, … × branches × classes.

    Returns
    -------
    Floats
        The decrease per table; 0 where there is no weight.

    Examples
    --------
    >>> float(decrease(lambda weights: 1 - np.square(shares(weights)).sum(axis=-1), np.array([[4.0, 0.0], [0.0, 4.0]])))
    0.5
    """
    weight = tables.sum(axis=-1)
    total = weight.sum(axis=-1)
    inner = (weight * impurity(tables)).sum(axis=-1)
    gain: Floats = impurity(tables.sum(axis=-2)) - np.divide(inner, total, out=np.zeros_like(inner), where=total > 0)
    return gain


def shares(weights: Floats) -> Floats:
    """Compute class shares.

    Parameters
    ----------
    weights : Floats
        Class weights, … × classes.

    Returns
    -------
    Floats
        Shares in [0, 1], of the same shape; zeros where there is no weight.

    Examples
    --------
    >>> shares(np.array([3.0, 1.0])).tolist()
    [0.75, 0.25]
    """
    total = weights.sum(axis=-1, keepdims=True)
    share: Floats = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    return share


def one_against_rest(goodness: Callable[[Floats], Floats], tables: Floats) -> Floats:
    """Average a goodness for two classes over each class against all others, weighted by class share.

    Parameters
    ----------
    goodness : callable
        Goodness of tables with two classes.
    tables : Floats
        Class weights of the branches, … × branches × classes.

    Returns
    -------
    Floats
        The weighted mean per table.

    Examples
    --------
    >>> from modelsel.criterion.gini import Gini
    >>> float(one_against_rest(Gini().goodness, np.array([[4.0, 0.0], [0.0, 4.0]])))
    0.5
    """
    share = shares(tables.sum(axis=-2))
    rest = [np.delete(tables, c, axis=-1).sum(axis=-1) for c in range(tables.shape[-1])]  # no difference: 0 stays 0
    parts = [goodness(np.stack([tables[..., c], other], axis=-1)) for c, other in enumerate(rest)]
    mean: Floats = (share * np.stack(parts, axis=-1)).sum(axis=-1)
    return mean


class PerCost(BaseCriterion):
    """Base of criteria that weigh costs: `gain` finds the tests, and features compete by `worth` of gain and cost."""

    gain: BaseCriterion
    loop, fused, boundary, convex, binary, ratio, average, penalty = (
        property(attrgetter(f"gain.{name}"))
        for name in ("loop", "fused", "boundary", "convex", "binary", "ratio", "average", "penalty")
    )

    def goodness(self, tables: Floats) -> Floats:
        return self.gain.goodness(tables)

    def problems(self, task: Table | None = None) -> Iterable[str]:
        yield from self.gain.problems(task)
        if isinstance(self.gain, PerCost):
            yield f"gain={kind_of(self.gain)} weighs costs itself, which would not be asked for; give a criterion that does not"
        for feature in () if task is None else task.features:
            if not feature.cost > 0:
                yield f"feature {feature.name} costs {feature.cost}: costs must be above 0 for this criterion"
