"""Portraits that agree in days, places or persons alone are of two tables; those of a table in disguise are of one."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from benchmarks.recognition.disguise_tables import drawn
from benchmarks.recognition.guard_disguises import DISGUISES, Disguise
from benchmarks.recognition.guard_shared_designs import KINDS, pair
from modelsel.core.types import Feature, Floats, Task
from modelsel.ledger.home import IdentityKey
from modelsel.ledger.portraits.designs import TableSketch, equal_by_chance
from modelsel.ledger.portraits.portrait import Portrait
from modelsel.ledger.portraits.portrait import draw_portrait as portrait
from modelsel.ledger.portraits.variables import variables
from modelsel.ledger.rows.identity import columns
from modelsel.ledger.rows.matching import sketches, table_set, table_sketches

KEY = IdentityKey(b"k" * 32)


def of(task: Task) -> TableSketch:
    """What a seal keeps of a table."""
    found = variables(task)
    assert found is not None
    stored = table_set(sketches(columns(task), KEY), len(task))
    return TableSketch(table_sketches(stored), len(task), Portrait.of(portrait(found, KEY).stored()))


def are_two(one: Task, other: Task) -> bool:
    return equal_by_chance(of(other), of(one)) is not None


@cache
def table() -> Task:
    return drawn(400, "rrsiirdskl", 11)


@pytest.mark.parametrize("index", range(4))
@pytest.mark.parametrize("kind", KINDS)
def test_tables_on_one_design_are_two(kind: str, index: int) -> None:
    """A panel shares no column to the last digit that tells persons: there is no link to speak against."""
    first, second = pair(kind, index)
    assert are_two(first, second) or "panel" in kind


@pytest.mark.sampled(11)
@pytest.mark.parametrize("disguise", DISGUISES, ids=lambda one: one.name)
def test_a_table_in_disguise_is_one(disguise: Disguise) -> None:
    other = disguise.of(table())
    assert other is not None
    assert not are_two(table(), other)


def swapped(count: int, sound: bool) -> Task:
    """The table with so many columns of numbers in place of which others stand: noise, or what hangs together."""
    rng, values = np.random.default_rng(5), table().values.copy()
    cause = rng.normal(size=len(values))
    for column in range(count):
        values[:, column] = rng.normal(size=len(values)) + (2 * cause if sound else 0)
    features = tuple(Feature(f"new {i}", "numeric") if i < count else one for i, one in enumerate(table().features))
    return table().with_features(features, values)


@pytest.mark.parametrize(("count", "two"), [(0, False), (1, True), (3, True)])
@pytest.mark.parametrize("sound", [True, False])
def test_columns_of_either_side_alone_speak_against_a_link(count: int, sound: bool, two: bool) -> None:
    assert are_two(table(), swapped(count, sound)) is two


def beside(own: Floats) -> Task:
    """Three columns of a design of two hundred rows, and one more."""
    places = np.random.default_rng(3).normal(size=(200, 3)).round(4)
    values = np.column_stack([places, own])
    features = tuple(Feature(f"x{i}", "numeric") for i in range(4))
    target = (places[:, 0] > 0).astype(np.int32)
    return Task(name="t", features=features, values=values, rows=np.arange(200), classes=("no", "yes"), target=target)


CHANGES: dict[str, Callable[[Any, Any], Any]] = {
    "unit": lambda x, _: 1.8 * x + 32, "rounded": lambda x, _: x.round(1), "log": lambda x, _: np.log(x - x.min() + 1),
    "noise of 1 %": lambda x, rng: x + 0.01 * rng.normal(size=len(x)),
    "noise of 10 %": lambda x, rng: x + 0.1 * rng.normal(size=len(x)),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("seed", range(3))
def test_one_own_column_that_agrees_as_a_copy_does_is_evidence_of_the_same_rows(change: str, seed: int) -> None:
    rng = np.random.default_rng([7, seed])
    own = rng.normal(size=200)
    assert not are_two(beside(own), beside(CHANGES[change](own, rng)))


@pytest.mark.parametrize("r", [0.0, 0.5, 0.8])
@pytest.mark.parametrize("seed", range(5))
def test_columns_that_are_correlated_row_by_row_are_two_measurements(r: float, seed: int) -> None:
    rng = np.random.default_rng([8, seed])
    own = rng.normal(size=200)
    assert are_two(beside(own), beside(r * own + (1 - r**2) ** 0.5 * rng.normal(size=200)))


MADE: dict[str, Callable[[Any, Any], Any]] = {
    "sum": lambda a, b: a / a.std() + b / b.std(), "square": lambda a, b: a**2,
    "log": lambda a, b: np.log(a - a.min() + a.std()),
    "bins": lambda a, b: np.floor(10 * a.argsort().argsort() / len(a)),
}  # fmt: skip


@pytest.mark.parametrize("made", MADE)
def test_columns_that_were_made_of_others_in_place_of_dropped_ones_leave_one_table(made: str) -> None:
    whole = drawn(400, "rrrrrrrr", 20)
    kept = whole.values[:, 2:]
    new = [MADE[made](kept[:, i], kept[:, i + 1]) for i in (0, 2)]
    features = (*whole.features[2:], *(Feature(f"made {i}", "numeric") for i in range(2)))
    assert not are_two(whole, whole.with_features(features, np.column_stack([kept, *new])))


def test_rows_of_one_design_are_equal_by_chance_as_often_as_values_repeat() -> None:
    rng = np.random.default_rng(1)
    chance = equal_by_chance(of(beside(rng.integers(0, 3, 200).astype(float))), of(beside(rng.normal(size=200))))
    assert chance == pytest.approx(1 / 3, abs=0.02)


def test_a_portrait_from_before_columns_were_told_counts_each_variable_as_one() -> None:
    found = variables(table())
    assert found is not None
    stored = portrait(found, KEY).stored()
    old = Portrait.of(type(stored)({name: one for name, one in stored.facts.items() if name != "columns"}, stored.arrays))
    assert old.columns.tolist() == list(range(len(old)))
    assert Portrait.of(stored).columns.tolist() == [one.column for one in found.variables]
