"""The first form of the guard: replay, recognition, refusal, order of events."""

import copy
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modelsel.core.errors import ConfigurationError, LedgerError, ModelselError, StoreError
from modelsel.core.types import Outputs, Table
from modelsel.guard.reporting.audit import audit
from modelsel.guard.reporting.page import markdown
from modelsel.statistics import prices
from modelsel.statistics.certificate import SpendingState, interval
from tests.guard.studies import Rule, Study, numbers, renamed, shuffled


def truth(study: Study) -> int:
    """The error count, computed without the gate."""
    _, test = study.parts()
    return int((study.rule(test).predicted[0] != test.target).sum())


def entries(study: Study) -> list[Any]:
    return study.gate().session.ledger.entries()


def kinds(study: Study) -> list[str]:
    return [entry.kind for entry in entries(study)]


def test_a_first_look_shows_the_exact_count_and_a_certified_interval(home: Path) -> None:
    study = Study(numbers(), home)
    result = study.look()
    errors = truth(study)
    assert (result.errors, result.n, result.look, result.replay) == (errors, 120, 1, False)
    assert result.score == errors / 120
    assert result.interval == interval(errors, errors, 120, SpendingState(1, 0.0).nats(0.05))
    wrong = float((study.rule(study.parts()[0]).predicted[0] != study.parts()[0].target).mean())
    assert result.price == pytest.approx(prices.price_of_count(errors, 120, wrong, 280), abs=1e-5)
    assert result.flags == ("G001",)


def test_the_identical_study_is_a_replay(home: Path) -> None:
    first, again = Study(numbers(), home).look(), Study(numbers(), home).look()
    assert again == replace(first, replay=True, price=0.0, flags=("G002",))
    assert kinds(Study(numbers(), home)) == ["seal", "selection", "intent", "reveal", "replay"]


def test_equal_predictions_under_another_specification_are_a_replay(home: Path) -> None:
    first = Study(numbers(), home, spec="a").look()
    again = Study(numbers(), home, spec="b").look()
    assert (again.replay, again.price, again.score) == (True, 0.0, first.score)


def test_another_study_pays_for_the_answer_before(home: Path) -> None:
    first = Study(numbers(), home).look()
    second = Study(numbers(), home, rule=Rule(1)).look()
    assert (second.look, second.spent) == (2, pytest.approx(first.price))
    assert second.interval is not None
    assert second.errors is not None
    assert second.interval == pytest.approx(
        interval(second.errors, second.errors, 120, SpendingState(2, first.price).nats(0.05))
    )
    assert "G012" in second.flags


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "disguise",
    [
        shuffled,
        lambda task: renamed(task, {"x0": "alpha", "x3": "omega"}),
        lambda task: shuffled(renamed(task, {f"x{i}": f"y{3 - i}" for i in range(4)})),
        lambda task: replace(task, name="other", rows=task.rows + 1000),
        lambda task: task.with_features(task.features[::-1], task.values[:, ::-1]),
    ],
)
def test_the_same_test_rows_are_recognised_in_any_disguise(home: Path, disguise: Callable[[Any], Any]) -> None:
    Study(numbers(), home).look()
    development, test = Study(numbers(), home).parts()
    study = Study(numbers(), home, rule=Rule(1))
    object.__setattr__(study, "parts", lambda: (disguise(development), disguise(test)))
    assert study.look().look == 2


def test_a_new_seed_is_flagged_with_the_true_shares(home: Path) -> None:
    study = Study(numbers(), home)
    study.look()
    reseeded = study.but(task=shuffled(renamed(numbers(), {"x0": "alpha"})), split_seed=5)
    old = {row.tobytes() for row in study.parts()[1].values}
    new = [row.tobytes() for row in reseeded.parts()[1].values]
    seen = sum(row in old for row in new)
    result, gate = reseeded.run()
    overlap = {one["as"]: one for one in audit(gate)["test_sets"][1]["looks"][0]["overlap"]}
    assert overlap["test"]["rows"] == seen
    assert overlap["selection"]["rows"] == 120 - seen
    assert {"G020", "G021"} <= set(result.flags)
    assert result.n == seen  # what never helped to choose
    assert result.look == 2


