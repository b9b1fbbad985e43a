"""An interval of a quantile from counts on a grid, of which three places are shown, and the price of these.

Of n rows c_j have a value of at most g_j, where g_1 < … < g_m. With the exact limits L(c), U(c) of a share at level α a side:

    low     the number of j with U(c_j) < q     then ξ_q > g_low
    middle  the number of j with c_j < q n      then ξ_q of these rows is at most g_(middle + 1), and above g_middle
    high    the number of j with L(c_j) < q     then ξ_q ≤ g_(high + 1)

An end is wrong with probability α at most, whatever the grid: c_j ascends with j, so that the first g_j with P(≤ g_j) ≥ q (for
the upper end the last with less) decides alone, and no union over the grid is paid for. That is the interval between order
statistics, its ends moved outwards to the grid. Each place is #{j : c_j < T} for a T known beforehand; its probability is

    0.1 / (m + 1) + 0.9 · [P(c_k < T) − P(c_(k+1) < T)],  c_j foreseen as Beta-binomial by the share F_j of development rows

Source: order statistics, David & Nagaraja (2003), section 7.1; prices as in `prices`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, log

import numpy as np

from modelsel.core.types import Floats
from modelsel.statistics.prices import PRIOR, error_count_distribution

Limits = Callable[[int], tuple[float, float]]  # of a share, from its count


@dataclass(frozen=True)
class QuantilePlan:
    """A quantile to be shown, and the counts that decide its places: known before any value is."""

    q: float
    low: int
    middle: int
    high: int

    @property
    def counts(self) -> tuple[int, int, int]:
        return self.low, self.middle, self.high


def plan_quantile(q: float, n: int, limits: Limits) -> QuantilePlan:
    """The smallest counts of n rows that leave a grid value possible below, reach q, and show it above.

    >>> from modelsel.statistics.certificate import interval
    >>> plan_quantile(0.5, 100, lambda count: interval(count, count, 100, 3.69))
    QuantilePlan(q=0.5, low=40, middle=50, high=61)
    """
    low = _first(n, lambda count: limits(count)[1] >= q)
    high = _first(n, lambda count: limits(count)[0] >= q)
    return QuantilePlan(q, low, ceil(q * n - 1e-9), high)


def _first(n: int, holds: Callable[[int], bool]) -> int:
    """The smallest count for which a condition that stays true holds; n + 1 where there is none."""
    low, high = 0, n + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def places_of(plan: QuantilePlan, counts: Sequence[int]) -> tuple[int, int, int]:
    """Count the values of the grid whose counts lie below each of the plan's.

    >>> places_of(QuantilePlan(0.5, 40, 50, 61), (10, 45, 55, 90))
    (1, 2, 3)
    """
    low, middle, high = np.searchsorted(np.asarray(counts), plan.counts, "left").tolist()
    return low, middle, high


def place_probabilities(n: int, counts: Sequence[int], shares: Sequence[float] | None, rows: int, grid: int) -> list[Floats]:
    """Return for each count that decides a place the probability of every place, grid + 1 of them.

    They are foreseen by the shares of development rows within each grid value; without these all are alike.

    >>> [float(each.sum().round(9)) for each in place_probabilities(100, [40, 60], [0.2, 0.5, 0.8], 300, 3)]
    [1.0, 1.0]
    >>> [each.tolist() for each in place_probabilities(100, [50], None, 0, 3)]
    [[0.25, 0.25, 0.25, 0.25]]
    """
    if shares is None:
        return [np.full(grid + 1, 1 / (grid + 1)) for _ in counts]
    # P(c_j < T) at T = 0 … n + 1
    below = [np.append(0.0, np.cumsum(error_count_distribution(n, share, rows))) for share in shares]
    found = []
    for count in counts:
        falling = np.minimum.accumulate(np.clip([1.0, *(each[count] for each in below), 0.0], 0.0, 1.0))
        found.append(np.asarray(PRIOR / (grid + 1) - (1 - PRIOR) * np.diff(falling)))
    return found


def price_of(places: Sequence[int], probabilities: Sequence[Floats]) -> float:
    """The price of places, each with the probabilities of all that it might have been."""
    return -sum(log(float(each[place])) for place, each in zip(places, probabilities, strict=True))
