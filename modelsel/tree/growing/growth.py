"""Settings of growing a tree that no truncation can answer, and the criterion as growers see it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from modelsel.core.types import Floats

MISSING = ("node_mode", "class_mode", "fractional", "branch", "surrogate")  # in the order of kernels.layout
BY_COUNT = "surrogate_count"  # surrogates that compete by the weight that they send the same way
POLICIES = (*MISSING, BY_COUNT)
NOMINAL = {"equality": 2, "multiway": 3, "subset": 4}  # kinds of test, as in tree.node


def same(goodness: float, cost: float, exponent: float) -> float:  # noqa: ARG001
    """`worth_loop` of most criteria: features compete by goodness alone."""
    return goodness


class Criterion(Protocol):
    """A score of splits; `criterion.base` has the defaults, so that a new one need only define its goodness.

    Examples
    --------
    >>> import numpy as np
    >>> from modelsel.criterion.gini import Gini
    >>> criterion: Criterion = Gini()
    >>> float(criterion.goodness(np.array([[4.0, 0.0], [0.0, 4.0]])))
    0.5
    """

    def goodness(self, tables: Floats) -> Floats:
        """Compute the goodness of splits.

        Parameters
        ----------
        tables : Floats
            Class weights of the branches, … × branches × classes, at least 0.

        Returns
        -------
        Floats
            A number per table; higher is better.
        """
        ...

    def worth(self, goodness: Floats, cost: Floats) -> Floats:
        """Return the values that features compete with.

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
        ...

    @property
    def loop(self) -> Callable[..., float] | None:
        """`goodness` of one branches × classes table in plain loops, to be compiled; None: the NumPy grower is used."""
        ...

    @property
    def worth_loop(self) -> Callable[..., float]:
        """`worth` of three numbers: goodness, cost, `exponent`."""
        ...

    @property
    def exponent(self) -> float:
        """The criterion's own parameter, as `worth_loop` reads it; 0 where it has none."""
        ...

    @property
    def fused(self) -> int:
        """ENTROPY or GINI where the grower knows the formula itself, else GENERAL."""
        ...

    @property
    def boundary(self) -> bool:
        """A numeric feature's best cut lies between two classes (Fayyad & Irani 1992)."""
        ...

    @property
    def convex(self) -> bool:
        """For two classes the best subset is a prefix of the levels in order of class share."""
        ...

    @property
    def ratio(self) -> bool:
        """Features compete by goodness over split information."""
        ...

    @property
    def average(self) -> bool:
        """Only features of at least average goodness compete."""
        ...

    @property
    def penalty(self) -> bool:
        """A numeric feature pays log2(cuts)/N."""
        ...


@dataclass(frozen=True)
class GrowthParams:
    """Settings of one grown tree. `min_split` and `max_depth` only spare work: truncation would give the same."""

    missing: str = "node_mode"
    nominal: str = "multiway"
    threshold: str = "midpoint"
    min_leaf: float = 1.0
    min_leaf_rule: str = "plain"
    min_split: float = 0.0
    max_depth: int | None = None
    by_count: bool = False  # with `surrogate`
