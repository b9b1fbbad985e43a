"""A plan in words: what would be computed, what that spares, and what choosing among so many is worth.

    with probability 1 − δ no candidate's true error is further from its estimate than  sqrt((ln K + ln 2/δ) / (2 m))

K candidates, m development rows: the agnostic bound for a finite class (Hoeffding 1963; Kearns & Vazirani 1994), two-sided.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log, sqrt

import numpy as np
from scipy.special import ndtri

from modelsel.core.spec import kind_of
from modelsel.core.system.machine import COPIES, affordable, memory
from modelsel.core.types import (
    Candidate,
    ClassOutputs,
    ClassTask,
    Codes,
    Finding,
    Floats,
    Integers,
    NumberOutputs,
    NumberTask,
    Outputs,
    Resampling,
    Severity,
    Task,
)
from modelsel.guard.checks.independence import FEWEST_UNITS, sizes
from modelsel.guard.checks.look_context import is_used_up
from modelsel.guard.release import count_limits
from modelsel.measure.base import BaseMeasure, right_answers
from modelsel.planning.make import Estimate, Plan
from modelsel.statistics.certificate import NO_INFORMATION, SpendingState
from modelsel.statistics.prices import full

# The part of a plan that nested cross-validation adds: the whole selection again, once for each analysis part.


@dataclass(frozen=True)
class Nesting:
    """The number of selections that nested cross-validation repeats, and the mean share of the rows that each uses."""

    selections: int
    share: float
    sometimes: bool = False  # only where the corrected score lies near the floor

    @classmethod
    def of(cls, outer: Resampling, rows: int, pairs: bool, sometimes: bool = False) -> "Nesting":
        """`pairs`: the selections without each pair of folds of a repeat too, K (K + 1) / 2 in all."""
        parts = [len(fold.analysis) for fold in outer.folds]
        if pairs:
            two = combinations(outer.folds, 2)
            parts += [len(one.analysis) - len(other.assessment) for one, other in two if one.repeat == other.repeat]
        return cls(len(parts), sum(parts) / len(parts) / rows, sometimes)


# By how much guesses differ among themselves in a measure: what the best of many owes to luck, on the measure's own scale.
#
# Guesses draw classes by their shares, and class scores as the shares times independent exponential variables. Their standard
# deviation on m rows times the expected best of K normal variables (Blom 1958) is the most by which the best of K may flatter.

GUESSES, ROWS = 200, 2000


@dataclass(frozen=True)
class Luck:
    """`spread` of a guess's score, and how far guessing is from a perfect answer."""

    spread: float
    reach: float


def of_guesses(measure: BaseMeasure, task: Task) -> Luck:
    """Compute what guessing costs, the same whenever it is asked. Above `ROWS` rows it is computed on as many and scaled.

    >>> from modelsel.dataset.sklearn_bundled import SklearnBundled
    >>> from modelsel.measure.auc import Auc
    >>> luck = of_guesses(Auc(), SklearnBundled(which="breast_cancer").read())
    >>> round(luck.reach, 1), round(luck.spread, 2)  # sqrt((212 + 357 + 1) / (12 · 212 · 357)) = .025
    (0.5, 0.03)
    """
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(task))[:ROWS]
    truth, classes = task.target[rows], task.class_count
    weights = None if task.weights is None else task.weights[rows]
    guesses = (
        _guesses(np.asarray(truth, np.int32), weights, classes, rng)
        if classes
        else NumberOutputs(rng.choice(truth, (GUESSES, len(rows))))
    )
    found = _finite(measure.score(truth, guesses, weights, classes))
    perfect = measure.score(truth, right_answers(truth, classes), weights, classes)[0]
    if len(found) < GUESSES // 2 or not np.isfinite(perfect):
        return Luck(0.0, 0.0)
    return Luck(float(found.std()) * sqrt(len(rows) / len(task)), abs(float(perfect - found.mean())))


def _guesses(truth: Codes, weights: Floats | None, classes: int, rng: np.random.Generator) -> Outputs:
    """Draw classes and class scores by the shares of the classes."""
    shares = np.bincount(truth, weights, classes) / (len(truth) if weights is None else weights.sum())
    scores = shares * rng.exponential(size=(GUESSES, len(truth), classes)) + 1e-300
    return ClassOutputs(rng.choice(classes, (GUESSES, len(truth)), p=shares).astype(np.int32), _normal(scores))


def _normal(scores: Floats) -> Floats:
    return np.asarray(scores / scores.sum(axis=2, keepdims=True))


