"""Features as ranks: sorted once per task, and filtered for the rows of a fit.

The code of a numeric value is its rank among the distinct values of the whole column, the code of a level is its index, and
a missing value is −1. Growing knows codes alone, so that a monotone transform of a feature changes thresholds and nothing else.
"""

from dataclasses import dataclass
from threading import Lock
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Codes, Feature, Floats, Integers, Table

_CACHE: WeakKeyDictionary[Table, "Columns"] = WeakKeyDictionary()
_LOCK = Lock()


@dataclass(frozen=True, eq=False)
class Columns:
    """`codes`: features × rows; `values`: what each code stands for; `order`: rows of each threshold feature, by code."""

    codes: Codes
    values: tuple[Floats, ...]
    order: NDArray[np.int32]
    slot: Integers  # row of `order` per feature, −1 where nominal

    @property
    def levels(self) -> Integers:
        """How many codes each feature has."""
        return np.array([len(values) for values in self.values], np.int64)

    @property
    def sorted_features(self) -> Integers:
        return np.flatnonzero(self.slot >= 0)


def columns(table: Table) -> Columns:
    """The ranked columns of a table, made once and kept as long as the table lives."""
    with _LOCK:
        if table not in _CACHE:
            _CACHE[table] = _ranked(table)
        return _CACHE[table]


def _ranked(table: Table) -> Columns:
    nominal = np.array([feature.kind == "nominal" for feature in table.features], bool)
    slot = np.where(nominal, -1, np.cumsum(~nominal) - 1).astype(np.int64)
    codes = np.full((len(table.features), len(table)), -1, np.int32)
    order = np.empty((int((~nominal).sum()), len(table)), np.int32)
    values: list[Floats] = []
    for index, feature in enumerate(table.features):
        column = table.values[:, index]
        if nominal[index]:
            codes[index] = level_codes(column, feature)
            values.append(np.arange(len(feature.levels), dtype=np.float64))
        else:
            order[slot[index]] = np.argsort(column)
            values.append(_rank(column, order[slot[index]], codes[index]))
    for array in (codes, order, slot):
        array.flags.writeable = False
    return Columns(codes, tuple(values), order, slot)


def level_codes(column: Floats, feature: Feature) -> Codes:
    """Indices of levels; −1 where missing or not declared."""
    known = column < len(feature.levels)
    codes: Codes = np.where(known, np.where(known, column, 0), -1).astype(np.int32)
    return codes


def _rank(column: Floats, order: NDArray[np.int32], codes: Codes) -> Floats:
    """Write the rank of each value into `codes` (missing values sort last) and return the distinct values."""
    known = order[: len(column) - int(np.isnan(column).sum())]
    values = column[known]
    new = np.ones(len(values), bool)
    new[1:] = values[1:] != values[:-1]
    codes[known] = np.cumsum(new, dtype=np.int32) - 1
    distinct: Floats = values[new]
    return distinct
