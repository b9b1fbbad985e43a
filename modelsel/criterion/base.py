"""Base of criteria. A new one is a frozen dataclass with `goodness`; the rest makes it faster.

@dataclass(frozen=True)
class Gini(BaseCriterion):
    def goodness(self, tables):
        weight = tables.sum(axis=-1)
        ...
"""

from collections.abc import Callable

import numpy as np

from modelsel.core.types import Floats
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
