"""Sealed rows among those of any table: of a frame by the names of its columns, of an array by their places.

What a transformer makes of sealed rows is sealed too: the object itself carries the mark, and rows of numbers that tell each
other apart are known again in copies of it, for as long as the process lives. Of the people's own tables nothing is changed or
kept.
"""

import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Booleans, Feature, Table
from modelsel.ledger.rows.identity import Hashes, text_tokens
from modelsel.ledger.rows.screens import Screen, draw_screen

WHOLE = 0.5  # share of sealed rows from which a table is one of sealed rows with a few others
FRAMES = frozenset({"pandas", "polars", "pyarrow"})
KEPT = 64  # derived tables whose rows are known again in copies


@dataclass(frozen=True, eq=False)
class SealedRows:
    """The rows of a table that are sealed, by test set; the set of the most rows first."""

    n: int
    rows: Mapping[str, Booleans]

    def __bool__(self) -> bool:
        return bool(self.rows)

    @property
    def testset(self) -> str:
        return next(iter(self.rows))

    @property
    def mask(self) -> Booleans:
        """The rows that are of any sealed set."""
        found: Booleans = np.logical_or.reduce([*self.rows.values()])
        return found

    @property
    def count(self) -> int:
        return int(self.mask.sum())

    @property
    def whole(self) -> bool:
        """Say whether the table is one of sealed rows, and not of others among which some are sealed."""
        return self.count >= WHOLE * self.n


NOTHING = SealedRows(0, {})


@dataclass(eq=False)
class Recogniser:
    """Tries tables for sealed rows; `screens` are those of the home."""

    screens: Sequence[Screen]
    _marked: dict[int, tuple[Any, SealedRows]] = field(default_factory=dict)
    _derived: list[tuple[str, Screen]] = field(default_factory=list)

    def sealed_in(self, table: object) -> SealedRows:
        """The sealed rows of a table, of whatever type; none where nothing is known of it."""
        marked = self._marked.get(id(table))
        if marked is not None and marked[0]() is table:
            return marked[1]
        if not self.screens:
            return NOTHING
        columns = ReadColumns.of(table)
        return NOTHING if columns is None or not columns.n else self._try_screens(columns)

    def derive(self, made: object, of: SealedRows) -> None:
        """Let what was made of sealed rows, row by row, carry their mark."""
        if self.mark(made, of):
            with suppress(ValueError, TypeError):  # sparse rows and texts carry the mark alone
                matrix = np.asarray(made, np.float64)
                if matrix.ndim == 2 and matrix.shape[1]:
                    self._keep_derived(matrix, [str(name) for name in getattr(made, "columns", ())], of)

    def mark(self, made: object, of: SealedRows) -> bool:
        """Mark what was made of sealed rows, for as long as it lives; False where it has other rows or cannot be marked."""
        return _length(made) == of.n and self.carry(made, of)

    def carry(self, made: object, of: SealedRows) -> bool:
        """Let a container carry the mark of the table that it was made from; False where it cannot."""
        with suppress(TypeError):  # what cannot be referred to weakly carries no mark
            name = id(made)
            self._marked[name] = weakref.ref(made, lambda _: self._marked.pop(name, None)), of
            return True
        return False

    def _keep_derived(self, matrix: NDArray[np.float64], names: Sequence[str], of: SealedRows) -> None:
        """Keep the screen of derived rows, where they tell each other apart."""
        secret = self.screens[0].secret
        named = names or [f"x{place}" for place in range(matrix.shape[1])]
        features = tuple(Feature.of_numbers(name) for name in named)
        for testset, rows in of.rows.items():
            values = matrix[rows]
            screen = draw_screen(Table(name="", features=features, values=values, rows=np.arange(len(values))), testset, secret)
            if screen.tells and not any(np.array_equal(screen.hashes, one.hashes) for _, one in self._derived):
                self._derived.append((testset, screen))
        del self._derived[:-KEPT]

    def _try_screens(self, columns: "ReadColumns") -> SealedRows:
        """Try every screen whose columns are there."""
        rows: dict[str, Booleans] = {}
        tried = [*((one.testset, one, False) for one in self.screens), *((*one, True) for one in self._derived)]
        for testset, screen, derived in tried:
            passing = columns.passing(screen)
            if passing is None and derived:  # a frame made of what a transformer returned has names of its own
                passing = columns.passing_by_place(screen)
            if passing is not None and not screen.by_chance(int(passing.sum()), columns.n):
                rows[testset] = rows[testset] | passing if testset in rows else passing
        ordered = sorted(rows, key=lambda testset: -int(rows[testset].sum()))
        return SealedRows(columns.n, {testset: rows[testset] for testset in _needed_sets(rows, ordered)})


