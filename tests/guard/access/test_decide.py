"""What is settled before labels are opened: commitments, interrupted looks, corrected labels, what a seal keeps hidden."""

import traceback
from dataclasses import make_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import text

from modelsel.core.errors import ConfigurationError, ModelselError, StoreError
from modelsel.core.spec import make
from modelsel.guard.gate import Gate
from modelsel.guard.history import History
from modelsel.guard.policy.base import Justify
from modelsel.guard.requests import Handed
from modelsel.ledger.anchors import LockFile
from modelsel.statistics.certificate import SpendingState, interval
from tests.guard.studies import Rule, Study, numbers

FREE = {"declared_space": None}  # nothing declared: every look pays for its index and for what was spent


def test_a_commitment_holds_for_the_training_rows_it_was_made_with(home: Path) -> None:
    study = Study(numbers(), home, settings=FREE)
    study.but(spec="first").choose_only()
    study.gate().commit(study.sealing(), ["first", "second"])
    first = study.but(spec="first").look()
    assert first.spent == 0.0
    assert "G013" in first.flags
    other = study.but(spec="second", rule=Rule(1))
    sealing = other.sealing()
    fewer = replace(sealing, development=sealing.development.take(np.arange(200)))
    late = other.gate().look(other.request(fewer))
    assert "G013" not in late.flags
    assert late.spent > 0


@pytest.mark.slow
def test_a_commitment_is_to_predictions_and_not_to_a_name(home: Path) -> None:
    study = Study(numbers(), home, settings=FREE)
    for spec in ("first", "second"):
        study.but(spec=spec, rule=Rule(2)).choose_only()
    study.gate().commit(study.sealing(), ["first", "second"])
    spent = study.look().price
    late = study.but(spec="second", rule=Rule(1)).look()  # made after an answer
    assert late.spent == pytest.approx(spent)
    assert "G013" not in late.flags


@pytest.mark.slow
def test_a_commitment_pays_for_what_was_spent_on_nearly_the_same_rows(home: Path) -> None:
    study = Study(numbers(), home, settings=FREE)
    spent = [study.but(rule=Rule(column)).look().price for column in range(3)]
    development, test = study.parts()
    sealing = replace(
        study.sealing(), sealed=_sealed(test.take(np.arange(len(test) - 1))), development=development, spec_id="x"
    )
    other = study.but(rule=Rule(3), spec="x")
    other.gate().seal(sealing)
    other.gate().select(sealing, other.request(sealing).selected, other.rule)
    study.gate().commit(sealing, ["x"])
    result = study.gate().look(study.but(rule=Rule(3), spec="x").request(sealing))
    assert "G013" in result.flags
    assert result.look == 4
    assert result.spent == pytest.approx(sum(spent))


def _sealed(task: Any) -> Any:
    from modelsel.core.types import seal

    return seal(task)


