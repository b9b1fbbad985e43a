"""Tables as text, read strictly: a field too many or too few, a NUL byte or an open quote is an error with its line.

Parsed by Arrow, block by block, into dictionary-encoded columns; files whose quotes do not all stand at the ends of cells are
walked once more by Python's strict reader, because Arrow takes a quote that is never closed for a very long cell.
"""

import csv as standard
import io
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow.csv as arrow

from modelsel.core.errors import DataError, Problem
from modelsel.core.spec import plain
from modelsel.core.types import Finding
from modelsel.dataset.columns.numbers import EITHER, numbers
from modelsel.dataset.reading.bytes import BLOCK, Stream, codec, first_bytes, lines_of, text_blocks
from modelsel.dataset.reading.csv_columns import CsvForm, begin_as_numbers, parsed
from modelsel.dataset.reading.delimiter import AUTO, DEFAULT, OTHERS, recognised, said
from modelsel.dataset.reading.file import File, Raw
from modelsel.dataset.reading.quotes import QuoteCheck, long_cells

HEAD = 1 << 20  # bytes in which the header should end
NAMED = 3


@dataclass(frozen=True, kw_only=True)
class Csv(File):
    """A header line and a line per row. Cells are taken as they stand; kinds come from `features` or are inferred."""

    delimiter: str = plain(AUTO, help="one character, tab, or auto: recognised among , ; | and tab, and said")
    decimal: str = plain(AUTO, help="decimal point of numbers; auto: a point, and a comma where fields are not parted by it")
    encoding: str = plain("utf-8", help="utf-8 (with or without a mark), latin-1, cp1252, utf-16, ...")

    def header(self, path: Path) -> tuple[str, ...]:
        text = self._head(path)
        try:
            with long_cells():
                names = next(standard.reader(io.StringIO(text, newline=""), delimiter=self._sign(text)), [])
        except standard.Error as error:
            raise DataError(Problem("MSEL-317", f"the header is broken ({error})", str(path), "check its quotes")) from error
        if not names:
            raise DataError(Problem("MSEL-310", "the file is empty", str(path), "check dataset.path"))
        if any(sign in name for name in names for sign in "\ufffd\0"):
            raise DataError(Problem("MSEL-312", f"the header is not {self.encoding}", str(path), "set dataset.encoding"))
        return (names[0] or _unnamed(names), *names[1:])

    def raw(self, path: Path) -> Raw:
        sign, lines = self._checked(path)
        names = self.header(path)
        DataError.raise_if(_names(names, path))
        no_rows = Problem("MSEL-311", "a header and no rows", str(path), "the file needs data rows")
        DataError.raise_if([no_rows] if self._is_one_line(path) else [])  # Arrow takes such a file for no table at all
        form = CsvForm(path, self.encoding, names, sign, lines)
        columns, odd = parsed(form, self._numeric(form), self.missing)
        rows = len(columns[0]) if columns else 0
        DataError.raise_if(_fields(odd, rows, names, path))
        if not rows:
            raise DataError(no_rows)
        decimal = {AUTO: "." if sign == DEFAULT else EITHER}.get(self.decimal, self.decimal)
        return Raw(columns, decimal=decimal, findings=tuple(_recognised(self.delimiter, sign, path)))

    def _is_one_line(self, path: Path) -> bool:
        """Say whether the file ends within its header, without the end of a line."""
        head = self._head(path)
        return len(head) < BLOCK and "\n" not in head and "\r" not in head

    def _numeric(self, form: CsvForm) -> dict[str, bool]:
        """Columns to be read as numbers at once: undeclared or numeric ones that begin so and whose texts nobody asks for."""
        if self.test_path is not None or self.decimal not in (AUTO, ".") or np.isfinite(numbers(self.missing)).any():
            return {}
        taken = self.roles().keys() | {name for name, said in self.features.items() if said != "numeric"}
        with long_cells():
            found = begin_as_numbers(form, self._head(form.path), self.missing)
        return {name: is_whole for name, is_whole in found.items() if name not in taken}

    def problems(self) -> Iterator[Problem]:
        odd = tuple(self._odd_signs())
        yield from odd or super().problems()

    def _odd_signs(self) -> Iterator[Problem]:
        """Yield a problem for a delimiter or decimal sign that is not one character."""
        for setting, value in (("delimiter", said(self.delimiter)), ("decimal", self.decimal)):
            if value != AUTO and len(value) != 1:
                fix = "give one character, quoted for the shell (dataset.delimiter=tab for a tab), or auto"
                yield Problem("MSEL-305", f"{value!r} is not one character", f"dataset.{setting}", fix)

    def _sign(self, head: str) -> str:
        return recognised(head[: head.rfind("\n") + 1] or head) if self.delimiter == AUTO else said(self.delimiter)

    def _head(self, path: Path) -> str:
        """The first lines as text."""
        data = first_bytes(path, HEAD)
        data = data if b"\n" in data else first_bytes(path, BLOCK)
        end = data.rfind(b"\n") + 1 or None
        return data[:end].decode(codec(self.encoding), errors="replace")

    def _checked(self, path: Path) -> tuple[str, bool]:
        """The delimiter of a file that is text of its encoding, not empty, without NUL bytes, with whole quotes.

        And whether each of its lines is a row.
        """
        blank, sign = True, self._sign(self._head(path))
        quotes = QuoteCheck(sign)
        for number, block in enumerate(text_blocks(path, self.encoding)):
            if b"\0" in block:
                raise DataError(_nul(path, self.encoding, number, block))
            quotes.feed(block)
            blank = blank and not block.strip()
        if blank:
            raise DataError(Problem("MSEL-310", "the file is empty", str(path), "check dataset.path"))
        if quotes.end():
            return sign, quotes.lines
        DataError.raise_if(_quotes(path, self.encoding, sign))
        return sign, False


