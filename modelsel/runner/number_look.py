"""What a look at sealed numbers will count, fixed from development targets alone: a tolerance, and the cap of errors beside."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from modelsel.config.compose import Config
from modelsel.core.spec import kind_of, with_fields
from modelsel.core.types import Floats, NumberTask, Task
from modelsel.guard.policy.base import Policy
from modelsel.statistics.sampling import weighted_median

TAIL = 0.01  # share of rows
POWERS = {"mae": 1, "mse": 2, "rmse": 2}  # measures whose capped errors, to a power, have an interval
MEDIAN = "median_absolute_error"
EXACT = ("full", "predicted")


def with_tolerance(config: Config, task: Task) -> Config:
    """The study with the tolerance of its final test, and the cap of errors beside: both from development targets alone."""
    if not isinstance(task, NumberTask):
        return config
    said: dict[str, float] = {}
    if config.guard.tolerance is None:
        said["tolerance"] = usual_tolerance(task.target, task.row_weights)
    if config.guard.beside and config.guard.cap is None:
        said["cap"] = usual_cap(task.target)
    resolved = {**config.resolved, "guard": {**config.resolved["guard"], **said}}
    return replace(config, guard=with_fields(config.guard, **said), resolved=resolved) if said else config


def usual_tolerance(target: Floats, weights: Floats) -> float:
    """Half of the median distance from the median, to two digits: a guess is off by more for well over half of the rows.

    Of the mean distance where more than half of the rows hold the median itself. Why a half: docs/numbers.md.

    >>> usual_tolerance(np.array([1.0, 2.0, 3.0, 4.0, 100.0]), np.ones(5))
    0.5
    >>> usual_tolerance(np.array([0.0, 0.0, 0.0, 4.0, 6.0]), np.ones(5))
    1.0
    """
    away = np.abs(target - weighted_median(target, weights))
    typical = weighted_median(away, weights) or float(np.average(away, weights=weights))
    return float(f"{typical / 2:.1e}")


def usual_cap(target: Floats) -> float:
    """The error that a guess of the median exceeds for one row in a hundred, to two digits: an error counts at most that much.

    >>> usual_cap(np.arange(201.0)), usual_cap(np.append(np.zeros(200), 7.0))
    (99.0, 7.0)
    """
    away = np.abs(target - np.median(target))
    return float(f"{float(np.quantile(away, 1 - TAIL)) or float(away.max()):.1e}")


def nothing_beside(config: Config, task: Task) -> Iterator[str]:
    """Yield reasons why the study's measure cannot stand beside the count of rows that are off."""
    guard, measure = config.guard, kind_of(config.measure)
    if not guard.beside:
        return
    if not isinstance(task, NumberTask):
        yield "it is about numbers, and the target is a class: leave it out"
    elif quantiles := quantiles_beside(guard.beside, measure):
        if not all(0 < q < 1 for q in quantiles) or len(set(quantiles)) < len(quantiles):
            yield f"quantiles lie between 0 and 1, each once, and these are {', '.join(f'{q:g}' for q in quantiles)}"
        if task.weights is not None:
            yield "quantiles count rows, and these have weights: leave it out"
    elif measure not in POWERS:
        why = " (it divides by the spread of sealed numbers, which is not known either)" if measure == "r2" else ""
        fix = f"use one of {', '.join((*POWERS, MEDIAN))}, quantiles of the error (guard.beside=[0.5,0.9]), or leave it out"
        yield f"measure={measure} has no interval on sealed rows{why}: {fix}"
    yield from _shown_by_less(guard)


def quantiles_beside(beside: bool | tuple[float, ...], measure: str) -> tuple[float, ...]:
    """The quantiles of the errors that are shown beside the count: those asked for, or the median where it is the measure.

    >>> [quantiles_beside(*asked) for asked in ((True, "mae"), (True, "median_absolute_error"), ((0.5, 0.9), "mae"))]
    [(), (0.5,), (0.5, 0.9)]
    """
    if isinstance(beside, bool):
        return (0.5,) if beside and measure == MEDIAN else ()
    return tuple(beside)


def _shown_by_less(guard: Policy) -> Iterator[str]:
    """Yield why nothing exact can stand beside what a policy shows."""
    less = {
        f"guard={kind_of(guard)}": kind_of(guard) in ("ladder", "thresholdout"),
        f"guard.release={guard.release}": guard.release not in EXACT,
        f"guard.resolution={guard.resolution}": guard.resolution != "count",
    }
    if shows := next((name for name, is_so in less.items() if is_so), None):
        fix = "leave it out, or let answers be exact: guard=warn guard.release=predicted guard.resolution=count"
        yield f"it is an exact answer beside the count, and {shows} shows less than that: {fix}"
