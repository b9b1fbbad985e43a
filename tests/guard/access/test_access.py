"""How a look gets at its ledger, step by step with stand-ins: what is read, charged, copied and lost."""

from dataclasses import asdict
from math import exp, log, sqrt
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from modelsel.core.spec import make
from modelsel.core.types import Outputs
from modelsel.guard.access import apart, authorize, integrity
from modelsel.guard.access.apart import FLOAT, closing_answers, closing_intent, full_price, unguarded_intent, unguarded_reveal
from modelsel.guard.access.looks import copy_all, refusal_result, released_result
from modelsel.guard.access.looks import unguarded_result as unguarded_result
from modelsel.guard.access.session import LedgerSession
from modelsel.guard.checks.look_context import LookContext
from modelsel.guard.checks.look_requests import Refused
from modelsel.guard.facts import Look, Reveal
from modelsel.guard.findings import look_findings
from modelsel.guard.history import History, PastLook
from modelsel.guard.release import LabelSummary, LookTerms, worst_of
from modelsel.guard.requests import Handed
from modelsel.ledger.anchors import AnchoredLook
from modelsel.ledger.entry import follow
from modelsel.ledger.rows.row_set import RowSet
from modelsel.statistics.certificate import SpendingState, index_weight, interval
from tests.guard.histories import Told, choice, entries, history, look, seal


class Stored:
    """A ledger of some row sets, which remembers what it was asked for."""

    def __init__(self, *held: str, told: History | None = None) -> None:
        self.held, self.asked, self.told = held, [], told  # type: ignore[var-annotated]

    def rowsets(self, digests: list[str]) -> dict[str, bytes]:
        self.asked.append(list(digests))
        return {one: RowSet({"n": 1, "columns": []}, {}).pack() for one in digests if one in self.held}

    def entries(self) -> Any:
        return self.told.entries if self.told else ()


def session(*ledgers: Any) -> LedgerSession:
    found = LedgerSession.__new__(LedgerSession)
    vars(found).update(ledger=ledgers[0], memory=ledgers[0], shared=SimpleNamespace(ledgers=ledgers[1:]))
    from modelsel.ledger.rows.row_set import RecentRowSets

    found._kept = RecentRowSets()
    return found


def test_each_ledger_is_asked_for_what_those_before_it_do_not_have() -> None:
    ledgers = Stored("a", "x"), Stored("b"), Stored("c"), Stored()
    asks = session(*ledgers)
    asks.ahead(["a", "b", "c"])
    assert [one.asked for one in ledgers] == [[["a", "b", "c"]], [["b", "c"]], [["c"]], []]
    asks.ahead(["a", "x"])
    assert ledgers[0].asked[1:] == [["x"]]  # what was read is kept


@pytest.mark.parametrize(
    ("facts", "known"),
    [({}, True), ({"names": list("abcd")}, True), ({"names": list("abcde")}, False), ({"key_id": "another"}, False),
     ({"table": None}, False), ({"development": None}, False)],
)  # fmt: skip
def test_tables_are_compared_that_have_as_many_columns_or_do_not_say(facts: dict[str, Any], known: bool) -> None:
    told = history(seal("one", **{"table": "t", "development": "d", "rows": "r", **facts}))
    asks = session(Stored("t", told=told))
    assert len(list(asks.known_tables(SimpleNamespace(id="k"), 4))) == known  # type: ignore[arg-type]
    assert len(list(session(Stored("t"), Stored("t", told=told)).known_tables(SimpleNamespace(id="k"), 4))) == known  # type: ignore[arg-type]


def sealing(n: int = 200, measure: str = "error", weighted: bool = False, classes: int = 2) -> Any:
    development = SimpleNamespace(
        kind="classes", weights=np.ones(3) if weighted else None, classes=tuple("abcdefghi"[:classes]), class_count=classes
    )
    return SimpleNamespace(sealed=range(n), measure=make("measure", measure), development=development, spec_id="s", study="",
                           folder="", config={}, target="")  # fmt: skip


