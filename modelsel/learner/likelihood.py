"""Counts of naive Bayes, and the log-likelihoods read off them: ln P(row's values | class), feature by feature.

    nominal and ordered: P(v | c) = (N_vc + l) / (N_c + l V), or (N_vc + m p_v) / (N_c + m) with p_v = N_v / N or 1 / V
    numeric: normal with the class's mean and deviation (n − 1)

A missing value, a level that was never declared and one that no class can have are skipped: they say nothing.
Sources: Cestnik (1990) for m; Duda & Hart (1973) for the normal form.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from modelsel.core.types import Booleans, ClassTask, Codes, Floats, Integers, Table
from modelsel.kernels.compiler import load
from modelsel.learner.base import chunks

NARROWEST = 0.01  # of the whole column's deviation: a class of equal values is sharp, not infinitely so
EQUAL = 1e-9  # a deviation below this share of the column's is rounding
MANY = 16  # levels of a column, on average, from which they are looked up one by one


class Smoothing(NamedTuple):
    """Settings of how counts become probabilities: Laplace's l, or m where it is not None."""

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
        """Check that counts and moments fit the features."""
        classes, numeric = len(self.class_weight), int((self.levels == 0).sum())
        if self.counts.shape != (classes, self.levels.sum()) or np.any(self.levels < 0):
            raise ValueError("naive_bayes: the counts do not fit the features")
        if self.mean.shape != (classes, numeric) or self.deviation.shape != self.mean.shape:
            raise ValueError("naive_bayes: the moments do not fit the features")
        if not all((part >= 0).all() for part in (self.class_weight, self.counts, self.deviation)):
            raise ValueError("naive_bayes: counts and deviations are not negative")

    @cached_property
    def first(self) -> Integers:
        """The position of each feature's first level among all levels."""
        return np.cumsum(self.levels) - self.levels

    def subset(self, columns: Integers) -> "Counted":
        """Return the counts of just these features."""
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

    def log_tables(self, smoothings: Sequence[Smoothing]) -> tuple[Floats, Floats]:
        """ln P(level | class), smoothings × classes × all levels, and 1 where it is 0 (the logarithm is then given as 0)."""
        size = np.repeat(self.levels, self.levels).astype(np.float64)
        known = self._per_level(self.counts)
        total = known.sum(axis=0)
        share = np.where(total > 0, self.counts.sum(axis=0) / np.where(total > 0, total, 1.0), 1 / size)
        added = np.array([size * s.l if s.m is None else np.full(len(size), s.m) for s in smoothings])[:, None]
        prior = np.array([1 / size if s.uniform else share for s in smoothings])[:, None]
        whole = known + added
        probability = np.where(whole > 0, (self.counts + added * prior) / np.where(whole > 0, whole, 1.0), prior)
        probability[np.broadcast_to((probability == 0).all(axis=1, keepdims=True), probability.shape)] = 1.0
        impossible = probability == 0
        return np.log(np.where(impossible, 1.0, probability)), impossible.astype(np.float64)

    def _per_level(self, counts: Floats) -> Floats:
        """The sum over each feature's levels, at every one of them."""
        nominal = self.levels > 0
        sums = np.add.reduceat(counts, self.first[nominal], axis=1) if nominal.any() else counts
        return np.repeat(sums, self.levels[nominal], axis=1)

    def nominal(self, values: Floats, smoothings: Sequence[Smoothing]) -> tuple[Floats, Floats]:
        """Log-likelihood of the nominal features and how many of them are impossible: smoothings × classes × rows."""
        shape = len(smoothings), len(self.class_weight), len(values)
        flat = shape[0] * shape[1], self.counts.shape[1]
        logs, zeros = (table.reshape(flat) for table in self.log_tables(smoothings))
        likelihood, impossible = np.zeros((flat[0], len(values))), np.zeros((flat[0], len(values)))
        some = np.asarray(zeros.any(axis=1))
        if flat[1] > MANY * np.count_nonzero(self.levels):
            self._look_up(values, (logs, zeros[some]), likelihood, impossible, some)
            return likelihood.reshape(shape), impossible.reshape(shape)
        for rows in chunks(len(values), self.counts.shape[1]):
            marks = self._marks(values[rows])
            likelihood[:, rows] = logs @ marks
            impossible[some, rows] = zeros[some] @ marks
        return likelihood.reshape(shape), impossible.reshape(shape)

    def _look_up(
        self, values: Floats, tables: tuple[Floats, Floats], likelihood: Floats, impossible: Floats, some: Booleans
    ) -> None:
        """Add up a column at a time what its levels say: where levels are many, most marks would be zeros."""
        logs, zeros = tables
        for column in np.flatnonzero(self.levels):
            known = np.flatnonzero(values[:, column] < self.levels[column])
            at = self.first[column] + values[known, column].astype(np.int64)
            likelihood[:, known] += logs[:, at]
            if some.any():
                impossible[np.ix_(some, known)] += zeros[:, at]

    def _marks(self, values: Floats) -> Floats:
        """1 where a row has a level: all levels × rows."""
        marks = np.zeros((int(self.levels.sum()), len(values)))
        for column in np.flatnonzero(self.levels):
            known = np.flatnonzero(values[:, column] < self.levels[column])
            marks[self.first[column] + values[known, column].astype(np.int64), known] = 1.0
        return marks

    def gaussian(self, table: Table, rows: Integers, columns: Integers) -> Floats:
        """Log-likelihood of the numeric features up to a constant, classes × rows; columns: of the table, per feature."""
        total, numeric = np.zeros((len(self.class_weight), len(rows))), np.flatnonzero(self.levels == 0)
        told = self.deviation.all(axis=0)
        by_row, none = table.by_row, np.empty((0, 0))
        by_column, by_row = (table.values.T, none) if by_row is None else (none, by_row)
        mean, deviation = np.ascontiguousarray(self.mean[:, told]), np.ascontiguousarray(self.deviation[:, told])
        load("gaussian").densities(by_column, by_row, rows, columns[numeric[told]], mean, deviation, np.log(deviation), total)
        return total


