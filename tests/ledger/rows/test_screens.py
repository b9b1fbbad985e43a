"""The screening hash of rows: kernel and twin beside arithmetic with Python's whole numbers."""

import struct

import numpy as np
import pytest

from modelsel.ledger.rows import screens

SECRET = b"s" * 32


def by_hand(row: tuple[float, ...]) -> int:
    """The hash of a row of numbers, modulo 2^64."""
    total = 0
    for place, value in enumerate(row):
        key, factor = map(int, screens._keys(SECRET, place))
        (bits,) = struct.unpack("<I", struct.pack("<f", value + 0.0))
        mixed = bits * key % 2**64
        total += (mixed ^ (mixed >> 32)) * factor
    return total % 2**64


@pytest.mark.parametrize("which", ["kernels", "plain"])
def test_rows_have_the_hash_that_arithmetic_gives(which, code) -> None:
    rng = np.random.default_rng(0)
    columns = [rng.normal(size=screens.MANY), rng.integers(-3, 3, screens.MANY) / 2.0]
    with code(which):
        found = screens.screen_hashes(columns, SECRET)
    rows = list(zip(*(column[:200].tolist() for column in columns), strict=True))
    assert found[:200].tolist() == [by_hand(row) for row in rows]


@pytest.mark.parametrize("which", ["kernels", "plain"])
def test_minus_nought_is_nought_and_a_gap_is_like_a_gap(which, code) -> None:
    column = np.zeros(screens.MANY)
    column[1], column[2], column[3] = -0.0, np.nan, -np.nan
    with code(which):
        found = screens.screen_hashes([column], SECRET)
    assert found[0] == found[1] != found[2] == found[3]