@pytest.mark.slow
def test_strict_refuses_a_second_look_and_accepts_a_justified_one_once(home: Path) -> None:
    study = Study(numbers(), home, policy="strict")
    assert study.look().refused is None
    other = study.but(rule=Rule(1))
    result = other.look()
    assert result.refused is not None
    assert "guard.justify" in result.refused
    assert (result.score, result.errors, result.interval) == (None, None, None)
    reason = {"justify": _justify("bug", "the target column was read with the wrong sign")}
    assert other.but(settings=reason).look().look == 2
    assert "used before" in str(study.but(rule=Rule(2), settings=reason).look().refused)
    short = {"justify": _justify("bug", "too short")}
    assert "20 characters" in str(study.but(rule=Rule(2), settings=short).look().refused)
    empty = {"justify": _justify("bug", "a" * 25)}
    assert "in words" in str(study.but(rule=Rule(2), settings=empty).look().refused)
    assert study.look().replay  # the identical study is still answered
    page = markdown(audit(study.gate()))
    who = study.gate().session.ledger.entries()[-1].facts
    assert f"justified by {who['user']}@{who['host']} (bug): the target column was read" in page


@pytest.mark.parametrize("text", ["ab ab ab ab ab ab ab ab ab", "- - - - - - - - - - - - -", "1 2 3 4 5 6 7 8 9 10 11 12"])
def test_a_justification_is_made_of_different_words(home: Path, text: str) -> None:
    study = Study(numbers(), home, policy="strict")
    study.look()
    settings = {"justify": _justify("bug", text)}
    assert "in words" in str(study.but(rule=Rule(1), settings=settings).look().refused)


def test_a_justification_may_be_written_in_a_script_without_spaces(home: Path) -> None:
    study = Study(numbers(), home, policy="strict")
    study.look()
    settings = {"justify": _justify("bug", "目标列的符号读取错误因此必须在修正之后重新评估一次测试集")}
    assert study.but(rule=Rule(1), settings=settings).look().look == 2


def _justify(category: str, text: str) -> Any:
    from modelsel.guard.policy.base import Justify

    return Justify(category, text)


def test_off_shows_the_score_without_interval_and_is_seen_and_charged_afterwards(home: Path) -> None:
    study = Study(numbers(), home)
    result = study.but(policy="off").look()
    assert (result.errors, result.interval, result.look, result.flags) == (truth(study), None, 0, ("G003",))
    assert kinds(study) == ["seal", "selection", "intent", "reveal"]
    later, gate = study.run()
    assert later.look == 2
    assert later.spent == pytest.approx(prices.full(120))
    assert "G076" in [finding.code for finding in gate.findings]


