"""Choosing leaves a trace under every policy: rows that chose cannot be a certified first look afterwards."""

from dataclasses import replace
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modelsel.core.errors import ConfigurationError
from modelsel.core.spec import make
from modelsel.core.types import Task, seal
from modelsel.guard.gate import Gate
from modelsel.guard.reporting.audit import audit
from modelsel.guard.requests import SelectionSummary, TestSetDeclaration
from modelsel.ledger.home import Home
from modelsel.statistics import prices
from tests.guard.studies import Rule, Study, numbers, renamed, shuffled


def unsealed(task: Task, home: Path, policy: str = "warn", **settings: Any) -> tuple[Gate, TestSetDeclaration]:
    """A study of split=none: all rows choose, none is sealed."""
    gate = Gate(make("guard", policy, **settings), home / "runs", (), Home(home))
    sealing = TestSetDeclaration(
        seal(task.take(np.empty(0, np.int64))), task, make("measure", "error"), "all", "runs/all/1", "all"
    )
    gate.seal(sealing)
    gate.select(sealing, SelectionSummary("best", 0.2, len(task), 0.2, 50))
    return gate, sealing


def kinds(home: Path) -> list[str]:
    return [entry.kind for entry in Gate(make("guard", "warn"), home, (), Home(home)).session.ledger.entries()]


def refused_for(study: Study, code: str) -> bool:
    result = study.but(policy="strict").look()
    return code in result.flags and f"{code}: " in str(result.refused) and result.score is None


@pytest.mark.sampled(2)
@pytest.mark.parametrize("policy", ["off", "warn", "strict", "ladder"])
def test_after_choosing_on_all_rows_a_strict_test_is_refused(home: Path, policy: str) -> None:
    assert Study(numbers(), home / "other", policy="strict").look().refused is None  # the control: nothing chosen before
    unsealed(numbers(), home, policy)
    assert kinds(home) == ["note", "selection"]  # that the rows were opened, and that they chose
    assert refused_for(Study(numbers(), home), "G021")


def test_choosing_on_all_rows_is_recognised_in_disguise(home: Path) -> None:
    unsealed(shuffled(renamed(numbers(), {"x0": "alpha", "x2": "omega"})), home)
    assert refused_for(Study(numbers(), home), "G021")


def test_after_choosing_unguarded_under_another_seed_a_strict_test_is_refused(home: Path) -> None:
    Study(numbers(), home, policy="off", split_seed=5).choose_only()
    assert refused_for(Study(numbers(), home), "G021")


def test_after_an_unguarded_test_under_another_seed_a_strict_test_is_refused(home: Path) -> None:
    result = Study(numbers(), home, policy="off", split_seed=5).look()
    assert (result.refused, result.price, result.spent) == (None, 0.0, 0.0)
    assert refused_for(Study(numbers(), home), "G021")
    assert "G020" in Study(numbers(), home, policy="strict").look().flags


def test_an_unguarded_test_of_the_same_rows_is_a_look_that_strict_counts(home: Path) -> None:
    Study(numbers(), home, policy="off").look()
    refused = Study(numbers(), home, policy="strict", rule=Rule(1)).look().refused
    assert "this would be look 2 of these rows" in str(refused)


def test_unguarded_choosing_on_the_same_split_leaves_the_first_look_a_first_look(home: Path) -> None:
    for column in range(3):
        Study(numbers(), home, policy="off", rule=Rule(column)).choose_only()
    result = Study(numbers(), home, policy="strict").look()
    assert (result.refused, result.look, result.flags) == (None, 1, ("G001",))
    assert kinds(home).count("seal") == 2  # one under off, which binds nobody, and that of strict


def test_numbers_shown_unguarded_are_adaptive_looks_at_full_price(home: Path) -> None:
    study = Study(numbers(), home)
    for column in (1, 2, 3):
        study.but(policy="off", rule=Rule(column)).look()
    later = study.look()
    assert (later.look, later.spent) == (4, pytest.approx(3 * prices.full(120)))
    assert "G076" in later.flags


def test_a_score_that_is_no_count_is_charged_all_that_its_digits_can_say(home: Path) -> None:
    study = Study(numbers(1000), home, measure=make("measure", "auc"))
    study.but(policy="off").look()
    assert study.but(rule=Rule(1)).look().spent == pytest.approx(64 * log(2))
    few = Study(numbers(60), home / "few", measure=make("measure", "auc"))
    few.but(policy="off").look()
    assert few.but(rule=Rule(1)).look().spent == pytest.approx(18 * log(2))  # nor more than all labels


