"""Table lookup: the class of the analysis rows that are equal in all features; where the target is a number, their mean.

Features are ranked by symmetric uncertainty with the class, and the table is kept for every prefix of that ranking: where
no row is equal in all features, the longest prefix that some row shares answers (back-off), and in the end all rows do. For
numbers they are ranked by the share of the variance that their values explain, corrected for how many values there are:

    ε² = 1 − (SS_within / (n − k)) / (SS_total / (n − 1)),   k values among n rows (Kelley 1935)

A missing value is a value of its own; numbers are equal when they are identical, so discretise them first.
Source: Kohavi (1995), *The power of decision tables*; rote learning.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from modelsel.core.spec import number, one_of
from modelsel.core.types import (
    BOTH_TASKS,
    AnyTask,
    Codes,
    Description,
    Floats,
    Integers,
    NumberOutputs,
    NumberTask,
    Outputs,
    TaskKind,
    positions,
)
from modelsel.core.types import Table as Rows
from modelsel.learner.base import BaseLearner, FittedModel, PathModel, training_error
from modelsel.statistics.information import joint_counts, smooth, symmetric_uncertainty

AT_ONCE = 1 << 20  # numbers that are counted at a time
NOTHING = 1e-300  # weight of a row where no row has any


@dataclass(frozen=True)
class Table(BaseLearner):
    """Path parameters: `back_off`, `smoothing`. Of numbers `back_off` takes fewer features in order of ε²."""

    back_off: str = one_of("symmetric_uncertainty", "majority", help="fewer features in that order, or at once all rows")
    smoothing: float = number(0.0, least=0, help="Laplace l of the class scores; the predicted class stays the cell's")

    reads: ClassVar[tuple[TaskKind, ...]] = BOTH_TASKS
    unit: ClassVar[str] = "table entries"
    holds_gil: ClassVar[bool] = False
    draws: ClassVar[bool] = False

    def fit_key(self) -> dict[str, object]:
        return {"kind": "table"}

    def problems(self, task: Rows | None = None) -> Iterator[str]:
        if isinstance(task, NumberTask) and self.smoothing:
            yield "smoothing is one of class shares, and the target is a number: leave it out"

    def refusal(self, task: AnyTask, rows: Integers) -> str | None:
        return super().refusal(task, rows) if isinstance(task, NumberTask) else None

    def fit_path(self, task: AnyTask, rows: Integers, rng: np.random.Generator) -> "TablePath | NumberTablePath":
        """Rank the features and count the classes, or sum the numbers, in the cells of every prefix of the ranking."""
        if isinstance(task, NumberTask):  # sums do not depend on the order of rows
            rows = rows[np.lexsort((task.row_weights[rows], task.target[rows]))]
        values, target, weights = task.values[rows], task.target[rows], task.row_weights[rows]
        distinct = [np.unique(column[~np.isnan(column)]) for column in values.T]
        codes = np.reshape([_codes(*pair) for pair in zip(values.T, distinct)], (len(distinct), len(rows))).T
        if isinstance(task, NumberTask):
            ranked = _ranked_by_variance(codes, target, weights, None if task.repeats is None else task.repeats[rows])
            table = _grow_cells(codes[:, ranked], ranked, [distinct[f] for f in ranked], partial(_sums, target, weights))
            return NumberTablePath(table, _off(task, rows, table))
        ranked = _rank_columns(codes, target, weights, len(task.classes))
        counted = partial(_class_counts, target, weights, len(task.classes))
        return _grow_cells(codes[:, ranked], ranked, [distinct[f] for f in ranked], counted)

    def fit(self, task: AnyTask, rows: Integers, rng: np.random.Generator) -> "TableModel | NumberTableModel":
        return self.fit_path(task, rows, rng).model(self)

    @staticmethod
    def restore(description: Description) -> "TableModel | NumberTableModel":
        return _restore(description)


@dataclass(frozen=True, eq=False)
class TablePath:
    """Cells of every prefix of the ranking. `keys[d]` is sorted: (cell of the prefix before) × (values + 2) + code."""

    ranked: Integers  # columns of the table, most telling first
    values: tuple[Floats, ...]  # distinct values per ranked feature, sorted
    keys: tuple[Integers, ...]
    counts: tuple[Floats, ...]  # cells × classes (of numbers × 2: sum, weight), for the empty prefix first

    def outputs(self, learners: Sequence[Table], table: Rows, rows: Integers, scores: bool) -> Outputs:
        """Look each row up as deep as it is known, and count for each learner's back-off and smoothing."""
        cells = self.cells(table, rows)
        predicted = np.empty((len(learners), len(rows)), np.int32)
        shares = np.empty((len(learners), len(rows), self.counts[0].shape[1])) if scores else None
        for position, learner in enumerate(learners):
            counts = self.cell_weights(*cells, learner.back_off)
            predicted[position] = np.argmax(counts, axis=1)
            if shares is not None:
                shares[position] = smooth(counts, learner.smoothing)
        return Outputs(predicted, shares)

    def complexity(self, learners: Sequence[Table]) -> Floats:
        """Cells that can answer: the full ones and the majority, or those of every prefix."""
        sizes = [len(counts) for counts in self.counts]
        short = sizes[-1] + (len(sizes) > 1)
        return np.array([float(sum(sizes) if learner.back_off != "majority" else short) for learner in learners])

    def training_error(self, learners: Sequence[Table]) -> Floats:
        """Every analysis row finds its full cell; exactly 0 where no cell holds two classes."""
        full = self.counts[-1]
        wrong = (full.sum(axis=1) - full.max(axis=1)).sum()
        return np.full(len(learners), wrong / max(full.sum(), np.finfo(np.float64).tiny))

    def model(self, learner: Table) -> "TableModel":
        return TableModel(self, learner)

    def cells(self, table: Rows, rows: Integers) -> tuple[Integers, Integers]:
        """Find the longest known prefix per row, and its cell."""
        values = table.values[np.ix_(rows, self.ranked)]
        depth, cell = np.zeros(len(values), np.int64), np.zeros(len(values), np.int64)
        alive = np.arange(len(values))
        for d, (keys, distinct) in enumerate(zip(self.keys, self.values)):
            key = cell[alive] * (len(distinct) + 2) + _codes(values[alive, d], distinct)
            place = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
            found = keys[place] == key
            alive, place = alive[found], place[found]
            depth[alive], cell[alive] = d + 1, place
        return depth, cell

    def cell_weights(self, depth: Integers, cell: Integers, back_off: str) -> Floats:
        """Return the class weights of each row's cell; a row without a whole match may get the majority's."""
        if back_off == "majority":
            depth = np.where(depth == len(self.keys), depth, 0)
        out = np.empty((len(depth), self.counts[0].shape[1]))
        for d, counts in enumerate(self.counts):
            here = depth == d
            out[here] = counts[cell[here] if d else 0]
        return out


