"""Sealed rows are found exactly in tables of every type, and chance is no sealed row."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pandas as pd
import pytest

from modelsel.core.types import Feature, Table
from modelsel.guard.recognition import Recogniser, _cells
from modelsel.ledger.rows.screens import MANY, Screen, draw_screen, screen_hashes

SECRET = b"k" * 32


def table(values: np.ndarray, names: str = "abcdefgh") -> Table:
    features = tuple(Feature(names[i], "numeric") for i in range(values.shape[1]))
    return Table(name="t", features=features, values=values.astype(float), rows=np.arange(len(values)))


def screen(values: np.ndarray) -> Screen:
    return draw_screen(table(values), "t1", SECRET)


@pytest.mark.parametrize("rows", [50, 2 * MANY])
def test_kernel_and_numpy_pass_the_same_rows_and_those_that_are_sealed(rows: int, code) -> None:
    rng = np.random.default_rng(rows)
    values = rng.normal(size=(rows, 5))
    values[::7, 1], values[::11, 2] = np.nan, -0.0
    sealed = rng.random(rows) < 0.1
    one = screen(values[sealed])
    places = [column.place for column in one.columns]
    found = one.passing_rows(values, places)
    assert np.array_equal(found, sealed)
    assert np.array_equal(one.passing_rows(np.asfortranarray(values), places), sealed)
    cells = [values[:, place] for place in places]
    with code("kernels") if rows > MANY else nullcontext():
        with_kernel = screen_hashes(cells, SECRET)
    with code("plain") if rows > MANY else nullcontext():
        assert np.array_equal(screen_hashes(cells, SECRET), with_kernel)
        assert np.array_equal(one.passing_rows(values, places), sealed)


def test_one_cell_of_the_columns_that_count_makes_another_row() -> None:
    values = np.random.default_rng(0).normal(size=(40, 3))
    one = screen(values)
    assert {column.name for column in one.columns} == set("abc")
    for column in range(3):
        other = values.copy()
        other[5, column] *= 1.001
        assert one.passing_rows(other, [c.place for c in one.columns]).tolist() == [row != 5 for row in range(40)]
    turned = values[:, [1, 0, 2]]
    assert not one.passing_rows(turned, [c.place for c in one.columns]).any()


@pytest.mark.parametrize(
    "seen",
    [
        lambda v: v, lambda v: v.astype(np.float32), lambda v: np.asfortranarray(v), lambda v: v.tolist(),
        lambda v: pd.DataFrame(v, columns=list("abcd")), lambda v: pd.DataFrame(v, columns=list("abcd"))[list("dcba")],
        lambda v: pd.DataFrame(v, columns=list("abcd")).assign(more=1, z="text"), lambda v: pd.DataFrame(v),
        lambda v: pd.DataFrame(v, columns=list("abcd")).astype("Float64"), lambda v: v.astype(object), lambda v: np.c_[v, v],
    ],
)  # fmt: skip
def test_rows_are_known_in_every_container(seen: Callable[[np.ndarray], Any]) -> None:
    values = np.random.default_rng(1).normal(size=(60, 4)).astype(np.float32).astype(float)
    features = tuple(Feature(name, "numeric") for name in "abcd")
    sealed = draw_screen(Table(name="t", features=features, values=values[:30], rows=np.arange(30)), "t1", SECRET)
    by_place = draw_screen(Table(name="t", features=tuple(Feature(f"x{i}", "numeric") for i in range(4)), values=values[:30],
                           rows=np.arange(30)), "t2", SECRET)  # fmt: skip
    found = Recogniser([sealed, by_place]).sealed_in(seen(values[10:]))
    assert found.mask.tolist() == [True] * 20 + [False] * 30
    assert not found.whole
    assert Recogniser([sealed, by_place]).sealed_in(seen(values[5:32])).whole


def test_rows_of_few_contents_are_not_taken_for_sealed_ones_and_a_few_copies_are_chance() -> None:
    rng = np.random.default_rng(2)
    bits = rng.integers(0, 2, (300, 6)).astype(float)
    assert not screen(bits[:100]).tells
    values = rng.normal(size=(500, 4)).round(2)
    values[100:104] = values[:4]  # four copies of sealed rows among the others
    found = Recogniser([screen(values[:100])]).sealed_in(values[100:])
    assert not found
    values[100:140] = values[:40]
    assert Recogniser([screen(values[:100])]).sealed_in(values[100:]).count == 40


def test_what_is_no_table_of_rows_is_left_alone() -> None:
    recogniser = Recogniser([screen(np.random.default_rng(0).normal(size=(20, 3)))])
    strange = ([], ["text"], np.zeros(3), np.zeros((0, 3)), None, {"a": [1]}, np.array([["a", "b"]]), [[1], [1, 2]],
               pd.Series([1]), pd.DataFrame({"a": pd.to_datetime(["2020-01-01"]), "b": [1], "c": [2]}))  # fmt: skip
    for one in strange:
        assert not recogniser.sealed_in(one)


@pytest.mark.parametrize("cell", [{"a": 1.0}, [1.0, 2.0], {1}])
def test_a_column_whose_cells_are_neither_numbers_nor_texts_is_none(cell: object) -> None:
    column = np.empty(3, object)
    column[:] = [cell, "b", None]
    assert _cells(column) is None
