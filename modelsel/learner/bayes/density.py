"""Kernel densities of numbers within each class, for naive Bayes.

    p(x | c) = Σ_i w_i φ((x − x_i) / h_c) / (h_c Σ_i w_i),   h_c = s_c n_c^(−1/5)

φ is the standard normal density, x_i the distinct values of the class with weights w_i, n_c = Σ w_i, and s_c the class's
deviation as in the Gaussian form (n − 1). A class with fewer than two known values takes those of the whole column.
Sources: John & Langley (1995) for kernels in naive Bayes, Scott (1992) for the width.
"""

from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Floats, Integers, Task
from modelsel.learner.inputs.chunks import chunks


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


def densities(task: Task, rows: Integers, deviation: Floats) -> Densities:
    """Points and widths of every numeric feature; `deviation` is classes × numeric features."""
    classes, target, weights = len(task.classes), task.target[rows], task.row_weights[rows]
    points, tables, totals = [], [np.empty((0, classes))], [np.empty((classes, 0))]
    for column in (index for index, feature in enumerate(task.features) if feature.kind == "numeric"):
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