@dataclass(frozen=True, eq=False)
class TableModel(PathModel):
    """The cells with one back-off and smoothing."""

    path: TablePath
    learner: Table

    def describe(self) -> Description:
        """Describe the model: ranking, values, cells and counts."""
        path = self.path
        arrays: dict[str, NDArray[np.generic]] = {"ranked": path.ranked}
        for name, parts in (("values", path.values), ("keys", path.keys), ("counts", path.counts)):
            arrays |= {f"{name}_{d}": part for d, part in enumerate(parts)}
        return Description("table", {"back_off": self.learner.back_off, "smoothing": self.learner.smoothing}, arrays)


def _codes(column: Floats, distinct: Floats) -> Integers:
    """1 + index among the distinct values, 0 where missing, len + 1 for a value that no analysis row has."""
    place = np.minimum(np.searchsorted(distinct, column), max(len(distinct) - 1, 0))
    known = distinct[place] == column if len(distinct) else np.zeros(len(column), np.bool_)
    return np.where(np.isnan(column), 0, np.where(known, place + 1, len(distinct) + 1))


def _rank_columns(codes: Integers, target: Codes, weights: Floats, classes: int) -> Integers:
    """Columns by symmetric uncertainty with the class, largest first; equal ones (to 1e-12) in column order."""
    uncertainty = np.concatenate([_uncertainty(some, target, weights, classes) for some in _blocks(codes, classes)])
    return np.argsort(-uncertainty.round(12), kind="stable").astype(np.int64)


def _uncertainty(codes: Integers, target: Codes, weights: Floats, classes: int) -> Floats:
    """Symmetric uncertainty of each column with the class, counted at once."""
    features, levels = codes.shape[1], int(codes.max(initial=0)) + 1
    place = codes + levels * np.arange(features)
    joint = joint_counts(place.T.ravel(), np.tile(target, features), np.tile(weights, features), (levels * features, classes))
    return symmetric_uncertainty(joint.reshape(features, levels, classes))


