"""Table lookup: the class of the analysis rows that are equal in all features.

Features are ranked by symmetric uncertainty with the class, and the table is kept for every prefix of that ranking: where
no row is equal in all features, the longest prefix that some row shares answers (back-off), and in the end all rows do.
A missing value is a value of its own; numbers are equal when they are identical, so discretise them first.
Source: Kohavi (1995), *The power of decision tables*; rote learning.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from modelsel.core.spec import number, one_of
from modelsel.core.types import ClassTask, Codes, Description, Floats, Integers, Outputs
from modelsel.core.types import Table as Rows
from modelsel.learner.base import BaseLearner
from modelsel.learner.base_model import PathModel
from modelsel.statistics.information import joint_counts, smoothed, symmetric_uncertainty

AT_ONCE = 1 << 20  # numbers that are counted at a time


@dataclass(frozen=True)
class Table(BaseLearner):
    """Path parameters: `back_off`, `smoothing`."""

    back_off: str = one_of("symmetric_uncertainty", "majority", help="fewer features in that order, or at once all rows")
    smoothing: float = number(0.0, least=0, help="Laplace l of the class scores; the predicted class stays the cell's")

    unit: ClassVar[str] = "table entries"
    holds_gil: ClassVar[bool] = False
    draws: ClassVar[bool] = False

    def fit_key(self) -> dict[str, Any]:
        return {"kind": "table"}

    def refusal(self, task: ClassTask, rows: Integers) -> str | None:
        return None

    def fit_path(self, task: ClassTask, rows: Integers, rng: np.random.Generator) -> "TablePath":
        """Rank the features and count the classes in the cells of every prefix of the ranking."""
        values, target, weights = task.values[rows], task.target[rows], task.row_weights[rows]
        distinct = [np.unique(column[~np.isnan(column)]) for column in values.T]
        codes = np.reshape([_codes(*pair) for pair in zip(values.T, distinct)], (len(distinct), len(rows))).T
        ranked = _ranked(codes, target, weights, len(task.classes))
        return _grown(codes[:, ranked], ranked, [distinct[f] for f in ranked], target, weights, len(task.classes))

    def fit(self, task: ClassTask, rows: Integers, rng: np.random.Generator) -> "TableModel":
        return self.fit_path(task, rows, rng).model(self)

    @staticmethod
    def restore(description: Description) -> "TableModel":
        return _restored(description)


@dataclass(frozen=True, eq=False)
class TablePath:
    """Cells of every prefix of the ranking. `keys[d]` is sorted: (cell of the prefix before) × (values + 2) + code."""

    ranked: Integers  # columns of the table, most telling first
    values: tuple[Floats, ...]  # distinct values per ranked feature, sorted
    keys: tuple[Integers, ...]
    counts: tuple[Floats, ...]  # cells × classes, for the empty prefix first

    def outputs(self, learners: Sequence[Table], table: Rows, rows: Integers, scores: bool) -> Outputs:
        """Look each row up as deep as it is known, and count for each learner's back-off and smoothing."""
        cells = self._deepest(table.values[np.ix_(rows, self.ranked)])
        predicted = np.empty((len(learners), len(rows)), np.int32)
        shares = np.empty((len(learners), len(rows), self.counts[0].shape[1])) if scores else None
        for position, learner in enumerate(learners):
            counts = self._counts(*cells, learner.back_off)
            predicted[position] = np.argmax(counts, axis=1)
            if shares is not None:
                shares[position] = smoothed(counts, learner.smoothing)
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

    def _deepest(self, values: Floats) -> tuple[Integers, Integers]:
        """The longest known prefix per row, and its cell."""
        depth, cell = np.zeros(len(values), np.int64), np.zeros(len(values), np.int64)
        alive = np.arange(len(values))
        for d, (keys, distinct) in enumerate(zip(self.keys, self.values)):
            key = cell[alive] * (len(distinct) + 2) + _codes(values[alive, d], distinct)
            place = np.minimum(np.searchsorted(keys, key), len(keys) - 1)
            found = keys[place] == key
            alive, place = alive[found], place[found]
            depth[alive], cell[alive] = d + 1, place
        return depth, cell

    def _counts(self, depth: Integers, cell: Integers, back_off: str) -> Floats:
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
        arrays: dict[str, NDArray[Any]] = {"ranked": path.ranked}
        for name, parts in (("values", path.values), ("keys", path.keys), ("counts", path.counts)):
            arrays |= {f"{name}_{d}": part for d, part in enumerate(parts)}
        return Description("table", {"back_off": self.learner.back_off, "smoothing": self.learner.smoothing}, arrays)


def _codes(column: Floats, distinct: Floats) -> Integers:
    """1 + index among the distinct values, 0 where missing, len + 1 for a value that no analysis row has."""
    place = np.minimum(np.searchsorted(distinct, column), max(len(distinct) - 1, 0))
    known = distinct[place] == column if len(distinct) else np.zeros(len(column), np.bool_)
    return np.where(np.isnan(column), 0, np.where(known, place + 1, len(distinct) + 1))


def _ranked(codes: Integers, target: Codes, weights: Floats, classes: int) -> Integers:
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


def _grown(
    codes: Integers, ranked: Integers, values: Sequence[Floats], target: Codes, weights: Floats, classes: int
) -> TablePath:
    """Number the cells of each prefix by their sorted keys."""
    cell, keys = np.zeros(len(codes), np.int64), []
    counts = [joint_counts(cell, target, weights, (1, classes))]
    for column, distinct in zip(codes.T, values):
        found, cell = np.unique(cell * (len(distinct) + 2) + column, return_inverse=True)
        keys.append(found.astype(np.int64))
        counts.append(joint_counts(cell, target, weights, (len(found), classes)))
    return TablePath(ranked, tuple(values), tuple(keys), tuple(counts))


def _restored(description: Description) -> TableModel:
    """Check a description and rebuild the model."""
    facts, arrays = description.facts, description.arrays
    ranked = np.asarray(arrays["ranked"], np.int64)
    values, keys = (tuple(np.asarray(arrays[f"{name}_{d}"]) for d in range(len(ranked))) for name in ("values", "keys"))
    counts = tuple(np.asarray(arrays[f"counts_{d}"], np.float64) for d in range(len(ranked) + 1))
    if sorted(ranked) != list(range(len(ranked))) or facts["back_off"] not in ("symmetric_uncertainty", "majority"):
        raise ValueError("table: the ranking or the back-off is out of range")
    classes = counts[0].shape[-1] if len(counts[0]) == 1 else 0
    for known, distinct, own, before in zip(keys, values, counts[1:], counts):
        whole = own.shape == (len(known), classes) and len(known) > 0 and (own >= 0).all()
        if not whole or (np.diff(known) <= 0).any() or not 0 <= known[0] <= known[-1] < len(before) * (len(distinct) + 2):
            raise ValueError("table: cells and counts do not fit together")
    learner = Table(back_off=facts["back_off"], smoothing=float(facts["smoothing"]))
    if classes == 0 or not learner.smoothing >= 0:
        raise ValueError("table: no classes, or a smoothing below 0")
    return TableModel(TablePath(ranked, values, keys, counts), learner)
