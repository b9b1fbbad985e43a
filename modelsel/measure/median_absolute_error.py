"""Median absolute error: the weighted median of |y_i − ŷ_i|, in the target's unit.

Half of the rows are off by less; how far off the others are does not count. Where the weights on either side are equal it is
the middle of the two errors, as scikit-learn has it.
"""

from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Booleans, Floats
from modelsel.measure.base import FROM_0, OfNumbers

SAME = 1e-12  # of half the weight: what the order of sums may do


@dataclass(frozen=True)
class MedianAbsoluteError(OfNumbers):
    """Lower is better; from 0.

    >>> MedianAbsoluteError().of(np.array([1.0, 2.0, 3.0]), np.array([[1.0, 3.0, 9.0]]), np.ones(3)).tolist()
    [1.0]
    """

    between = FROM_0

    def of(self, truth: Floats, predicted: Floats, weights: Floats) -> Floats:
        away = np.abs(predicted - truth)
        order = np.argsort(away, axis=1, kind="stable")
        upto = np.cumsum(weights[order], axis=1)
        half, ranked = 0.5 * upto[:, -1:], np.take_along_axis(away, order, axis=1)
        lower = _first(upto >= half * (1 - SAME), ranked)
        upper = _first(upto > half * (1 + SAME), ranked)
        return 0.5 * (lower + upper)


def _first(reached: Booleans, ranked: Floats) -> Floats:
    """The value where a mask first is true, per candidate."""
    return np.take_along_axis(ranked, reached.argmax(axis=1)[:, None], axis=1)[:, 0]