@pytest.mark.parametrize(
    ("facts", "price"),
    [({}, log(201)), ({"measure": "auc"}, 64 * log(2)), ({"weighted": True}, log(201) + 64 * log(2)),
     ({"measure": "auc", "n": 10}, 10 * log(2)),
     ({"measure": "auc", "n": 10, "classes": 3}, 10 * log(3)), ({"n": 2}, log(3)),
     ({"classes": 1, "measure": "auc", "n": 9}, 9 * log(2))],
)  # fmt: skip
def test_what_off_shows_costs_all_that_it_can_tell(facts: dict[str, Any], price: float) -> None:
    assert full_price(sealing(**facts)) == pytest.approx(price)
    assert pytest.approx(44.3614196) == FLOAT


def asks_off(told: History, predictions: str = "p", score: float | None = None, monkeypatch: Any = None) -> Any:
    memory: Any = SimpleNamespace(history=told)
    kin = [SimpleNamespace(role=role, testset=name) for role, name in (("test", "kin"), ("selection", "chose"))]
    monkeypatch.setattr(apart, "relations", lambda subject, memory: kin)
    chosen = SimpleNamespace(winner="w", cv_mean=0.1, cv_rows=9, cv_error=None)
    request: Any = SimpleNamespace(sealing=sealing(), selected=chosen)
    return unguarded_intent(request, SimpleNamespace(digest="mine", train="t"), predictions, memory, score)  # type: ignore[arg-type]


def test_an_unguarded_look_comes_after_all_at_these_rows_and_those_that_share_some(monkeypatch: pytest.MonkeyPatch) -> None:
    told = history(*look("a", answer={"price": 2.0}), *look("b", "kin", {"price": 5.0}), *look("c", "chose"), *look("d", "far"))
    found = asks_off(told, monkeypatch=monkeypatch)
    assert (found.look, found.spent, found.worst) == (3, 7.0, pytest.approx(log(201)))


@pytest.mark.parametrize(
    ("facts", "answer", "score", "again"),
    [({}, {}, None, True), ({}, {}, 0.2, True), ({}, {}, 0.3, False), ({}, {"symbol": "cell"}, None, False),
     ({"policy": "off"}, {"symbol": "unguarded"}, None, True), ({"n": 100}, {}, None, False),
     ({"metric": "auc"}, {}, None, False),
     ({"predictions": "q"}, {}, None, False), ({}, None, None, False), ({"policy": "off"}, None, None, False)],
)  # fmt: skip
def test_a_number_that_was_shown_is_not_charged_again(
    monkeypatch: pytest.MonkeyPatch, facts: dict[str, Any], answer: dict[str, Any] | None, score: float | None, again: bool
) -> None:
    told = history(*look("a", answer=answer, **{"predictions": "p", **facts}))
    assert (asks_off(told, score=score, monkeypatch=monkeypatch) is None) == again


@pytest.mark.parametrize(("measure", "counted"), [("error", True), ("auc", False), ("cost_matrix", True)])
def test_off_shows_a_count_of_what_is_counted(measure: str, counted: bool) -> None:
    part = make("measure", measure, costs=((0, 1), (1, 0))) if measure == "cost_matrix" else make("measure", measure)
    said = unguarded_reveal(
        Look.read({"id": "a", "worst": 1.0}), LabelSummary(9, 3, 0.3, (9,), 9.0), SimpleNamespace(measure=part)
    )  # type: ignore[arg-type]
    assert said.errors == (3 if counted else None)
    result = unguarded_result(LabelSummary(9, 3, 0.3, (9,), 9.0), make("guard", "off", delta=0.1), measure, ())
    assert (result.errors, result.level) == (3 if counted else None, 0.9)