def count_levels(task: ClassTask, rows: Integers) -> Counted:
    """Count levels and take moments of some rows (positions, repeats allowed), weighted."""
    classes, target, weights = len(task.classes), task.target[rows], task.row_weights[rows]
    levels = np.array([len(f.levels) if f.has_levels else 0 for f in task.features], np.int64)
    mean, deviation = moments(task, rows, weights, np.flatnonzero(levels == 0))
    class_weight = np.bincount(target, weights, minlength=classes).astype(np.float64)
    return Counted(class_weight, levels, _counts_by_difference(task, rows, levels), mean, deviation)


def _counts_by_difference(task: ClassTask, rows: Integers, levels: Integers) -> Floats:
    """Counts of some rows: all rows less the others, where these are fewer. Whole numbers, so that nothing is lost."""
    if not levels.any():
        return np.zeros((len(task.classes), 0))
    times = np.bincount(rows, minlength=len(task))
    if task.weights is not None or 2 * len(rows) < len(task) or times.max(initial=0) > 1:
        return _counts(task, rows, levels)
    if task not in _ALL:
        _ALL[task] = _counts(task, np.arange(len(task)), levels)
    return _ALL[task] - _counts(task, np.flatnonzero(times == 0), levels)


_ALL: WeakKeyDictionary[ClassTask, Floats] = WeakKeyDictionary()  # a task's counts, for all of its folds


def _counts(task: ClassTask, rows: Integers, levels: Integers) -> Floats:
    """Weight per class and level, feature after feature."""
    classes, total = len(task.classes), int(levels.sum())
    counts = np.zeros((classes, total))
    for column, first in zip(np.flatnonzero(levels), (np.cumsum(levels) - levels)[levels > 0]):
        values, size = task.values[rows, column], levels[column]
        known = values < size
        cells = task.target[rows][known] * size + values[known].astype(np.int64)
        weights = None if task.weights is None else task.weights[rows][known]
        counts[:, first : first + size] = np.bincount(cells, weights, minlength=classes * size).reshape(classes, size)
    return counts


def moments(task: ClassTask, rows: Integers, weights: Floats, columns: Integers) -> Floats:
    """Mean and deviation, 2 × classes × columns.

    A class with fewer than two known values has those of the whole column, one of equal values a hundredth of its deviation.
    """
    kernel, classes = load("gaussian"), len(task.classes)
    whole, mean, squares = (np.zeros((len(columns), classes)) for _ in range(3))
    kernel.moments(task.values.T, columns, rows, task.target, weights, whole, mean, squares)
    total = whole.sum(axis=1)
    safe = np.where(total > 0, total, 1.0)
    centre = (whole * mean).sum(axis=1) / safe
    between = squares.sum(axis=1) + (whole * (mean - centre[:, None]) ** 2).sum(axis=1)
    spread = np.where(total > 1, np.sqrt(between / np.where(total > 1, total - 1, 1.0)), 0.0)
    own = np.sqrt(squares / np.where(whole > 1, whole - 1, 1.0))
    own = np.where(own > EQUAL * spread[:, None], own, NARROWEST * spread[:, None])
    found = np.where(whole > 1, [mean, own], [np.repeat(centre[:, None], classes, 1), np.repeat(spread[:, None], classes, 1)])
    for few in np.flatnonzero(total <= 1):  # a mean of rows, whatever they weigh
        found[:, few] = by_numpy(task, rows, weights, columns[[few]])[:, :, 0]
    return np.ascontiguousarray(np.swapaxes(found, 1, 2))


def by_numpy(task: ClassTask, rows: Integers, weights: Floats, columns: Integers) -> Floats:
    """Compute the moments column by column."""
    classes, target = len(task.classes), task.target[rows]
    found = [_moments(task.values[rows, column], target, weights, classes)[:, :, None] for column in columns]
    return np.concatenate([np.empty((2, classes, 0)), *found], axis=2)


