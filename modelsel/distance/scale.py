"""Center and scale of each feature in the analysis rows, and the metrics that follow from them.

`none` leaves values as they are, `range` divides by max − min, `deviation` by the standard deviation (population form,
weighted rows count as repeats). Names that differ count 1. A missing value counts as the largest difference there is
among the analysis rows, so that with `range` it counts 1, as in HEOM.
"""

import numpy as np

from modelsel.core.types import Booleans, Floats, Integers, Task
from modelsel.distance.base import NAME, NUMBER, FittedDistance


def numbers(task: Task) -> Booleans:
    """Mask the features that are compared by size: numeric and ordered ones."""
    return np.array([feature.has_order for feature in task.features], np.bool_)


def known_values(task: Task, rows: Integers) -> Floats:
    """Analysis rows × features, with ranks that were never declared as missing."""
    values = task.values[rows]
    limits = np.array([len(f.levels) if f.is_ranked else np.inf for f in task.features])
    if not (limits < np.inf).any():
        return values
    return np.where(values >= limits, np.nan, values)


def limits(values: Floats) -> tuple[Floats, Floats]:
    """Least and largest known value per column; 0 where none is known."""
    if len(values) and not np.isnan(least := values.min(axis=0)).any():  # the usual case: none is missing
        return least, values.max(axis=0)
    known = ~np.isnan(values)
    low = np.min(values, axis=0, where=known, initial=np.inf)
    high = np.max(values, axis=0, where=known, initial=-np.inf)
    some = known.any(axis=0)
    return np.where(some, low, 0.0), np.where(some, high, 0.0)


def moments(values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Weighted mean and population standard deviation per column over the known values; 0 where none is known.

    Values are summed in their own order, so that the last digit does not depend on the order of the rows.
    """
    order = np.lexsort((np.broadcast_to(weights[:, None], values.shape), values), axis=0)
    values, weights = np.take_along_axis(values, order, axis=0), weights[order]
    known = ~np.isnan(values)
    share = np.where(known, weights, 0.0)
    total = np.maximum(share.sum(axis=0), np.finfo(np.float64).tiny)
    mean = (share * np.where(known, values, 0.0)).sum(axis=0) / total
    off = np.where(known, values - mean, 0.0)
    return mean, np.sqrt((share * off**2).sum(axis=0) / total)


def inverse(spread: Floats) -> Floats:
    """1 / spread, and 0 where there is none to speak of."""
    return np.where(spread > 1e-300, 1 / np.where(spread > 1e-300, spread, 1.0), 0.0)


def minkowski_metric(task: Task, rows: Integers, normalise: str, power: float) -> FittedDistance:
    """The metric of the Minkowski family with one of the three normalisations."""
    number, values = numbers(task), known_values(task, rows)
    low, high = limits(values)
    center, scale = np.zeros(len(number)), np.ones(len(number))
    if normalise == "range":
        center, scale = low, inverse(high - low)
    elif normalise == "deviation":
        center, spread = moments(values, task.row_weights[rows])
        scale = inverse(spread)
    largest = np.ones(len(number)) if normalise == "range" else (high - low) * scale
    return FittedDistance(
        kinds=np.where(number, NUMBER, NAME).astype(np.int8),
        center=np.where(number, center, 0.0),
        scale=np.where(number, scale, 1.0),
        missing=np.where(number, largest, 1.0),
        sizes=np.zeros(len(number), np.int64),
        power=power,
        rounded=normalise != "none",
    )
