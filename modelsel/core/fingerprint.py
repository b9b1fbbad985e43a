"""Identities as hashes of values: canonical JSON, digests of arrays, and random generators derived from them.

A digest is the SHA-256 of a canonical form, cut to 128 bits where people see it.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

_AS_IT_IS = frozenset((str, int, bool, type(None)))
_JSON = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)  # made once: it is dear
NEAR = 4096  # rows that are brought into order at once
SHORT = 16  # hexadecimal characters of an id that people read: 64 bits


def canonical(value: object) -> str:
    """JSON with sorted keys and no spaces; a float of integral value equals the integer, NaN is refused.

    >>> canonical({"b": 1.0, "a": (None, True)})
    '{"a":[null,true],"b":1}'
    """
    return _JSON.encode(_plain(value))


def digest(value: object) -> str:
    """SHA-256 of the canonical form, as 32 hexadecimal characters."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()[:32]


def short(value: object) -> str:
    """The digest as people see it: 16 hexadecimal characters."""
    return digest(value)[:SHORT]


def array_digest(*arrays: NDArray[np.generic] | None) -> str:
    """SHA-256 over type, shape and bytes of the arrays in order (an absent one counts as such)."""
    state = hashlib.sha256()
    for array in arrays:
        if array is None:
            state.update(b"absent\0")
            continue
        whole = np.atleast_1d(array)
        state.update(f"{whole.dtype.str}{whole.shape}\0".encode())
        for part in (whole,) if whole.flags.c_contiguous else np.split(whole, range(NEAR, len(whole), NEAR)):
            state.update(np.ascontiguousarray(part).data)
    return state.hexdigest()[:32]


def generator(seed: int, *digests: str) -> np.random.Generator:
    """The generator of one piece of work, from the study's seed and the digests that say which work it is.

    It depends on nothing else: not on position, worker, batch or order of execution.

    >>> bool(generator(1, digest("rows")).integers(100) == generator(1, digest("rows")).integers(100))
    True
    """
    words = np.frombuffer(hashlib.sha256("\0".join(digests).encode()).digest(), np.uint32)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=tuple(int(w) for w in words))))


def _plain(value: object) -> object:
    """Reduce a value to what JSON writes in one way: whole floats become integers, mappings get text keys."""
    kind = type(value)
    if kind in _AS_IT_IS:
        return value
    if kind is not list and kind is not tuple and isinstance(value, Mapping):  # most are lists: no abstract class is asked
        return {str(key): item if type(item) in _AS_IT_IS else _plain(item) for key, item in value.items()}
    if isinstance(value, np.generic) and not isinstance(value, float):
        return _plain(value.item())
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 2**53 else float(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [item if type(item) in _AS_IT_IS else _plain(item) for item in value]
    return value
