"""A bounded loss over rows or units at a look: the plan that is fixed before labels are opened, and the symbols that are shown.

A measure is a ratio of sums over rows, Σ w·num / Σ w·den with 0 ≤ num ≤ den (`statistics.unit_measures`), and the score is
origin + width · loss. From the out-of-fold predictions of the model for development rows the method with the narrowest interval
is forecast; method, bets and cap stand in the intent, and nothing of them is chosen by sealed labels. What is released is the
cell of the score and, for wealth, how much wider than forecast the interval is; both are priced (`statistics.unit_intervals`).
"""

from dataclasses import asdict, dataclass, replace
from math import ceil, isfinite, log

import numpy as np

from modelsel.core.spec import kind_of
from modelsel.core.types import Booleans, Codes, Floats, Integers, Outputs, Targets
from modelsel.guard.release import (
    FAILED,
    WITH_COUNT,
    LabelSummary,
    LossPlan,
    Released,
    ReleaseMechanism,
    bounds_of,
    with_failure,
    worst_of,
)
from modelsel.guard.requests import OutOfFold
from modelsel.measure.base import BaseMeasure
from modelsel.measure.capped import CappedError
from modelsel.measure.f1 import F1
from modelsel.measure.log_loss import LogLoss
from modelsel.measure.one_class import PerClass
from modelsel.statistics import prices
from modelsel.statistics import unit_intervals as intervals
from modelsel.statistics import unit_measures as measures
from modelsel.statistics.unit_intervals import Method, UnitLosses
from modelsel.statistics.unit_measures import RowTerms

OF_ONE_CLASS = ("precision", "recall", "specificity", "f_beta", "f1")
BALANCED, LOG_LOSS, PRECISION = "balanced_error", "log_loss", "precision"
TAIL = 0.01  # share of the development rows whose log loss may be above the cap


@dataclass(frozen=True, eq=False)
class LossForm:
    """A measure as a bounded loss; `cap` is that of the log loss, or of errors of numbers."""

    measure: BaseMeasure
    classes: int
    origin: float
    width: float
    cap: float | None = None

    @property
    def kind(self) -> str:
        return kind_of(self.measure)

    def numbers(self, rounded: bool) -> int:
        """Count the numbers that are shown at once."""
        return 1 + (self.kind in WITH_COUNT and not rounded) + (self.cap is not None)

    @property
    def for_units(self) -> bool:
        """Say whether it stands where rows of one class are in several units, and units have several classes."""
        return self.kind != BALANCED

    def terms(self, truth: Targets, outputs: Outputs) -> RowTerms:
        """num and den of each row."""
        if self.kind == BALANCED or self.kind in OF_ONE_CLASS:
            return self._terms_of_classes(np.asarray(truth, np.int32), np.asarray(outputs.predicted[0], np.int32))
        losses = self.measure.losses(truth, outputs, self.classes)[0]
        return RowTerms(np.clip((losses - self.origin) / self.width, 0.0, 1.0), np.ones(len(truth)))

    def _terms_of_classes(self, truth: Codes, said: Codes) -> RowTerms:
        """The same of measures that count predicted classes."""
        if self.kind == BALANCED:
            return measures.balanced_error(truth, said, np.bincount(truth, minlength=self.classes))
        of = self._positive
        if self.kind in ("f_beta", "f1"):
            return measures.f_beta(truth, said, of, getattr(self.measure, "beta", 1.0))
        terms = {"precision": measures.precision, "recall": measures.recall, "specificity": measures.specificity}[self.kind]
        return terms(truth, said, of)

    @property
    def _positive(self) -> int:
        """The one class that a measure of `OF_ONE_CLASS` counts."""
        assert isinstance(self.measure, PerClass | F1)
        assert self.measure.positive is not None
        return self.measure.positive

    def losses(self, truth: Targets, outputs: Outputs, units: Integers | None, weights: Floats | None) -> UnitLosses | None:
        """The losses of units, those left out that weigh nothing beforehand; None where nothing weighs."""
        terms = self.terms(truth, outputs)
        kept = terms.den > 0 if terms.sizes_known else np.ones(len(truth), bool)
        if not kept.any():
            return None
        part = RowTerms(terms.num[kept], terms.den[kept], terms.most, terms.sizes_known)
        return part.over(None if units is None else units[kept], None if weights is None else weights[kept])

    def above(self, truth: Targets, outputs: Outputs) -> int | None:
        """Count the rows above the cap; None without one."""
        if self.cap is None:
            return None
        if isinstance(self.measure, CappedError):
            return int(self.measure.beyond(truth, outputs).sum())
        return int((self.measure.losses(truth, outputs, self.classes)[0] > self.cap).sum())

    def sizes(self, outputs: Outputs, units: Integers | None, weights: Floats | None) -> tuple[Floats | int, float]:
        """The sizes of sealed units, or their number where labels decide them, and the largest that one can have."""
        rows = np.ones(outputs.predicted.shape[1]) if weights is None else weights
        if self.kind == PRECISION:
            rows = rows * (outputs.predicted[0] == self._positive)
        code = np.arange(len(rows)) if units is None else np.unique(units, return_inverse=True)[1]
        sums = np.bincount(code, rows)
        if self.kind == BALANCED or (self.kind in OF_ONE_CLASS and self.kind != PRECISION):
            beta = getattr(self.measure, "beta", 1.0) if self.kind in ("f_beta", "f1") else 0.0
            return len(sums), (1 + beta**2) * float(sums.max())
        return np.asarray(sums[sums > 0], np.float64), float(sums.max())