def test_the_intent_is_on_disk_before_labels_are_opened_and_the_reveal_before_the_answer(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import modelsel.guard.gate as gate_module

    study, seen = Study(numbers(), home), []
    real = gate_module.truth

    def watched(*arguments: Any) -> Any:
        seen.append(kinds(study))
        return real(*arguments)

    monkeypatch.setattr(gate_module, "truth", watched)
    study.look()
    assert seen == [["seal", "selection", "intent"]]
    assert kinds(study) == ["seal", "selection", "intent", "reveal"]


class Broken(Exception):
    """Carries what must not be shown."""


def test_an_exception_while_labels_are_open_is_charged_and_tells_its_type_alone(home: Path) -> None:
    class Failing:
        higher_is_better, needs_scores, over_rows, kind = False, False, True, "error"

        def score(self, truth: Any, *_: Any) -> Any:
            raise Broken(f"labels are {truth}")

    from dataclasses import make_dataclass

    measure = make_dataclass("Error", [], bases=(Failing,), frozen=True)()
    study = Study(numbers(), home, measure=measure)
    with pytest.raises(ModelselError, match=r"the look failed \(Broken\)") as caught:
        study.look()
    assert "labels are" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert kinds(study)[-1] == "abort"
    assert "labels" not in entries(study)[-1].body
    second = Study(numbers(), home, rule=Rule(1)).look()
    assert second.look == 2
    assert second.spent > 13


@pytest.mark.slow
def test_an_interrupted_look_is_counted_until_the_same_study_resolves_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study(numbers(), home)
    with monkeypatch.context() as patch:
        patch.setattr("modelsel.guard.access.looks.reveal", _killed)
        with pytest.raises(SystemError):
            study.look()
    assert kinds(study)[-1] == "intent"
    assert [flag["code"] for flag in audit(study.gate())["flags"]] == ["G001", "G060"]
    other = study.but(rule=Rule(1)).look()
    assert "G060" in other.flags
    assert other.look == 2
    assert other.spent > 13
    resolved = study.look()
    assert (resolved.look, resolved.replay, resolved.errors) == (1, False, truth(study))
    third = study.but(rule=Rule(2)).look()
    assert third.look == 3
    assert "G060" not in third.flags


def _killed(*_: Any) -> None:
    raise SystemError("the process was killed here")


@pytest.mark.slow
def test_a_declared_space_costs_ln_two_and_bounds_later_looks(home: Path) -> None:
    names = tuple(str(Rule(column)) for column in range(4))
    study = Study(numbers(), home, candidates=names, settings={"quota": None})
    for column in (0, 1, 2):
        study.but(rule=Rule(column)).choose_only()  # puts the predictions on record
    first = study.look()
    assert "G016" in first.flags
    assert first.errors is not None
    assert first.interval == interval(first.errors, first.errors, 120, SpendingState(1, 0.0, 4, member=True).nats(0.05))
    third = [study.but(rule=Rule(column)).look() for column in (1, 2)][-1]
    assert third.errors is not None
    assert third.interval == interval(third.errors, third.errors, 120, SpendingState(3, third.spent, 4, member=True).nats(0.05))
    late = study.but(rule=Rule(3)).look()  # declared by its name alone
    assert late.errors is not None
    assert late.interval == interval(late.errors, late.errors, 120, SpendingState(4, late.spent, 4, member=False).nats(0.05))
    outside = study.but(rule=Rule(0, 0.7), candidates=(*names, str(Rule(0, 0.7)))).look()
    assert "G014" in outside.flags


@pytest.mark.parametrize("release", ["full", "grid", "predicted"])
def test_release_modes_of_counts(home: Path, release: str) -> None:
    resolution = {"full": "count", "grid": 0.05, "predicted": "auto"}[release]
    study = Study(numbers(), home, settings={"release": release, "resolution": resolution})
    result = study.look()
    assert result.interval is not None
    assert result.interval[0] < truth(study) / 120 < result.interval[1]
    if release == "full":
        assert result.price == pytest.approx(prices.full(120), abs=1e-5)
    else:
        assert result.errors is None
        assert result.score == round(result.score * 20) / 20  # type: ignore[operator]


def test_the_seal_comes_first_and_what_is_sealed_stays(home: Path) -> None:
    study = Study(numbers(), home)
    study.choose_only()
    assert kinds(study) == ["seal", "selection"]
    result, gate = study.but(settings={"delta": 0.2}).run()
    assert result.level == 0.95
    assert "G073" in [finding.code for finding in gate.findings]
    assert "policy_change" in kinds(study)


def test_more_selection_without_a_test_is_silent(home: Path) -> None:
    study = Study(numbers(), home)
    study.choose_only()
    study.but(rule=Rule(1)).choose_only()
    assert study.but(rule=Rule(1, 0.1)).look().flags == ("G001",)


def test_a_gate_does_not_travel_and_neither_do_labels(home: Path) -> None:
    study = Study(numbers(), home)
    gate, sealing = study.gate(), study.sealing()
    for travel in (pickle.dumps, copy.deepcopy):
        with pytest.raises(TypeError, match="does not travel"):
            travel(gate)
    assert sealing.sealed.schema_fingerprint  # kept beside the fields, and no part of what travels
    raw = pickle.dumps(sealing.sealed)
    assert study.parts()[1].target.tobytes() not in raw
    orphan = replace(sealing, sealed=pickle.loads(raw))
    with pytest.raises(KeyError):
        gate.look(study.request(orphan))


def test_a_ledger_that_cannot_be_written_shows_no_score(home: Path) -> None:
    home.parent.mkdir(exist_ok=True)
    home.write_text("a file where the folder should be")
    with pytest.raises(StoreError) as caught:
        Study(numbers(), home).look()
    assert caught.value.exit_code == 6


def test_a_changed_ledger_shows_no_score(home: Path) -> None:
    import sqlite3

    study = Study(numbers(), home)
    study.look()
    with sqlite3.connect(home / "ledger.db") as raw:
        raw.execute("DROP TRIGGER entries_no_update")
        raw.execute("UPDATE entries SET body = replace(body, '\"look\":1', '\"look\":0')")
    with pytest.raises(LedgerError, match="entry 3: its contents were changed") as caught:
        study.but(rule=Rule(1)).look()
    assert caught.value.exit_code == 5
    report = audit(study.gate())
    assert report["ledger"]["intact"] is False
    assert report["flags"][0]["code"] == "G070"


def test_settings_that_do_not_go_together_are_said(home: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"guard\.target"):
        Study(numbers(), home, settings={"release": "passfail"}).look()
    from modelsel.core.spec import make

    with pytest.raises(ConfigurationError, match="measure=error"):
        Study(numbers(), home, policy="ladder", measure=make("measure", "log_loss")).look()


def test_predictions_are_made_before_labels_are_opened_and_from_features_alone(home: Path) -> None:
    study, tables = Study(numbers(), home), []

    def predict(table: Table) -> Outputs:
        tables.append(table)
        return study.rule(table)

    sealing = study.sealing()
    study.gate().look(replace(study.request(sealing), predict=predict))
    assert tables == [sealing.sealed]
    assert not any(np.array_equal(value, study.parts()[1].target) for value in vars(tables[0]).values())
