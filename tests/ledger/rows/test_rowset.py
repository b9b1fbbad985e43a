"""Sets as they are remembered and compared; renamed columns found by their values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelsel.core.errors import LedgerError
from modelsel.core.types import Feature, Table
from modelsel.ledger.home import IdentityKey
from modelsel.ledger.rows.channels import quasi_keys, rank_hashes
from modelsel.ledger.rows.identity import TokenTable, bound_hashes, columns
from modelsel.ledger.rows.matching import best_naming, match_names, sketches
from modelsel.ledger.rows.row_set import RowSet, containment, identifiability, shared_rows

KEY = IdentityKey(b"k" * 32)


@given(st.lists(st.integers(0, 8)), st.lists(st.integers(0, 8)))
def test_shared_rows_are_counted_as_multisets(ours: list[int], theirs: list[int]) -> None:
    from collections import Counter

    rows, stored = np.array(ours, np.uint64), np.array(sorted(theirs), np.uint64)
    assert shared_rows(rows, stored, repetitions=True).sum() == sum((Counter(ours) & Counter(theirs)).values())
    assert shared_rows(rows, stored, repetitions=False).sum() == sum(one in theirs for one in ours)


def test_a_set_survives_packing() -> None:
    original = RowSet({"n": 3, "names": ["a"]}, {"bound": np.array([1, 2, 3], np.uint64), "key:x": np.array([], np.uint64)})
    again = RowSet.unpack(original.pack())
    assert again.facts == original.facts
    assert {name: array.tolist() for name, array in again.arrays.items()} == {"bound": [1, 2, 3], "key:x": []}


@given(st.binary(max_size=60))
def test_bytes_that_are_no_set_are_a_ledger_error(blob: bytes) -> None:
    with pytest.raises(LedgerError):
        RowSet.unpack(blob)


def test_the_largest_hash_of_a_sketch_counts() -> None:
    sketch = np.array([1, 2, 3], np.uint64)
    assert containment(np.array([3], np.uint64), sketch) == 1
    assert containment(np.array([3, 4, 4], np.uint64), sketch) == 1  # nothing is known of 4
    assert containment(np.array([4], np.uint64), sketch) == 0
    assert containment(sketch, sketch[:0]) == 0


@pytest.mark.parametrize("share", [0.0, 0.111, 0.5, 1.0])
def test_a_sketch_estimates_containment(share: float) -> None:
    rng = np.random.default_rng(0)
    stored = rng.integers(0, 2**63, 50_000, dtype=np.uint64)
    cut = round(20_000 * share)
    rows = np.r_[stored[:cut], rng.integers(0, 2**63, 20_000 - cut, dtype=np.uint64)]
    sketch = RowSet({"n": 50_000}, {"bound": stored}).sketch(most=10_000).arrays["bound"]
    assert len(sketch) == 4096
    assert containment(rows, sketch) == pytest.approx(share, abs=0.05)


def test_identifiability() -> None:
    assert identifiability(np.array([1, 1, 2, 3], np.uint64)) == 0.75


def nominal(names: tuple[str, ...], values: np.ndarray) -> TokenTable:
    features = tuple(Feature(name, "nominal", tuple(f"l{i}" for i in range(30))) for name in names)
    return columns(Table(name="t", features=features, values=values.astype(np.float64), rows=np.arange(len(values))))


def test_renamed_and_moved_columns_are_matched_by_their_values() -> None:
    rng = np.random.default_rng(0)
    values = np.column_stack([rng.integers(0, 2, 200), rng.integers(0, 3, 200), rng.integers(0, 4, 200)])
    stored = nominal(("a", "b", "c"), values)
    ours = nominal(("b", "z", "y"), values[:, [1, 2, 0]])
    pairing = match_names(sketches(ours, KEY), sketches(stored, KEY))
    assert pairing is not None
    assert pairing[0] == ("b", "c", "a")
    assert np.array_equal(bound_hashes(ours.rename(pairing[0]), KEY), bound_hashes(stored, KEY))


def test_columns_of_equal_values_are_tried_both_ways() -> None:
    rng = np.random.default_rng(0)
    one = rng.permutation(np.repeat(np.arange(30), 10))
    values = np.column_stack([one, rng.permutation(one), rng.permutation(one)])
    stored = nominal(("a", "b", "c"), values)
    ours = nominal(("x", "y", "z"), values[:, [2, 0, 1]])
    pairing = match_names(sketches(ours, KEY), sketches(stored, KEY))
    assert pairing is not None
    assert pairing[1] == [[0, 1, 2]]
    hashes = bound_hashes(stored, KEY)
    names = best_naming(*pairing, lambda names: float(np.isin(bound_hashes(ours.rename(names), KEY), hashes).mean()))
    assert names == ("c", "a", "b")


def test_tables_of_another_width_do_not_match() -> None:
    values = np.zeros((10, 2))
    assert match_names(sketches(nominal(("a", "b"), values), KEY), sketches(nominal(("a",), values[:, :1]), KEY)) is None


def table(values: np.ndarray) -> Table:
    features = tuple(Feature(f"x{i}", "numeric") for i in range(values.shape[1]))
    return Table(name="t", features=features, values=values, rows=np.arange(len(values)))


def test_counters_and_columns_of_few_values_identify_nothing() -> None:
    rng = np.random.default_rng(0)
    values = np.column_stack([np.arange(300.0), rng.integers(0, 9, 300), rng.normal(size=300)])
    assert [index for index, _ in quasi_keys(table(values))] == [2]


def test_ranks_survive_scaling_and_any_monotone_map() -> None:
    values = np.random.default_rng(0).normal(size=(100, 3))
    names = ("x0", "x1", "x2")
    plain = rank_hashes(table(values), names, KEY)
    assert np.array_equal(rank_hashes(table(values * 3 + 1), names, KEY), plain)
    assert np.array_equal(rank_hashes(table(np.exp(values)), names, KEY), plain)
    order = np.random.default_rng(1).permutation(100)
    assert np.array_equal(rank_hashes(table(values[order]), names, KEY), plain[order])