def _needed_sets(rows: Mapping[str, Booleans], ordered: Sequence[str]) -> list[str]:
    """The sets that hold rows which none before them holds."""
    needed: list[str] = []
    seen: Booleans | None = None
    for testset in ordered:
        if seen is None or (rows[testset] & ~seen).any():
            needed.append(testset)
            seen = rows[testset] if seen is None else seen | rows[testset]
    return needed


def _length(made: object) -> int:
    """The rows of a table; -1 for what is none."""
    known = isinstance(made, np.ndarray) or library_of(made) or type(made).__module__.startswith("scipy.sparse")
    shape = getattr(made, "shape", None) if known else None
    return int(shape[0]) if shape else -1


def library_of(table: object) -> str:
    """The library whose frame or column an object is, or inherits from; empty for all others, which are not read.

    To ask anything else for its columns or values may compute them, or be noted by an object that stands in for a table.
    """
    roots = (kind.__module__.partition(".")[0] for kind in type(table).__mro__)
    return next((root for root in roots if root in FRAMES), "")


def is_plain_list(rows: object) -> bool:
    """Say whether something is a list of numbers and texts, or of lists of them, as its first entry tells."""
    if not isinstance(rows, list | tuple) or not rows:
        return False
    first = rows[0]
    if isinstance(first, list | tuple) and first:
        first = first[0]
    elif isinstance(first, np.ndarray):
        return first.ndim == 1
    return isinstance(first, int | float | str | np.generic)


# Tables as columns that a screen can ask for.

Column = Callable[[], NDArray[np.generic] | None]


@dataclass(frozen=True, eq=False)
class ReadColumns:
    """A table: a matrix of numbers, or columns by name; `None` stands for what is not there."""

    n: int
    matrix: NDArray[np.generic] | None = None
    named: Mapping[str, Column] | None = None
    by_place: Column | None = None  # of a frame the matrix of its numbers, where all are

    @classmethod
    def of(cls, table: object) -> "ReadColumns | None":
        """Read a table as far as screens need it; None for what is not a table of rows."""
        if isinstance(table, np.ndarray):
            return _of_array(table)
        if isinstance(table, list | tuple):
            return _of_list(table) if is_plain_list(table) else None
        return _of_frame(table) if library_of(table) and hasattr(type(table), "shape") and hasattr(table, "columns") else None

    def passing(self, screen: Screen) -> Booleans | None:
        """Mask the rows that pass a screen; None where its columns are not there."""
        if self.matrix is not None:
            return _matrix_passing(self.matrix, screen)
        assert self.named is not None
        if not all(column.name in self.named for column in screen.columns):
            return None
        cells = [self.named[column.name]() for column in screen.columns]
        kinds = [column.text for column in screen.columns]
        if any(cell is None or (cell.dtype == np.uint64) is not text for cell, text in zip(cells, kinds)):
            return None
        return screen.passing([cell for cell in cells if cell is not None])

    def passing_by_place(self, screen: Screen) -> Booleans | None:
        """Mask the rows of a frame that pass a screen whatever its columns are called."""
        matrix = self.by_place() if self.by_place is not None else None
        return None if matrix is None else _matrix_passing(matrix, screen)


