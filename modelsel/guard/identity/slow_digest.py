"""Digests that take memory and time for every guess: for what people could otherwise guess by the million."""

import hashlib

import numpy as np

from modelsel.core.types import Floats
from modelsel.ledger.home import IdentityKey

MEMORY = {"n": 2**14, "r": 8, "p": 1}  # of scrypt (RFC 7914): 16 MB and some 40 ms a guess


def slow(values: Floats | None, key: IdentityKey) -> str:
    """Keyed scrypt of the bytes of an array; empty where there is none."""
    if values is None:
        return ""
    raw = np.ascontiguousarray(values, "<f8").tobytes()
    return hashlib.scrypt(raw, salt=hashlib.blake2b(key.secret, person=b"modelsel.salt.1").digest(), dklen=16, **MEMORY).hex()