def test_a_result_tells_each_finding_once_and_a_replay_costs_nothing() -> None:
    intent = {
        "flags": [asdict(look_findings.same_test_same_spec())],
        "n": 9,
        "look": 2,
        "spent": 1.0,
        "delta": 0.1,
        "release": "full",
    }
    said = {"interval": [0, 1], "score": 0.1, "errors": 1, "price": 2.0}
    first = released_result(Look.read(intent), Reveal.read(said), make("guard", "warn"), False, ("G010", "G051"))
    again = released_result(Look.read(intent), Reveal.read({**said, "interval": None}), make("guard", "warn"), True, ("G002",))
    assert (first.flags, first.price, first.level, first.interval) == (("G010", "G051"), 2.0, 0.9, (0.0, 1.0))
    assert (again.flags, again.price, again.interval) == (("G002",), 0.0, None)


def asks(counted: bool = True, foreseen: Any = (0.2, 90), measure: str = "error") -> Any:
    likely = foreseen or (0.5, 1)
    asked = sealing(measure=measure)
    return SimpleNamespace(
        counted=counted, capped=False, foreseen=foreseen, likely=likely, subject=SimpleNamespace(train="t", digest="mine"),
        policy=make("guard", "warn"),
        request=SimpleNamespace(sealing=asked, selected=SimpleNamespace(cv_mean=0.3, cv_rows=70), sitting=None),
    )  # fmt: skip


def at(n: int = 200, rows: int = 200, certified: bool = True, look: int = 3, spent: float = 2.0, **facts: Any) -> Any:
    clean = np.arange(n) < rows
    made = SimpleNamespace(rows=clean, clean=clean, certified=certified, standing=SpendingState(look, spent), digest="mine",
                           charged=("mine",), past=(), relations=(), history=history(seal(delta=0.07)),
                           **{"units": None, **facts})  # fmt: skip
    made.sizes = lambda rate, nats: LookContext.sizes(made, rate, nats)  # type: ignore[arg-type]
    made.foreseen = lambda rate, nats: LookContext.foreseen(made, rate, nats)  # type: ignore[arg-type]
    return made


def test_an_exam_that_is_closed_keeps_the_base_of_each_answer() -> None:
    handed = [
        Handed("a", Outputs(np.zeros((1, 9)))),
        Handed("b", Outputs(np.zeros((1, 9))), 7.0),
        Handed("c", Outputs(np.zeros((1, 9))), None, False),
    ]
    told = closing_intent(asks(), at(), handed, 0.1, 0.5)
    alone = -log(index_weight(3)) + 2.0 + log(3)
    assert [one.base for one in told.answers] == pytest.approx([alone, 7.0, alone])
    assert [one.certified for one in told.answers] == [True, True, False]
    assert told.worst == pytest.approx(3 * worst_of(log(201)) + 3 * log(3))  # three counts, three pairs
    for other in (at(rows=199), at(certified=False)):
        assert not any(one.certified for one in closing_intent(asks(), other, handed, 0.1, 0.5).answers)
    assert closing_intent(asks(), at(), [], 0.1, 0.5).worst == 0
    assert [closing_intent(asks(), at(), [], delta, 0.5).delta for delta in (0.1, 0.05)] == [0.07, 0.05]  # the strictest


def test_where_a_space_was_declared_half_of_delta_is_its_own_at_the_close_too() -> None:
    target, answer = np.zeros(200, np.int32), Handed("0", Outputs(np.ones((1, 200), np.int32)))
    facts = {
        "n": 200,
        "delta": 0.1,
        "share": 0.9,
        "certified": True,
        "whole": True,
        "answers": [{"name": "0", "base": 1.0, "certified": True}],
    }
    for space, nats in ((None, log(20) + 1), (7, log(40) + 1)):
        found = closing_answers(asks(), Look.read({**facts, "space": space}), [answer], (("a", "b"), target, None))
        assert found[1][0].interval == pytest.approx(interval(200, 200, 200, nats))