def _matrix_passing(matrix: NDArray[np.generic], screen: Screen) -> Booleans | None:
    """Mask rows of an array: its columns are those of the sealed table, or those of them that are numbers."""
    if any(column.text for column in screen.columns):
        return None
    width, ways = matrix.shape[1], []
    for places in ([c.place for c in screen.columns], [c.number for c in screen.columns]):
        if max(places) < width and places not in ways:
            ways.append(places)
    found = [screen.passing_rows(matrix, places) for places in ways]
    return max(found, key=lambda mask: int(mask.sum())) if found else None


def _of_array(array: NDArray[np.generic]) -> ReadColumns | None:
    """Take an array in: numbers as a matrix, objects column by column."""
    if array.ndim != 2:
        return None
    if array.dtype.kind in "fiub":
        return ReadColumns(len(array), matrix=array)
    return ReadColumns(len(array), named=_by_place(array)) if array.dtype == object else None


def _of_list(rows: Sequence[object]) -> ReadColumns | None:
    """Rows in lists: an array where they are numbers."""
    with suppress(ValueError, TypeError):
        array = np.asarray(rows)
        return _of_array(array) if array.ndim == 2 else None
    return None


def _by_place(array: NDArray[np.generic]) -> dict[str, Column]:
    """The columns of an array of objects, under the names that its sealed twin was given."""

    def column(place: int) -> Column:
        return lambda: _cells(array[:, place])

    return {f"x{place}": column(place) for place in range(array.shape[1])}


def _of_frame(frame: Any) -> ReadColumns | None:
    """A frame of pandas, Polars or Arrow."""
    labels = [*getattr(frame, "column_names", frame.columns)]
    if hasattr(frame, "iloc") and not any(isinstance(label, str) for label in labels):  # an array's columns, by number
        return _of_array(frame.to_numpy())
    names = [str(label) for label in labels]
    if len(set(names)) != len(names) or getattr(frame, "ndim", 2) != 2:
        return None

    def column(place: int) -> Column:
        return lambda: _cells(_frame_column(frame, place))

    @cache
    def matrix() -> NDArray[np.generic] | None:
        cells = [_cells(_frame_column(frame, place)) for place in range(len(names))]
        known = [cell for cell in cells if cell is not None and cell.dtype.kind == "f"]
        return np.column_stack(known) if len(known) == len(names) > 0 else None

    return ReadColumns(_length(frame), named={name: column(place) for place, name in enumerate(names)}, by_place=matrix)


def _frame_column(frame: Any, place: int) -> object:
    if hasattr(frame, "iloc"):
        return frame.iloc[:, place]
    return frame[:, place] if hasattr(frame, "get_column") else frame.column(place)


def _cells(column: object) -> NDArray[np.generic] | None:
    """Numbers as they are, texts as their tokens; None for dates and what else there is."""
    kind = getattr(getattr(column, "dtype", None), "kind", "")
    if kind in "fiub" and kind and not hasattr(column, "get_column"):
        return _numbers(column)
    raw = column.to_numpy() if hasattr(column, "to_numpy") else np.asarray(column)
    if raw.dtype.kind in "fiub":
        return np.asarray(raw, np.float64)
    return _tokens(raw) if raw.dtype.kind in "OUST" else None


def _numbers(column: Any) -> NDArray[np.generic] | None:
    """The numbers of a column of pandas, or of an array; missing ones as NaN."""
    if isinstance(getattr(column, "dtype", None), np.dtype):
        return np.asarray(column, np.float64)
    return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))


def _tokens(raw: NDArray[np.generic]) -> NDArray[np.generic] | None:
    """Tokens of texts, each text hashed once; numbers in objects as numbers; None where cells are neither (mappings, say)."""
    with suppress(ValueError, TypeError):
        return np.asarray(raw, np.float64)
    import pandas as pd

    try:
        codes, levels = pd.factorize(raw)
    except TypeError:
        return None
    known: Hashes = np.append(text_tokens([str(level) for level in levels]), [np.uint64(1)])  # 1: missing
    return known[codes]
