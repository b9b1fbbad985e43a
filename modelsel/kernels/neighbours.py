"""The nearest stored rows of each query, exactly: one loop over features in their order, float64.

A distance is rounded to 40 binary digits (12 decimal ones), and equal distances go by the position of the stored row.
Stored rows come in blocks that stay in the cache; a block's distances are summed up feature by feature.
"""

import numba
import numpy as np
from numba import types

BLOCK = 1024
SPLIT = 8193.0  # 2¹³ + 1: x·SPLIT − (x·SPLIT − x) keeps 40 of 53 digits (Veltkamp 1968)
SLACK = 1.0 + 1e-10  # beyond what rounding can do to a distance

_matrix = types.Array(types.float64, 2, "C", readonly=True)
_vector = types.Array(types.float64, 1, "C", readonly=True)
_integers = types.Array(types.int64, 1, "C", readonly=True)
_kinds = types.Array(types.int8, 1, "C", readonly=True)


@numba.njit(inline="always")
def _rounded(distance):
    if distance > 1e300:
        return distance
    product = distance * SPLIT
    return product - (product - distance)


@numba.njit(inline="always")
def _raised(term, power):
    if power == 2.0:
        return term * term
    return term if power == 1.0 or np.isinf(power) else term**power
