"""A look that is being made is not charged to those who ask meanwhile; one that died is, at its highest price."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from modelsel.core.outcome import TestResult
from modelsel.guard import entries
from modelsel.guard.access import authorize
from modelsel.guard.gate import Gate
from tests.guard.attacks.test_forgery import Team
from tests.guard.studies import Rule, Study, numbers


class DiedError(BaseException):
    """Stands for a process that is gone: nothing more is written."""


def meanwhile(monkeypatch: pytest.MonkeyPatch, first: Study, then: Any) -> tuple[TestResult, Any]:
    """A look of one study; while its labels are open, something else happens."""
    opened, found = Gate._open, []

    def opens(gate: Gate, *rest: Any) -> Any:
        monkeypatch.setattr(Gate, "_open", opened)
        found.append(then())
        return opened(gate, *rest)

    monkeypatch.setattr(Gate, "_open", opens)
    return first.look(), found[0]


def dies(monkeypatch: pytest.MonkeyPatch, study: Study) -> None:
    """A look that ends between record and answer, without a word."""

    def released(*_: Any) -> Any:
        raise DiedError

    with monkeypatch.context() as patch:
        patch.setattr(Gate, "_release_answer", released)
        with pytest.raises(DiedError):
            study.look()


@pytest.fixture(params=["a colleague's", "another of this home"])
def pair(request: Any, tmp_path: Path) -> tuple[Study, Study]:
    if request.param == "a colleague's":
        team = Team(tmp_path)
        return team.alice, team.bob
    study = Study(numbers(), tmp_path / "home", settings={"quota": None})
    return study, study.but(rule=Rule(1))


@pytest.mark.slow
def test_a_look_at_work_costs_nothing_yet_and_its_answer_costs_what_it_costs(
    pair: tuple[Study, Study], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = pair
    one, other = meanwhile(monkeypatch, first, second.look)
    assert (one.look, other.look) == (1, 2)
    assert other.spent == 0
    assert "G060" not in other.flags
    third = second.but(rule=Rule(2)).look()
    assert third.look == 3
    assert third.spent == pytest.approx(one.price + other.price)
    assert "G060" not in third.flags


@pytest.mark.slow
def test_a_look_of_this_home_that_died_is_charged_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study(numbers(), tmp_path / "home", settings={"quota": None})
    dies(monkeypatch, study)
    result = study.but(rule=Rule(1)).look()
    assert result.spent > 7
    assert "G060" in result.flags


@pytest.mark.slow
def test_a_colleagues_look_that_died_is_charged_when_its_minute_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    team = Team(tmp_path)
    dies(monkeypatch, team.alice)
    early = team.bob.look()
    assert early.spent == 0
    assert "G060" not in early.flags
    monkeypatch.setattr(authorize, "LEASE", -1.0)
    late = team.bob.but(rule=Rule(2)).look()
    assert late.spent > early.price + 7
    assert "G060" in late.flags


@pytest.mark.slow
def test_a_stated_time_to_come_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    team = Team(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(entries, "now", lambda: (datetime.now(UTC) + timedelta(days=9)).isoformat())
        dies(monkeypatch, team.alice)
    assert "G060" in team.bob.look().flags


def test_no_lock_is_left_behind(tmp_path: Path) -> None:
    Study(numbers(), tmp_path / "home").look()
    assert not list((tmp_path / "home" / "at_work").iterdir())
