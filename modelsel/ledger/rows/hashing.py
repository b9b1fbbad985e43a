"""A keyed 64-bit BLAKE2b for every row of words: one after the other by `hashlib`, many at once by a kernel.

Both say the same, bit for bit: what a ledger holds was hashed by either.
"""

import hashlib
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Floats, Integers
from modelsel.kernels.compiler import load
from modelsel.ledger.home import IdentityKey

Hashes = NDArray[np.uint64]
MANY = 4000  # rows from which loading the kernel pays
SIZE = 8  # bytes of a hash
LONGEST = 64  # bytes that a key of BLAKE2b may have


def hash_rows(cells: Hashes, key: IdentityKey, person: bytes) -> Hashes:
    """The keyed hash of each row of 64-bit words (rows × words), for one purpose (`person`, at most 16 bytes)."""
    words = np.ascontiguousarray(cells, np.uint64)
    compiled = load("blake") if len(words) >= MANY and words.shape[1] and len(key.secret) <= LONGEST else None
    return _one_by_one(words, key, person) if compiled is None else _at_once(compiled, words, key, person)


def _one_by_one(words: Hashes, key: IdentityKey, person: bytes) -> Hashes:
    """Hash rows one after the other, each from a copy of the state that has taken in the key."""
    raw, width = memoryview(words.astype("<u8").tobytes()), words.shape[1] * SIZE
    keyed, out = hashlib.blake2b(digest_size=SIZE, key=key.secret, person=person), []
    for start in range(0, len(raw), width):
        row = keyed.copy()
        row.update(raw[start : start + width])
        out.append(row.digest())
    return np.frombuffer(b"".join(out), "<u8").astype(np.uint64)


def _at_once(compiled: Any, words: Hashes, key: IdentityKey, person: bytes) -> Hashes:
    """Hash all rows by the compiled kernel."""
    found = np.empty(len(words), np.uint64)
    block = key.secret.ljust(compiled.BLOCK, b"\0")
    compiled.rows(words, _parameters(len(key.secret), person), np.frombuffer(block, "<u8").astype(np.uint64), found)
    return found


def _parameters(key: int, person: bytes) -> Hashes:
    """The parameter block of RFC 7693, 2.5, with salt and person as in the paper: no salt, no tree."""
    raw = struct.pack("<BBBBIQBB14x16s16s", SIZE, key, 1, 1, 0, 0, 0, 0, b"", person)
    return np.frombuffer(raw, "<u8").astype(np.uint64)


# Sorting of hashes and of numbers: by NumPy, and where there are many by a kernel, to the same result.

MANY_TO_SORT = 20_000  # values from which loading the kernel pays
SIGN = np.uint64(1 << 63)


def ascending(words: Hashes) -> Hashes:
    """A sorted copy."""
    compiled = load("radix") if len(words) >= MANY_TO_SORT else None
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
    compiled = load("radix") if len(values) >= MANY_TO_SORT else None
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
