"""Bounded losses at a look: planned from out-of-fold predictions, released, priced, and computed again from the record."""

import json
from dataclasses import asdict, replace
from math import log, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modelsel.core.fingerprint import canonical
from modelsel.core.outcome import TestResult
from modelsel.core.spec import make
from modelsel.core.types import Feature, Floats, Outputs, Task, seal
from modelsel.guard.bounded_losses import BoundedLossRelease, SealedSide, form_of, plan_release
from modelsel.guard.gate import Gate
from modelsel.guard.labels import truth
from modelsel.guard.release import LossPlan
from modelsel.guard.requests import LookRequest, OutOfFold, SelectionSummary, TestSetDeclaration
from modelsel.ledger.home import Home
from modelsel.measure.base import BaseMeasure
from modelsel.statistics.unit_intervals import price_of

NATS = 20.0
COSTS = ((0.0, 5.0), (1.0, 0.0))
MEASURES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("brier", {}), ("cost_matrix", {"costs": COSTS}), ("log_loss", {}), ("balanced_error", {}),
    ("recall", {"positive": 1}), ("precision", {"positive": 1}), ("specificity", {"positive": 1}),
    ("f_beta", {"positive": 1}), ("f1", {"positive": 1}), ("error", {}),
)  # fmt: skip


def drawn(
    rows: int, seed: int, units: int | None = None, weighted: bool = False, signal: float = 2.2
) -> tuple[OutOfFold, Floats]:
    """Labels, and scores of a model that is right nine times in ten; of units, all rows are harder or easier together."""
    rng = np.random.default_rng(seed)
    unit = None if units is None else np.arange(rows) % units
    shift = np.zeros(rows) if unit is None else rng.normal(0, 0.7, units)[unit]
    label = (rng.random(rows) < 0.4).astype(np.int32)
    p = 1 / (1 + np.exp(-(signal * (2 * label - 1) + shift * (1 - 2 * label) + rng.normal(0, 1.6, rows))))
    scores = np.column_stack([1 - p, p])
    weights = rng.uniform(0.5, 1.5, rows) if weighted else None
    return OutOfFold(Outputs(scores.argmax(axis=1).astype(np.int32)[None], scores[None]), label, unit, weights), p


def channel(measure: BaseMeasure, seen: OutOfFold, sealed: OutOfFold, nats: float = NATS) -> BoundedLossRelease:
    form = form_of(measure, 2, seen)
    assert form is not None
    found = plan_release(form, seen, SealedSide(sealed.outputs, sealed.units, sealed.weights), nats, None, (0.15, 2000))
    assert found is not None
    return found


def labels(of: OutOfFold) -> Any:
    return ("no", "yes"), of.truth, of.weights


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("kind", "settings"), MEASURES)
def test_what_is_released_is_the_score_and_its_interval_follows_from_the_record(
    kind: str, settings: dict[str, Any], weighted: bool
) -> None:
    measure = make("measure", kind, **settings)
    if weighted and kind == "balanced_error":
        return
    (seen, _), (sealed, _) = drawn(3000, 1, weighted=weighted), drawn(2000, 2, weighted=weighted)
    release = channel(measure, seen, sealed)
    rows = np.ones(2000, bool)
    summary = truth(measure, sealed.outputs, labels(sealed), rows, release.form)
    told = release.release(summary)
    plan = LossPlan.read(json.loads(canonical(asdict(release.plan))))
    assert told.score is not None
    assert told.cell is not None
    cells = abs(release.form.width) / release.plan.steps
    capped = summary.score if release.form.cap is None else np.minimum(
        measure.losses(sealed.truth, sealed.outputs, 2)[0], release.form.cap) @ (
        np.ones(2000) if sealed.weights is None else sealed.weights) / (
        2000 if sealed.weights is None else sealed.weights.sum())  # fmt: skip
    assert abs(told.score - capped) <= cells / 2 + 1e-9
    limits = told.interval(2000, NATS, None, plan)
    assert limits is not None
    assert limits[0] <= capped <= limits[1]
    assert told.price <= release.worst
    wider = plan.limits(told.cell, told.k, 2 * NATS)
    if wider is not None:
        assert wider[0] <= limits[0] + cells
        assert wider[1] >= limits[1] - cells
    if told.k is not None:
        assert told.price >= price_of(told.k)


@pytest.mark.parametrize(("kind", "settings"), MEASURES[:2])
@pytest.mark.parametrize("rows", [2000, 8000])
def test_intervals_are_at_most_45_hundredths_of_what_a_range_alone_gives(
    kind: str, settings: dict[str, Any], rows: int
) -> None:
    measure = make("measure", kind, **settings)
    (seen, _), (sealed, _) = drawn(3000, 3, signal=2.8), drawn(rows, 4, signal=2.8)  # a loss that varies more has wider ones
    release = channel(measure, seen, sealed)
    told = release.release(truth(measure, sealed.outputs, labels(sealed), np.ones(rows, bool), release.form))
    limits = told.interval(rows, NATS, None, release.plan)
    assert limits is not None
    former = abs(release.form.width) * sqrt(NATS / (2 * rows))
    assert (limits[1] - limits[0]) / 2 <= 0.45 * former


