"""Portraits that agree in days, places or persons alone are of two tables; those of a table in disguise are of one."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from benchmarks.recognition.disguise_tables import drawn
from benchmarks.recognition.guard_disguises import DISGUISES, Disguise
from benchmarks.recognition.guard_shared_designs import KINDS, pair
from modelsel.core.types import Feature, Task
from modelsel.ledger.home import IdentityKey
from modelsel.ledger.portraits.designs import Columns, share_a_design
from modelsel.ledger.portraits.portrait import Portrait
from modelsel.ledger.portraits.portrait import draw_portrait as portrait
from modelsel.ledger.portraits.variables import variables

KEY = IdentityKey(b"k" * 32)


def of(task: Task) -> Portrait:
    found = variables(task)
    assert found is not None
    return Portrait.of(portrait(found, KEY).stored())


@cache
def table() -> Task:
    return drawn(400, "rrsiirdskl", 11)


@pytest.mark.parametrize("index", range(4))
@pytest.mark.parametrize("kind", [kind for kind in KINDS if "panel" not in kind])
def test_tables_on_one_design_are_two(kind: str, index: int) -> None:
    first, second = map(of, pair(kind, index))
    assert share_a_design(second, first)


@pytest.mark.sampled(11)
@pytest.mark.parametrize("disguise", DISGUISES, ids=lambda one: one.name)
def test_a_table_in_disguise_is_one(disguise: Disguise) -> None:
    other = disguise.of(table())
    assert other is not None
    assert not share_a_design(of(other), of(table()))


def swapped(count: int, sound: bool) -> Task:
    """The table with so many columns of numbers in place of which others stand: noise, or what hangs together."""
    rng, values = np.random.default_rng(5), table().values.copy()
    cause = rng.normal(size=len(values))
    for column in range(count):
        values[:, column] = rng.normal(size=len(values)) + (2 * cause if sound else 0)
    features = tuple(Feature(f"new {i}", "numeric") if i < count else one for i, one in enumerate(table().features))
    return table().with_features(features, values)


@pytest.mark.parametrize(("count", "sound", "two"), [(1, True, False), (2, True, True), (2, False, False), (3, True, True)])
def test_columns_speak_against_a_link_where_they_hang_together(count: int, sound: bool, two: bool) -> None:
    assert share_a_design(of(swapped(count, sound)), of(table())) is two


MADE: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda a, b: a / a.std() + b / b.std(), "ratio": lambda a, b: a / (np.abs(b) + b.std()),
    "square": lambda a, b: a**2, "log": lambda a, b: np.log(a - a.min() + a.std()),
    "bins": lambda a, b: np.floor(10 * a.argsort().argsort() / len(a)),
}  # fmt: skip


@pytest.mark.parametrize("made", MADE)
def test_columns_that_were_made_of_others_in_place_of_dropped_ones_leave_one_table(made: str) -> None:
    whole = drawn(400, "rrrrrrrr", 20)
    kept = whole.values[:, 2:]
    new = [MADE[made](kept[:, i], kept[:, i + 1]) for i in (0, 2)]
    features = (*whole.features[2:], *(Feature(f"made {i}", "numeric") for i in range(2)))
    assert not share_a_design(of(whole.with_features(features, np.column_stack([kept, *new]))), of(whole))


@pytest.mark.parametrize(
    ("agreeing", "otherwise", "two"), [(5, 1, True), (6, 1, False), (10, 2, True), (3, 0, False), (0, 1, False), (0, 2, True)]
)
def test_one_column_otherwise_for_five_that_agree(agreeing: int, otherwise: int, two: bool) -> None:
    assert Columns(agreeing, otherwise).two_tables is two


def test_a_portrait_from_before_columns_were_told_counts_each_variable_as_one() -> None:
    found = variables(table())
    assert found is not None
    stored = portrait(found, KEY).stored()
    old = Portrait.of(type(stored)({name: one for name, one in stored.facts.items() if name != "columns"}, stored.arrays))
    assert old.columns.tolist() == list(range(len(old)))
    assert Portrait.of(stored).columns.tolist() == [one.column for one in found.variables]
