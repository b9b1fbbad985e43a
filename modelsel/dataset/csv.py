"""Comma-separated files, read strictly: a field too many or too few, a NUL byte or an open quote is an error with its line.

Parsed by Arrow into dictionary-encoded columns; files with quotes are walked once more by Python's strict reader, because
Arrow takes a quote that is never closed for a very long cell.
"""

import csv as standard
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as arrow

from modelsel.core.errors import DataError, Problem
from modelsel.core.spec import plain
from modelsel.dataset._column import text_column
from modelsel.dataset._file import File, Raw, decoded, read_bytes

HEAD = 1 << 20  # bytes in which the header must end
NAMED = 3


@dataclass(frozen=True, kw_only=True)
class Csv(File):
    """A header line and a line per row. Cells are taken as they stand; kinds come from `features` or are inferred."""

    delimiter: str = plain(",", help="one character")
    decimal: str = plain(".", help="decimal point of numbers")
    encoding: str = plain("utf-8", help="utf-8 (with or without a mark), latin-1, cp1252, utf-16, ...")

    def header(self, path: Path) -> tuple[str, ...]:
        with path.open("rb") as file:
            data = file.read(HEAD)
        text = data[: data.rfind(b"\n") + 1 or None].decode(_codec(self.encoding), errors="replace")
        try:
            names = next(standard.reader(io.StringIO(text, newline=""), delimiter=self.delimiter), [])
        except standard.Error as error:
            raise DataError(Problem("MSEL-317", f"the header is broken ({error})", str(path), "check its quotes")) from error
        if not names:
            raise DataError(Problem("MSEL-310", "the file is empty", str(path), "check dataset.path"))
        if any(sign in name for name in names for sign in "\ufffd\0"):
            raise DataError(Problem("MSEL-312", f"the header is not {self.encoding}", str(path), "set dataset.encoding"))
        return tuple(names)

    def raw(self, path: Path) -> Raw:
        data = read_bytes(path)
        text = decoded(data, self.encoding, path)
        clean = text.encode()
        DataError.raise_if((*_bytes(clean, path), *_quotes(text, self.delimiter, path)))
        names = self.header(path)
        DataError.raise_if(_names(names, path))
        table, odd = _parse(clean, names, self.delimiter)
        DataError.raise_if(_fields(odd, table, names, path))
        if not table.num_rows:
            raise DataError(Problem("MSEL-311", "a header and no rows", str(path), "the file needs data rows"))
        return Raw(tuple(text_column(name, table.column(i)) for i, name in enumerate(names)))


def _parse(data: bytes, names: tuple[str, ...], delimiter: str) -> tuple[pa.Table, list[arrow.InvalidRow]]:
    """Columns of texts, and the rows whose number of fields is not the header's."""
    odd: list[arrow.InvalidRow] = []

    def remember(row: arrow.InvalidRow) -> str:
        odd.append(row)
        return "skip"

    table = arrow.read_csv(
        io.BytesIO(data),
        arrow.ReadOptions(use_threads=False, block_size=max(1 << 22, min(len(data), 1 << 30) // 4)),
        arrow.ParseOptions(delimiter=delimiter, newlines_in_values=True, invalid_row_handler=remember),
        arrow.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False),
    )
    return table, odd


def _bytes(data: bytes, path: Path) -> Iterator[Problem]:
    if (place := data.find(b"\0")) >= 0:
        line = data.count(b"\n", 0, place) + 1
        yield Problem("MSEL-313", f"NUL byte in line {line}", str(path), "the file is damaged or no text: write it again")


def _quotes(text: str, delimiter: str, path: Path) -> Iterator[Problem]:
    """A strict walk through files that use quotes."""
    if '"' not in text:
        return
    reader = standard.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 0
    try:
        for _ in reader:
            line = reader.line_num
    except standard.Error as error:
        what = f"broken quotes in the record that begins in line {line + 1} ({error})"
        yield Problem("MSEL-317", what, str(path), 'close the quote; a quote inside a quoted cell is written ""')


def _names(names: tuple[str, ...], path: Path) -> Iterator[Problem]:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        yield Problem(
            "MSEL-318", f"column names that occur twice: {', '.join(twice)}", str(path), "give each column its own name"
        )
    if any(not name.strip() for name in names):
        places = ", ".join(str(i + 1) for i, name in enumerate(names) if not name.strip())
        yield Problem("MSEL-319", f"column {places} has no name", str(path), "name every column in the header")


def _fields(odd: list[arrow.InvalidRow], table: pa.Table, names: tuple[str, ...], path: Path) -> Iterator[Problem]:
    if not odd:
        return
    expected = len(names)
    if not table.num_rows and all(row.actual_columns == expected + 1 for row in odd):
        what = f"all {len(odd)} rows have one field more than the header's {expected}"
        yield Problem(
            "MSEL-316", what, str(path), "name the extra column in the header (it may be a row number), or take it out"
        )
        return
    for code, word, rows in (
        ("MSEL-314", "many", [row for row in odd if row.actual_columns > expected]),
        ("MSEL-315", "few", [row for row in odd if row.actual_columns < expected]),
    ):
        if rows:
            said = "; ".join(f"line {row.number}: {row.actual_columns}" for row in rows[:NAMED])
            more = f"; +{len(rows) - NAMED} more" if len(rows) > NAMED else ""
            what = f"too {word} fields, where the header has {expected} ({said}{more})"
            yield Problem(code, what, str(path), "quote cells that contain the delimiter, and write empty cells out")


def _codec(encoding: str) -> str:
    return "utf-8-sig" if encoding.lower().replace("_", "-") in {"utf-8", "utf8"} else encoding
