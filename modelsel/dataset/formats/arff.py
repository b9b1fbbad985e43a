"""ARFF files (Weka): declared kinds and levels, quotes, `?`, sparse rows, row weights, dates as seconds since 1970.

A row that is too short or too long, a level that was not declared, a number that is none: each is reported with its line,
up to a hundred of them, and nothing is dropped.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from modelsel.core.errors import DataError, Problem
from modelsel.core.spec import plain
from modelsel.dataset.columns.column import RawColumn, text_column
from modelsel.dataset.columns.numbers import numbers
from modelsel.dataset.reading.arff_header import Attribute, Header, read_header
from modelsel.dataset.reading.arff_text import seconds, sparse, values, weighted
from modelsel.dataset.reading.bytes import decoded, read_bytes
from modelsel.dataset.reading.file import File, Raw

MOST = 100  # problems of rows that are reported


@dataclass
class _Rows:
    """The rows as they are read: cells by column, weights, what was wrong where."""

    cells: list[list[str]]
    lines: list[int] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Arff(File):
    """Kinds and levels are those of the file unless `features` says otherwise; `ordered` takes the declared order of levels."""

    encoding: str = plain("utf-8", help="utf-8 (with or without a mark), latin-1, cp1252, utf-16, ...")

    def header(self, path: Path) -> tuple[str, ...]:
        header, _ = self._open(path)
        return tuple(attribute.name for attribute in header.attributes)

    def raw(self, path: Path) -> Raw:
        header, lines = self._open(path)
        rows = _rows(header, lines, str(path))
        DataError.raise_if(rows.problems)
        if not rows.lines:
            raise DataError(Problem("MSEL-311", "a header and no rows", str(path), "the file needs data rows"))
        problems: list[Problem] = []
        columns = [_column(a, c, rows.lines, problems) for a, c in zip(header.attributes, rows.cells)]
        DataError.raise_if(problems)
        weights = np.array(rows.weights)
        return Raw(tuple(columns), None if np.all(weights == 1.0) else weights)

    def _open(self, path: Path) -> tuple[Header, list[str]]:
        """Read a file's header and its lines."""
        text = decoded(read_bytes(path), self.encoding, path)
        if "\0" in text:
            line = text.count("\n", 0, text.index("\0")) + 1
            raise DataError(Problem("MSEL-313", f"NUL byte in line {line}", str(path), "the file is damaged: write it again"))
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return read_header(lines, str(path)), lines


def _rows(header: Header, lines: Sequence[str], path: str) -> _Rows:
    """Read the data rows; those that cannot be read become problems, up to `MOST` of them."""
    rows = _Rows([[] for _ in header.attributes])
    width = len(header.attributes)
    for number in range(header.data, len(lines)):
        line = lines[number].strip()
        if not line or line[0] == "%":
            continue
        try:
            cells, weight = _row(line, header.attributes)
            if len(cells) != width:
                raise ValueError(f"{len(cells)} values, where {width} attributes are declared")
        except ValueError as error:
            rows.problems.append(Problem("MSEL-362", f"line {number + 1}: {error}", path, "correct the row"))
            if len(rows.problems) >= MOST:
                break
            continue
        for column, cell in zip(rows.cells, cells):
            column.append(cell)
        rows.weights.append(weight)
        rows.lines.append(number + 1)
    return rows


def _row(line: str, attributes: Sequence[Attribute]) -> tuple[list[str], float]:
    """The cells of a row, dense or sparse, and its weight (1 unless said)."""
    weight = 1.0
    if line[-1] == "}":
        line, said = weighted(line)
        if said is not None:
            weight = float(numbers([said])[0])
            if not (np.isfinite(weight) and weight > 0):
                raise ValueError(f"the weight {said!r} is no number above 0")
    if line[0] != "{":
        return values(line), weight
    said_cells = sparse(line)
    beyond = [index for index in said_cells if index >= len(attributes)]
    if beyond:
        raise ValueError(f"index {beyond[0]}, where {len(attributes)} attributes are declared")
    unsaid = [a.name for i, a in enumerate(attributes) if i not in said_cells and not a.unsaid]
    if unsaid:
        raise ValueError(f"a sparse row must say '{unsaid[0]}', which is a string or a date")
    return [said_cells.get(index, attribute.unsaid) for index, attribute in enumerate(attributes)], weight


def _column(attribute: Attribute, cells: list[str], lines: Sequence[int], problems: list[Problem]) -> RawColumn:
    """Make a column of the type that its attribute declares."""
    if attribute.type == "string":
        return text_column(attribute.name, cells)
    if attribute.type == "nominal":
        column = text_column(attribute.name, cells, "nominal", attribute.levels)
        problems += _undeclared(column, lines)
        return column
    column = text_column(attribute.name, cells)
    if attribute.type == "numeric":
        found = numbers(column.texts)
    else:
        found = np.array([_seconds(text, attribute.pattern) for text in column.texts])
    wrong = np.isnan(found) & ~np.isin(np.array(column.texts, object), ("?", ""))
    if wrong.any():
        what = "no number" if attribute.type == "numeric" else "no date of the declared pattern"
        problems += _complaints(column, wrong, what, lines)
    values, dates = np.append(found, np.nan)[column.codes], attribute.type != "numeric"
    return RawColumn(attribute.name, numbers=values, kind="numeric", dates=dates)


def _undeclared(column: RawColumn, lines: Sequence[int]) -> Iterator[Problem]:
    wrong = ~np.isin(np.array(column.texts, object), (*column.levels, "?", ""))
    if wrong.any():
        yield from _complaints(column, wrong, "not a declared level", lines)


def _complaints(column: RawColumn, wrong: NDArray[np.bool_], what: str, lines: Sequence[int]) -> Iterator[Problem]:
    """Yield a problem with the first cells that do not fit their declared type."""
    rows = np.flatnonzero(np.append(wrong, False)[column.codes])
    assert column.codes is not None
    said = [f"line {lines[row]}: {column.texts[column.codes[row]]!r}" for row in rows[:3].tolist()]
    more = f", +{len(rows) - 3} more" if len(rows) > 3 else ""
    yield Problem(
        "MSEL-363", f"{what} ({', '.join(said)}{more})", f"column '{column.name}'", "correct the cells or the declaration"
    )


def _seconds(text: str, pattern: str) -> float:
    """Read a date by its pattern; NaN where it does not fit."""
    try:
        return seconds(text.strip(), pattern)
    except ValueError:
        return float("nan")
