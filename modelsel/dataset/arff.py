"""ARFF files (Weka): declared kinds and levels, quotes, `?`, sparse rows, row weights, dates as seconds since 1970.

A row that is too short or too long, a level that was not declared, a number that is none: each is reported with its line,
up to a hundred of them, and nothing is dropped.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from modelsel.core.errors import DataError, Problem
from modelsel.core.proposal import Proposal
from modelsel.core.spec import plain
from modelsel.dataset.column import RawColumn, numbers, text_column
from modelsel.dataset.files import File, Raw, decode_text, read_bytes

# The declarations of an ARFF file: `@relation`, `@attribute name type`, up to `@data`.

FORMAT = "an ARFF file is @relation, @attribute ..., @data and rows"
SAID = 3  # lines that a message names before it counts the rest
NUMBERS = {"numeric", "real", "integer"}
_KEYWORD = re.compile(r"\s*@(relation|attribute|data|end)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Attribute:
    """A declared column: numbers, nominal with `levels`, `string`, or `date` with its pattern (strptime)."""

    name: str
    type: str
    levels: tuple[str, ...] = ()
    pattern: str = ""

    @property
    def unsaid(self) -> str:
        """The value of a cell that a sparse row leaves out.

        Empty for a string, where Weka's meaning depends on row order.
        """
        return "0" if self.type == "numeric" else self.levels[0] if self.levels else ""


@dataclass(frozen=True)
class Header:
    """The header of an ARFF file."""

    relation: str
    attributes: tuple[Attribute, ...]
    data: int  # index of the first line after @data


def read_header(lines: Sequence[str], path: str) -> Header:
    """All declarations; DataError that names the lines that are none."""
    attributes: list[Attribute] = []
    wrong: list[tuple[int, str]] = []
    relation = ""
    for number, line in enumerate(lines):
        keyword = _KEYWORD.match(line)
        try:
            if keyword is None:
                if line.strip() and not line.lstrip().startswith("%"):
                    raise ValueError(f"neither @attribute nor @data: {line.strip()[:40]!r}")
            elif keyword[1].lower() == "data":
                DataError.raise_if([*_of_lines("MSEL-361", wrong, path, FORMAT), *_header_problems(attributes, path)])
                return Header(relation, tuple(attributes), number + 1)
            elif keyword[1].lower() == "attribute":
                attributes.append(_attribute(line[keyword.end() :].strip()))
            elif keyword[1].lower() == "relation":
                relation = line[keyword.end() :].strip().strip("'\"")
        except ValueError as error:
            wrong.append((number + 1, str(error)))
    declared = bool(attributes or relation)
    raise DataError(*_of_lines("MSEL-361", wrong if declared else (), path, FORMAT), _without_data(declared, path))


def _of_lines(code: str, wrong: Sequence[tuple[int, str]], path: str, fix: str) -> list[Problem]:
    """One problem of lines that are wrong, the first of them said; none where there are none."""
    said = [f"line {number}: {what}" for number, what in wrong[:SAID]]
    more = [f"+{len(wrong) - SAID} more"] if len(wrong) > SAID else []
    return [Problem(code, "; ".join([*said, *more]), path, fix)] if wrong else []


def _without_data(declared: bool, path: str) -> Problem:
    """The problem of a file without @data; where it declares nothing at all, it may be a table as text."""
    if declared:
        return Problem("MSEL-360", "no @data line", path, FORMAT)
    proposed = (Proposal("dataset", "csv"), Proposal("dataset.header", 0))
    fix = f"if it is a table as text, set {proposed[0]}, and {proposed[1]} where no line has names (column_1, column_2, ...)"
    return Problem("MSEL-360", "no line of it is of an ARFF file", path, fix, proposes=proposed)


def _attribute(text: str) -> Attribute:
    """Read one declaration: a name and a type."""
    if not text:
        raise ValueError("an attribute without a name")
    name, end = word(text, 0)
    rest = text[end:].strip()
    if rest.startswith("{"):
        return Attribute(name, "nominal", _levels(name, rest))
    kind, _, after = rest.partition(" ")
    if kind.lower() in NUMBERS:
        return Attribute(name, "numeric")
    if kind.lower() == "string":
        return Attribute(name, "string")
    if kind.lower() == "date":
        return Attribute(name, "date", pattern=strptime_format(after.strip().strip("\"'") or ISO))
    raise ValueError(f"'{name}' is of type {kind or 'nothing'!r}: use numeric, {{levels}}, string or date")


def _levels(name: str, text: str) -> tuple[str, ...]:
    """Read the declared levels in their braces."""
    if not text.endswith("}"):
        raise ValueError(f"the levels of '{name}' are not closed")
    levels = tuple(level for level in values(text[1:-1]) if level)
    if len(set(levels)) < len(levels):
        raise ValueError(f"'{name}' declares a level twice")
    if not levels:
        raise ValueError(f"'{name}' declares no level")
    return levels


def _header_problems(attributes: Sequence[Attribute], path: str) -> list[Problem]:
    """Find column names that occur twice, or a header without any."""
    names = [attribute.name for attribute in attributes]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        return [Problem("MSEL-318", f"attribute names that occur twice: {', '.join(twice)}", path, "give each its own name")]
    return [] if names else [Problem("MSEL-361", "no attributes", path, "declare each column by @attribute")]


MOST = 100  # rows that cannot be read, after which reading ends


@dataclass
class _Rows:
    """The rows as they are read: cells by column, weights, what was wrong where."""

    cells: list[list[str]]
    lines: list[int] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)
    wrong: list[tuple[int, str]] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Arff(File):
    """Kinds and levels are those of the file unless `features` says otherwise; `ordered` takes the declared order of levels."""

    encoding: str = plain("utf-8", help="utf-8 (with or without a mark), latin-1, cp1252, utf-16, ...")

    def names(self, path: Path) -> tuple[str, ...]:
        header, _ = self._open(path)
        return tuple(attribute.name for attribute in header.attributes)

    def raw(self, path: Path) -> Raw:
        header, lines = self._open(path)
        rows = _rows(header, lines)
        DataError.raise_if(_of_lines("MSEL-362", rows.wrong, str(path), "correct the rows"))
        if not rows.lines:
            raise DataError(Problem("MSEL-311", "a header and no rows", str(path), "the file needs data rows"))
        problems: list[Problem] = []
        columns = [_column(a, c, rows.lines, problems) for a, c in zip(header.attributes, rows.cells)]
        DataError.raise_if(problems)
        weights = np.array(rows.weights)
        return Raw(tuple(columns), None if np.all(weights == 1.0) else weights)

    def _open(self, path: Path) -> tuple[Header, list[str]]:
        """Read a file's header and its lines."""
        text = decode_text(read_bytes(path), self.encoding, path)
        if "\0" in text:
            line = text.count("\n", 0, text.index("\0")) + 1
            raise DataError(Problem("MSEL-313", f"NUL byte in line {line}", str(path), "the file is damaged: write it again"))
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return read_header(lines, str(path)), lines


