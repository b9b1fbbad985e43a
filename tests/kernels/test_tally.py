"""Class weights per level: by packed words, by weights, and where most levels do not occur."""

from itertools import product

import numpy as np
import pytest
from numba import njit

from modelsel.kernels.growth import tally


@njit
def field_of(total, classes):  # type: ignore[no-untyped-def]
    return tally.field_of(total, classes)


@njit
def counted(codes, rows, y, weight, words, field, levels, table, room, seen, absent):  # type: ignore[no-untyped-def]
    if field > 0:
        tally.words_of(y, weight, field, words)
    return tally.count(codes, rows, y, weight, words, field, levels, table, room, seen, absent)


@pytest.mark.slow
@pytest.mark.parametrize(("weights", "packed"), [("ones", True), ("whole", True), ("whole", False), ("real", False)])
def test_counts_are_those_of_the_rows(weights: str, packed: bool) -> None:
    for seed, (levels, classes) in enumerate(product((1, 2, 7, 500), (2, 5))):
        rng = np.random.default_rng(seed)
        codes = rng.integers(-1, levels, 400).astype(np.int32)
        rows = np.sort(rng.choice(400, 150, replace=False)).astype(np.int32)
        y = rng.integers(0, classes, 150).astype(np.int32)
        weight = {"ones": np.ones(150), "whole": rng.integers(1, 9, 150).astype(float), "real": rng.random(150)}[weights]
        field = field_of(int(weight.sum()), classes) if packed else 0
        assert packed == (field > 0)
        table, seen, absent = rng.random((levels + 2, classes + 2)), np.zeros(levels + 2, np.int64), np.zeros(classes)
        room = np.zeros(150, np.int64), np.zeros(levels + 2, np.int64)
        present = counted(codes, rows, y, weight, room[0], field, levels, table, room[1], seen, absent)
        own = codes[rows]
        wanted = np.zeros((levels + 1, classes))
        np.add.at(wanted, (np.where(own < 0, levels, own), y), weight)
        assert seen[:present].tolist() == np.flatnonzero(wanted[:-1].sum(axis=1)).tolist()
        assert np.allclose(table[seen[:present], :classes], wanted[seen[:present]], rtol=1e-12)
        assert np.allclose(table[seen[:present], classes], wanted[seen[:present]].sum(axis=1), rtol=1e-12)
        assert np.allclose(absent, wanted[-1], rtol=1e-12)


def test_a_word_holds_all_classes_or_there_is_none() -> None:
    for total, classes in product((1, 2, 3, 4, 20_000, 2**31 - 1, 2**31), (2, 3, 10)):
        field = field_of(total, classes)
        assert (field == 0) == (total.bit_length() * classes > tally.WORD)
        assert field == 0 or total < 1 << field
