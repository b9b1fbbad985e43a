"""Features as ranks: sorted once per task, and filtered for the rows of a fit.

The code of a numeric value is its rank among the distinct values of the whole column, the code of a level is its index, and
a missing value is −1. Growing knows codes alone, so that a monotone transform of a feature changes thresholds and nothing else.
"""

from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import ClassTask, Codes, Feature, Floats, Integers, Table
from modelsel.kernels.compiler import load_compiled

_CACHE: WeakKeyDictionary[Table, "RankedColumns"] = WeakKeyDictionary()
_LOCK = Lock()
BLOCK = 1 << 17  # numbers that are sorted at a time


@dataclass(frozen=True, eq=False)
class RankedColumns:
    """Columns as ranks of their values.

    `codes`: features × rows; `values`: the value of each code; `order`: rows of each threshold feature, by code, as ~row where
    a value begins.
    """

    codes: Codes
    values: tuple[Floats, ...]
    order: NDArray[np.int32]
    slot: Integers  # row of `order` per feature, −1 where nominal
    flat: Floats  # `values` of the threshold features, one after the other
    start: Integers  # where those of a feature begin

    @cached_property
    def levels(self) -> Integers:
        """The number of codes of each feature."""
        return np.array([len(values) for values in self.values], np.int64)

    @cached_property
    def known(self) -> bool:
        """Every feature is a threshold feature, and no value is missing."""
        return self.complete and bool((self.slot >= 0).all())

    @cached_property
    def complete(self) -> bool:
        """No value is missing."""
        return bool((self.codes >= 0).all())

    @property
    def sorted_features(self) -> Integers:
        return np.flatnonzero(self.slot >= 0)


def columns(table: Table) -> RankedColumns:
    """The ranked columns of a table, made once and kept as long as the table lives; those of the same values are the same."""
    with _LOCK:
        if table not in _CACHE:
            _CACHE[table] = _of_its_twin(table) or _rank_all(table)
        return _CACHE[table]


def release(table: Table) -> None:
    """Drop the ranked columns of a table on which no tree will be grown any more: half of its size."""
    with _LOCK:
        _CACHE.pop(table, None)


def _of_its_twin(table: Table) -> RankedColumns | None:
    """Those of a table that holds the very same features and values (another target, for example)."""
    twins = (ranked for other, ranked in _CACHE.items() if other.features is table.features and other.values is table.values)
    return next(twins, None)


def _rank_all(table: Table) -> RankedColumns:
    """Rank every feature's values; nominal ones keep their codes."""
    nominal = np.array([not feature.has_order for feature in table.features], bool)
    slot = np.where(nominal, -1, np.cumsum(~nominal) - 1).astype(np.int64)
    codes = np.empty((len(table.features), len(table)), np.int32)
    order = np.empty((int((~nominal).sum()), len(table)), np.int32)
    flat, counts = _rank(table, np.flatnonzero(~nominal), codes, order)
    start = np.zeros(len(slot), np.int64)
    start[~nominal] = np.cumsum(counts) - counts
    values = [flat[at : at + count] for at, count in zip(start[~nominal].tolist(), counts.tolist())]
    for index in np.flatnonzero(nominal):
        codes[index] = level_codes(table.values[:, index], table.features[index])
        values.insert(index, np.arange(len(table.features[index].levels), dtype=np.float64))
    for array in (codes, order, slot, start):
        array.flags.writeable = False
    return RankedColumns(codes, tuple(values), order, slot, flat, start)


def level_codes(column: Floats, feature: Feature) -> Codes:
    """Indices of levels; −1 where missing or not declared."""
    known = column < len(feature.levels)
    codes: Codes = np.where(known, np.where(known, column, 0), -1).astype(np.int32)
    return codes


