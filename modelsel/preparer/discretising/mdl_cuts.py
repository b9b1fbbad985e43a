"""Choose cuts of a number that separate the classes, by minimum description length.

An interval of N rows is parted where the class entropy falls most, if

    gain > (log₂(N − 1) + log₂(3^k − 2) − (k E − k₁ E₁ − k₂ E₂)) / N

with k, k₁, k₂ classes present in the interval and its parts and E, E₁, E₂ their entropies; then both parts likewise.
Equal gains (to 1e-12): the lowest cut. Source: Fayyad & Irani (1993).
"""

import numpy as np

from modelsel.core.types import Floats
from modelsel.preparer.discretising.binning import Distinct
from modelsel.statistics.information import entropy


def mdl_cuts(column: Distinct) -> Floats:
    """The accepted cuts, ascending: midpoints between neighbouring values."""
    sums = np.concatenate([np.zeros((1, column.weights.shape[1])), np.cumsum(column.weights, axis=0)])
    open_, accepted = [(0, len(column.values))], []
    while open_:
        start, end = open_.pop()
        place = _best(sums, start, end)
        if place is not None:
            accepted.append(place)
            open_ += [(start, place), (place, end)]
    return column.between(np.sort(np.array(accepted, np.int64))) if accepted else np.empty(0)


def _best(sums: Floats, start: int, end: int) -> int | None:
    """The best accepted cut of the values start … end − 1: the position of the first value above it."""
    if end - start < 2:
        return None
    whole = sums[end] - sums[start]
    below = sums[start + 1 : end] - sums[start]
    above = whole - below
    n, left = whole.sum(), below.sum(axis=1)
    gain = entropy(whole) - (left * entropy(below) + (n - left) * entropy(above)) / n
    place = int(np.argmax(np.round(gain, 12)))
    return start + 1 + place if _worth(float(gain[place]), whole, below[place], above[place]) else None


def _worth(gain: float, whole: Floats, below: Floats, above: Floats) -> bool:
    """Say whether a cut's information gain is above the description length of making it (Fayyad & Irani 1993)."""
    n = float(whole.sum())
    if n <= 1:
        return False
    k, k1, k2 = (int(np.count_nonzero(part)) for part in (whole, below, above))
    apart = k * entropy(whole) - k1 * entropy(below) - k2 * entropy(above)
    return bool(gain > (np.log2(n - 1) + _log2_less_two(k) - apart) / n)


def _log2_less_two(k: int) -> float:
    """log₂(3^k − 2), also for hundreds of classes."""
    return float(k * np.log2(3.0) + np.log1p(-2 * 3.0**-k) / np.log(2.0))