def _finite(values: Floats) -> Floats:
    return np.asarray(values[np.isfinite(values)])


IN_UNITS = ("mse", "rmse", "mae", "median_absolute_error")  # measures that are told in the unit of the target
THOUSANDS = 5_000
MANY = 100  # exact looks that a course counts at most


def lines(
    plan: Plan,
    task: Task,
    test_rows: int,
    estimate: Estimate | None = None,
    delta: float = 0.05,
    outer: Nesting | None = None,
    quota: float | None = None,
    ordered: bool = False,
    units: Integers | None = None,
) -> list[str]:
    """List the lines that `modelsel plan` prints; `test_rows` are the rows of the declared split, 0 where there are none.

    `ordered` says that split or folds follow time; `units` are those of the sealed rows, where rows are not independent.
    """
    shared = f" instead of {plan.naive:,}: {plan.naive / plan.needed:,.1f} × fewer, as one fit answers several candidates"
    return [
        f"rows         {plan.rows:,} for development, {test_rows:,} sealed",
        f"candidates   {_count_candidates(plan)}",
        *_sizes(plan.candidates),
        f"batches      {len(plan.batches):,} (candidates that one fit answers)",
        f"cells        {len(plan.cells):,} (batches × {plan.folds} folds)",
        f"fits         {plan.needed:,}{shared if plan.needed < plan.naive else ''}",
        *_ensembles(plan),
        *((f"inner fits   {plan.inner:,} of them, on inner folds (calibrators, thresholds)",) if plan.inner else ()),
        *(_estimate(estimate) if estimate else ()),
        *_sealing(plan.rows + test_rows if test_rows else 0, len(task.features)),
        *(_describe_nested(outer, plan, estimate) if outer else ()),
        f"final test   {_dependent(test_rows, units, ordered) or _final(test_rows, task, len(plan.candidates), delta, units)}",
        *(() if _dependent(test_rows, units, ordered) else _course(test_rows, task, delta, quota, units)),
        "ledger       not opened: `plan` writes nothing to the ledger",
    ]


def warnings(plan: Plan, task: Task, delta: float = 0.05, measure: BaseMeasure | None = None) -> tuple[Finding, ...]:
    """List findings about choosing among so many candidates on so few rows, before anything is run.

    Luck is told on the scale of the measure (errors, where none is said); the agnostic bound is one of errors.
    """
    many, error = len(plan.candidates), base_error(task)
    if measure is None or kind_of(measure) == "error":
        luck, name = Luck(sqrt(error * (1 - error) / plan.rows), error), "error"
        bounds = _bounds(many, plan.rows, error, delta)
    else:
        luck, name, bounds = of_guesses(measure, task), kind_of(measure), iter(())
    unit = task.measured_in if isinstance(task, NumberTask) and name in IN_UNITS else ""
    return (*_luck(many, plan.rows, luck, name, unit), *bounds, *_thousands(many))


def base_error(task: Task) -> float:
    """Weighted share of rows that are not of the most frequent class; of numbers, the error rate that is hardest to tell."""
    if not isinstance(task, ClassTask):
        return 0.5
    shares = np.bincount(task.target, task.row_weights, task.class_count) / task.row_weights.sum()
    return 1.0 - float(shares.max())


def agnostic(candidates: int, rows: int, delta: float = 0.05) -> float:
    """Half width that holds for all candidates at once.

    >>> round(agnostic(1000, 1000), 4)  # sqrt((6.9078 + 3.6889) / 2000)
    0.0728
    """
    return sqrt((log(candidates) + log(2 / delta)) / (2 * rows))


def best_of(candidates: int) -> float:
    """Expected largest of so many independent standard normal variables."""
    return 0.0 if candidates < 2 else float(ndtri((candidates - 0.375) / (candidates + 0.25)))


def _luck(candidates: int, rows: int, luck: Luck, measure: str, unit: str = "") -> Iterator[Finding]:
    """Say how much luck choosing the best of so many brings, beside how far guessing is from perfect."""
    gained = best_of(candidates) * luck.spread
    if gained > luck.reach / 10:
        scale = "" if measure == "error" else f" in {measure}"
        share = gained / luck.reach
        if measure == "mse":  # by its root, in the target's unit
            gained, scale = sqrt(luck.reach) - sqrt(max(luck.reach - gained, 0.0)), " in root mse"
        yield Finding(
            "MSEL-P01",
            _weight(share),
            f"the best of {candidates:,} candidates on {rows:,} rows may by luck alone look up to "
            f"{_amount(gained, unit)} better{scale} than it is",
            "read the corrected estimate, not the best mean; fewer candidates or more rows help",
        )


