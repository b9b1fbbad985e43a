"""Where a rule begins to hold and where it ends: candidates, rates, intervals, boards, merges, journals."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from modelsel.core.spec import make
from modelsel.core.types import Feature, Table
from modelsel.guard.checks.leakage import _near_copies, leaks
from modelsel.guard.checks.review import answer, choices, selection
from modelsel.guard.concurrent_looks import _knows
from modelsel.guard.facts import Look, SealTerms
from modelsel.guard.findings import look_findings
from modelsel.guard.history import History, PastLook
from modelsel.guard.quarantine import believed_entries
from modelsel.guard.release import LabelSummary, Released, ShownAnswer, _board, count_channel
from modelsel.guard.requests import Handed, SelectionSummary
from modelsel.ledger.entry import Brief, follow
from modelsel.ledger.home import SALT, Home, chain_of
from modelsel.ledger.portraits.variables import LARGE, variables
from modelsel.ledger.trust import LedgerTerms, examine
from tests.guard.chains import entry
from tests.guard.findings.test_findings import with_parts
from tests.guard.history.test_quarantine import read
from tests.guard.studies import Rule, Study, numbers


@pytest.mark.parametrize(("tried", "rows", "told"), [(2, 1, True), (1, 1, False), (2, 0, False)])
def test_two_candidates_on_one_row_are_too_many(home: Path, tried: int, rows: int, told: bool) -> None:
    study = Study(numbers(), home)
    request = replace(study.request(study.sealing()), selected=SelectionSummary("a", 0.4, rows, 0.4, tried))
    chose = SimpleNamespace(facts={"spec_id": "s", "tried": tried}, brief=Brief(train="rows"))
    found = selection(request, SimpleNamespace(selections=[chose]), SimpleNamespace(train="rows"))  # type: ignore[arg-type]
    assert ([one.code for one in found] == ["G040"]) == told


@pytest.mark.parametrize(("limits", "codes"), [((0.4, 0.6), []), ((0.1, 0.89), []), ((0.05, 0.86), ["G051"])])
def test_the_budget_is_exhausted_by_the_width_of_the_interval(limits: tuple[float, float], codes: list[str]) -> None:
    released = Released("cell 5", 0.5, None, 1.0, 0, 100)
    found = answer(released, Look.read({"n": 100, "look": 2}), None, limits, make("guard", "warn"))
    assert [one.code for one in found] == codes


@pytest.mark.parametrize(("rows", "orders"), [(LARGE, 3), (LARGE + 1, 1)])
def test_numbers_of_very_many_rows_have_one_feature(rows: int, orders: int) -> None:
    values = np.random.default_rng(0).normal(size=(rows, 2))
    features = (Feature("a", "numeric"), Feature("b", "numeric"))
    found = variables(Table(name="", features=features, values=values, rows=np.arange(rows)))
    assert found is not None
    assert found.orders == orders


def test_a_few_near_copies_in_a_small_table_may_be_chance_by_nearest_distances_yet_stand_out(home: Path) -> None:
    study = Study(numbers(), home)
    development, test = study.parts()[0].take(np.arange(40)), study.parts()[1].take(np.arange(20))
    values = test.values.copy()
    values[:10] = development.values[:10] + 1e-3
    sealing = with_parts(study, development, replace(test, values=values)).sealing()
    subject = study.gate().subject(sealing)
    assert not [*_near_copies(sealing, subject)]
    assert ("G031", "high") in {(one.code, one.severity) for one in leaks(sealing, subject)}


def test_six_changed_settings_are_named_and_the_others_counted() -> None:
    assert look_findings.spec_changed_after_score(1, list("abcdefgh")).message.endswith("a, b, c, d, e, f and 2 more")
    assert look_findings.spec_changed_after_score(1, list("abcdef")).message.endswith("a, b, c, d, e, f")


@pytest.mark.parametrize(("told", "lucky"), [(0.0, True), (0.3, True), (1.0, True), (1.5, False), (-0.1, False), (None, False)])
def test_luck_is_reckoned_of_what_can_be_an_error_rate(told: float | None, lucky: bool) -> None:
    facts = {"spec_id": "s", "testset": "t", "tried": 5, "cv_rows": 100, "cv_error": told, "measure": "error"}
    history = SimpleNamespace(selections_for=lambda testset: [SimpleNamespace(facts=facts)])
    one = choices(history, "t")  # type: ignore[arg-type]
    assert one is not None
    assert (one["luck"] is not None) == lucky


def test_a_look_knows_those_on_record_when_it_was_made() -> None:
    def look(replica: str, seq: int, **seen: int) -> Any:
        return PastLook(entry("intent", replica, seq, seen=seen), "open")

    assert [_knows(look("a", 9, b=seen), look("b", 5)) for seen in (4, 5, 6)] == [False, True, True]
    assert [_knows(look("a", 9), look("a", seq)) for seq in (8, 9, 10)] == [True, False, False]


@pytest.mark.parametrize(
    ("symbol", "score", "rounds"),
    [("count", 0.2, 1), ("cell", 0.2, 1), ("unguarded", 0.2, 1), ("noisy", 0.2, 0), ("count", None, 0)],
)
def test_a_board_begins_with_what_was_shown_of_error_counts(symbol: str, score: float | None, rounds: int) -> None:
    assert _board(100, 100, [ShownAnswer(1, 100, symbol, score)]).rounds == rounds


@pytest.mark.sampled(1)
@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_a_colleague_who_foresaw_no_error_or_nothing_else_pays_the_price_of_that(home: Path, rate: float) -> None:
    entries = read(home, "me", cv_error=rate)
    facts = {entry.kind: entry.facts for entry in entries}
    channel = count_channel(
        SealTerms.read(facts["seal"]["terms"]).of_look, facts["intent"]["n"], (rate, facts["intent"]["cv_rows"]), [], 1
    )
    low = facts["reveal"]["released"]["low"]
    price = channel.release(LabelSummary(facts["intent"]["n"], low, 0.0, (), 0.0)).price
    for paid, fits in ((price, True), (price - 0.1, False)):
        entries = read(home / f"{paid}", "me", cv_error=rate, price=paid)
        believed_entries(entries)
        assert (not entries.memo["bad"]) == fits


@pytest.mark.parametrize("owner", [True, False])
def test_heads_of_before_count_where_the_owner_took_them_over(tmp_path: Path, owner: bool) -> None:
    signer = Home(tmp_path).signer()
    old = follow(None, "old", "note", {"text": "of before"})
    merge = follow(None, chain_of(signer.public, "0" * SALT), "merge", {"vouched": [old.hash]})
    signed = {merge.hash: [(signer.public, signer.sign(merge.hash))]}
    read_ = examine([old, merge], signed, LedgerTerms(signer.public if owner else "another"))
    assert list(read_) == ([old, merge] if owner else [merge])


def test_what_off_shows_is_counted_where_the_measure_counts_errors(home: Path) -> None:
    for measure, counted in (("error", True), ("auc", False)):
        gate = Study(numbers(), home / measure, policy="off", measure=make("measure", measure)).run()[1]
        (shown,) = [entry.facts for entry in gate.session.ledger.entries() if entry.kind == "reveal"]
        assert (shown["errors"] is not None) == counted


def test_a_ledger_on_a_disk_of_this_machine_writes_ahead(home: Path) -> None:
    Study(numbers(), home).look()
    with closing(sqlite3.connect(home / "ledger.db")) as raw:
        assert raw.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_answers_that_differ_in_a_few_rows_cannot_be_told_apart(home: Path) -> None:
    study = Study(numbers(), home, settings={"release": "full"})
    gate, sealing = study.gate(), study.sealing()
    handed = [Handed("one", Rule()(sealing.sealed)), Handed("other", Rule(0, 0.05)(sealing.sealed))]
    shown = gate.close(sealing, handed, 0.5)
    errors = [one.errors for one in shown.answers]
    assert errors[0] != errors[1]
    assert [one.says for one in shown.verdicts] == ["cannot be told apart"]
    assert History.of(gate.session.ledger.entries()).looks[0].price == pytest.approx(shown.price)
