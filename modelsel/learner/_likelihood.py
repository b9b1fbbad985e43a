"""What naive Bayes counts, and the log-likelihoods that it reads off: ln P(row's values | class), feature by feature.

    nominal and ordered: P(v | c) = (N_vc + l) / (N_c + l V), or (N_vc + m p_v) / (N_c + m) with p_v = N_v / N or 1 / V
    numeric: normal with the class's mean and deviation (n − 1)

A missing value, a level that was never declared and one that no class can have are skipped: they say nothing.
Sources: Cestnik (1990) for m; Duda & Hart (1973) for the normal form.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from modelsel.core.types import Codes, Floats, Integers, Task
from modelsel.statistics.information import smoothed

NARROWEST = 0.01  # of the whole column's deviation: a class of equal values is sharp, not infinitely so
EQUAL = 1e-9  # a deviation below this share of the column's is rounding
CELLS = 1 << 22  # numbers held at a time


class Smoothing(NamedTuple):
    """How counts become probabilities: Laplace's l, or m where it is not None."""

    l: float  # noqa: E741
    m: float | None
    uniform: bool  # p_v = 1 / V instead of N_v / N


@dataclass(frozen=True, eq=False)
class Counted:
    """Counts and moments of analysis rows. `levels` has an entry per feature, 0 for a numeric one."""

    class_weight: Floats
    levels: Integers
    counts: Floats  # classes × all levels, feature after feature
    mean: Floats  # classes × numeric features
    deviation: Floats  # 0 where the whole column is constant: it says nothing

    def __post_init__(self) -> None:
        classes, numeric = len(self.class_weight), int((self.levels == 0).sum())
        if self.counts.shape != (classes, self.levels.sum()) or np.any(self.levels < 0):
            raise ValueError("naive_bayes: the counts do not fit the features")
        if self.mean.shape != (classes, numeric) or self.deviation.shape != self.mean.shape:
            raise ValueError("naive_bayes: the moments do not fit the features")
        if not all((part >= 0).all() for part in (self.class_weight, self.counts, self.deviation)):
            raise ValueError("naive_bayes: counts and deviations are not negative")

    @property
    def first(self) -> Integers:
        """Where each feature's levels begin among all levels."""
        return np.cumsum(self.levels) - self.levels

    def subset(self, columns: Integers) -> "Counted":
        """What counting just these features would have given."""
        own = self.numbers_of(columns)
        blocks = [np.arange(self.first[column], self.first[column] + self.levels[column]) for column in columns]
        where = np.concatenate([*blocks, np.empty(0, np.int64)]).astype(np.int64)
        return Counted(
            self.class_weight, self.levels[columns], self.counts[:, where],
            self.mean[:, own], self.deviation[:, own],
        )  # fmt: skip

    def numbers_of(self, columns: Integers) -> Integers:
        """The numeric ones among some features, counted among all numeric features."""
        number = np.cumsum(self.levels == 0) - 1
        return np.array([number[column] for column in columns if self.levels[column] == 0], np.int64)

    def log_tables(self, smoothing: Smoothing) -> tuple[Floats, Floats]:
        """ln P(level | class), classes × all levels, and 1 where that probability is 0 (its logarithm is then given as 0)."""
        probability = np.ones_like(self.counts)
        for column in np.flatnonzero(self.levels):
            first, size = self.first[column], self.levels[column]
            block = self.counts[:, first : first + size]
            p = None if smoothing.uniform or not block.sum() else block.sum(axis=0) / block.sum()
            probability[:, first : first + size] = smoothed(block, smoothing.l, m=smoothing.m, prior=p)
        probability[:, (probability == 0).all(axis=0)] = 1.0
        impossible = probability == 0
        return np.log(np.where(impossible, 1.0, probability)), impossible.astype(np.float64)

    def nominal(self, values: Floats, smoothings: Sequence[Smoothing]) -> tuple[Floats, Floats]:
        """Log-likelihood of the nominal features and how many of them are impossible: smoothings × classes × rows."""
        tables = [self.log_tables(smoothing) for smoothing in smoothings]
        logs, zeros = (np.concatenate(parts) for parts in zip(*tables))
        shape = len(smoothings), len(self.class_weight), len(values)
        likelihood, impossible = np.zeros((shape[0] * shape[1], shape[2])), np.zeros((shape[0] * shape[1], shape[2]))
        some = zeros.any(axis=1)
        for rows in chunks(len(values), max(1, int(self.levels.sum()))):
            marks = self._marks(values[rows])
            likelihood[:, rows] = logs @ marks
            impossible[some, rows] = zeros[some] @ marks
        return likelihood.reshape(shape), impossible.reshape(shape)

    def _marks(self, values: Floats) -> Floats:
        """1 where a row has a level: all levels × rows."""
        marks = np.zeros((int(self.levels.sum()), len(values)))
        for column in np.flatnonzero(self.levels):
            known = np.flatnonzero(values[:, column] < self.levels[column])
            marks[self.first[column] + values[known, column].astype(np.int64), known] = 1.0
        return marks

    def gaussian(self, values: Floats) -> Floats:
        """Log-likelihood of the numeric features up to a constant, classes × rows."""
        total = np.zeros((len(self.class_weight), len(values)))
        for column, mean, deviation in zip(np.flatnonzero(self.levels == 0), self.mean.T, self.deviation.T):
            if deviation.all():
                standard = (values[:, column] - mean[:, None]) / deviation[:, None]
                total += np.nan_to_num(-0.5 * standard**2 - np.log(deviation)[:, None])
        return total


