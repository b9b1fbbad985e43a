"""The next look foretold from a few entries: its price, interval and release; and those after it, counted one by one."""

from dataclasses import dataclass, replace
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modelsel.core.types import Task
from modelsel.guard.history import History
from modelsel.guard.reporting.forecast import MANY, budget, next_look
from modelsel.statistics import prices
from modelsel.statistics.certificate import SpendingState, hoeffding, interval
from tests.guard.histories import Told, choice, history, look, seal
from tests.guard.studies import Study, numbers


def told(*more: Told | list[Told], **sealed: Any) -> dict[str, Any]:
    """The next look at 200 rows, of which a study chose with an error of 0.1."""
    flat = [one for part in more for one in (part if isinstance(part, list) else [part])]
    found = next_look(history(seal(**sealed), choice(), *flat), "mine")
    assert found is not None
    return found


def limits(errors: int, state: SpendingState, delta: float = 0.05, n: int = 200) -> list[float]:
    return list(interval(errors, errors, n, state.nats(delta)))


@pytest.mark.parametrize("space", [None, 7])
def test_the_first_look_is_foretold_from_cross_validation(space: int | None) -> None:
    found = told(choice("other", cv_error=0.9), space=space, delta=0.1)
    assert (found["look"], found["release"], found["price"]) == (1, "full", pytest.approx(prices.full(200)))
    assert found["interval"] == pytest.approx(limits(20, SpendingState(1, 0.0, space), 0.1))
    assert told(release="predicted")["price"] == pytest.approx(prices.price_of_count(20, 200, 0.1, 90))


# terms, nats, and the error counts that the answer leaves possible, where .1 of 200 rows is foreseen
FORETOLD: tuple[tuple[dict[str, Any], float, tuple[int, int] | None], ...] = (
    ({"release": "passfail", "target": 0.1}, prices.PASS_OR_FAIL, None),
    ({"release": "passfail", "target": 0.09}, prices.PASS_OR_FAIL, None),
    ({"release": "full", "steps": 20}, prices.grid(20), (15, 24)),
    ({"release": "predicted", "steps": 20}, prices.predicted_grid(2, 20, 200, 0.1, 90), (15, 24)),
    ({"release": "thresholdout"}, -log(0.9), None),
)


@pytest.mark.parametrize(("terms", "nats", "counts"), FORETOLD)
def test_the_next_answer_costs_what_its_terms_charge_and_shows_what_they_release(
    terms: dict[str, Any], nats: float, counts: tuple[int, int] | None
) -> None:
    shown = None if counts is None else pytest.approx(interval(*counts, 200, SpendingState(1, 0.0).nats(0.05)))
    found = told(**terms)
    assert (found["price"], found["interval"]) == (pytest.approx(nats, abs=1e-5), shown)
    before = [*look("o", "other", {}), *look("a", answer={"score": None}, charged=["other"])]
    inherited = told(seal("other", rank=0, **terms), before)
    assert inherited["price"] == pytest.approx(nats, abs=1e-5)


@pytest.mark.parametrize(
    ("facts", "errors"),
    [({"cv_error": None}, 60), ({"cv_error": None, "cv_mean": 1.01}, None), ({"cv_error": -0.01}, None), ({"cv_error": 0}, 0),
     ({"cv_error": 1}, 200), ({"cv_error": "0.1"}, None), ({"cv_error": 0.25, "cv_mean": None}, 50)],
)  # fmt: skip
def test_the_rate_is_the_error_that_selection_found_else_its_score(facts: dict[str, Any], errors: int | None) -> None:
    found = next_look(history(seal(), choice(), choice(**facts)), "mine")
    assert (found and found["interval"]) == (None if errors is None else pytest.approx(limits(errors, SpendingState(1, 0.0))))


def test_where_nobody_chose_or_sealed_nothing_is_foretold() -> None:
    assert next_look(history(seal()), "mine") is None
    assert next_look(history(choice()), "mine") is None
    assert next_look(history(seal(), choice(), *look("a", answer={}, certified=False)), "mine") is None


def test_after_a_look_its_score_is_foretold_at_the_next_index_for_what_was_spent() -> None:
    found = told(look("b"), look("a", answer={"score": 0.25, "price": 4.0}), ("commit", {"testset": "mine"}))
    assert found["look"] == 4  # two looks and a commitment before it
    assert found["interval"] == pytest.approx(limits(50, SpendingState(4, 24.0)))  # what has no answer is charged in full
    committed = told(look("a", answer={}, commit="c"), ("commit", {"testset": "mine", "id": "c"}))
    assert committed["look"] == 2
    fewer = told(look("a", answer={"score": 0.25}, n=100))
    assert fewer["price"] == pytest.approx(prices.full(100))
    assert told(look("a", answer={}, n=0))["price"] == pytest.approx(prices.full(200))