def _rows(header: Header, lines: Sequence[str]) -> _Rows:
    """Read the data rows; those that cannot be read are kept, up to `MOST` of them."""
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
            rows.wrong.append((number + 1, str(error)))
            if len(rows.wrong) >= MOST:
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
        line, said = split_weight(line)
        if said is not None:
            weight = float(numbers([said])[0])
            if not (np.isfinite(weight) and weight >= 0):
                raise ValueError(f"the weight {said!r} is not a number from 0 on")
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
        problems += _find_undeclared(column, lines)
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


def _find_undeclared(column: RawColumn, lines: Sequence[int]) -> Iterator[Problem]:
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


# The words of an ARFF file: quoted or plain values, sparse rows, weights, dates.
#
# A value may stand in single or double quotes, with backslash escapes; outside quotes `%` begins a comment only at the start
# of a line. Source: the format's description by the Weka project (3.7 and later for weights).

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_WEIGHT = re.compile(r"[,\s]\s*\{\s*([^{}]*?)\s*\}\s*$")
_JAVA = re.compile(r"'([^']*)'|([a-zA-Z])\2*|[^a-zA-Z']+")
_STRPTIME = {
    "yyyy": "%Y", "yy": "%y", "MMMM": "%B", "MMM": "%b", "MM": "%m", "M": "%m", "dd": "%d", "d": "%d", "HH": "%H", "H": "%H",
    "hh": "%I", "h": "%I", "mm": "%M", "m": "%M", "ss": "%S", "s": "%S", "SSS": "%f", "S": "%f", "a": "%p", "Z": "%z",
    "X": "%z", "XX": "%z", "XXX": "%z", "z": "%Z", "EEE": "%a", "EEEE": "%A",
}  # fmt: skip
ISO = "yyyy-MM-dd'T'HH:mm:ss"


