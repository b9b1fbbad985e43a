"""Equal frequency: intervals that hold about the same weight of analysis rows.

The i-th cut is the boundary between neighbouring distinct values whose weight below is nearest to i / bins of the whole
(the lower one of two equally near); equal values are never parted, so that heavy ties leave fewer intervals.
"""

from dataclasses import dataclass

import numpy as np

from modelsel.core.spec import whole
from modelsel.core.types import Floats
from modelsel.preparer.binning import Distinct, OfDistinctValues, kind_of_intervals


@dataclass(frozen=True)
class DiscretiseFrequency(OfDistinctValues):
    """Path parameters: all."""

    bins: int = whole(10, least=1, help="intervals of about equally many rows")
    levels: str = kind_of_intervals()

    def cuts(self, column: Distinct) -> Floats:
        return frequency_cuts(column, self.bins)


def frequency_cuts(column: Distinct, bins: int) -> Floats:
    """Cuts of one column."""
    below = np.cumsum(column.weights.sum(axis=1))
    if len(below) < 2:
        return np.empty(0)
    wanted = below[-1] * np.arange(1, bins) / bins
    off = np.abs(below[None, :-1] - wanted[:, None])
    return column.between(np.unique(np.argmin(off, axis=1)) + 1)
