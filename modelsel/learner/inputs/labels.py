"""The distinct labels of rows, and which of them each row has: `np.unique`, without sorting where labels are small integers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Codes

WIDEST = 1 << 16  # between the smallest and the largest integer, what is counted instead of sorted


def countable(labels: NDArray[Any]) -> bool:
    """Integers in one row: classes for certain, whatever their values."""
    return labels.ndim == 1 and labels.dtype.kind in "iu" and len(labels) > 0


def distinct(labels: NDArray[Any]) -> tuple[NDArray[Any], Codes]:
    """The labels in ascending order, and the place of each row's among them.

    >>> classes, place = distinct(np.array([7, 5, 7]))
    >>> classes.tolist(), place.tolist()
    ([5, 7], [1, 0, 1])
    """
    if countable(labels):
        low, high = int(labels.min()), int(labels.max())
        if high - low < WIDEST:
            least = labels.dtype.type(low)
            above = (labels - least).view(f"u{labels.itemsize}").astype(np.intp)  # a difference may not fit the labels' type
            there = np.bincount(above, minlength=high - low + 1) > 0
            return np.flatnonzero(there).astype(labels.dtype) + least, (np.cumsum(there) - 1).astype(np.int32)[above]
    classes, place = np.unique(labels, return_inverse=True)
    return classes, place.astype(np.int32)
