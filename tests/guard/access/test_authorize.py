"""Which earlier look answers a request, which one it goes on with, and what counts as past: one condition at a time."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from modelsel.core.spec import make
from modelsel.core.types import seal as sealed_rows
from modelsel.guard.access import authorize
from modelsel.guard.access.authorize import (
    _answered_before,
    _at_work,
    _find_interrupted,
    _intent,
    _is_own,
    _question,
    memory_of,
    position_of,
)
from modelsel.guard.checks.declared_space import NOBODY
from modelsel.guard.checks.look_context import LookContext
from modelsel.guard.findings import certificate_findings
from modelsel.guard.history import History
from modelsel.guard.matching import Relation
from modelsel.guard.policy.base import Justify
from modelsel.guard.release import LookTerms
from modelsel.statistics.certificate import SpendingState
from tests.guard.histories import entries, history, look, seal
from tests.guard.studies import numbers

PLAN = {"method": "hoeffding", "nats": 3.0, "units": 9.0, "steps": 20, "expected": 0.1, "spread": 0.1, "forecast": 0.2}
SEALED, DEVELOPMENT = sealed_rows(numbers(200)), numbers(200, seed=1)
NONE, WHY = Justify(), Justify("labels", "a rater had mixed up two forms")


def asks(justify: Justify = NONE, **facts: Any) -> Any:
    """A request for an answer to the predictions `p`."""
    sealing = SimpleNamespace(
        spec_id="s",
        study="",
        folder="",
        config={},
        target="",
        measure=make("measure", "error"),
        sealed=SEALED,
        development=DEVELOPMENT,
    )
    chosen = SimpleNamespace(winner="w", cv_mean=0.1, cv_rows=9, cv_error=None)
    whole = {
        "subject": SimpleNamespace(digest="mine", train="rows", test=SimpleNamespace(bound=np.arange(200))),
        "metric": "error", "measure": "m",
        "policy": make("guard", "warn", justify=justify), "predictions": "p", "doubted": (), "counted": True, "foreseen": None,
        "likely": (0.5, 1), "told_by": lambda said: said.predictions == "p", "home": "home", "key": SimpleNamespace(id="k"),
        "elsewhere": SimpleNamespace(unreached=(), load=None, hashes=None, ahead=None, entries=(), subjects=()),
        "since": "", "at_work": "lock",
        "copies": False, "form": None, "has_form_for_units": True,
        "request": SimpleNamespace(sealing=sealing, selected=chosen, sitting=None, seen=None),
    }  # fmt: skip
    return SimpleNamespace(**{**whole, **facts})


def writing(**signers: str) -> Any:
    return SimpleNamespace(replica="r", entries=lambda: SimpleNamespace(signers=signers, me="me"), rowset=lambda digest: digest)


@pytest.mark.parametrize(
    ("facts", "answer", "ask", "known"),
    [({}, {}, {}, True), ({}, None, {}, False), ({"policy": "off"}, {}, {}, False), ({"predictions": "q"}, {}, {}, False),
     ({"testset": "far"}, {}, {}, False), ({}, {}, {"doubted": ("a",)}, False), ({}, {}, {"doubted": ("b",)}, True),
     ({}, {}, {"justify": WHY}, False), ({"justify": {"category": "labels", "text": WHY.text}}, {}, {"justify": WHY}, True),
     ({"justify": {"category": "labels", "text": "another"}}, {}, {"justify": WHY}, False),
     ({"spec_id": "t", "train": "x"}, {}, {}, True)],
)  # fmt: skip
def test_an_answer_is_known_to_the_same_predictions_for_the_same_labels(
    facts: dict[str, Any], answer: Any, ask: dict[str, Any], known: bool
) -> None:
    told = history(*look("a", answer=answer, **{"predictions": "p", **facts}))
    found = _answered_before(told, asks(**ask), writing())
    assert (found is not None) == known


@pytest.mark.parametrize(
    ("plan", "signer", "form", "known"),
    [(None, "other", None, True), (PLAN, "me", None, True), (PLAN, "other", None, False),
     (PLAN, "other", "a form", True)],
)  # fmt: skip
def test_an_answer_that_another_home_planned_is_known_where_the_plan_can_be_followed(
    plan: Any, signer: str, form: Any, known: bool
) -> None:
    told = history(*look("a", answer={}, predictions="p", plan=plan))
    assert (_answered_before(told, asks(form=form), writing(r=signer)) is not None) == known


def test_of_two_answers_the_later_one_is_shown() -> None:
    told = history(*look("a", answer={}, predictions="p"), *look("b", answer={}, predictions="p"))
    found = _answered_before(told, asks(), writing())
    assert found is not None
    assert found.id == "b"


@pytest.mark.parametrize(
    ("facts", "answer", "ask", "goes_on"),
    [({}, None, {}, True), ({}, {}, {}, False), ({"policy": "off"}, None, {}, False), ({"predictions": "q"}, None, {}, False),
     ({"spec_id": "t"}, None, {}, False), ({"train": "x"}, None, {}, False), ({"metric": "auc"}, None, {}, False),
     ({}, None, {"justify": WHY}, False), ({"testset": "far"}, None, {}, False)],
)  # fmt: skip
def test_a_look_without_an_answer_goes_on_where_the_same_is_asked(
    facts: dict[str, Any], answer: Any, ask: dict[str, Any], goes_on: bool
) -> None:
    told = history(*look("a", answer=answer, **{"predictions": "p", **facts}))
    assert (_find_interrupted(told, asks(**ask), writing()) is not None) == goes_on
    assert _find_interrupted(told, asks(**ask), SimpleNamespace(replica="another")) is None  # type: ignore[arg-type]


@pytest.mark.parametrize(("signers", "own"), [({}, True), ({"r": "me"}, True), ({"r": "other"}, False), ({"q": "other"}, True)])
def test_a_look_is_its_own_that_it_signed_or_nobody(signers: dict[str, str], own: bool) -> None:
    (one,) = history(*look("a")).looks
    assert _is_own(writing(**signers), one) == own


def test_looks_are_at_work_that_have_no_answer_and_are_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    told = history(*look("a"), *look("b", answer={}), *look("c", "far"), *look("d"))
    monkeypatch.setattr(authorize, "alive", lambda home, one, own: one.id != "d" and own)
    assert list(_at_work(writing(), asks(), told)) == ["a", "c"]
    assert list(_at_work(writing(), asks(home=None), told)) == []


def context(
    monkeypatch: pytest.MonkeyPatch, told: History, ask: Any = None, until: Any = None, whole: History | None = None
) -> LookContext:
    monkeypatch.setattr(authorize, "join_histories", lambda known, elsewhere, key: whole or known)
    monkeypatch.setattr(authorize, "related_sets", lambda subject, memory, elsewhere: ())
    monkeypatch.setattr(authorize, "alive", lambda home, one, own: False)
    monkeypatch.setattr(authorize, "judge_declaration", lambda *facts: NOBODY)
    return position_of(writing(), ask or asks(), told, until)


@pytest.mark.parametrize(
    ("facts", "used", "found"),
    [({}, None, True), ({"spec_id": "t"}, None, False), ({"predictions": "q"}, None, False), ({"measure": "n"}, None, False),
     ({"testset": "far"}, None, False), ({}, "c", False), ({}, "d", True)],
)  # fmt: skip
def test_a_commitment_is_to_one_study_its_predictions_and_measure_and_serves_once(
    monkeypatch: pytest.MonkeyPatch, facts: dict[str, Any], used: str | None, found: bool
) -> None:
    commit = {
        "id": "c",
        "testset": "mine",
        "spec_id": "s",
        "predictions": "p",
        "measure": "m",
        "look": 1,
        "spent": 0.0,
        **facts,
    }
    told = history(seal(), ("commit", commit), *look("a", answer={}, commit=used))
    assert (context(monkeypatch, told).commit is not None) == found


def test_a_look_that_goes_on_has_the_past_that_it_stated_if_the_seal_is_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    told = entries(seal(), *look("a", answer={}), ("intent", {**look("b")[0][1], "seen": {"r": 1}}), *look("c", answer={}))
    known = History(tuple(told))
    assert [one.id for one in context(monkeypatch, known).history.looks] == ["a", "b", "c"]
    assert context(monkeypatch, known, until=told[3]).history.looks == ()
    nothing = entries(seal(), ("intent", {**look("b")[0][1], "seen": {}}))
    assert len(context(monkeypatch, History(tuple(nothing)), until=nothing[1]).history.entries) == 2


@pytest.mark.parametrize(("unreached", "unnamed", "unknown"), [((), False, False), (("x",), False, True), ((), True, True)])
def test_looks_may_be_unknown_where_a_ledger_is_not_reached_or_an_entry_names_no_set(
    monkeypatch: pytest.MonkeyPatch, unreached: tuple[str, ...], unnamed: bool, unknown: bool
) -> None:
    told = history(seal())
    told.__dict__["unnamed"] = ("bad",) if unnamed else ()
    ask = asks(elsewhere=SimpleNamespace(unreached=unreached, load=None, hashes=None, ahead=None, entries=(), subjects=()))
    assert context(monkeypatch, told, ask).unknown == unknown


def test_row_sets_are_read_as_the_session_says_else_from_the_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authorize.RowSet, "unpack", lambda blob: ("unpacked", blob))
    told = history(seal())
    for load, said in ((None, ("unpacked", "d")), (lambda digest: "loaded", "loaded")):
        elsewhere: Any = SimpleNamespace(load=load, hashes=None, ahead=None)
        assert memory_of(writing(), told, SimpleNamespace(id="k"), elsewhere).load("d") == said  # type: ignore[arg-type]


def test_the_policy_is_asked_about_the_next_look_and_all_justifications(monkeypatch: pytest.MonkeyPatch) -> None:
    told = history(
        seal(), *look("a", answer={}, justify={"category": "bug", "text": "one"}), *look("b", "far", {}), *look("c", answer={})
    )
    asked = _question(asks(), context(monkeypatch, told), LookTerms("full", delta=0.05, budget=1), ())
    assert (asked.look, asked.used_texts) == (3, ("one", "", ""))


def test_an_intent_states_the_level_of_each_number_and_the_sets_that_share_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    here = context(monkeypatch, history(seal()))
    related = tuple(Relation(name, "test", 9, 0.045, np.arange(200) < 9) for name in ("mine", "other"))
    object.__setattr__(here, "relations", related)
    channel: Any = SimpleNamespace(numbers=2, worst=20.0)
    facts = _intent(asks(), here, LookTerms("full", delta=0.1), channel, ())
    assert facts.nats == pytest.approx(SpendingState(1, 0.0).nats(0.05))
    assert [one["with"] for one in facts.overlap] == ["other"]


def test_a_refusal_by_the_quota_says_so_and_one_by_the_measure_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(authorize, "_refuse", lambda writing, ask, position, terms, findings, reason: (findings, reason))
    told = entries(seal())
    ledger: Any = SimpleNamespace(entries=lambda: told, replica="r")
    monkeypatch.setattr(authorize, "position_of", lambda *_: None)
    for terms, expected in (
        (LookTerms("full", closed="used"), ((certificate_findings.budget_exhausted_quota_is_used(),), "used")),
        (LookTerms("better"), ((), None))
    ):  # fmt: skip
        monkeypatch.setattr(authorize, "in_force", lambda position, rate, terms=terms: terms)
        findings, reason = authorize.decide(ledger, asks())  # type: ignore[misc]
        assert findings == expected[0]
        assert reason == (expected[1] or reason)


@pytest.mark.parametrize(("policy", "refused"), [("strict", True), ("warn", False)])
@pytest.mark.parametrize("exam", [False, True])
def test_a_look_is_reviewed_as_an_answer_to_an_exam_where_it_is_one_and_refused_where_the_policy_says_so(
    monkeypatch: pytest.MonkeyPatch, policy: str, refused: bool, exam: bool
) -> None:
    told = [*entries(seal(), *look("a", answer={}))]
    here, reviewed = context(monkeypatch, History(tuple(told))), []
    for name, stand_in in (
        ("position_of", lambda *_: here), ("review", lambda seen: reviewed.append(seen.sitting) or ()),
        ("selection", lambda *_: ()),
        ("_refuse", lambda *facts: "refused"),
    ):  # fmt: skip
        monkeypatch.setattr(authorize, name, stand_in)
    ask = asks(policy=make("guard", policy), noticed=(), leaks=(), elsewhere=SimpleNamespace(unreached=(), keys=frozenset()))
    ask.request.sitting = SimpleNamespace(objection=lambda facts, worst: "") if exam else None
    ledger: Any = SimpleNamespace(entries=lambda: told, replica="r", append=lambda kind, facts: kind)
    found = authorize.decide(ledger, ask)
    assert reviewed == [exam]
    assert (found == "refused") == refused  # type: ignore[comparison-overlap]
