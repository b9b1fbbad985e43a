"""What the weights of rows are: repeats of rows, or relative to each other. Decided once per study, for all its parts.

    w_i = v_i / f;  repeats: f = 1;  relative: f = mean of the v_i above 0 of the development rows

Weights v that are whole numbers (to 1e-9) are repeats: 2 is a row that stands there twice. All others are relative, and are
divided by their mean, so that settings that count rows (`min_leaf`, smoothing) mean the same in whatever unit weights came:
a constant factor changes no answer. To this end relative weights are kept to 40 binary digits (twelve decimal ones), in which
the same weights times a constant are the same numbers but for a row in some thousands. Rows of weight 0 stand in no mean.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from modelsel.core.errors import DataError, Problem
from modelsel.core.proposal import Proposal
from modelsel.core.types import AnyTask, Finding, Floats, Integers, Weighing

AUTO, REPEATS, RELATIVE = ARE = ("auto", "repeats", "relative")
WHOLE = 1e-9  # of a whole number, what a weight may be away from it
MOST = 2.0**53  # repeats of all rows; above, sums of whole numbers are not exact, and all numbers look whole
DIGITS = 40  # binary ones, of relative weights
EXTREME = 2.0**500  # times heavier or lighter than the mean: what is beyond counts as this, so that no sum of squares overflows
MANY = 10  # repeats of a row on average, above which weights look like the sizes of what rows stand for


def decide(weights: Floats | None, are: str = AUTO, development: Integers | None = None) -> Weighing | None:
    """Decide what weights are, and by what they are divided; None where there are none.

    Parameters
    ----------
    weights : Floats, optional
        Those of all rows, as they were given.
    are : str
        `auto`, `repeats` or `relative`.
    development : Integers, optional
        The rows whose mean counts; none: all.

    Returns
    -------
    Weighing, optional
        What they are, and their factor.

    Raises
    ------
    DataError
        For repeats of more rows than can be counted, and where all weights are 0.

    Examples
    --------
    >>> decide(np.array([1.0, 2.0, 2.0])), decide(np.array([0.5, 0.0, 0.25])).factor
    (Weighing(are='repeats', factor=1.0), 0.375)
    """
    if weights is None:
        return None
    if not (weights > 0).any():
        raise DataError(Problem("MSEL-350", "all weights are 0: no row is left to fit on", "dataset.weights", "give weights"))
    if are == REPEATS or (are == AUTO and _whole(weights)):
        DataError.raise_if(_too_many(weights))
        return Weighing("repeats")
    own = weights if development is None or not (weights[development] > 0).any() else weights[development]
    own = own[own > 0]
    unit = math.frexp(float(own.max()))[1]  # a power of two: no number above 1 is added up
    return Weighing("relative", math.ldexp(_mean(np.ldexp(own, -unit)), unit))


def weigh(task: AnyTask, weighing: Weighing | None) -> Any:
    """Return a task with the weights that count; those of one each are none.

    >>> from modelsel.core.types import Feature, NumberTask
    >>> rows = {"values": np.zeros((2, 1)), "rows": np.arange(2), "target": np.zeros(2), "weights": np.array([0.2, 0.6])}
    >>> task = NumberTask(name="t", features=(Feature("x", "numeric"),), **rows)
    >>> weigh(task, decide(task.weights)).weights.round(6).tolist()
    [0.5, 1.5]
    """
    if task.weights is None or weighing is None or task.weighing is not None:
        return task
    weights = _divide(task.weights, weighing.factor) if weighing.are == RELATIVE else task.weights
    if weighing.are == REPEATS and _whole(weights):
        weights = np.round(weights)
    ones = weighing.are != "given" and bool((weights == 1).all())
    return replace(task, weights=None if ones else weights, weighing=weighing)


def decide_weights(task: AnyTask, are: str = AUTO) -> Any:
    """Return a task all of whose rows develop, its weights decided. ValueError for weights that cannot be counted."""
    if are not in ARE:
        raise ValueError(f"weights_are={are!r} is not a way to count weights: one of {', '.join(ARE)}")
    try:
        return weigh(task, decide(task.weights, are))
    except DataError as error:
        raise ValueError(str(error)) from error


def counting(task: AnyTask) -> tuple[Any, tuple[Finding, ...]]:
    """The rows of a task that have weight, and a finding where there are others."""
    if task.weights is None or (task.weights > 0).all():
        return task, ()
    kept = np.flatnonzero(task.weights > 0)
    what = f"{len(task) - len(kept)} of {len(task)} rows have weight 0 and were left out"
    return task.take(kept), (Finding("WEIGHT_ZERO", "info", what, "give them a weight, or take them out of the table"),)


def weigh_as_recorded(task: AnyTask, on_record: Mapping[str, Any] | None) -> Any:
    """Return a task weighed as the study of a record did it; as given where the record says nothing of it."""
    return weigh(task, Weighing("given") if on_record is None else Weighing(on_record["are"], float(on_record["factor"])))


def questionable(weights: Floats | None, weighing: Weighing | None) -> Iterator[Finding]:
    """Yield a finding where weights that are taken for repeats look like the sizes of what rows stand for."""
    if weights is None or weighing is None or weighing.are != REPEATS:
        return
    own = np.round(weights[weights > 0]).astype(np.int64)
    divisor, mean = int(np.gcd.reduce(own)) if len(own) else 1, float(own.mean()) if len(own) else 1.0
    if divisor < 2 and mean <= MANY:
        return
    said = f"all multiples of {divisor}" if divisor > 1 else f"{mean:.3g} on average"
    what = f"weights are whole numbers, {said}, and each counts as so many rows"
    relative, repeats = Proposal("dataset.weights_are", RELATIVE), Proposal("dataset.weights_are", REPEATS)
    fix = f"set {relative} where they say how much of a population a row stands for; {repeats} where rows repeat"
    yield Finding("WEIGHTS_AS_REPEATS", "medium", what, fix, (relative, repeats))


def _whole(weights: Floats) -> bool:
    near = np.abs(weights - np.round(weights)) <= WHOLE
    return bool((near & ((weights > 0.5) | (weights == 0))).all()) and not any(_too_many(weights))


def _too_many(weights: Floats) -> Iterator[Problem]:
    """Yield a problem where weights are the repeats of more rows than can be counted."""
    if (weights > MOST / max(1, len(weights))).any():
        relative = Proposal("dataset.weights_are", RELATIVE)
        what = "repeats of more rows than can be counted (2**53)"
        yield Problem("MSEL-350", what, "dataset.weights", f"set {relative}", (relative,))


def _mean(values: Floats) -> float:
    """The mean, whatever the order; of equal numbers themselves."""
    return float(values[0]) if (values == values[0]).all() else math.fsum(values.tolist()) / len(values)


def _divide(weights: Floats, factor: float) -> Floats:
    """Weights over their factor, to `DIGITS` binary digits; both by a power of two first, so that nothing overflows."""
    mean, unit = math.frexp(factor)
    with np.errstate(over="ignore", under="ignore"):
        quotient = np.ldexp(weights, -unit) / mean
    part, power = np.frexp(np.where(weights > 0, np.clip(quotient, 1 / EXTREME, EXTREME), 0.0))
    found: Floats = np.ldexp(np.round(np.ldexp(part, DIGITS)), power - DIGITS)
    return found