def _amount(value: float, unit: str) -> str:
    """Write a difference of scores; of numbers in their unit.

    >>> _amount(0.0625, ""), _amount(18.93, "euro"), _amount(12345.6, "")
    ('0.062', '18.9 euro', '12,346')
    """
    digits = f"{value:.3f}" if value < 10 else f"{value:.1f}" if value < 1000 else f"{value:,.0f}"
    return f"{digits} {unit}".strip()


def _weight(share: float) -> Severity:
    """Return a severity by what luck can change: `share` of the way from a guess to perfection.

    Up to a third the corrected estimate takes it out and no conclusion turns; from two thirds on luck alone may pass for skill.

    >>> [_weight(share) for share in (0.2, 0.4, 0.7)]
    ['low', 'medium', 'high']
    """
    return "low" if share < 1 / 3 else "medium" if share < 2 / 3 else "high"


def _bounds(candidates: int, rows: int, error: float, delta: float) -> Iterator[Finding]:
    """Yield a finding where so many candidates make the sure bound wide."""
    bound = agnostic(candidates, rows, delta)
    if bound > error / 2:
        yield Finding(
            "MSEL-P02",
            "info",
            f"for all {candidates:,} candidates at once, estimates are only sure to ± {bound:.3f} (agnostic, δ = {delta:g})",
            f"differences below that need the paired comparison; always saying the most frequent class errs at {error:.3f}",
        )


def _thousands(candidates: int) -> Iterator[Finding]:
    """Yield a finding where there are more candidates than can be defended."""
    if candidates > THOUSANDS:
        yield Finding(
            "MSEL-P03",
            "low",
            f"{candidates:,} candidates are many: the classical advice is a few to hundreds, thousands at most",
            "declare what you would be ready to defend",
        )


def _count_candidates(plan: Plan) -> str:
    """Count the candidates, and the pruning paths with the strengths that each has at most: leaves less one."""
    most = [int(plan.rows / max(float(getattr(family.learner, "min_leaf", 1)), 1.0)) - 1 for family in plan.families]
    if not most:
        return f"{len(plan.candidates):,}"
    single, strengths = len(plan.candidates) - len(most), " + ".join(f"{max(one, 1):,}" for one in most)
    paths = "one pruning path" if len(most) == 1 else f"{len(most)} pruning paths"
    others = f"{single:,} candidate{'s' * (single > 1)} and " if single else ""
    return f"{others}{paths} (up to {strengths} strengths)"


def _sizes(candidates: Sequence[Candidate]) -> Iterator[str]:
    """Say what the sizes of candidates count where that differs: leaves are not compared with parameters."""
    kinds: dict[str, dict[str, None]] = {}
    for candidate in candidates:
        kinds.setdefault(candidate.learner.unit, {})[candidate.entry or kind_of(candidate.learner)] = None
    if len(kinds) > 1:
        told = "; ".join(f"{unit} ({', '.join(names)})" for unit, names in kinds.items())
        yield f"sizes        ties and rule=one_standard_error compare within a unit: {told}"


def simpler(rule: object, task: Task, measure: BaseMeasure) -> Iterator[str]:
    """Say what one standard error would give up, as far as it is known before a fit: of an error rate its size, of others none.

    Half of the error of the most frequent class stands for the winner's.
    """
    if kind_of(rule) != "best":
        return
    share = base_error(task) / 2
    width = f", of an error of {share:.3f} about {sqrt(share * (1 - share) / len(task)):.3f}" if measure.zero_one else ""
    told = f"would take the smallest within one standard error of the best{width}, in its unit"
    yield f"simpler      rule=one_standard_error {told}; where that is another, the report says what it saves and costs"


def _ensembles(plan: Plan) -> Iterator[str]:
    """Say what each ensemble is picked from; its members are fitted again where it wins."""
    for one in plan.candidates:
        if not one.of_others:
            continue
        picked = f"up to {one.learner.size} picks from the {one.learner.library} best by their out-of-fold answers"
        yield f"ensemble     {one.entry}: {picked}; no fits before the last, which fits its members"