def _recognised(wanted: str, sign: str, path: Path) -> Iterator[Finding]:
    if wanted == AUTO and sign != DEFAULT:
        message = f"the fields of {path.name} are parted by {OTHERS[sign]}: recognised"
        yield Finding("DELIMITER", "info", message, "set dataset.delimiter if that is wrong")


def _nul(path: Path, encoding: str, number: int, block: bytes) -> Problem:
    """Describe a NUL byte in the block of this number."""
    line = lines_of([*islice(text_blocks(path, encoding), number), block[: block.index(0)]]) + 1
    return Problem("MSEL-313", f"NUL byte in line {line}", str(path), "the file is damaged or no text: write it again")


def _quotes(path: Path, encoding: str, delimiter: str) -> Iterator[Problem]:
    """A strict walk through a file whose quotes are not all at the ends of cells."""
    text = io.TextIOWrapper(io.BufferedReader(Stream(text_blocks(path, encoding))), "utf-8", newline="")
    reader = standard.reader(text, delimiter=delimiter, strict=True)
    line = 0
    try:
        with long_cells():
            for _ in reader:
                line = reader.line_num
    except standard.Error as error:
        what = f"broken quotes in the record that begins in line {line + 1} ({error})"
        yield Problem("MSEL-317", what, str(path), 'close the quote; a quote inside a quoted cell is written ""')


def _unnamed(names: list[str]) -> str:
    """Return pandas' name for a first column without a name: the index that a program has written along."""
    return "Unnamed: 0" if len(names) > 1 and "Unnamed: 0" not in names else ""


def _names(names: tuple[str, ...], path: Path) -> Iterator[Problem]:
    """Yield a problem for column names that occur twice or are empty."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        yield Problem(
            "MSEL-318", f"column names that occur twice: {', '.join(twice)}", str(path), "give each column its own name"
        )
    if any(not name.strip() for name in names):
        places = ", ".join(str(i + 1) for i, name in enumerate(names) if not name.strip())
        yield Problem("MSEL-319", f"column {places} has no name", str(path), "name every column in the header")


def _fields(odd: list[arrow.InvalidRow], rows: int, names: tuple[str, ...], path: Path) -> Iterator[Problem]:
    """Yield a problem for rows with too many or too few fields, with their lines."""
    if not odd:
        return
    expected = len(names)
    if not rows and all(row.actual_columns == expected + 1 for row in odd):
        what = f"all {len(odd)} rows have one field more than the header's {expected}"
        yield Problem(
            "MSEL-316", what, str(path), "name the extra column in the header (it may be a row number), or take it out"
        )
        return
    for code, word, found in (
        ("MSEL-314", "many", [row for row in odd if row.actual_columns > expected]),
        ("MSEL-315", "few", [row for row in odd if row.actual_columns < expected]),
    ):
        if found:
            named = "; ".join(f"line {row.number}: {row.actual_columns}" for row in found[:NAMED])
            more = f"; +{len(found) - NAMED} more" if len(found) > NAMED else ""
            what = f"too {word} fields, where the header has {expected} ({named}{more})"
            yield Problem(code, what, str(path), "quote cells that contain the delimiter, and write empty cells out")
