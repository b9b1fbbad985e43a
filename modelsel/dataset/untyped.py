"""Tables that this process holds in memory, found by the digest of their content for as long as somebody keeps them.

A configuration is data and cannot hold a table: it names the content, and whoever builds the study from it finds the rows here.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from modelsel.core.fingerprint import digest
from modelsel.core.types import Task
from modelsel.dataset.column import RawColumn

Words = NDArray[np.uint64]
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class UntypedTable:
    """A table in memory: columns whose kinds are not settled yet, or a task that is made already.

    `by_estimator`: the task was made of a table as estimators read it (columns by their place, perhaps without names), so that
    new rows are to be read so too.
    """

    columns: tuple[RawColumn, ...] = ()
    task: Task | None = None
    by_estimator: bool = False
    native: object = None  # the table as it was handed over, for estimators that read columns in their own types

    def __len__(self) -> int:
        return len(self.columns[0]) if self.columns else 0 if self.task is None else len(self.task)

    @cached_property
    def content(self) -> str:
        """The digest by which a configuration names this table."""
        if self.task is not None:
            return self.task.fingerprint
        said = [[one.name, one.kind, one.levels, found] for one, found in zip(self.columns, self.digests.values())]
        return digest([len(self), said])

    @cached_property
    def digests(self) -> dict[str, str]:
        """A digest of the cells of each column, by name."""
        words = self._words
        return {
            one.name: hashlib.blake2b(cells.tobytes(), digest_size=8).hexdigest() for one, cells in zip(self.columns, words)
        }

    @cached_property
    def rows(self) -> Words:
        """A number per row, equal where all cells are."""
        found = np.zeros(len(self), np.uint64)
        for cells in self._words:
            found = (found ^ cells) * MULTIPLIER
            found ^= found >> np.uint64(29)
        return found

    @cached_property
    def _words(self) -> Sequence[Words]:
        return [_words(column) for column in self.columns]


TABLES: WeakValueDictionary[str, UntypedTable] = WeakValueDictionary()


def hold(table: UntypedTable) -> UntypedTable:
    """Make a table known by its content; it is found as long as what is returned is kept."""
    TABLES[table.content] = table  # the newest: cells that are equal as numbers may be of other types
    return table


def _words(column: RawColumn) -> Words:
    """A number per cell: the bits of a number, a digest of a text."""
    if column.numbers is not None:
        numbers = np.where(np.isnan(column.numbers), np.nan, column.numbers) + 0.0
        return np.ascontiguousarray(numbers).view(np.uint64)
    texts = [int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little") for text in column.texts]
    return np.array([*texts, 0], np.uint64)[column.codes]
