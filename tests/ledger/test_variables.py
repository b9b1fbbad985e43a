"""Which variables a table has: levels, numbers and rows, each just enough and one too few."""

from collections.abc import Sequence

import numpy as np
import pytest

from modelsel.core.types import Feature, Table
from modelsel.ledger.portraits.variables import FEWEST, MOST, variables
from modelsel.ledger.rows.order import Order


def table(*columns: Sequence[float], levels: dict[int, tuple[str, ...]] | None = None) -> Table:
    kinds = [("nominal", levels[place]) if levels and place in levels else ("numeric", ()) for place in range(len(columns))]
    features = tuple(Feature(f"x{place}", *kind) for place, kind in enumerate(kinds))  # type: ignore[arg-type]
    return Table(name="", features=features, values=np.column_stack(columns).astype(float), rows=np.arange(len(columns[0])))


def numbers(rows: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=rows)


def labels(*columns: Sequence[float], levels: dict[int, tuple[str, ...]] | None = None) -> tuple[str, ...]:
    """The variables beside two columns of numbers."""
    rows = len(columns[0])
    found = variables(table(*columns, numbers(rows), numbers(rows, 1), levels=levels))
    assert found is not None
    own = (f"x{len(columns)}", f"x{len(columns) + 1}")
    return tuple(label for label in found.labels if label not in own)


@pytest.mark.parametrize(
    ("rows", "columns", "there"), [(FEWEST, 2, True), (FEWEST - 1, 2, False), (FEWEST, 1, False), (200, 1, False)]
)
def test_sixty_rows_and_two_variables_make_a_portrait(rows: int, columns: int, there: bool) -> None:
    found = variables(table(*(numbers(rows, seed) for seed in range(columns))))
    assert (found is not None) == there
    assert found is None or found.labels == ("x0", "x1")


@pytest.mark.parametrize(
    ("rows", "has", "part"),
    [(400, 9, False), (400, 10, True), (400, 390, True), (400, 391, False), (1000, 19, False), (1000, 20, True),
     (1000, 980, True), (1000, 981, False)],
)  # fmt: skip
def test_a_level_needs_ten_rows_and_two_in_a_hundred_on_either_side(rows: int, has: int, part: bool) -> None:
    codes = np.where(np.arange(rows) < has, 0, np.where(np.arange(rows) % 2, 1, 2))
    assert ("x0=a" in labels(codes, levels={0: ("a", "b", "c")})) == part


@pytest.mark.parametrize(("distinct", "number", "levels"), [(2, False, 1), (3, True, 3), (10, True, 10), (11, True, 0)])
def test_numbers_are_more_than_two_and_levels_too_up_to_ten(distinct: int, number: bool, levels: int) -> None:
    found = labels(np.arange(440) % distinct)
    assert ("x0" in found) == number
    assert sum(label.startswith("x0=") for label in found) == levels  # of two levels the one is the other's absence


def test_numbers_that_come_after_a_thousand_rows_count() -> None:
    row = np.arange(1300)
    late = np.where(row < 1000, row % 2, 2 + row % 3)
    many = np.where(row < 1000, row % 10, 10)
    found = labels(late, many)
    assert "x0" in found
    assert "x0=0" in found
    assert not any(label.startswith("x1=") for label in found)


def test_levels_that_part_the_rows_alike_are_one_variable() -> None:
    even = np.arange(400) % 2
    found = labels(even, 1 - even, levels={0: ("no", "yes"), 1: ("a", "b")})
    assert len(found) == 1
    other = np.where(np.arange(400) < 13, 1 - even, even)
    assert len(labels(even, other, levels={0: ("no", "yes"), 1: ("a", "b")})) == 2


@pytest.mark.parametrize("count", [MOST, MOST + 1, MOST + 7])
def test_of_very_many_numbers_the_most_and_the_least_even_take_part(count: int) -> None:
    shapes = [np.sign(numbers(100, seed)) * np.abs(numbers(100, seed)) ** (0.2 + seed / 20) for seed in range(count)]
    found = variables(table(*shapes))
    assert found is not None
    even = [np.abs((one - one.mean()) / one.std()).mean() for one in shapes]
    order = np.argsort(even)
    kept = range(count) if count <= MOST else sorted([*order[: MOST // 2], *order[-MOST // 2 :]])
    assert found.labels == tuple(f"x{index}" for index in kept)


@pytest.mark.parametrize("missing", [False, True])
def test_with_the_ranks_at_hand_links_are_the_same(missing: bool) -> None:
    columns = [numbers(200).round(1), numbers(200, 1), np.arange(200) % 3]
    columns[0][::7] = np.nan if missing else 0.0
    whole = table(*columns, levels={2: ("a", "b", "c")})
    plain, ranked = variables(whole), variables(whole, Order(whole))
    assert plain is not None
    assert ranked is not None
    assert bool(ranked.dense) is not missing
    some = np.arange(0, 200, 2)
    for view in ("value", "rank"):
        assert np.array_equal(plain.links(None, view), ranked.links(None, view), equal_nan=True)
        assert np.array_equal(plain.links(some, view), ranked.links(some, view), equal_nan=True)