def form_of(measure: BaseMeasure, classes: int, seen: OutOfFold) -> LossForm | None:
    """The form of a measure; None where it has none: means over classes, kappa, MCC, areas, measures without a bound."""
    kind = kind_of(measure)
    if isinstance(measure, CappedError):
        return LossForm(measure, classes, 0.0, measure.bounds[1], measure.cap)
    if isinstance(measure, LogLoss):
        cap = _cap(measure.losses(np.asarray(seen.truth, np.int32), seen.outputs, classes)[0], classes, -log(measure.floor))
        return LossForm(measure, classes, 0.0, cap, cap)
    if kind == BALANCED:
        return None if seen.weights is not None else LossForm(measure, classes, 0.0, 1.0)
    if kind in OF_ONE_CLASS:
        return None if getattr(measure, "positive", None) is None else LossForm(measure, classes, 1.0, -1.0)
    low, high = bounds_of(measure)
    return LossForm(measure, classes, low, high - low) if measure.over_rows and isfinite(high) and high > low else None


def _cap(losses: Floats, classes: int, most: float) -> float:
    """The log loss that one development row in a hundred is above, in tenths; never below that of a guess."""
    usual = float(np.quantile(losses, 1 - TAIL)) if len(losses) else 0.0
    return min(most, ceil(10 * max(usual, log(classes))) / 10)