def test_answers_of_an_exam_are_compared_by_a_sign_test_at_the_later_ones_level() -> None:
    rng = np.random.default_rng(0)
    target, n = rng.integers(0, 2, 200).astype(np.int32), 200
    said = [np.where(rng.random(n) < rate, 1 - target, target).astype(np.int32)[None] for rate in (0.3, 0.25, 0.1, 0.3)]
    said.append(said[0])
    handed = [Handed(str(turn), Outputs(one)) for turn, one in enumerate(said)]
    bases = [1.0, 2.0, 3.0, 0.0, 1.0]
    facts = {
        "n": n,
        "delta": 0.1,
        "share": 0.9,
        "certified": True,
        "whole": True,
        "answers": [{"name": str(turn), "base": base, "certified": turn != 1} for turn, base in enumerate(bases)],
    }
    found = closing_answers(asks(), Look.read(facts), handed, (("a", "b"), target, None))
    wrong = [one[0] != target for one in said]
    seen = set()
    for verdict in found[2]:
        later, first = int(verdict.answer), int(verdict.beside)
        better, worse = int((wrong[first] & ~wrong[later]).sum()), int((wrong[later] & ~wrong[first]).sum())
        level = 0.9 * exp(-bases[later]) / (2 * later)
        p = binomtest(better, better + worse, 0.5, "less" if better < worse else "greater").pvalue if better + worse else 1.0
        expected = (
            "cannot be told apart" if p > level or better == worse else "fewer errors" if better > worse else "more errors"
        )
        assert verdict.says == expected
        seen.add(expected)
    assert (len(found[2]), len(seen)) == (10, 3)
    assert found[0] == pytest.approx(5 * (log(201) + 1e-6) + 10 * log(3), abs=1e-6)
    limits = [interval(int(e.sum()), int(e.sum()), n, log(20) + base) for e, base in zip(wrong, bases)]
    assert [one.interval for one in found[1]] == [None if turn == 1 else limit for turn, limit in enumerate(limits)]
    for other, ask in ((facts, asks(counted=False)), ({**facts, "certified": False}, asks())):
        assert closing_answers(ask, Look.read(other), handed, (("a", "b"), target, None))[2] == ()


@pytest.mark.parametrize(("share", "says"), [(0.25, "fewer errors"), (0.2499, "cannot be told apart")])
def test_a_difference_that_is_just_rare_enough_is_told(share: float, says: str) -> None:
    """One of eight throws of three coins has no head: 1/8 = share / 2."""
    target = np.zeros(5, np.int32)
    handed = [
        Handed(name, Outputs(np.array([said], np.int32))) for name, said in (("a", [1, 1, 1, 0, 1]), ("b", [0, 0, 0, 0, 1]))
    ]
    answers = [{"name": one.name, "base": 0.0, "certified": True} for one in handed]
    facts = {"n": 5, "delta": 0.1, "share": share, "certified": True, "whole": True, "answers": answers}
    assert [one.says for one in closing_answers(asks(), Look.read(facts), handed, (("a", "b"), target, None))[2]] == [says]


def test_two_numbers_of_an_answer_share_its_level() -> None:
    target = np.zeros(50, np.int32)
    handed = [Handed("a", Outputs((np.arange(50) < 10).astype(np.int32)[None]))]
    facts = {"n": 50, "delta": 0.1, "share": 0.5, "certified": True, "answers": [{"name": "a", "base": 1.0, "certified": True}]}
    (found,) = closing_answers(asks(counted=False), Look.read(facts), handed, (("a", "b"), target, None))[1]
    half = sqrt((log(40) + 1) / 100) + 0.01
    assert found.interval == pytest.approx((max(0.0, 0.2 - half), 0.2 + half))


def test_a_refusal_states_the_level_that_was_sealed() -> None:
    verdict = Refused("no", 9, 2, 1.0, 0.1, "full", ())
    assert (refusal_result(verdict, make("guard", "warn")).level, refusal_result(verdict, make("guard", "warn")).refused) == (
        0.9,
        "no",
    )


