"""What an audit says of a look and of an empty line, and what the forecast begins with."""

from pathlib import Path
from typing import Any

import pytest

from modelsel.guard.checks.look_context import FEWEST
from modelsel.guard.checks.review import _why_uncertified
from modelsel.guard.facts import Look
from modelsel.guard.findings import row_findings
from modelsel.guard.history import History
from modelsel.guard.reporting.audit import audit, of_time
from modelsel.guard.reporting.forecast import _outlook
from modelsel.guard.reporting.page import sentence
from modelsel.ledger.entry import follow
from tests.guard.studies import Rule, Study, numbers

LOOK: dict[str, Any] = {"status": "revealed", "score": 0.1, "errors": 200, "n": None, "look": 3, "spent": 4.0, "price": 4.0,
                        "metric": "error", "interval": [0.05, 0.2], "as_first": None, "changes": []}  # fmt: skip


def test_errors_are_told_beside_the_rows_of_the_look_or_else_of_the_set() -> None:
    assert "(200/1800)" in sentence({**LOOK, "n": 1800}, 2000)
    assert "(200/2000)" in sentence(LOOK, 2000)


@pytest.mark.parametrize(
    ("limits", "nothing"), [((0.1, 0.89), False), ((0.0, 0.8), True), ((0.0, 1.0), True), ((0.4, 0.6), False)]
)
def test_an_interval_of_four_fifths_says_nothing(limits: tuple[float, float], nothing: bool) -> None:
    assert ("No information is left" in sentence({**LOOK, "interval": limits}, 2000)) == nothing


@pytest.mark.parametrize(
    ("keys", "said"), [("ab", "a, b changed"), ("abc", "a, b, c changed"), ("abcde", "a, b, c and 2 more changed")]
)
def test_three_changed_settings_are_named_and_the_others_counted(keys: str, said: str) -> None:
    assert f"Since the look before, {said} (G012)." in sentence({**LOOK, "changes": list(keys)}, 2000)


@pytest.mark.parametrize(("rows", "severity"), [(9, "low"), (10, "medium"), (49, "medium"), (50, "high")])
def test_duplicates_are_grave_by_their_share(rows: int, severity: str) -> None:
    assert row_findings.train_test_duplicates(rows, 1000, True).severity == severity
    assert row_findings.train_test_duplicates(rows, 1000, False).severity == "info"


def test_too_few_clean_rows_are_named_as_the_reason_up_to_the_least_number() -> None:
    def reason(clean: int) -> str:
        look = {"n": 100, "n_clean": clean, "certified": False, "release": "full", "metric": "error"}
        return _why_uncertified(Look.read(look)).message

    assert str(FEWEST - 1) in reason(FEWEST - 1)
    assert reason(FEWEST) == reason(99) != reason(FEWEST - 1)


def test_entries_without_a_time_are_in_no_order() -> None:
    first = follow(None, "r", "note", {"at": "2026-02-02"})
    second = follow(first, "r", "migration", {"heads": {}})
    late, early = (follow(second, "r", "note", {"at": at}) for at in ("2026-02-03", "2026-02-01"))
    assert not list(of_time(History((first, second, late))))
    assert [one.code for one in of_time(History((first, second, early)))] == ["G075"]


def test_the_next_look_is_forecast_on_the_rows_of_the_last_one(home: Path) -> None:
    study = Study(numbers(1000), home)
    gate, sealing = study.choose_only(), study.sealing()
    before = _outlook(History.of(gate.session.ledger.entries()), gate.subject(sealing).digest, 0.3)
    assert before is not None
    assert (before.n, before.index) == (300, 1)
    study.look()
    other = study.but(split_seed=2, rule=Rule(1))
    result, gate = other.run()
    after = _outlook(History.of(gate.session.ledger.entries()), gate.subject(other.sealing()).digest, None)
    assert after is not None
    assert (after.n, after.index) == (result.n, 3)
    assert result.n < 300


def test_a_refusal_is_told_of_its_own_set(home: Path) -> None:
    strict = Study(numbers(), home, policy="strict")
    strict.look()
    assert strict.but(rule=Rule(1)).look().score is None
    Study(numbers(300, seed=5), home, policy="strict").look()
    refusals = {one["rows"]: one["refusals"] for one in audit(strict.gate())["test_sets"]}
    assert [len(refusals[120]), len(refusals[90])] == [1, 0]