def word(text: str, place: int) -> tuple[str, int]:
    """The value at `place` (quoted, or up to a space, comma or brace) and where it ends; ValueError if it has no end.

    >>> word("'it\\\\'s', 3", 0)
    ("it's", 7)
    """
    if text[place] not in "'\"":
        end = place
        while end < len(text) and text[end] not in " \t,{}":
            end += 1
        return text[place:end], end
    made, end = [], place + 1
    while end < len(text) and text[end] != text[place]:
        if text[end] == "\\" and end + 1 < len(text):
            end += 1
            made.append(_ESCAPES.get(text[end], text[end]))
        else:
            made.append(text[end])
        end += 1
    if end >= len(text):
        raise ValueError("a quote that is not closed")
    return "".join(made), end + 1


def values(text: str) -> list[str]:
    """Comma-separated values (blanks around them do not count; tabs separate where there is no comma).

    >>> values("5.1, 'a, b' ,?, plain words")
    ['5.1', 'a, b', '?', 'plain words']
    """
    if "'" not in text and '"' not in text:
        return [cell.strip() for cell in text.split("," if "," in text else "\t")]
    made, place = [], 0
    while True:
        while place < len(text) and text[place] in " \t":
            place += 1
        if place < len(text) and text[place] in "'\"":
            cell, place = word(text, place)
        else:
            end = text.find(",", place)
            end = len(text) if end < 0 else end
            cell, place = text[place:end].strip(), end
        made.append(cell)
        rest = text[place:].lstrip()
        if not rest:
            return made
        if rest[0] != ",":
            raise ValueError(f"{rest[:20]!r} after a quoted value")
        place = text.index(",", place) + 1


def sparse(text: str) -> dict[int, str]:
    """A sparse row: `{index value, ...}`, indices from 0; what is not said is 0, or the first level.

    >>> sparse("{1 X, 3 'a b'}")
    {1: 'X', 3: 'a b'}
    """
    made: dict[int, str] = {}
    inner = text.strip()
    if not (inner.startswith("{") and inner.endswith("}")):
        raise ValueError("a sparse row that is not closed")
    inner, place = inner[1:-1], 0
    while inner[place:].strip():
        match = re.compile(r"\s*(\d+)\s+").match(inner, place)
        if match is None or match.end() >= len(inner):
            raise ValueError(f"no index and value at {inner[place : place + 20].strip()!r}")
        cell, place = word(inner, match.end())
        if int(match[1]) in made:
            raise ValueError(f"index {match[1]} twice")
        made[int(match[1])] = cell
        rest = re.compile(r"\s*(,|$)").match(inner, place)
        if rest is None:
            raise ValueError(f"{inner[place : place + 20].strip()!r} after a value")
        place = rest.end()
    return made


def split_weight(line: str) -> tuple[str, str | None]:
    """A row and the weight in braces at its end, if any.

    >>> split_weight("1,yes,{0.5}")
    ('1,yes', '0.5')
    """
    match = _WEIGHT.search(line)
    if match is None or match.start() == 0:
        return line, None
    return line[: match.start()].rstrip().rstrip(","), match[1]


def strptime_format(java: str) -> str:
    """Java's date pattern as Python's; ValueError for a letter that has no counterpart.

    >>> strptime_format("yyyy-MM-dd'T'HH:mm:ss")
    '%Y-%m-%dT%H:%M:%S'
    """
    made = []
    for match in _JAVA.finditer(java):
        if match[1] is not None:
            made.append(match[1].replace("%", "%%") or "'")
        elif match[2] is None:
            made.append(match[0].replace("%", "%%"))
        elif match[0] in _STRPTIME:
            made.append(_STRPTIME[match[0]])
        else:
            raise ValueError(f"date pattern {match[0]!r} is not known")
    said = [word for word in made if word in _STRPTIME.values()]
    if len(set(said)) < len(said):
        raise ValueError(f"date pattern {java!r} says the same twice")
    return "".join(made)


def seconds(text: str, pattern: str) -> float:
    """Seconds since 1970, UTC where no zone is said; ValueError where the text is no such date."""
    moment = datetime.strptime(text, pattern)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
