"""Which variables a table has: levels, numbers and rows, each just enough and one too few."""

from collections.abc import Sequence

import numpy as np
import pytest

from modelsel.core.types import Feature, Table, Task
from modelsel.ledger.portraits import variables as variables_
from modelsel.ledger.portraits.variables import FEWEST, MOST, variables
from modelsel.ledger.rows.channels import Order


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


@pytest.mark.parametrize(("numbers", "orders"), [(1, 3), (10, 3), (11, 2), (15, 2), (16, 1)])
def test_many_numbers_have_fewer_features_each(numbers: int, orders: int) -> None:
    rng = np.random.default_rng(0)
    levels = tuple("abcdefghij")
    values = np.column_stack([rng.normal(size=(400, numbers)), rng.integers(0, 10, (400, 4))])
    features = tuple(
        Feature(f"x{i}", "numeric" if i < numbers else "nominal", levels[: 10 * (i >= numbers)]) for i in range(numbers + 4)
    )
    target = np.zeros(400, np.int32)
    found = variables(Task(name="t", features=features, values=values, rows=np.arange(400), classes=("0", "1"), target=target))
    assert found is not None
    assert found.orders == orders
    assert len(found) == MOST  # levels have the room that numbers leave
    assert found.binary.sum() == MOST - orders * numbers


@pytest.mark.parametrize(("levels", "part"), [(40, True), (41, False)])
def test_columns_of_many_levels_take_no_part(levels: int, part: bool) -> None:
    rng = np.random.default_rng(0)
    codes = np.where(rng.random(400) < 0.5, 0, np.arange(400) % levels)
    features = (
        Feature("city", "nominal", tuple(f"c{i}" for i in range(levels))),
        Feature("x", "numeric"),
        Feature("y", "numeric"),
    )
    values, target = np.column_stack([codes, rng.normal(size=(400, 2))]), np.zeros(400, np.int32)
    found = variables(Task(name="t", features=features, values=values, rows=np.arange(400), classes=("0", "1"), target=target))
    assert found is not None
    assert ("city=c0" in found.labels) == part


def test_levels_nearest_to_half_of_the_rows_have_the_room_that_numbers_leave() -> None:
    rng = np.random.default_rng(0)
    shares = np.linspace(0.1, 0.9, 25)
    levels = np.column_stack([rng.permutation(400) < share * 400 for share in shares])
    values = np.column_stack([rng.normal(size=(400, 10)), levels])
    features = tuple(Feature(f"x{i}", "nominal" if i >= 10 else "numeric", ("no", "yes") if i >= 10 else ()) for i in range(35))
    found = variables(Table(name="", features=features, values=values, rows=np.arange(400)))
    assert found is not None
    counts = np.array([one.count for one in found.variables if one.level is not None])
    assert len(counts) == MOST - 30
    assert abs(counts / 400 - 0.5).max() <= np.sort(abs(shares - 0.5))[MOST - 30 - 1] + 1e-9


@pytest.mark.parametrize(("rows", "orders"), [(199, 3), (200, 3), (201, 1)])
def test_numbers_of_more_rows_than_that_have_one_feature(rows: int, orders: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(variables_, "LARGE", 200)
    found = variables(table(numbers(rows), numbers(rows, 1)))
    assert found is not None
    assert found.orders == orders


def test_a_level_is_one_where_a_row_has_it() -> None:
    codes = np.array([0, 1, 2, np.nan] * 50)
    codes[:7] = 0
    found = variables(table(codes, numbers(200), levels={0: ("a", "b", "c")}))
    assert found is not None
    assert found.labels == ("x1", "x0=a", "x0=b", "x0=c")
    for index, one in enumerate(found.variables):
        if one.level is not None:
            assert found.values(index).tolist() == [float(code == one.level) for code in codes]
            assert one.count == (codes == one.level).sum()
    assert found.binary.tolist() == [False, True, True, True]