def _estimate(estimate: Estimate) -> list[str]:
    """Write estimated time and memory."""
    over = f", and this machine has {memory() / 2**20:,.0f} in all: fewer rows, or fewer workers (pool.n_jobs)"
    return [
        f"time         about {_duration(estimate.seconds)} with {estimate.workers} worker{'s' * (estimate.workers > 1)}",
        f"memory       about {estimate.memory / 2**20:,.0f} MiB beyond the data{over if estimate.memory > memory() else ''}",
    ]


# What fingerprints, the look with its search for copies, and the report read: all rows, whatever the candidates. Measured with
# naive Bayes, two folds, on 3·10⁵ × 10 and × 40, 10⁶ × 10 and 10⁷ × 10 numbers: 12, 19, 26, 267 s.
PER_ROW, PER_VALUE = 20e-6, 1e-6  # seconds of a processor
TO_SAY = 100_000  # rows from which it is more than a moment


def _sealing(rows: int, columns: int) -> list[str]:
    """Say what a study of many rows needs beside its fits where a test set is sealed; `rows` of both parts."""
    if rows < TO_SAY:
        return []
    need, seconds = (COPIES - 1) * 8 * rows * columns, rows * (PER_ROW + PER_VALUE * columns)
    there = memory()
    fitting = affordable(columns, there)
    over = f", and with the data this machine's {there / 2**20:,.0f} are too few: dataset.sample={fitting}, or fewer columns"
    return [
        f"sealing      with look and report about {need / 2**20:,.0f} MiB beyond the data, {_duration(seconds)} of a processor"
        f"{over if rows > fitting else ''}"
    ]


def _describe_nested(outer: Nesting, plan: Plan, estimate: Estimate | None) -> list[str]:
    """Describe what nested cross-validation adds: the whole selection again for each of its analysis parts."""
    seconds = f", about {_duration(estimate.seconds * outer.share * outer.selections)}" if estimate else ""
    when = "where the corrected score is near the floor (corrected=auto), " if outer.sometimes else ""
    return [f"outer        {when}{outer.selections:,} selections more: {outer.selections * plan.needed:,} fits{seconds}"]


def _dependent(rows: int, units: Integers | None, ordered: bool) -> str:
    """Say why there will be no interval where rows are not independent; empty where there will be, or none are sealed."""
    if rows and ordered:
        return f"one look at {rows:,} rows; not certified: rows in time"
    if rows and units is not None and (count := len(np.unique(units))) < FEWEST_UNITS:
        return f"one look at {rows:,} rows in {count} units; not certified: fewer than {FEWEST_UNITS} units are sealed"
    return ""


def _interval(rows: int, errors: int, nats: float, units: Integers | None) -> tuple[float, float]:
    """The interval that a look with so many errors would have, over rows or units."""
    return count_limits((errors, errors), rows, nats, None if units is None else sizes(units, errors / rows, nats))


def _final(rows: int, task: Task, candidates: int, delta: float, units: Integers | None) -> str:
    """Describe the certified interval of the first look, at half the error of the most frequent class."""
    if not rows:
        return "none: there are no sealed rows"
    errors = round(rows * base_error(task) / 2)
    low, high = _interval(rows, errors, SpendingState(1, 0.0, candidates, member=True).nats(delta), units)
    within = "" if units is None else f" in {len(np.unique(units)):,} units"
    share = "an error" if isinstance(task, ClassTask) else "a share of rows off by more than guard.tolerance"
    return f"one look at {rows:,} rows{within}: at {share} of {errors / rows:.3f} the interval is {low:.3f} to {high:.3f}"


def _course(rows: int, task: Task, delta: float, quota: float | None, units: Integers | None) -> list[str]:
    """Describe what further looks would be worth.

    Exact answers within the quota, then the ladder; at half the majority's error.
    """
    if not rows or quota is None:
        return []
    errors = round(rows * base_error(task) / 2)

    def half(look: int, spent: float) -> float:
        low, high = _interval(rows, errors, SpendingState(look, spent, 1).nats(delta), units)
        return (high - low) / 2

    price, exact = full(rows), 1
    while exact < MANY and not is_used_up(quota, exact, half(exact + 1, exact * price)):
        exact += 1
    shown = sorted({1, exact})
    looks = ", ".join(f"look {look} ±{half(look, (look - 1) * price):.3f}" for look in shown)
    later = half(exact + 10, exact * price + 10 * log(2))
    then = "then none: nothing would be left" if later >= NO_INFORMATION else f"ten looks later ±{later:.3f}"
    return [f"quota        exact: {looks}; from look {exact + 1} by the ladder (guard.quota={quota:g}), {then}"]


def _duration(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 90 else f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
