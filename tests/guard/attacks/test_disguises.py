"""A table that was looked at is known again in disguise, and tables that share no row are not taken for each other."""

import shutil
from functools import cache
from pathlib import Path

import pytest

from benchmarks.recognition.disguise_tables import drawn
from benchmarks.recognition.guard_disguises import DISGUISES, Disguise, look
from benchmarks.recognition.guard_false_alarms import KINDS, accusations, pair
from benchmarks.recognition.guard_shared_designs import KINDS as DESIGNS
from benchmarks.recognition.guard_shared_designs import pair as of_one_design
from modelsel.core.types import Task

OPEN = {"levels as codes"}  # as the reviewer's page says


@cache
def table() -> Task:
    return drawn(300, "iiirsdkllb", 11)


@pytest.fixture(scope="module")
def looked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("looked")
    assert look(home, table(), 0) == "answered"
    return home


@pytest.mark.slow
@pytest.mark.parametrize("disguise", [one for one in DISGUISES if one.name not in OPEN], ids=lambda one: one.name)
def test_a_disguised_table_is_refused(looked: Path, tmp_path: Path, disguise: Disguise) -> None:
    other = disguise.of(table())
    assert other is not None
    shutil.copytree(looked, tmp_path / "home")
    assert look(tmp_path / "home", other, 1 if disguise.reseeded else 0, "another") == "refused"


@pytest.mark.slow
@pytest.mark.parametrize("index", range(8))
@pytest.mark.parametrize("kind", KINDS)
def test_tables_that_share_no_row_are_accused_of_nothing(kind: str, index: int) -> None:
    assert accusations(pair(kind, index)) == ()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("index", [1, *(pytest.param(i, marks=pytest.mark.slow) for i in range(2, 10))])
@pytest.mark.parametrize("kind", DESIGNS)
def test_tables_that_share_days_places_or_persons_are_accused_of_nothing(kind: str, index: int) -> None:
    assert accusations(of_one_design(kind, index)) == ()
