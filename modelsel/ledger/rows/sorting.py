"""Sorting of hashes and of numbers: by NumPy, and where there are many by a kernel, to the same result."""

import numpy as np

from modelsel.core.types import Floats, Integers
from modelsel.kernels.compiler import load
from modelsel.ledger.rows.hashing import Hashes

MANY = 20_000  # values from which loading the kernel pays
SIGN = np.uint64(1 << 63)


def ascending(words: Hashes) -> Hashes:
    """A sorted copy."""
    compiled = load("radix") if len(words) >= MANY else None
    if compiled is None:
        return np.sort(words)
    found = np.array(words, np.uint64)
    compiled.sort(found, np.empty_like(found))
    return found


def order_of(values: Floats) -> Integers:
    """The places of numbers in ascending order; NaN last.

    >>> order_of(np.array([2.0, np.nan, -1.0])).tolist()
    [2, 0, 1]
    """
    compiled = load("radix") if len(values) >= MANY else None
    order: Integers = np.arange(len(values))
    if compiled is None:
        return np.argsort(values, kind="stable")
    words = _as_words(values)
    compiled.arrange(words, order, np.empty_like(words), np.empty_like(order))
    return order


def _as_words(values: Floats) -> Hashes:
    """Numbers as words of the same order: the sign turned round, and of negative ones all else; minus nought is nought."""
    bits = (values + 0.0).view(np.uint64)
    words: Hashes = np.where(bits >= SIGN, ~bits, bits | SIGN)
    words[np.isnan(values)] = np.iinfo(np.uint64).max
    return words
