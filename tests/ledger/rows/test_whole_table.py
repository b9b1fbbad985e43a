"""A table before its split is known without a copy of it: the same identities as ever, in little memory."""

import tracemalloc

import numpy as np
import pytest

from modelsel.core.types import Feature, Table, Task, seal
from modelsel.core.whole_table import WholeTable
from modelsel.guard import requests
from modelsel.guard.fingerprints import RowFingerprints, subject_of
from modelsel.ledger.home import IdentityKey
from modelsel.ledger.portraits.likeness import Halves
from modelsel.ledger.portraits.variables import variables
from modelsel.ledger.rows.identity import columns
from modelsel.measure.error import Error

KEY = IdentityKey(b"k" * 32)


def mixed(rows: int) -> Task:
    """Numbers, some of them missing or infinite, whole numbers, levels: no random numbers, which change with NumPy."""
    row = np.arange(rows)
    numbers = (row * 37 % 1009) / 8
    missing = np.where(row % 7 == 0, np.nan, row * 11 % 503 / 4)
    infinite = np.where(row % 101 == 5, np.inf, row * 5 % 211)
    values = np.column_stack([numbers, missing, infinite, row % 5, np.where(row % 13 == 0, np.nan, row % 3)])
    features = (*(Feature(name, "numeric") for name in "abcd"), Feature("e", "nominal", ("x", "y", "z")))
    target = (row % 2).astype(np.int32)
    return Task(name="t", features=features, values=values, rows=row, classes=("no", "yes"), target=target, ids=row * 3)


def sealing(task: Task) -> requests.TestSetDeclaration:
    """Every third row is sealed."""
    test = np.arange(len(task)) % 3 == 0
    return requests.TestSetDeclaration(
        seal(task.take(np.flatnonzero(test))), task.take(np.flatnonzero(~test)), Error(), "s", "f", "i"
    )


def fingerprints(task: Task) -> RowFingerprints:
    return subject_of(sealing(task), KEY)


def test_rows_that_a_ledger_knows_already_are_known_again() -> None:
    """What version 0.1.0 wrote into ledgers for this table."""
    found = fingerprints(mixed(600))
    assert (found.digest, found.train, found.source) == (
        "dee6f75bc3eefc1229b5161e622245e1",
        "09e7fa74e3f6f9c5f0cce0c79a7e576a",
        "aef54029e110fabcdb2a3bf35ebd4744",
    )
    assert found.portrait is not None
    assert [round(float(np.nansum(found.portrait.links[view])), 9) for view in ("value", "rank")] == [
        -6.984428371,
        -9.192768542,
    ]


def test_parts_are_read_as_the_table_that_they_make_up() -> None:
    task = mixed(500)
    parts = WholeTable((task.take(np.arange(200)), task.take(np.arange(200, 500))))
    assert len(parts) == 500
    assert np.array_equal(columns(parts).tokens, columns(task).tokens)
    rows = np.array([499, 0, 200, 199, 0])
    assert np.array_equal(parts.cells(1, rows), task.values[rows, 1], equal_nan=True)
    assert parts.ids is not None
    assert np.array_equal(parts.ids, task.ids)
    assert WholeTable((task, Table(name="", features=task.features, values=task.values, rows=task.rows))).ids is None


def test_a_portrait_is_drawn_from_parts_as_from_the_whole() -> None:
    task = mixed(500)
    one, other = variables(task), variables(WholeTable((task.take(np.arange(120)), task.take(np.arange(120, 500)))))
    assert one is not None
    assert other is not None
    assert one.labels == other.labels
    some = np.arange(499, 0, -3)
    for view in ("value", "rank"):
        assert np.array_equal(one.links(None, view), other.links(None, view), equal_nan=True)
        assert np.array_equal(one.links(some, view), other.links(some, view), equal_nan=True)
    assert np.array_equal(Halves(one, "seed").crossing, Halves(other, "seed").crossing)


@pytest.mark.slow
def test_sealing_needs_less_than_four_times_the_table_beside_it() -> None:
    """Its tokens, then the ranks of its numbers and their standardised values; of a million rows 2.8 times were seen."""
    values = np.random.default_rng(0).normal(size=(60_000, 20))
    features = tuple(Feature(f"x{i}", "numeric") for i in range(20))
    target = (values[:, 0] > 0).astype(np.int32)
    task = Task(name="t", features=features, values=values, rows=np.arange(len(values)), classes=("a", "b"), target=target)
    declared, matrix = sealing(task), values.nbytes
    del task, values
    subject_of(declared, KEY)  # what is loaded and compiled on first use is not of the table
    tracemalloc.start()
    try:
        found = subject_of(declared, KEY)
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * matrix
    assert held < 0.6 * matrix  # hashes, and tokens of columns that nearly identify a row: all of these do
    assert len(found.test.keys) == 20
