"""Arrays that need no conversion: what scikit-learn's check would hand back as it is, told without its fixed cost.

Its check takes a tenth of a millisecond whatever the size, which is half of what a prediction of a thousand rows takes.
Whatever is not plain goes to it, so that every refusal is worded by scikit-learn.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Feature


def plain_matrix(data: object) -> bool:
    """Say whether this is a NumPy array of rows × features in double precision, with a row and a feature at least.

    >>> plain_matrix(np.ones((2, 1))), plain_matrix([[1.0]]), plain_matrix(np.ones((0, 1)))
    (True, False, False)
    """
    return type(data) is np.ndarray and data.ndim == 2 and data.dtype == np.float64 and data.size > 0


def plain_labels(labels: object, rows: int) -> bool:
    """Say whether this is a NumPy array of whole numbers, truth values or texts, one per row.

    >>> plain_labels(np.array(["a", "b"]), 2), plain_labels(np.array([0.5, 1.0]), 2)
    (True, False)
    """
    return type(labels) is np.ndarray and labels.shape == (rows,) and labels.dtype.kind in "iubU"


def plain_numbers(numbers: object, rows: int) -> bool:
    """Say whether this is a NumPy array of finite numbers in double precision, one per row.

    >>> plain_numbers(np.array([0.5, 1.0]), 2), plain_numbers(np.array([0.5, np.nan]), 2), plain_numbers([0.5, 1.0], 2)
    (True, False, False)
    """
    return type(numbers) is np.ndarray and numbers.shape == (rows,) and numbers.dtype == np.float64 and finite_sum(numbers)


def finite_sum(data: NDArray[np.generic]) -> bool:
    """Say whether the sum is finite: then every number is. False says nothing: a number is missing, or a sum too large.

    >>> finite_sum(np.array([[1.0, np.inf]]))
    False
    """
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(np.add.reduce(data, axis=None)))


def numeric_features(count: int) -> tuple[Feature, ...]:
    """Features x0, x1, ...: a new tuple at each call, since tables of the same tuple and values share their ranks."""
    return tuple(_numbered(count))


@cache
def _numbered(count: int) -> list[Feature]:
    return [Feature(f"x{index}", "numeric") for index in range(count)]
