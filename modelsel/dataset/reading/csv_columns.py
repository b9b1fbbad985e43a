"""The columns of a CSV file as Arrow parses it, block by block.

A column whose first rows are numbers is read as numbers at once. Where one of its cells then says none, or one that 64 bits do
not hold exactly, all is read again as texts, of which the kinds of columns are inferred: the answer is the same, at twice the
time.
"""

import csv as standard
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow

from modelsel.core.types import Floats
from modelsel.dataset.columns.column import RawColumn, coded_column, whole
from modelsel.dataset.columns.kinds import EXACT
from modelsel.dataset.columns.numbers import numbers
from modelsel.dataset.reading.bytes import BLOCK, Stream, listener, text_blocks

FIRST = 300  # rows that are looked at
LONGEST = 4 * BLOCK  # bytes of a row
Columns = tuple[RawColumn, ...]


@dataclass(frozen=True)
class CsvForm:
    """The form of a file: its columns and the sign between them; `lines` says that each row is a line, and no long one."""

    path: Path
    encoding: str
    names: tuple[str, ...]
    delimiter: str
    lines: bool = False


def begin_as_numbers(form: CsvForm, head: str, missing: Sequence[str]) -> dict[str, bool]:
    """The columns that hold numbers in the first rows, and nothing else but missing cells: whether they have no point there."""
    reader = standard.reader(io.StringIO(head, newline=""), delimiter=form.delimiter)
    rows = [row for row in islice(reader, 1, FIRST) if len(row) == len(form.names)]
    found = {}
    for name, cells in zip(form.names, zip(*rows)):
        known = [cell for cell in cells if cell.strip() not in missing]
        if known and np.isfinite(numbers(known)).all():
            found[name] = whole(known)
    return found


def parsed(form: CsvForm, numeric: Mapping[str, bool], missing: Sequence[str]) -> tuple[Columns, list[arrow.InvalidRow]]:
    """Columns of texts, or of numbers those named, and the rows whose number of fields is not the header's."""
    if numeric:
        try:
            return _read(form, numeric, missing)
        except (pa.ArrowInvalid, _TextWanted):  # whatever is wrong with the file is found again
            pass
    return _read(form, {}, missing)


class _TextWanted(Exception):  # noqa: N818  it is an event, not a mistake
    """A column of numbers holds something that its texts have to say."""


def _read(form: CsvForm, numeric: Mapping[str, bool], missing: Sequence[str]) -> tuple[Columns, list[arrow.InvalidRow]]:
    """Parse the file block by block, and keep the rows whose number of fields is wrong."""
    odd: list[arrow.InvalidRow] = []

    def remember(row: arrow.InvalidRow) -> str:
        odd.append(row)
        return "skip"

    chunks: list[list[pa.Array]] = [[] for _ in form.names]
    kinds = {name: pa.float64() if name in numeric else pa.string() for name in (*form.names, "")}
    text = Stream(text_blocks(form.path, form.encoding, listener()))
    with arrow.open_csv(
        pa.PythonFile(text if form.lines else io.BufferedReader(text, BLOCK), mode="r"),
        arrow.ReadOptions(use_threads=False, block_size=2 * BLOCK if form.lines else LONGEST),
        arrow.ParseOptions(delimiter=form.delimiter, newlines_in_values=not form.lines, invalid_row_handler=remember),
        arrow.ConvertOptions(column_types=kinds, strings_can_be_null=False, null_values=list(missing)),
    ) as reader:
        for batch in reader:
            for place, column in zip(chunks, batch.columns, strict=True):
                place.append(column if pa.types.is_floating(column.type) else column.dictionary_encode())
    return tuple(_column(name, chunks.pop(0), numeric.get(name, False)) for name in form.names), odd


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
