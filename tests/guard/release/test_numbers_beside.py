"""The study's measure of numbers beside the share of rows that are off: capped errors by the engine of bounded losses."""

from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

from modelsel.core.types import NumberOutputs, open_labels
from modelsel.guard.access.apart import full_price
from modelsel.guard.facts import Look, Reveal, Seal
from modelsel.guard.labels import wrong
from modelsel.guard.quarantine import _least
from modelsel.guard.release import count_limits
from modelsel.guard.reporting.audit import audit
from modelsel.guard.requests import LookRequest, OutOfFold, SelectionSummary
from modelsel.measure.capped import CappedError, ErrorQuantiles
from modelsel.measure.within import Within
from modelsel.statistics import prices
from modelsel.study.final_test import word_answer
from tests.guard.studies import Line, Study, amounts


def looked(home: Path, measure: CappedError | ErrorQuantiles, rows: int = 600):
    study = Study(amounts(rows), home, rule=Line(), measure=measure)
    gate, sealing = study.gate(), study.sealing()
    task = sealing.development
    off = wrong(measure, study.rule(task), task.target, 0)
    mean = float(measure.losses(task.target, study.rule(task), 0).mean())
    chosen = SelectionSummary("line", mean, len(task), float(off.mean()))
    seen = OutOfFold(study.rule(task), task.target)
    result = gate.look(LookRequest(sealing, chosen, study.rule, seen=seen))
    return gate, sealing, word_answer(result, measure)


def intent_and_reveal(gate):
    entries = gate.session.ledger.entries()
    look = next(Look.of(entry) for entry in entries if entry.kind == "intent")
    return look, next(Reveal.of(entry) for entry in entries if entry.kind == "reveal")


@pytest.mark.parametrize("power", [1, 2])
def test_share_and_capped_mean_have_an_interval_each_and_both_are_charged(home: Path, power: int) -> None:
    measure = CappedError(8.0, 30.0, power)
    gate, sealing, result = looked(home, measure)
    truth = open_labels(sealing.sealed)[1]
    losses = np.minimum(np.abs(Line()(sealing.sealed).predicted[0] - truth), 30.0) ** power
    count = int((np.abs(Line()(sealing.sealed).predicted[0] - truth) > 8.0).sum())
    look, reveal = intent_and_reveal(gate)
    assert (result.measure, result.tolerance, result.errors, result.score) == ("within", 8.0, count, count / result.n)
    assert result.interval == count_limits((count, count), result.n, look.nats)
    assert (look.plan.of, look.plan.width) == ("capped", 30.0**power)
    alone = Study(amounts(600), home / "alone", rule=Line(), measure=Within(8.0)).look()
    assert reveal.price > alone.price
    assert result.interval[0] < alone.interval[0] < alone.interval[1] < result.interval[1]
    assert result.beside["cap"] == 30.0
    assert abs(result.beside["score"] - losses.mean()) <= measure.bounds[1] / look.plan.steps
    low, high = result.beside["interval"]
    assert low <= losses.mean() <= high


def test_the_rows_above_the_cap_are_counted_with_an_exact_interval_of_their_own(home: Path) -> None:
    gate, sealing, result = looked(home, CappedError(8.0, 12.0, 1))
    errors = np.abs(Line()(sealing.sealed).predicted[0] - open_labels(sealing.sealed)[1])
    look, reveal = intent_and_reveal(gate)
    count = int((errors > 12.0).sum())
    assert 0 < count < result.errors
    assert look.numbers == 3
    assert result.beside["above"] == {"rows": count, "interval": list(count_limits((count, count), result.n, look.nats))}
    assert (result.cap, result.above) == (None, None)  # they stand beside, in the unit of the target
    known = np.abs(Line()(sealing.development).predicted[0] - sealing.development.target)
    told = (float((known > 12.0).mean()), len(known))
    assert reveal.price >= prices.price_of_count(count, result.n, *told)