def _moments(values: Floats, target: Codes, weights: Floats, classes: int) -> Floats:
    """Mean and deviation per class of one column."""
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
    """Compute weighted mean and standard deviation, with the weight's sum minus one below.

    >>> _mean_and_deviation(np.array([1.0, 4.0]), np.array([1.0, 2.0]))
    (3.0, 1.7320508075688772)
    """
    total = weights.sum()
    if total <= 1:
        return float(values.sum() and values.mean()), 0.0
    mean = weights @ values / total
    return float(mean), float(np.sqrt(weights @ (values - mean) ** 2 / (total - 1)))


# Kernel densities of numbers within each class, for naive Bayes.
#
#     p(x | c) = Σ_i w_i φ((x − x_i) / h_c) / (h_c Σ_i w_i),   h_c = s_c n_c^(−1/5)
#
# φ is the standard normal density, x_i the distinct values of the class with weights w_i, n_c = Σ w_i, and s_c the class's
# deviation as in the Gaussian form (n − 1). A class with fewer than two known values takes those of the whole column.
# Sources: John & Langley (1995) for kernels in naive Bayes, Scott (1992) for the width.


@dataclass(frozen=True, eq=False)
class Densities:
    """Values of the numeric features, one feature after the other; `sizes` says how many each has."""

    sizes: Integers
    points: Floats
    weights: Floats  # points × classes
    widths: Floats  # classes × numeric features; 0 where the column is constant: it says nothing

    def __post_init__(self) -> None:
        """Check that points, weights and widths fit together."""
        classes, total = self.widths.shape[0], int(self.sizes.sum())
        if self.points.shape != (total,) or self.weights.shape != (total, classes) or (self.sizes < 0).any():
            raise ValueError("naive_bayes: points and weights of the densities do not fit together")
        if self.widths.shape[1] != len(self.sizes) or not (self.widths >= 0).all() or not (self.weights >= 0).all():
            raise ValueError("naive_bayes: widths of the densities do not fit the features")
        for feature in range(len(self.sizes)):
            if self.widths[:, feature].all() and not (self._slice(feature)[1] > 0).any(axis=0).all():
                raise ValueError("naive_bayes: a class has a width and no points")

    def subset(self, own: Integers) -> "Densities":
        """Take the densities of some of the numeric features."""
        first = np.cumsum(self.sizes) - self.sizes
        blocks = [np.arange(first[feature], first[feature] + self.sizes[feature]) for feature in own]
        where = np.concatenate([*blocks, np.empty(0)]).astype(np.int64)
        return Densities(self.sizes[own], self.points[where], self.weights[where], self.widths[:, own])

    def log(self, values: Floats) -> Floats:
        """Summed log densities up to a constant, classes × rows; `values` is rows × numeric features."""
        total = np.zeros((self.widths.shape[0], len(values)))
        for feature in range(len(self.sizes)):
            known = np.flatnonzero(~np.isnan(values[:, feature]))
            if self.widths[:, feature].all() and len(known):
                asked, place = np.unique(values[known, feature], return_inverse=True)
                total[:, known] += self._log(feature, asked)[:, place]
        return total

    def _log(self, feature: int, x: Floats) -> Floats:
        """Log densities of one feature, classes × values, with the largest exponent taken out before it is raised."""
        points, weights = self._slice(feature)
        out = np.empty((weights.shape[1], len(x)))
        for cls, width in enumerate(self.widths[:, feature]):
            own = weights[:, cls] > 0
            log_weights = np.log(weights[own, cls] / weights[own, cls].sum()) - np.log(width)
            for rows in chunks(len(x), int(own.sum())):
                exponent = log_weights - 0.5 * ((x[rows, None] - points[own]) / width) ** 2
                largest = exponent.max(axis=1)
                out[cls, rows] = largest + np.log(np.exp(exponent - largest[:, None]).sum(axis=1))
        return out

    def _slice(self, feature: int) -> tuple[Floats, Floats]:
        start = int(self.sizes[:feature].sum())
        where = slice(start, start + int(self.sizes[feature]))
        return self.points[where], self.weights[where]


def densities(task: ClassTask, rows: Integers, deviation: Floats) -> Densities:
    """Points and widths of every numeric feature; `deviation` is classes × numeric features."""
    classes, target, weights = len(task.classes), task.target[rows], task.row_weights[rows]
    points, tables, totals = [], [np.empty((0, classes))], [np.empty((classes, 0))]
    for column in (index for index, feature in enumerate(task.features) if feature.is_number):
        values = task.values[rows, column]
        known = ~np.isnan(values)
        found, place = np.unique(values[known], return_inverse=True)
        cells = np.bincount(place * classes + target[known], weights[known], len(found) * classes)
        table = cells.astype(np.float64).reshape(-1, classes)
        few = table.sum(axis=0) <= 1
        table[:, few] = table.sum(axis=1, keepdims=True)
        points.append(found)
        tables.append(table)
        totals.append(table.sum(axis=0)[:, None])
    sizes = np.array([len(found) for found in points], np.int64)
    count = np.maximum(np.concatenate(totals, axis=1), 1.0)
    return Densities(sizes, np.concatenate([*points, np.empty(0)]), np.concatenate(tables), deviation * count**-0.2)
