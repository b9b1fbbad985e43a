"""Runs of equal values in what is sorted."""

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Booleans, Integers


def is_fresh(ordered: NDArray[np.generic]) -> Booleans:
    """Mask the first of each run of equal values, along the last axis.

    >>> is_fresh(np.array([[1, 1, 2], [0, 0, 0]])).tolist()
    [[True, False, True], [True, False, False]]
    """
    fresh = np.ones(ordered.shape, bool)
    np.not_equal(ordered[..., 1:], ordered[..., :-1], out=fresh[..., 1:])
    return fresh


def lengths(starts: Integers, total: int) -> Integers:
    """Return the length of each run, from the places where they begin, and where the last one ends.

    >>> lengths(np.array([0, 2]), 3).tolist()
    [2, 1]
    """
    found = np.full(len(starts), total, np.int64)
    found[:-1] = starts[1:]
    found -= starts
    return found