@dataclass(frozen=True, eq=False)
class BoundedLossRelease(ReleaseMechanism):
    """A loss by its plan. Beside it the errors of rows where that was always shown, and the rows above a cap."""

    form: LossForm
    plan: LossPlan
    n: int
    foreseen: tuple[float, int] | None = None  # of errors, where they are shown
    beyond: tuple[float, int] | None = None  # share of development rows above the cap, and their number
    rounded: bool = False

    @property
    def counts(self) -> bool:
        return self.form.kind in WITH_COUNT and not self.rounded

    @property
    def numbers(self) -> int:
        return self.form.numbers(self.rounded)

    @property
    def worst(self) -> float:
        widest = max(-log(prices.PRIOR / (self.plan.steps + 1)), -log(intervals.FAILED))
        if self.plan.reach is not None:
            most = ceil(-log(min(self.plan.reach)) / log(intervals.WIDER)) + 1
            widest += max(intervals.price_of(most), intervals.price_of(intervals.LEAST_K))
        return worst_of(widest + (self.numbers - 1) * log(10 * (self.n + 1)))

    def release(self, truth: LabelSummary) -> Released:
        """Release the symbols of the loss, and the count beside it."""
        if truth.losses is None or not isfinite(truth.losses.score):
            return Released("undefined", None, None, -log(FAILED))
        told = intervals.release(self.plan, truth.losses)
        assert told.cell is not None
        score = self.plan.origin + self.plan.width * told.cell / self.plan.steps
        price = intervals.price(self.plan, told)
        if self.counts:
            price += prices.price_of_count(truth.errors, self.n, *self.foreseen) if self.foreseen else prices.full(self.n)
        if truth.above is not None and self.beyond is not None:
            price += prices.price_of_count(truth.above, self.n, *self.beyond)
        width = "" if told.k is None else f", width {told.k}"
        return Released(
            f"loss {told.cell}/{self.plan.steps}{width}", round(score, 12), truth.errors if self.counts else None,
            with_failure(price), bounds=self.plan.on_scale((0.0, 1.0)), cell=told.cell, k=told.k, above=truth.above,
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class SealedSide:
    """Predictions, units and weights of sealed rows: all that is known of them before their labels are opened."""

    outputs: Outputs
    units: Integers | None
    weights: Floats | None

    def of(self, rows: Booleans) -> "SealedSide":
        """Some of the rows; `units` are those of these rows already."""
        scores = None if self.outputs.scores is None else self.outputs.scores[:, rows]
        weights = None if self.weights is None else self.weights[rows]
        return SealedSide(Outputs(self.outputs.predicted[:, rows], scores), self.units, weights)


def plan_release(
    form: LossForm, seen: OutOfFold, sealed: SealedSide, nats: float, steps: int | None, foreseen: tuple[float, int] | None
) -> BoundedLossRelease | None:
    """The release with the narrowest forecast from out-of-fold losses; None where there is nothing to forecast from."""
    den, bound = form.sizes(sealed.outputs, sealed.units, sealed.weights)
    development = form.losses(seen.truth, seen.outputs, seen.units, seen.weights)
    if development is None or bound <= 0 or not np.any(den) or not isfinite(development.score):
        return None
    binary = form.kind == PRECISION and sealed.units is None and sealed.weights is None
    if form.kind == BALANCED:  # a row counts 1 / (C n_c): as if there were as many rows as are sealed
        times = len(development.den) / sealed.outputs.predicted.shape[1]
        development = UnitLosses.of(development.num * times, development.den * times)
        bound = development.bound
    chosen = intervals.plan(development, den, nats, bound, binary)
    chosen = chosen if steps is None else replace(chosen, steps=min(steps, chosen.steps))
    n = sealed.outputs.predicted.shape[1]
    above = form.above(seen.truth, seen.outputs)
    beyond = None if above is None else (above / len(seen.truth), len(seen.truth))
    only = None if isinstance(den, int) else _by_score(den, bound, chosen.expected, nats)
    plan = LossPlan(**asdict(chosen), of=form.kind, origin=form.origin, width=form.width, cap=form.cap, score_only=only)
    return BoundedLossRelease(form, plan, n, foreseen, beyond, steps is not None)


def _by_score(den: Floats, bound: float, rate: float, nats: float) -> tuple[Method, float]:
    """The narrower of the two methods that need the score alone, for when wealth cannot be computed again."""
    chernoff, hoeffding = intervals.effective_units(den, bound)
    (low, high), (first, last) = (
        intervals.chernoff_limits(rate, chernoff, nats), intervals.hoeffding_limits(rate, hoeffding, nats)
    )  # fmt: skip
    return ("chernoff", chernoff) if high - low <= last - first else ("hoeffding", hoeffding)


def resume_release(channel: BoundedLossRelease, plan: LossPlan) -> BoundedLossRelease:
    """The release of an interrupted look, by the plan that its intent states."""
    return replace(channel, plan=plan, form=replace(channel.form, cap=plan.cap))