@pytest.mark.parametrize(
    ("facts", "answer", "errors"),
    [({}, {"score": 0.2}, 40), ({}, {"score": None}, 20), ({"metric": "auc"}, {"score": 0.9}, None)],
)
def test_what_was_shown_last_counts_where_it_is_an_error_rate(
    facts: dict[str, Any], answer: dict[str, Any], errors: int | None
) -> None:
    found = told(look("a", answer=answer, **facts))["interval"]
    assert found == (None if errors is None else pytest.approx(limits(errors, SpendingState(2, 3.0))))


def test_before_the_first_look_the_sealed_measure_says_whether_there_is_an_interval() -> None:
    assert told(metric="auc")["interval"] is None
    assert told(("policy_change", {"testset": "mine", "terms": {"metric": "auc"}}))["interval"] is None


def test_the_terms_and_answers_of_sets_count_whose_looks_were_charged() -> None:
    others = [*look("o", "other", {"price": 5.0}), *look("s", "stranger", {"price": 50.0})]
    seals = [seal("other", quota=1, steps=20), seal("stranger", release="passfail")]
    off = seal("off", policy="off", release="passfail")
    found = told(*seals, off, others, look("a", answer={}, charged=["other", "off"]))
    assert (found["release"], found["look"], found["steps"]) == ("ladder", 3, 20)
    assert told(*seals, others, look("a", answer={}, charged=[]))["release"] == "full"
    assert told(*seals, others)["look"] == 1


@pytest.mark.parametrize(
    ("symbols", "rounds", "moved"),
    [(["count"], 1, 1), (["count", "board 9 stays"], 2, 1), (["board 9", "board 7", "board 7 stays", "count"], 4, 3)],
)
def test_a_board_that_stays_costs_what_those_before_it_have_left(symbols: list[str], rounds: int, moved: int) -> None:
    shown = [look(f"l{turn}", answer={"symbol": symbol, "price": 0.5}) for turn, symbol in enumerate(symbols)]
    found = told(*shown, quota=1)
    assert (found["release"], found["interval"], found["steps"]) == ("ladder", None, 20)
    assert found["price"] == pytest.approx(prices.coin(rounds, moved, improved=False))


def test_a_ladder_without_a_board_costs_any_of_its_steps() -> None:
    assert told(release="ladder", steps=50)["price"] == pytest.approx(prices.grid(50))


def test_where_nothing_would_be_learnt_nothing_is_foretold() -> None:
    found = told(look("a", answer={"price": 700.0}), quota=1)
    assert (found["release"], found["price"], found["interval"]) == ("closed", 0.0, None)
    assert told(look("a", answer={"price": 700.0}))["release"] == "full"
    assert told(look("a", answer={"score": 0.6}), quota=1)["release"] == "ladder"  # a bad model's interval says as much


def test_the_looks_that_are_left_are_counted_one_by_one() -> None:
    told_of = history(seal(n=2000, delta=0.1), *look("a", answer={"score": 0.3, "price": 5.0}, n=2000))
    found = budget(told_of, "mine")
    assert found is not None
    cost = {
        "full": prices.full(2000),
        "grid": prices.grid(100),
        "predicted": 1.1,
        "passfail": prices.PASS_OR_FAIL,
        "committed": 0.0,
    }
    for mode, price in cost.items():
        for most in (0.05, 0.1):
            more = 0
            while more < MANY:
                low, high = limits(600, SpendingState(2 + more, 5.0 + more * price), 0.1, 2000)
                if (high - low) / 2 > most:
                    break
                more += 1
            assert found["left"][mode][f"{most:g}"] == more
    assert found["at"] == 0.3
    first = SpendingState(1, 0.0).nats(0.1)
    assert found["fresh"] == {str(n): round(hoeffding(first, n), 4) for n in (500, 2000, 10_000)}
    assert budget(history(choice()), "mine") is None
    assert (budget(history(seal()), "mine") or {})["at"] == 0.5


@dataclass(frozen=True)
class ByGroups(Study):
    """A study of whose 400 rows in groups of eight the first twenty groups are sealed."""

    def parts(self) -> tuple[Task, Task]:
        return self.task.take(np.arange(160, 400)), self.task.take(np.arange(160))


def test_the_forecast_before_the_first_look_counts_the_units_that_were_sealed(tmp_path: Path) -> None:
    study = ByGroups(replace(numbers(), groups=np.arange(400) // 8), tmp_path)
    told_by = History.of(study.choose_only().session.ledger.entries())
    foreseen, shown = next_look(told_by, next(iter(told_by.seals))), study.look()
    assert foreseen is not None
    assert shown.interval is not None
    assert (shown.unit, shown.units) == ("groups", 20)
    assert foreseen["interval"][1] - foreseen["interval"][0] == pytest.approx(shown.interval[1] - shown.interval[0], abs=0.08)


def test_nothing_is_forecast_of_rows_that_were_sealed_in_time(tmp_path: Path) -> None:
    study = Study(numbers(), tmp_path)
    gate, sealing = study.gate(), replace(study.sealing(), config={"split": {"kind": "time"}})
    gate.seal(sealing)
    gate.select(sealing, study.request(sealing).selected, study.rule)
    told_by = History.of(gate.session.ledger.entries())
    assert next_look(told_by, next(iter(told_by.seals))) is None
