"""Copies that nobody declared: counted once within the sealed rows, dropped or withheld across the split."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.recognition import guard_copies, guard_natural
from benchmarks.recognition.guard_copies import KINDS, cell, misses
from modelsel.core.types import Task, seal
from modelsel.guard.copied_units import sealed_copies
from modelsel.guard.requests import TestSetDeclaration
from tests.guard.studies import numbers


def sealing(development: Task, test: Task) -> TestSetDeclaration:
    return TestSetDeclaration(seal(test), development, None, "study", "runs/1", "spec")  # type: ignore[arg-type]


def test_sealed_copies_are_units_and_development_rows_are_none_of_their_business() -> None:
    whole = numbers(160)
    found = sealed_copies(sealing(whole.take(np.arange(120)), whole.take(np.repeat(np.arange(120, 160), 5))))
    assert found.unit is not None
    assert len(np.unique(found.unit)) == 40
    assert not found.across.any()
    assert not found.hinder


@pytest.mark.parametrize(("shared", "hinder"), [(2, False), (30, True)])
def test_copies_across_the_split_are_dropped_and_many_hinder(shared: int, hinder: bool) -> None:
    """Every development row stands there four times; some stand among a hundred sealed rows, too."""
    whole = numbers(200)
    whole = replace(whole, target=np.random.default_rng(1).integers(0, 2, 200).astype(np.int32))
    development = whole.take(np.repeat(np.arange(100), 4))
    found = sealed_copies(sealing(development, whole.take(np.r_[np.arange(shared), np.arange(100, 200 - shared)])))
    assert found.across.sum() == shared
    assert found.hinder == hinder
    assert found.dropped.sum() == (0 if hinder else shared)


def test_what_is_declared_stands() -> None:
    whole = numbers(160)
    test = whole.take(np.repeat(np.arange(120, 160), 5))
    found = sealed_copies(sealing(whole.take(np.arange(120)), replace(test, groups=np.arange(200) // 2)))
    assert found.unit is None
    assert not found.hinder


def test_a_look_at_copies_of_noise_is_withheld_or_right() -> None:
    assert cell("one added", 4, 0) is None
    limits = cell("exact", 4, 0, sealed_alone=True)
    assert limits is not None
    assert limits[0] <= 0.5 <= limits[1]


@pytest.mark.slow
@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("kind", [*KINDS, "few columns"])
def test_without_a_ledger_the_interval_is_that_of_a_look(kind: str, alone: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    read = cell(kind, 4, 3, alone)
    monkeypatch.setattr(guard_copies, "read", guard_copies.look)
    assert cell(kind, 4, 3, alone) == read


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*KINDS, "few columns"])
@pytest.mark.parametrize("times", [2, 4, 20])
def test_what_is_certified_of_copies_misses_as_seldom_as_it_says(kind: str, times: int) -> None:
    for alone in (False, True):
        assert misses(kind, times, 100, alone)[1] <= 13


@pytest.mark.slow
def test_natural_tables_are_not_touched() -> None:
    assert guard_natural.main(None, 2) == 0