def test_quantiles_of_errors_are_places_in_a_grid_and_their_price_is_charged(home: Path) -> None:
    measure = ErrorQuantiles(8.0, 30.0, (0.5, 0.9))
    gate, sealing, result = looked(home, measure)
    errors = np.sort(np.abs(Line()(sealing.sealed).predicted[0] - open_labels(sealing.sealed)[1]))
    look, reveal = intent_and_reveal(gate)
    n, alpha = result.n, np.exp(-look.nats)
    assert look.numbers == 3
    assert (result.measure, result.errors) == ("within", int((errors > 8.0).sum()))
    edges = np.array([0.0, *measure.grid])
    for one in result.beside["quantiles"]:
        q, (low, high) = one["q"], one["interval"]
        least = binom.ppf(alpha, n, q)  # P(fewer than it) ≤ α, so that X_(it) is above the quantile as seldom
        most = n - binom.ppf(alpha, n, 1 - q) + 1
        assert low == edges[edges < errors[int(least) - 1]].max()
        assert high == edges[edges >= errors[int(most) - 1]].min()
        assert one["value"] == edges[edges >= errors[int(np.ceil(q * n)) - 1]].min()
    alone = Study(amounts(600), home / "alone", rule=Line(), measure=Within(8.0)).look()
    assert alone.price < reveal.price < alone.price + 6 * np.log(10 * (1 + len(measure.grid)))


def test_without_a_guard_the_count_alone_is_shown_at_its_full_price(home: Path) -> None:
    study = Study(amounts(600), home, rule=Line(), measure=ErrorQuantiles(8.0, 30.0, (0.5,)))
    assert full_price(study.sealing()) == prices.full(len(study.sealing().sealed))


def test_an_interrupted_look_at_quantiles_goes_on_by_the_level_that_its_intent_states(home: Path) -> None:
    measure = ErrorQuantiles(8.0, 30.0, (0.5,))
    study = Study(amounts(600), home, rule=Line(), measure=measure)
    gate = study.gate()
    whole = looked(home / "whole", measure)[2]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("modelsel.guard.gate.looks.reveal", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            looked(home, measure)
    again = looked(home, measure)[2]
    assert again.beside == whole.beside
    assert again.look == 1
    del gate


def test_an_audit_tells_the_share_first_and_the_capped_mean_beside(home: Path) -> None:
    gate, sealing, result = looked(home, CappedError(8.0, 30.0, 1))
    (line,) = audit(gate, sealing)["test_sets"][0]["looks"]
    assert (line["metric"], line["score"], line["errors"]) == ("within", result.score, result.errors)
    assert line["beside"]["score"] == result.beside["score"]


def test_a_larger_error_than_the_cap_changes_nothing() -> None:
    measure, truth = CappedError(1.0, 3.0, 2), np.zeros(3)
    near, far = (measure.losses(truth, NumberOutputs(np.array([[0.5, 3.0, far]])), 0).mean() for far in (3.0, 1e9))
    assert near == far == pytest.approx((0.25 + 9 + 9) / 3)
    assert sqrt(measure.bounds[1]) == 3.0


def test_a_share_of_rows_is_a_count_whatever_its_tolerance(home: Path) -> None:
    """Its name in entries has a digest of the tolerance: prices are checked and further looks foreseen all the same."""
    study = Study(amounts(400), home, rule=Line(), measure=Within(8.0))
    study.look()
    gate = study.gate()
    (found,) = audit(gate, study.sealing())["test_sets"]
    assert found["next"]["interval"] is not None
    entries = gate.session.ledger.entries()
    end = next(entry for entry in entries if entry.kind == "reveal")
    seal = next(Seal.of(entry) for entry in entries if entry.kind == "seal")
    look = next(Look.of(entry) for entry in entries if entry.kind == "intent")
    assert _least(Reveal.of(end), look, seal) == pytest.approx(Reveal.of(end).price)