def test_an_interrupted_look_goes_on_with_the_rows_that_were_clean_then(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study(numbers(), home, settings=FREE)

    def dies(*_: Any) -> Any:
        raise SystemExit  # stands for a killed process: the intent is on record and nothing else

    with monkeypatch.context() as patch:
        patch.setattr(Gate, "_release_answer", dies)
        with pytest.raises(SystemExit):
            study.look()
    study.but(split_seed=1).choose_only()  # now most of these rows have helped to choose something else
    result = study.look()
    _, test = study.parts()
    errors = int((study.rule(test).predicted[0] != test.target).sum())
    assert (result.look, result.n, result.errors) == (1, len(test), errors)
    assert result.interval == interval(errors, errors, len(test), SpendingState(1, 0.0).nats(0.05))


@pytest.mark.slow
def test_corrected_labels_have_an_answer_of_their_own(home: Path) -> None:
    study = Study(numbers(), home)
    first = study.look()
    _, test = study.parts()
    wrong = int(test.rows[np.flatnonzero(study.rule(test).predicted[0] != test.target)[0]])
    target = study.task.target.copy()
    target[wrong] = 1 - target[wrong]
    corrected = study.but(task=replace(study.task, target=target))
    assert corrected.look().replay  # nothing that is kept can tell: whoever held it could guess labels by it
    said = corrected.but(settings={"justify": Justify("labels", "a rater had mixed up two forms")})
    second = said.look()
    assert not second.replay
    assert first.errors is not None
    assert (second.errors, second.look) == (first.errors - 1, 2)
    assert "G015" in second.flags
    assert "G010" not in second.flags
    again = said.look()
    assert (again.replay, again.errors, again.look) == (True, second.errors, 2)
    assert corrected.look().errors == second.errors  # the latest answer


@pytest.mark.parametrize("size", [1, 0, "many"])
def test_a_declared_space_is_no_smaller_than_the_plan(home: Path, size: object) -> None:
    study = Study(numbers(), home, settings={"declared_space": size}, candidates=("a", "b", "c"))
    with pytest.raises(ConfigurationError, match="at least 3"):
        study.look()


def test_a_set_sealed_to_show_little_shows_no_other_measure(home: Path) -> None:
    study = Study(numbers(), home, policy="ladder")
    study.look()
    result = study.but(policy="warn", measure=make("measure", "balanced_error"), rule=Rule(1)).look()
    assert result.score is None
    assert "guard.release=ladder" in str(result.refused)


def test_a_rounded_set_with_row_weights_shows_no_count(home: Path) -> None:
    task = replace(numbers(), weights=np.random.default_rng(0).uniform(0.5, 2, 400))
    result = Study(task, home, settings={"resolution": 0.05}).look()
    assert result.errors is None
    assert result.score == pytest.approx(round(20 * float(result.score or 0)) / 20)


def test_an_answer_that_cannot_be_recorded_does_not_leave_in_the_error(home: Path) -> None:
    study = Study(numbers(), home)
    study.choose_only()
    refusal = (
        "CREATE TRIGGER full BEFORE INSERT ON entries WHEN NEW.kind = 'reveal' BEGIN SELECT RAISE(ABORT, 'disk full'); END"
    )
    with study.gate().session.ledger._engine.begin() as connection:
        connection.execute(text(refusal))
    with pytest.raises((StoreError, ModelselError)) as caught:
        study.look()
    told = "".join(traceback.format_exception(caught.value))
    assert "disk full" in told
    assert "symbol" not in told
    assert '"score"' not in told


def test_a_measure_that_ends_the_process_tells_nothing_either(home: Path) -> None:
    class Leaving:
        higher_is_better, needs_scores, over_rows, kind = False, False, True, "error"

        def score(self, truth: Any, *_: Any) -> Any:
            raise SystemExit(f"labels are {truth}")

    study = Study(numbers(), home, measure=make_dataclass("Error", [], bases=(Leaving,), frozen=True)())
    with pytest.raises(ModelselError, match=r"the look failed \(SystemExit\)") as caught:
        study.look()
    assert caught.value.__context__ is None


def test_entries_are_in_the_order_of_their_numbers_whatever_the_clock_says(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study(numbers(1000), home, policy="ladder", settings={"resolution": 0.05})
    study.but(rule=Rule(3)).look()
    monkeypatch.setattr("modelsel.guard.entries.now", lambda: "2001-01-01T00:00:00.000000+00:00")
    better, worse = study.look(), study.but(rule=Rule(2)).look()
    assert worse.score == better.score  # the board that was shown last, not the one dated last
    history = History.of(study.gate().session.ledger.entries())
    assert [entry.seq for entry in history.entries] == list(range(1, len(history.entries) + 1))


def test_a_later_look_stays_in_the_lock_file_when_an_earlier_one_is_told_late(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    anchor = LockFile(tmp_path)
    for look in ("2", "1"):
        anchor.witness({"testset": "a", "look": look, "ledger": "l", "head": f"r:{look}:x"})
    assert [facts["look"] for facts in anchor.recall("a")] == ["2"]


def test_what_was_read_once_is_compared_with_what_stands_there_now(home: Path) -> None:
    study = Study(numbers(), home)
    study.look()
    ledger = study.gate().session.ledger
    first, again = ledger.entries(), ledger.entries()
    assert all(one is other for one, other in zip(first, again, strict=True))
    with ledger._engine.begin() as connection:
        connection.execute(text("DROP TRIGGER entries_no_update"))
        connection.execute(text("UPDATE entries SET body = replace(body, 'study', 'other') WHERE seq = 1"))
    assert ledger.everything()[0] != first[0]
    assert first[0] in ledger.entries()  # what a process has read, it does not read again while it is at work,
    assert first[0] not in ledger.entries(anew=True)  # but as every look begins
    assert first[0] not in ledger.entries()


def test_a_justification_does_not_make_another_look_of_the_same(home: Path) -> None:
    study = Study(numbers(), home, policy="strict")
    first = study.look()
    justified = study.but(settings={"justify": Justify("bug", "the label column was shifted by a row")})
    again = justified.look()
    assert again.replay
    assert (again.score, again.look, again.price) == (first.score, 1, 0.0)


def test_a_look_after_the_close_of_an_exam_reads_the_reasons_of_looks_that_have_none(home: Path) -> None:
    study = Study(numbers(), home, policy="strict", settings={"quota": None})
    gate, sealing = study.gate(), study.sealing()
    gate.close(sealing, [Handed("ann", study.rule(sealing.sealed))], 0.2)
    (closed,) = History.of(study.gate().session.ledger.entries()).looks
    assert closed.facts.justify is None
    reason = {"quota": None, "justify": Justify("bug", "the label column was shifted by a row")}
    other = study.but(rule=Rule(1))
    assert other.look().refused
    assert other.but(settings=reason).look().look == 2
    assert "used" in other.but(rule=Rule(2), settings=reason).look().refused