def _rank(table: Table, chosen: Integers, codes: Codes, order: NDArray[np.int32]) -> tuple[Floats, Integers]:
    """Write codes and order of the chosen columns, some at a time; their distinct values, and how many of each column."""
    fill = _in_numpy if load_compiled("rank") is None else _rank_compiled
    flat, counts, step = (
        np.empty(len(chosen) * len(table)),
        np.zeros(len(chosen), np.int64),
        max(1, BLOCK // max(1, len(table))),
    )
    at, by_column = 0, table.values.T
    for first in range(0, len(chosen), step):
        part = chosen[first : first + step]
        own = slice(int(part[0]), int(part[-1]) + 1)
        block = np.ascontiguousarray(by_column[own if own.stop - own.start == len(part) else part])
        counts[first : first + step] = fill(block, part, codes, order[first : first + step], flat[at:])
        at += counts[first : first + step].sum()
    return flat[:at], counts


def _rank_compiled(block: Floats, part: Integers, codes: Codes, order: NDArray[np.int32], flat: Floats) -> Integers:
    """Rank a block of columns by the compiled kernel."""

    from modelsel.kernels.splits.rank import SORTED, pack, rank

    words, row_bits, bits = np.empty(block.shape, np.int64), block.shape[1].bit_length(), block.view(np.uint64)
    counts, missing = np.empty(len(block), np.int64), np.zeros(len(block), np.int64)
    frame = np.zeros((len(block), 3), np.uint64)
    pack(block, bits, row_bits, part, codes, order, words, counts, missing, frame)
    for index in np.flatnonzero(counts < 0) if block.shape[1] < SORTED else ():
        words[index].sort()
    rank(block, bits, words, counts, missing, frame, row_bits, part, codes, order, flat.view(np.uint64))
    return counts


def _in_numpy(block: Floats, part: Integers, codes: Codes, order: NDArray[np.int32], flat: Floats) -> Integers:
    """Rank a block of columns in NumPy."""
    by_value = np.argsort(block + 0.0, axis=1, kind="stable")
    ranked = np.take_along_axis(block, by_value, 1)
    new = np.ones(block.shape, bool)
    new[:, 1:] = ranked[:, 1:] != ranked[:, :-1]
    missing = np.isnan(ranked)
    new &= ~missing
    own = np.empty(block.shape, np.int32)
    np.put_along_axis(own, by_value, np.where(missing, -1, np.cumsum(new, axis=1) - 1).astype(np.int32), 1)
    codes[part], order[:] = own, np.where(new, ~by_value, by_value)
    flat[: np.count_nonzero(new)] = ranked[new]
    counts: Integers = np.count_nonzero(new, axis=1)
    return counts


# The rows of a fit: distinct, ascending, a repeated row with a larger weight, rows without weight left out.


TABLE_ROWS = 50_000_000  # integral weights beyond this sum are treated as real numbers


@dataclass(frozen=True, eq=False)
class WeightedRows:
    """Positions in the task, and weights."""

    task: ClassTask
    rows: Integers
    weight: Floats

    @classmethod
    def of(cls, task: ClassTask, rows: Integers) -> "WeightedRows":
        """Gather the distinct rows that have weight, ascending; a repeated row gets a larger weight."""
        if task.weights is None and (rows[1:] > rows[:-1]).all():
            return cls(task, rows, np.ones(len(rows)))
        repeats = np.bincount(rows, minlength=len(task)).astype(np.float64)
        weight = repeats if task.weights is None else repeats * task.weights
        chosen = np.flatnonzero(weight > 0)
        return cls(task, chosen, weight[chosen])

    @cached_property
    def counts(self) -> Floats:
        """Weight per class."""
        weight = None if self.unit else self.weight
        counts: Floats = np.bincount(self.task.target[self.rows], weight, len(self.task.classes)).astype(np.float64)
        return counts

    @cached_property
    def integral(self) -> bool:
        return float(self.weight.sum()) <= TABLE_ROWS and (self.unit or bool((self.weight == np.floor(self.weight)).all()))

    @cached_property
    def unit(self) -> bool:
        return bool((self.weight == 1).all())

    @property
    def number(self) -> Codes:
        """The number of each data row among these, −1 where it is not."""
        number = np.full(len(self.task), -1, np.int32)
        number[self.rows] = np.arange(len(self.rows), dtype=np.int32)
        return number
