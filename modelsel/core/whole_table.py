"""A table before its split: the rows of its parts one below the other, of which no copy is made but a column at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Feature, Floats, Integers, Table

TOGETHER = 1 << 16  # values: columns are read together where they are short


@dataclass(frozen=True, eq=False)
class WholeTable:
    """The rows of tables of the same columns."""

    parts: tuple[Table, ...]

    def __len__(self) -> int:
        return sum(map(len, self.parts))

    @property
    def features(self) -> tuple[Feature, ...]:
        return self.parts[-1].features

    @property
    def ids(self) -> Integers | None:
        """Declared row identities, where all parts have them."""
        found = [part.ids for part in self.parts if part.ids is not None]
        return np.concatenate(found) if len(found) == len(self.parts) else None

    def column(self, index: int) -> Floats:
        """All values of a column."""
        found = [part.values[:, index] for part in self.parts]
        return found[0] if len(found) == 1 else np.concatenate(found)

    def columns(self, places: Sequence[int]) -> Iterator[tuple[Sequence[int], Floats]]:
        """All values of some columns, columns × rows; short ones together, so that a call is made for many."""
        many = max(1, TOGETHER // max(1, len(self)))
        for first in range(0, len(places), many):
            some = places[first : first + many]
            parts = [part.values[:, _slice(some)] for part in self.parts]
            yield some, np.ascontiguousarray(np.concatenate(parts).T if len(parts) > 1 else parts[0].T)

    def cells(self, index: int, rows: Integers) -> Floats:
        """The values of a column in some rows, in the order given."""
        found, first = np.empty(len(rows)), 0
        for part in self.parts:
            own = (first <= rows) & (rows < first + len(part))
            found[own] = part.values[rows[own] - first, index]
            first += len(part)
        return found


def whole(table: Table | WholeTable) -> WholeTable:
    """A table as the only part of itself."""
    return table if isinstance(table, WholeTable) else WholeTable((table,))


def _slice(places: Sequence[int]) -> slice | list[int]:
    """Places as a slice where they follow one another: what is then read is no copy."""
    first, end = places[0], places[-1] + 1
    return slice(first, end) if end - first == len(places) else list(places)