def test_anchors_are_told_what_is_spent_after_a_look(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []
    last = SimpleNamespace(place="r:3:x")
    held = SimpleNamespace(id="l", replica="r", entries=lambda: SimpleNamespace(last=lambda replica: last))
    asks_ = session(held)
    vars(asks_).update(key=SimpleNamespace(id="k"), witnesses=SimpleNamespace(tell=lambda facts: told.append(facts) or []))
    monkeypatch.setattr(asks_, "remember_how_far", lambda: None)
    intent: Any = SimpleNamespace(facts={"testset": "mine", "look": 2, "spent": 1.5, "n": 9, "policy": "warn"})
    assert asks_.witness(intent, 2.25) == []
    assert (told[0]["spent"], told[0]["head"], told[0]["look"]) == ("3.750000", "r:3:x", "2")


def test_the_policy_is_asked_about_the_width_of_a_certified_count_else_of_nothing_known() -> None:
    terms = LookTerms("full", delta=0.05, budget=2)
    low, high = interval(30, 30, 150, SpendingState(3, 2.0).nats(0.05))
    assert authorize._question(asks(), at(rows=150), terms, ()).halfwidth == pytest.approx((high - low) / 2)
    for other in ((asks(counted=False), at()), (asks(), at(certified=False))):
        assert authorize._question(other[0], other[1], terms, ()).halfwidth == 0.5
    assert authorize._question(asks(), at(), terms, ()).look == 1


def past(status: str, symbol: str = "noisy") -> Any:
    end = SimpleNamespace(facts={"symbol": symbol, "price": 1.0})
    return PastLook(SimpleNamespace(facts={"worst": 9.0}), status, end if status == "revealed" else None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("looks", "release", "used"),
    [([past("revealed")] * 2, "thresholdout", 2), ([past("revealed"), past("open")], "thresholdout", 2),
     ([past("revealed")], "thresholdout", 0),
     ([past("revealed"), past("revealed", "cross-validation")], "thresholdout", 0), ([past("open")] * 3, "thresholdout", 2),
     ([past("revealed")] * 3, "full", 0)],
)  # fmt: skip
def test_the_budget_of_thresholdout_is_used_by_noisy_answers_and_those_that_nobody_saw(
    looks: Any, release: str, used: int
) -> None:
    assert authorize._exhausted_budget(LookTerms(release, budget=2), tuple(looks)) == used


@pytest.mark.parametrize(
    ("release", "counted", "sitting", "part"),
    [("full", False, None, ""), ("passfail", True, None, ""), ("passfail", False, None, "plain error rates"),
     ("ladder", False, None, "plain error"),
     ("better", True, None, "one bit"), ("better", True, "exam", ""), ("better", False, "exam", "plain error")],
)  # fmt: skip
def test_some_terms_show_nothing_but_error_rates_and_one_nothing_but_exams(
    release: str, counted: bool, sitting: Any, part: str
) -> None:
    ask = asks(counted=counted)
    ask.request.sitting = sitting
    found = authorize._why_hidden(ask, LookTerms(release))
    assert part in found
    assert bool(part) == bool(found)


@pytest.mark.parametrize(
    ("release", "sealed", "told"),
    [("ladder", "full", True), ("ladder", "ladder", False), ("full", "full", False), ("full", "ladder", False)],
)
def test_a_ladder_that_was_not_sealed_is_told(release: str, sealed: str, told: bool) -> None:
    here = at()
    here.history = history(seal(release=sealed))
    for quota, why in (([3, 5], "guard.quota=3"), ([], "a set that shares")):
        found = [one.message for one in authorize._by_quota(LookTerms(release, quota=tuple(quota), steps=20), here)]
        assert [why in one for one in found] == ([True] if told else [])


@pytest.mark.parametrize(
    ("release", "steps", "mean", "expected", "foreseen"),
    [("predicted", None, 0.3, (0.3, 70), (0.2, 90)), ("full", None, 0.3, None, None),
     ("predicted", None, float("nan"), None, (0.2, 90)),
     ("predicted", 20, 0.3, (0.3, 70), (0.2, 90))],
)  # fmt: skip
def test_another_measure_is_shown_on_a_grid_and_foreseen_where_the_terms_say_so(
    release: str, steps: int | None, mean: float, expected: Any, foreseen: Any
) -> None:
    ask = asks(counted=False, measure="auc")
    ask.request.selected.cv_mean = mean
    channel: Any = authorize._channel(ask, LookTerms(release, steps=steps), (), 150, 1)
    assert (channel.kind, channel.n, channel.steps, channel.rounded) == ("auc", 150, steps or 150, steps is not None)
    assert (channel.expected, channel.foreseen) == (expected, foreseen)
    counts: Any = authorize._channel(asks(foreseen=None), LookTerms("predicted"), (), 150, 1)
    assert counts.foreseen == (0.5, 1)


def test_only_what_was_answered_moves_a_board() -> None:
    looks = [PastLook(entries(*look("a", n=150))[0], "open"), PastLook(*_pair("revealed", "board 9", 0.09))]
    channel: Any = authorize._channel(asks(), LookTerms("ladder", steps=100), looks, 150, 3)
    assert (channel.rounds, channel.board) == (1, 9)


def _pair(status: Any, symbol: str, score: float) -> Any:
    intent, reveal = entries(*look("b", answer={"symbol": symbol, "score": score, "interval": None}, n=200))
    return intent, status, reveal


@pytest.mark.parametrize(("policy", "price"), [("off", log(10**7 + 1)), ("warn", log(10 * (10**7 + 1)))])
def test_a_look_that_only_an_anchor_saw_is_charged_all_that_it_may_have_told(policy: str, price: float) -> None:
    found = integrity._facts("t", 10**7, "anchor", AnchoredLook("t", "h", look="3", policy=policy))
    assert found.worst == pytest.approx(worst_of(price), abs=1e-9)
    assert (found.unguarded, found.look) == (policy == "off", 3)
    told = AnchoredLook("t", "h", n="10000000", policy=policy)
    assert integrity._facts("t", 5, "a", told).worst == pytest.approx(worst_of(price), abs=1e-9)


class Copies:
    """The home's ledger while copies are written."""

    def __init__(self, *told: Told) -> None:
        self.made = entries(*told, replica="home", first=100) if told else []

    def entries(self) -> Any:
        return list(self.made)

    def append(self, kind: str, facts: dict[str, Any]) -> Any:
        self.made.append(follow(self.made[-1] if self.made else None, "home", kind, {"id": f"copy{len(self.made)}", **facts}))
        return self.made[-1]


def test_each_entry_about_these_rows_is_copied_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("keep_all", "keep_chosen"):
        monkeypatch.setattr(f"modelsel.guard.access.looks.{name}", lambda *_, name=name: {"kept": name})
    mirror = {"mirror": {"hash": "h", "key_id": "k"}}
    failed = [*look("f"), ("abort", {"intent": "f", "error": "E"})]
    here = entries(seal(), choice(), choice(train="others", tried=9), *look("a", answer={}), *failed, *look("x", "far", {}),
                   seal("far"),
                   ("note", {"testset": "mine"}), ("seal", {**seal()[1], **mirror}),
                   ("commit", {"testset": "mine", "spec_id": "s"}))  # fmt: skip
    home = Copies()
    subject: Any = SimpleNamespace(digest="mine", train="rows")
    under: Any = SimpleNamespace(digest="MINE", train="ROWS", source="SOURCE", names=("x",))
    for _ in range(2):
        copy_all(home, here, subject, SimpleNamespace(id="k"), under, SimpleNamespace(id="K"), None)  # type: ignore[arg-type]
    said = [(entry.kind, entry.facts.get("kept")) for entry in home.made]
    assert said == [("seal", "keep_all"), ("selection", "keep_chosen"), ("intent", None), ("reveal", None),
                    ("intent", None), ("abort", None),
                    ("commit", None)]  # fmt: skip
    assert {entry.facts["testset"] for entry in home.made if "testset" in entry.facts} == {"MINE"}
    assert home.made[1].facts["tried"] == 1  # of the rows that chose here
    ids = [entry.facts.get("intent") or entry.facts["id"] for entry in home.made[2:6]]
    assert ids[0] == ids[1] != ids[2] == ids[3]
    assert not any(name in entry.facts for entry in home.made for name in ("overlap", "seen", "candidates"))
