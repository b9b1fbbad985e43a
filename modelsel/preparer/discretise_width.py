"""Equal width: the range of the analysis rows is cut into intervals of the same length.

cut_i = min + i (max − min) / bins,   i = 1 … bins − 1
"""

from dataclasses import dataclass

import numpy as np

from modelsel.core.spec import whole
from modelsel.core.types import Floats
from modelsel.preparer.binning import Distinct, OfDistinctValues, kind_of_intervals


@dataclass(frozen=True)
class DiscretiseWidth(OfDistinctValues):
    """Path parameters: all. A single far value makes most intervals empty: see discretise_frequency."""

    bins: int = whole(10, least=1, help="intervals of equal width")
    levels: str = kind_of_intervals()

    def cuts(self, column: Distinct) -> Floats:
        return equal_cuts(column.values[0], column.values[-1], self.bins) if len(column.values) else np.empty(0)


def equal_cuts(low: float, high: float, bins: int) -> Floats:
    """Inner ends of equal intervals; none when there is no width.

    >>> equal_cuts(0.0, 1.0, 4).tolist()
    [0.25, 0.5, 0.75]
    """
    cuts = np.unique(low + (high - low) * np.arange(1, bins) / bins)
    return cuts[(cuts > low) & (cuts < high)]