def test_measures_without_a_form_have_none() -> None:
    seen, _ = drawn(100, 0)
    for kind, settings in (
        ("auc", {}), ("kappa", {}), ("mcc", {}), ("average_precision", {}), ("recall", {}), ("f1", {}), ("precision", {}),
    ):  # fmt: skip
        assert form_of(make("measure", kind, **settings), 2, seen) is None
    weighted = replace(seen, weights=np.ones(100))
    assert form_of(make("measure", "balanced_error"), 2, weighted) is None


def test_a_cap_is_what_one_development_row_in_a_hundred_is_above() -> None:
    measure = make("measure", "log_loss")
    seen, _ = drawn(5000, 0)
    form = form_of(measure, 2, seen)
    assert form is not None
    assert form.cap is not None
    share = form.above(seen.truth, seen.outputs) or 0
    assert 0.002 * 5000 <= share <= 0.011 * 5000
    assert form.cap >= log(2)


# At the gate.


def look(
    home: Path, measure: BaseMeasure, seen: OutOfFold, sealed: OutOfFold, spec: str = "spec", told: bool = True, **policy: Any
) -> TestResult:
    """A look at rows whose features are noise, by given predictions; `told`: the gate hears of those out of fold."""

    def task(of: OutOfFold, seed: int) -> Task:
        values = np.random.default_rng(seed).normal(size=(len(of.truth), 3))
        features = tuple(Feature(f"x{i}", "numeric") for i in range(3))
        return Task(name="t", features=features, values=values, rows=np.arange(len(values)), classes=("no", "yes"),
                    target=of.truth, groups=of.units, weights=of.weights)  # fmt: skip

    gate = Gate(make("guard", "warn", **policy), home / "runs", (), Home(home))
    sealing = TestSetDeclaration(seal(task(sealed, 1)), task(seen, 0), measure, "s", "runs/s/1", spec)
    chosen = SelectionSummary(f"w {spec}", 0.15, len(seen.truth), 0.15)
    return gate.look(LookRequest(sealing, chosen, lambda _: sealed.outputs, seen=seen if told else None))


def test_units_have_intervals_for_losses_and_the_log_loss_says_its_cap(tmp_path: Path) -> None:
    (seen, _), (sealed, _) = drawn(1500, 1, units=150), drawn(1200, 2, units=120)
    result = look(tmp_path, make("measure", "log_loss"), seen, sealed)
    assert (result.unit, result.units) == ("groups", 120)
    assert result.interval is not None
    assert result.score is not None
    assert result.cap is not None
    assert result.interval[0] < result.score < result.interval[1] <= result.cap
    assert result.above is not None
    low, high = result.above["interval"]
    assert low <= result.above["rows"] / 1200 <= high
    other = look(tmp_path, make("measure", "balanced_error"), seen, sealed, "other")
    assert other.interval is None  # rows of a class stand in many units, and no form is built for that


def test_a_look_that_is_asked_again_shows_the_same_symbols_unpaid(tmp_path: Path) -> None:
    (seen, _), (sealed, _) = drawn(1500, 1), drawn(900, 2)
    first = look(tmp_path, make("measure", "brier"), seen, sealed)
    again = look(tmp_path, make("measure", "brier"), seen, sealed)
    assert again.replay
    assert (first.score, first.interval, again.price) == (again.score, again.interval, 0.0)
    rounded = look(tmp_path / "r", make("measure", "brier"), seen, sealed, resolution=0.05)
    assert rounded.score is not None
    assert round(rounded.score * 10, 6) % 1 == 0  # a twentieth of 0 … 2


@pytest.mark.parametrize("told", [True, False])
def test_an_interrupted_look_is_answered_by_its_plan_or_not_at_all(
    told: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever cannot follow the plan of an intent makes a look of his own, beside one that costs the most it can."""
    (seen, _), (sealed, _) = drawn(1500, 1), drawn(900, 2)
    whole = look(tmp_path / "whole", make("measure", "brier"), seen, sealed)

    def died(*_: Any) -> Any:
        raise DiedError

    with monkeypatch.context() as patch:
        patch.setattr(Gate, "_release_answer", died)
        with pytest.raises(DiedError):
            look(tmp_path, make("measure", "brier"), seen, sealed)
    result = look(tmp_path, make("measure", "brier"), seen, sealed, told=told)
    if told:
        assert (result.look, result.score, result.interval, result.price) == (1, whole.score, whole.interval, whole.price)
    else:
        assert result.look == 2
        assert result.spent > whole.price


class DiedError(BaseException):
    """The process is gone."""