def counted(task: Task, rows: Integers) -> Counted:
    """Count levels and take moments of some rows (positions, repeats allowed), weighted."""
    classes, target, weights = len(task.classes), task.target[rows], task.row_weights[rows]
    levels = np.array([len(f.levels) if f.kind != "numeric" else 0 for f in task.features], np.int64)
    first = np.cumsum(levels) - levels
    counts = np.zeros((classes, int(levels.sum())))
    moments = [np.empty((2, classes, 0))]
    for column, size in enumerate(levels):
        values = task.values[rows, column]
        if size == 0:
            moments.append(_moments(values, target, weights, classes)[:, :, None])
            continue
        known = values < size
        cells = target[known] * size + values[known].astype(np.int64)
        table = np.bincount(cells, weights[known], minlength=classes * size).reshape(classes, size)
        counts[:, first[column] : first[column] + size] = table
    mean, deviation = np.concatenate(moments, axis=2)
    class_weight = np.bincount(target, weights, minlength=classes).astype(np.float64)
    return Counted(class_weight, levels, counts, mean, deviation)


def _moments(values: Floats, target: Codes, weights: Floats, classes: int) -> Floats:
    """Mean and deviation per class; a class with fewer than two known values has those of the whole column, one of equal
    values a hundredth of its deviation."""
    known = ~np.isnan(values)
    values, target, weights = values[known], target[known], weights[known]
    everywhere = _mean_and_deviation(values, weights)
    out = np.tile(np.array(everywhere)[:, None], classes)
    for cls in np.unique(target):
        own = target == cls
        if weights[own].sum() > 1:
            mean, deviation = _mean_and_deviation(values[own], weights[own])
            out[:, cls] = mean, deviation if deviation > EQUAL * everywhere[1] else NARROWEST * everywhere[1]
    return out


def _mean_and_deviation(values: Floats, weights: Floats) -> tuple[float, float]:
    total = weights.sum()
    if total <= 1:
        return float(values.sum() and values.mean()), 0.0
    mean = weights @ values / total
    return float(mean), float(np.sqrt(weights @ (values - mean) ** 2 / (total - 1)))


def chunks(rows: int, each: int) -> list[slice]:
    """Slices of rows such that a matrix of `each` numbers per row stays small: a fixed grid."""
    size = max(1, CELLS // each)
    return [slice(start, start + size) for start in range(0, rows, size)]
