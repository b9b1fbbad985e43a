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
    """Base of criteria: a slow but complete criterion, of which a new one defines `goodness`.

    Class attributes make it faster, or restrict it. `convex` (a mean of a concave impurity) spares trying all sets of
    levels for two classes; among equal sets another may win then, and `min_leaf` chooses among prefixes only.
    `boundary`: best cuts lie between values of different classes. `binary`: not defined for more than two branches.
    `loop`: `goodness` of one table in plain loops, which is compiled. Further ones are described in
    `tree.growing.growth.Criterion`.

    Examples
    --------
    >>> from modelsel.criterion.gini import Gini
    >>> float(Gini().goodness(np.array([[4.0, 0.0], [0.0, 4.0]])))
    0.5
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
        """True where only features of at least average goodness compete."""
        return False

    @property
    def penalty(self) -> bool:
        """True where a numeric feature pays log2(cuts) / N for the choice of its cut."""
        return False

    @property
    def exponent(self) -> float:
        """The criterion's own parameter, as the compiled growers read it."""
        return 0.0

    def worth(self, goodness: Floats, cost: Floats) -> Floats:
        """Return the values that features compete with, from the goodness of their best tests and their costs.

        Parameters
        ----------
        goodness : Floats
            Goodness of each feature's best test.
        cost : Floats
            Cost of each feature, above 0; 1 unless declared.

        Returns
        -------
        Floats
            Higher is better.
        """
        return goodness

    def problems(self, task: Table | None = None) -> Iterable[str]:
        """List reasons why it cannot be used, by itself or on these features.

        Parameters
        ----------
        task : Table, optional
            The features; without it only the settings are judged.

        Returns
        -------
        iterable of str
            Sentences for the error message; none where all is well.
        """
        return ()


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
