"""The heterogeneous value difference metric: names are near when they say the same about the class.

    d(x, y) = sqrt(Σ t_f²),   t_f = |x_f − y_f| / 4σ_f for numbers,   sqrt(Σ_c (P(c | x_f) − P(c | y_f))²) for names,
    1 where either value is missing

σ is the standard deviation (population form) of the analysis rows; P(c | level) are shares of the analysis weight, 0 for a
level that has no row. Source: Wilson & Martinez (1997), with their normalised_vdm2.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from modelsel.core.types import ClassTask, Floats, Integers, NumberTask, Table
from modelsel.distance.base import LEVELS, NUMBER, FittedDistance
from modelsel.distance.scale import inverse, known_values, moments, numbers
from modelsel.statistics.information import joint_counts


@dataclass(frozen=True)
class Hvdm:
    """It reads the classes of the analysis rows: rare levels lie where few rows put them."""

    own_scale: ClassVar[bool] = True

    def problems(self, task: Table | None = None) -> Iterable[str]:
        if isinstance(task, NumberTask):
            yield "distance=hvdm compares names by the classes of their rows, and the target is a number: use heom or gower"

    def fit(self, task: ClassTask, rows: Integers, normalise: str) -> FittedDistance:
        """Fit numbers by four standard deviations and names by the value differences of classes."""
        number = numbers(task)
        mean, deviation = moments(known_values(task, rows), task.row_weights[rows])
        tables = [np.empty(0) if number[f] else value_differences(task, rows, f).ravel() for f in range(len(number))]
        return FittedDistance(
            kinds=np.where(number, NUMBER, LEVELS).astype(np.int8),
            center=np.where(number, mean, 0.0),
            scale=np.where(number, inverse(4 * deviation), 1.0),
            missing=np.ones(len(number)),
            sizes=np.array([0 if f.has_order else len(f.levels) + 1 for f in task.features], np.int64),
            tables=np.concatenate([*tables, np.empty(0)]),
        )


def value_differences(task: ClassTask, rows: Integers, column: int) -> Floats:
    """Distances between the levels of a feature (the last one: never declared), as a square table."""
    size = len(task.features[column].levels) + 1
    codes = np.nan_to_num(np.minimum(task.values[rows, column], size - 1), nan=-1.0)
    joint = joint_counts(codes, task.target[rows], task.row_weights[rows], (size, len(task.classes)))
    total = joint.sum(axis=1, keepdims=True)
    shares = joint / np.where(total > 0, total, 1.0)
    table = np.zeros((size, size))
    for share in shares.T:  # class by class: levels² numbers at a time
        table += (share[:, None] - share) ** 2
    return np.sqrt(table)