def _blocks(codes: Integers, classes: int) -> Iterator[Integers]:
    """Columns whose counts fit into memory together; none: one block of none."""
    size = max(1, AT_ONCE // max(len(codes), (int(codes.max(initial=0)) + 1) * classes, 1))
    return (codes[:, start : start + size] for start in range(0, max(codes.shape[1], 1), size))


def _class_counts(target: Codes, weights: Floats, classes: int, cell: Integers, cells: int) -> Floats:
    """Class weights of each cell."""
    return joint_counts(cell, target, weights, (cells, classes))


def _grow_cells(
    codes: Integers, ranked: Integers, values: Sequence[Floats], counted: Callable[[Integers, int], Floats]
) -> TablePath:
    """Number the cells of each prefix by their sorted keys, and count what is in them."""
    cell, keys = np.zeros(len(codes), np.int64), []
    counts = [counted(cell, 1)]
    for column, distinct in zip(codes.T, values):
        found, cell = np.unique(cell * (len(distinct) + 2) + column, return_inverse=True)
        keys.append(found.astype(np.int64))
        counts.append(counted(cell, len(found)))
    return TablePath(ranked, tuple(values), tuple(keys), tuple(counts))


# Where the target is a number.


@dataclass(frozen=True, eq=False)
class NumberTablePath:
    """Cells of numbers, each with their sum and weight; `off`: root mean squared error on analysis rows."""

    table: TablePath
    off: float

    def outputs(self, learners: Sequence[Table], table: Rows, rows: Integers, scores: bool) -> NumberOutputs:
        """Look each row up as deep as it is known, and take the mean there."""
        cells = self.table.cells(table, rows)
        means = {back_off: _mean(self.table.cell_weights(*cells, back_off)) for back_off in {own.back_off for own in learners}}
        return NumberOutputs(np.array([means[learner.back_off] for learner in learners]))

    def complexity(self, learners: Sequence[Table]) -> Floats:
        return self.table.complexity(learners)

    def training_error(self, learners: Sequence[Table]) -> Floats:
        """Root mean squared error: every analysis row finds its full cell."""
        return np.full(len(learners), self.off)

    def model(self, learner: Table) -> "NumberTableModel":
        return NumberTableModel(self, learner)


@dataclass(frozen=True, eq=False)
class NumberTableModel(FittedModel):
    """The cells with one back-off."""

    path: NumberTablePath
    learner: Table

    def predict(self, table: Rows) -> Floats:
        """Return the mean of each row's cell."""
        said: Floats = self.path.outputs([self.learner], table, positions(table), scores=False).predicted[0]
        return said

    def describe(self) -> Description:
        """Describe the model as one of classes, which says so."""
        own = TableModel(self.path.table, self.learner).describe()
        return Description(own.kind, {**own.facts, "numbers": self.path.off}, own.arrays)


def _mean(sums: Floats) -> Floats:
    return np.asarray(sums[:, 0] / sums[:, 1])


def _sums(target: Floats, weights: Floats, cell: Integers, cells: int) -> Floats:
    """Sum of numbers and weight of each cell; a cell without weight has the plain mean of its rows, at almost none."""
    weighed = np.bincount(cell, weights, cells)
    own = np.where(weighed[cell] > 0, weights, NOTHING)
    return np.column_stack([np.bincount(cell, own * target, cells), np.bincount(cell, own, cells)])


def _off(task: NumberTask, rows: Integers, table: TablePath) -> float:
    """Root mean squared error of the full cells on the rows that fill them."""
    return training_error(task, rows, _mean(table.cell_weights(*table.cells(task, rows), "symmetric_uncertainty")))


def _ranked_by_variance(codes: Integers, target: Floats, weights: Floats, repeats: Floats | None) -> Integers:
    """Columns by ε², largest first; equal ones (to 1e-12) in column order. Rows are counted as often as they stand there."""
    about, count = target - weights @ target / weights.sum(), int(((weights > 0) if repeats is None else repeats).sum())
    explained = np.array([_share_explained(column, about, weights, count) for column in codes.T])
    return np.argsort(-explained.round(12), kind="stable").astype(np.int64)


def _share_explained(codes: Integers, about: Floats, weights: Floats, rows: int) -> float:
    """ε² of one column; 0 where every row has a value of its own."""
    total = float(weights @ np.square(about))
    values = len(np.unique(codes[weights > 0]))
    if total == 0.0 or values in (1, rows):
        return 0.0
    sums, weight = np.bincount(codes, weights * about), np.bincount(codes, weights)
    within = total - float(np.divide(np.square(sums), weight, out=np.zeros_like(sums), where=weight > 0).sum())
    return 1.0 - within / (rows - values) / (total / (rows - 1))


def _restore(description: Description) -> TableModel | NumberTableModel:
    """Check a description and rebuild the model."""
    facts, arrays = description.facts, description.arrays
    ranked = np.asarray(arrays["ranked"], np.int64)
    values, keys = (tuple(np.asarray(arrays[f"{name}_{d}"]) for d in range(len(ranked))) for name in ("values", "keys"))
    counts = tuple(np.asarray(arrays[f"counts_{d}"], np.float64) for d in range(len(ranked) + 1))
    if sorted(ranked) != list(range(len(ranked))) or facts["back_off"] not in ("symmetric_uncertainty", "majority"):
        raise ValueError("table: the ranking or the back-off is out of range")
    classes, numbers = counts[0].shape[-1] if len(counts[0]) == 1 else 0, "numbers" in facts
    for known, distinct, own, before in zip(keys, values, counts[1:], counts):
        least = own[:, 1:].min(initial=1.0) > 0 if numbers else (own >= 0).all()
        whole = own.shape == (len(known), classes) and len(known) > 0 and np.isfinite(own).all() and least
        if not whole or (np.diff(known) <= 0).any() or not 0 <= known[0] <= known[-1] < len(before) * (len(distinct) + 2):
            raise ValueError("table: cells and counts do not fit together")
    learner = Table(back_off=facts["back_off"], smoothing=float(facts["smoothing"]))
    if classes == 0 or not learner.smoothing >= 0:
        raise ValueError("table: no classes, or a smoothing below 0")
    path = TablePath(ranked, values, keys, counts)
    if not numbers:
        return TableModel(path, learner)
    if classes != 2 or not counts[0][0, 1] > 0:
        raise ValueError("table: a cell has no sum of numbers and no weight")
    return NumberTableModel(NumberTablePath(path, float(facts["numbers"])), learner)
