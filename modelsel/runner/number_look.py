"""What a look at sealed numbers will count, fixed from development targets alone: a tolerance, and the cap of errors beside."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from modelsel.config.compose import Config
from modelsel.core.spec import kind_of
from modelsel.core.types import Floats, NumberTask, Task
from modelsel.statistics.sampling import weighted_median

TAIL = 0.01  # share of rows
POWERS = {"mae": 1, "mse": 2, "rmse": 2}  # measures whose capped errors, to a power, have an interval
EXACT = ("full", "predicted")


def with_tolerance(config: Config, task: Task) -> Config:
    """The study with the tolerance of its final test, and the cap of errors beside: both from development targets alone."""
    if not isinstance(task, NumberTask):
        return config
    said = {}
    if config.guard.tolerance is None:
        said["tolerance"] = usual_tolerance(task.target, task.row_weights)
    if config.guard.beside and config.guard.cap is None:
        said["cap"] = usual_cap(task.target)
    resolved = {**config.resolved, "guard": {**config.resolved["guard"], **said}}
    return replace(config, guard=replace(config.guard, **said), resolved=resolved) if said else config


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
    """What a guess of the median exceeds for one row in a hundred, to two digits: an error counts at most that much.

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
    elif measure not in POWERS:
        why = " (it divides by the spread of sealed numbers, which is not known either)" if measure == "r2" else ""
        yield f"measure={measure} has no interval on sealed rows{why}: use one of {', '.join(POWERS)}, or leave it out"
    less = {
        f"guard={kind_of(guard)}": kind_of(guard) in ("ladder", "thresholdout"),
        f"guard.release={guard.release}": guard.release not in EXACT,
        f"guard.resolution={guard.resolution}": guard.resolution != "count",
    }
    if shows := next((name for name, is_so in less.items() if is_so), None):
        fix = "leave it out, or let answers be exact: guard=warn guard.release=predicted guard.resolution=count"
        yield f"it is an exact answer beside the count, and {shows} shows less than that: {fix}"


TAIL = 0.01  # share of rows
POWERS = {"mae": 1, "mse": 2, "rmse": 2}  # measures whose capped errors, to a power, have an interval
EXACT = ("full", "predicted")