@pytest.mark.slow
def test_the_same_unguarded_number_is_one_contact_however_often_it_is_shown(home: Path) -> None:
    study = Study(numbers(), home, policy="off")
    assert [study.look().score for _ in range(3)] == [study.look().score] * 3
    assert kinds(home) == ["seal", "selection", "intent", "reveal"]
    study.but(rule=Rule(1)).look()
    assert kinds(home).count("reveal") == 2


def test_a_count_that_a_guard_has_shown_is_no_news_without_one(home: Path) -> None:
    first = Study(numbers(), home).look()
    assert Study(numbers(), home, policy="off").look().errors == first.errors
    assert kinds(home).count("intent") == 1
    Study(numbers(seed=1), home, policy="ladder").look()
    Study(numbers(seed=1), home, policy="off").look()  # the board had said less
    assert kinds(home).count("intent") == 3


def test_labels_given_away_unguarded_burn_the_set(home: Path) -> None:
    study = Study(numbers(), home)
    study.but(policy="off").gate().burn(study.sealing())
    later = study.look()
    assert "G061" in later.flags
    assert later.spent == pytest.approx(120 * log(2))


def test_off_binds_no_later_policy(home: Path) -> None:
    study = Study(numbers(), home)
    study.but(policy="off", settings={"release": "full", "delta": 0.2}).choose_only()
    result, gate = study.but(policy="ladder").run()
    assert (result.refused, result.release, result.level) == (None, "ladder", 0.95)
    assert "G073" not in {finding.code for finding in gate.findings}


def test_an_unguarded_look_that_died_is_charged_and_not_taken_up(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(*_: object) -> None:
        raise SystemExit

    study = Study(numbers(), home)
    with monkeypatch.context() as patch:
        patch.setattr("modelsel.guard.gate.truth", dies)
        with pytest.raises(SystemExit):
            study.but(policy="off").look()
    later = study.look()
    assert (later.look, later.spent) == (2, pytest.approx(prices.full(120)))
    assert "G060" in later.flags


@pytest.mark.parametrize("policy", ["off", "warn"])
def test_a_ledger_that_cannot_be_written_stops_all_but_off_which_says_so(home: Path, policy: str) -> None:
    from modelsel.core.errors import StoreError

    home.parent.mkdir(parents=True, exist_ok=True)
    home.write_text("a file stands where the folder should be")
    study = Study(numbers(), home, policy=policy)
    if policy == "warn":
        with pytest.raises(StoreError):
            study.look()
        return
    result, gate = study.run()
    assert result.score is not None
    assert result.flags == ("G003", "G004")
    assert "could not take" in next(finding.message for finding in gate.findings if finding.code == "G004")
    assert audit(gate, study.sealing())["ledger"]["intact"] is None


def test_a_damaged_ledger_does_not_stop_off(home: Path) -> None:
    Study(numbers(), home).look()
    for part in home.glob("ledger.db-*"):
        part.unlink()
    (home / "ledger.db").write_bytes(b"no ledger" * 1000)
    result = Study(numbers(), home, policy="off").look()
    assert (result.score is not None, result.flags) == (True, ("G003", "G004"))


def test_nothing_is_kept_where_that_is_said_and_it_is_said_loudly(home: Path) -> None:
    (home.parent / ".git").mkdir()
    study = Study(numbers(), home, policy="warn", settings={"remember": False}, runs=home.parent / "runs")
    result, gate = study.run()
    assert not home.exists()
    assert (result.look, result.interval, result.flags) == (0, None, ("G003", "G004"))
    assert [finding.severity for finding in gate.findings if finding.code == "G004"] == ["high"]
    assert '"not_remembered"' in (home.parent / "modelsel.lock").read_text()
    assert audit(gate, study.sealing())["flags"][0]["code"] == "G004"
    assert Study(numbers(), home).look().look == 1


@pytest.mark.parametrize("policy", ["strict", "ladder", "thresholdout"])
def test_policies_that_refuse_by_memory_do_not_go_without(home: Path, policy: str) -> None:
    with pytest.raises(ConfigurationError, match=r"guard\.remember"):
        Study(numbers(), home, policy=policy, settings={"remember": False}).look()


def test_the_seal_under_off_keeps_the_rows_of_both_sides(home: Path) -> None:
    study = Study(numbers(), home, policy="off")
    study.choose_only()
    (entry,) = [one for one in study.gate().session.ledger.entries() if one.kind == "seal"]
    assert entry.facts["rows"]
    assert entry.facts["development"]
    again = replace(study, policy="strict", split_seed=9).look()
    assert "G021" in again.flags
