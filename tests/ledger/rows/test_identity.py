"""A row is known by its values, in any guise; another row is not."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelsel.core.types import Feature, Table
from modelsel.ledger.home import IdentityKey
from modelsel.ledger.rows.identity import (
    bound_hashes,
    columns,
    feature_tokens,
    number_tokens,
    set_digest,
    text_tokens,
    unbound_hashes,
)

KEY = IdentityKey(b"k" * 32)


def mixed(rows: int = 500, seed: int = 0) -> Table:
    rng = np.random.default_rng(seed)
    values = np.column_stack(
        [rng.normal(size=rows).round(6), rng.integers(0, 1000, rows), rng.integers(0, 3, rows), rng.lognormal(8, 3, rows)]
    ).astype(np.float64)
    values[rng.random(values.shape) < 0.1] = np.nan
    features = (
        Feature("a", "numeric"),
        Feature("b", "numeric"),
        Feature("c", "nominal", ("red", "true", "7")),
        Feature("d", "numeric"),
    )
    return Table(name="t", features=features, values=values, rows=np.arange(rows))


@given(st.permutations(range(4)))
def test_the_order_of_columns_does_not_matter(order: list[int]) -> None:
    table = mixed(30)
    moved = table.with_features(tuple(table.features[i] for i in order), table.values[:, order])
    assert np.array_equal(bound_hashes(columns(table), KEY), bound_hashes(columns(moved), KEY))


def test_names_are_part_of_a_bound_hash_and_not_of_an_unbound_one() -> None:
    cells = columns(mixed())
    other = cells.rename(("x", *cells.names[1:]))
    assert not (bound_hashes(cells, KEY) == bound_hashes(other, KEY)).any()
    assert np.array_equal(unbound_hashes(cells, KEY), unbound_hashes(other, KEY))


def test_another_key_gives_other_hashes() -> None:
    cells = columns(mixed())
    assert not np.isin(bound_hashes(cells, KEY), bound_hashes(cells, IdentityKey(b"x" * 32))).any()


def test_the_hash_is_the_keyed_blake2b_of_the_cells() -> None:
    import hashlib

    cells = columns(mixed(5))
    names = hashlib.blake2b(b"a\0b\0c\0d", digest_size=8).digest()
    raw = names + cells.tokens[3].astype("<u8").tobytes()
    digest = hashlib.blake2b(raw, digest_size=8, key=b"k" * 32, person=b"modelsel.row.1").digest()
    assert int(bound_hashes(cells, KEY)[3]) == int.from_bytes(digest, "little")


@pytest.mark.parametrize(
    ("text", "number"),
    [("1", 1.0), ("1.0", 1.0), ("-2.50", -2.5), ("1e3", 1000.0), ("true", 1.0), ("False", 0.0), (" 7 ", 7)],
)
def test_text_that_reads_as_a_number_is_one(text: str, number: float) -> None:
    assert text_tokens([text])[0] == number_tokens(np.array([number]))[0]


def test_other_text_is_text() -> None:
    texts = ["a", "b", "nano", "infinite", "1_000", "é", "-", "+", ".", "1 2"]
    assert len(set(text_tokens(texts).tolist())) == len(texts)
    assert text_tokens(["e\u0301"])[0] == text_tokens(["é"])[0]


@given(st.integers(-(2**53) + 1, 2**53 - 1), st.integers(-(2**53) + 1, 2**53 - 1))
def test_whole_numbers_are_told_apart_exactly(a: int, b: int) -> None:
    tokens = number_tokens(np.array([a, b], np.float64))
    assert (tokens[0] == tokens[1]) == (a == b)


@given(st.floats(1e-300, 1e300))
def test_numbers_are_kept_to_six_digits(x: float) -> None:
    near = float(f"{x:.11g}")
    if near != np.floor(near) and x != np.floor(x):
        apart = abs(float(f"{x:.5e}") - x) / x
        if abs(apart - 5e-6) > 1e-9 and f"{x:.5e}" == f"{near:.5e}":
            assert number_tokens(np.array([x]))[0] == number_tokens(np.array([near]))[0]
    assert number_tokens(np.array([x]))[0] != number_tokens(np.array([x * 1.001 + 1e-305]))[0] or x * 1.001 == x


def test_missing_and_infinite_are_values_of_their_own() -> None:
    tokens = number_tokens(np.array([np.nan, np.inf, -np.inf, 0.0, 1.0]))
    assert len(set(tokens.tolist())) == 5
    assert tokens[0] == 1


def test_minus_zero_is_zero() -> None:
    assert number_tokens(np.array([-0.0]))[0] == number_tokens(np.array([0.0]))[0]


def test_single_precision_is_recognised_in_most_rows() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=(5000, 14))
    table = Table(name="t", features=tuple(Feature(f"x{i}", "numeric") for i in range(14)), values=values, rows=np.arange(5000))
    single = table.with_features(table.features, values.astype(np.float32).astype(np.float64))
    assert (bound_hashes(columns(table), KEY) == bound_hashes(columns(single), KEY)).mean() == pytest.approx(0.887, abs=0.02)


def test_a_set_is_known_in_any_order_and_with_its_repetitions() -> None:
    hashes = bound_hashes(columns(mixed(20)), KEY)
    assert set_digest(hashes, KEY) == set_digest(hashes[::-1], KEY)
    assert set_digest(hashes, KEY) != set_digest(np.append(hashes, hashes[0]), KEY)


def test_an_unseen_level_is_not_a_missing_one() -> None:
    table = mixed(3)
    values = table.values.copy()
    values[:, 2] = [0, 3, np.nan]  # 3 = len(levels): not among the declared ones
    cells = columns(replace(table, values=values)).tokens[:, 2]
    assert len(set(cells.tolist())) == 3


def test_a_number_that_rounds_up_to_the_next_power_is_one_with_what_rounds_down_to_it() -> None:
    up, down, apart = number_tokens(np.array([0.99999996, 1.0000001, 1.00002]), 6)
    assert up == down
    assert up != apart


def test_a_missing_value_is_missing_in_every_kind_of_column() -> None:
    feature = Feature("c", "nominal", ("red", "blue"))
    red, blue, unseen, missing = feature_tokens(feature, np.array([0.0, 1.0, 2.0, np.nan]), 6)
    assert missing == number_tokens(np.array([np.nan]), 6)[0]
    assert len({red, blue, unseen, missing}) == 4
    assert (red, blue) == tuple(text_tokens(("red", "blue"), 6))


@pytest.mark.parametrize("text", ["1_000", "inf", "nan", "infinity", "1e", "+", "0x10"])
def test_what_is_no_number_in_plain_notation_is_a_text(text: str) -> None:
    numbers = {int(one) for one in number_tokens(np.array([1000.0, np.inf, -np.inf, np.nan, 1.0, 16.0, 0.0]), 6)}
    assert int(text_tokens([text], 6)[0]) not in numbers
    assert text_tokens(["1000", "+1e3"], 6).tolist() == number_tokens(np.array([1000.0, 1000.0]), 6).tolist()
