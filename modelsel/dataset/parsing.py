"""Columns of a text table as Arrow parses it, block by block, into dictionary-encoded columns; and the sign between them.

A column whose first rows are numbers is read as numbers at once. Where one of its cells then says none, or one that 64 bits do
not hold exactly, all is read again as texts, of which the kinds of columns are inferred: the answer is the same, at twice the
time.
"""

import csv
import io
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow

from modelsel.core.types import Floats
from modelsel.dataset.column import RawColumn, are_whole, coded_column, numbers, with_comma
from modelsel.dataset.files import BLOCK, Stream, listener, text_blocks
from modelsel.dataset.kinds import EXACT
from modelsel.dataset.lines import TakenLines

FIRST = 300  # rows that are looked at
LONGEST = 4 * BLOCK  # bytes of a row
MOST_WAITING = 1.0  # seconds for Arrow's threads, after a file was read
Columns = tuple[RawColumn, ...]


@dataclass(frozen=True)
class CsvForm:
    """The form of a file: its columns and the sign between them; `lines` says that each row is a line, and no long one."""

    path: Path
    encoding: str
    take: TakenLines
    names: tuple[str, ...]
    delimiter: str
    lines: bool = False


def begin_as_numbers(form: CsvForm, head: str, missing: Sequence[str]) -> dict[str, bool]:
    """The columns that hold numbers in the first rows, and nothing else but missing cells: whether they have no point there.

    No column where one has decimal commas: the points of the others may part thousands, which their texts have to say.
    """
    reader = csv.reader(io.StringIO(head, newline=""), delimiter=form.delimiter)
    rows = [row for row in islice(reader, 1, FIRST) if len(row) == len(form.names)]
    found = {}
    for name, cells in zip(form.names, zip(*rows)):
        known = [cell for cell in cells if cell.strip() not in missing]
        if form.delimiter != DEFAULT and with_comma(known):
            return {}
        if known and np.isfinite(numbers(known)).all():
            found[name] = are_whole(known)
    return found


def parse_columns(form: CsvForm, numeric: Mapping[str, bool], missing: Sequence[str]) -> tuple[Columns, list[arrow.InvalidRow]]:
    """Columns of texts, or of numbers those named, and the rows whose number of fields is not the header's."""
    if numeric:
        try:
            return _parse_blocks(form, numeric, missing)
        except (pa.ArrowInvalid, _TextWanted):  # whatever is wrong with the file is found again
            pass
    return _parse_blocks(form, {}, missing)


class _TextWanted(Exception):  # noqa: N818  it is an event, not a mistake
    """A column of numbers holds something that its texts have to say."""


def _parse_blocks(form: CsvForm, numeric: Mapping[str, bool], missing: Sequence[str]) -> tuple[Columns, list[arrow.InvalidRow]]:
    """Parse the file block by block, and keep the rows whose number of fields is wrong."""
    odd: list[arrow.InvalidRow] = []

    def remember(row: arrow.InvalidRow) -> str:
        odd.append(row)
        return "skip"

    chunks: list[list[pa.Array]] = [[] for _ in form.names]
    kinds = {name: pa.float64() if name in numeric else pa.string() for name in (*form.names, "")}
    text, reader = Stream(form.take.of(text_blocks(form.path, form.encoding, listener()))), None
    options = (
        arrow.ReadOptions(use_threads=False, block_size=2 * BLOCK if form.lines else LONGEST),
        arrow.ParseOptions(delimiter=form.delimiter, newlines_in_values=not form.lines, invalid_row_handler=remember),
        arrow.ConvertOptions(column_types=kinds, strings_can_be_null=False, null_values=list(missing)),
    )
    with LentObjects(text, remember):
        try:
            with arrow.open_csv(
                pa.PythonFile(text if form.lines else io.BufferedReader(text, BLOCK), mode="r"), *options
            ) as reader:
                for batch in reader:
                    for place, column in zip(chunks, batch.columns, strict=True):
                        place.append(column if pa.types.is_floating(column.type) else column.dictionary_encode())
        finally:
            reader = None  # what it refers to would be waited for
    return tuple(_column(name, chunks.pop(0), numeric.get(name, False)) for name in form.names), odd


class LentObjects:
    """Lend Python objects to Arrow's threads: leaving the block waits until the threads have let go of them.

    The threads let go of them a moment after the last block; one that does so while the process ends aborts it, since it needs
    Python.
    """

    def __init__(self, *objects: object) -> None:
        self._objects, self._own = objects, [0 for _ in objects]

    def __enter__(self) -> None:
        self._own = self._references()

    def __exit__(self, *_: object) -> None:
        until = time.monotonic() + MOST_WAITING
        while any(now > own for now, own in zip(self._references(), self._own)) and time.monotonic() < until:
            time.sleep(0.0005)

    def _references(self) -> list[int]:
        return [sys.getrefcount(one) for one in self._objects]


def _column(name: str, chunks: Sequence[pa.Array], begins_whole: bool) -> RawColumn:
    """Put the blocks of a column together; whole numbers are such only where the first rows have no point."""
    if not chunks or not pa.types.is_floating(chunks[0].type):
        return coded_column(name, chunks)
    found = np.concatenate([_exact(chunk) for chunk in chunks])
    is_whole = begins_whole and np.array_equal(found, np.round(found), equal_nan=True)
    return RawColumn(name, numbers=found, guessed=True, type="int" if is_whole else "float")


def _exact(chunk: pa.Array) -> Floats:
    """Take numbers from Arrow; where integers are too large to be exact, the texts are wanted."""
    values: Floats = chunk.to_numpy(zero_copy_only=False)
    if np.count_nonzero(np.abs(values) <= EXACT) + chunk.null_count < len(values):
        raise _TextWanted
    return values


# The delimiter of a text table: declared, or recognised from its first lines.
#
# The sign that parts each of them into the same number of fields, two or more: of several the one that makes the most, first
# the comma. Where none does, it is the comma, and the reader says what is wrong with which line.

DEFAULT = ","
OTHERS = {";": "semicolons", "\t": "tabs", "|": "bars"}
AUTO = "auto"
SPELLED = {"\\t": "\t", "tab": "\t"}  # as people write a tab
LINES = 50


def delimiter_character(delimiter: str) -> str:
    """Return the one character that a declared delimiter means.

    >>> delimiter_character("tab"), delimiter_character(";")
    ('\\t', ';')
    """
    return SPELLED.get(delimiter, delimiter)


def recognise_delimiter(head: str) -> str:
    """The delimiter of a text that begins like this.

    >>> recognise_delimiter("a;b;y\\n1,5;2,5;no\\n"), recognise_delimiter("a,b\\n1;2,3\\n")
    (';', ',')
    """
    fields = {sign: _fields_by(head, sign) for sign in (DEFAULT, *OTHERS)}
    return max(fields, key=lambda sign: fields[sign])


def _fields_by(head: str, sign: str) -> int:
    """Into how many fields this sign parts each of the first lines; 0 where they differ, or hold one."""
    lines = csv.reader(io.StringIO(head, newline=""), delimiter=sign)
    try:
        widths = {len(line) for line in islice(lines, LINES) if line}
    except csv.Error:
        return 0
    return max(widths) if len(widths) == 1 and widths != {1} else 0
