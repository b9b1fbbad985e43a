"""Running sums over ordered neighbours, and how near each is: what votes and means of neighbours share."""

from itertools import pairwise

import numpy as np

from modelsel.core.types import Floats


def running(each: Floats) -> Floats:
    """Sums of the first so many rows, a row at a time; the rows are overwritten."""
    for above, own in pairwise(each):
        own += above
    return each


def closeness(distance: Floats) -> Floats:
    """1 / d up to a factor per query: d_1 / d_i, or 1 and 0 where the nearest lies at distance 0."""
    nearest = distance[:1]
    return np.where(nearest > 0, nearest / np.where(distance > 0, distance, 1.0), distance == 0)
