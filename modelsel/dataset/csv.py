"""Tables as text, read strictly: a field too many or too few, a NUL byte or an open quote is an error with its line.

Parsed by Arrow, block by block, into dictionary-encoded columns; files whose quotes do not all stand at the ends of cells are
walked once more by Python's strict reader, because Arrow takes a quote that is never closed for a very long cell.
"""

import codecs
import csv
import io
import shlex
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow
from numpy.typing import NDArray

from modelsel.core.errors import DataError, Problem
from modelsel.core.proposal import Proposal
from modelsel.core.reading import EITHER
from modelsel.core.spec import plain, whole
from modelsel.core.types import Finding, Floats, Integers
from modelsel.dataset.column import RawColumn, are_whole, coded_column, numbers, with_comma
from modelsel.dataset.files import BLOCK, File, Raw, Stream, bare, codec, first_bytes, lines_of, listener, text_blocks
from modelsel.dataset.header import line_of_names, looks_like_a_row, of_a_row, second_header, without_empty
from modelsel.dataset.kinds import EXACT
from modelsel.dataset.lines import TakenLines, called

# The columns of a CSV file as Arrow parses it, block by block.
#
# A column whose first rows are numbers is read as numbers at once. Where one of its cells then says none, or one that 64 bits
# do not hold exactly, all is read again as texts, of which the kinds of columns are inferred: the answer is the same, at twice
# the time.

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
    """Objects of Python that Arrow's threads are given: who leaves waits until nobody refers to them but who did at first.

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


HEAD = 1 << 20  # bytes in which the header should end
NAMED = 3


@dataclass(frozen=True, kw_only=True)
class Csv(File):
    """A header line and a line per row. Cells are taken as they stand; kinds come from `features` or are inferred."""

    delimiter: str = plain(AUTO, help="one character, tab, or auto: recognised among , ; | and tab, and said")
    decimal: str = plain(AUTO, help="decimal point of numbers; auto: a point, and a comma where fields are not parted by it")
    encoding: str = plain("utf-8", help="utf-8 (with or without a mark), latin-1, cp1252, utf-16, ...")
    header: int = whole(1, least=0, help="line of the names; what stands above it is left out. 0: no line has names")
    skip_lines: int = whole(0, least=0, help="lines after the names that are left out: units, a second header")

    def names(self, path: Path) -> tuple[str, ...]:
        text = self._head(path)
        try:
            with long_cells():
                names = next(csv.reader(io.StringIO(text, newline=""), delimiter=self._sign(text)), [])
        except csv.Error as error:
            raise DataError(Problem("MSEL-317", f"the header is broken ({error})", str(path), "check its quotes")) from error
        if not names:
            raise DataError(Problem("MSEL-310", "the file is empty", str(path), "check dataset.path"))
        if any(sign in name for name in names for sign in "\ufffd\0"):
            raise DataError(Problem("MSEL-312", f"the header is not {self.encoding}", str(path), "set dataset.encoding"))
        return _all_named(names)

    def raw(self, path: Path) -> Raw:
        sign, lines = self._find_delimiter(path)
        names = self.names(path)
        is_row = self._is_row(path, names)
        DataError.raise_if(_names(names, path, is_row))
        no_rows = Problem("MSEL-311", "a header and no rows", str(path), "the file needs data rows")
        DataError.raise_if([no_rows] if self._is_one_line(path) else [])  # Arrow takes such a file for no table at all
        take = self._lines(path)
        form = CsvForm(path, self.encoding, take, names, sign, lines)
        columns, odd = parse_columns(form, self._numeric(form), self.missing)
        rows = len(columns[0]) if columns else 0
        DataError.raise_if(_fields(odd, rows, form))
        DataError.raise_if(second_header(columns, str(path)) if not self.skip_lines else ())
        kept, empty = without_empty(columns, self._unnamed(path), self.missing)
        if not rows:
            raise DataError(no_rows)
        decimal = {AUTO: "." if sign == DEFAULT else EITHER}.get(self.decimal, self.decimal)
        is_row_said = [of_a_row(names, self.target)] if is_row else []
        findings = (*_findings_of_signs(self.delimiter, sign, path), *is_row_said, *empty)
        return Raw(tuple(kept), decimal=decimal, findings=findings, unnamed=self._unnamed(path))

    def _unnamed(self, path: Path) -> frozenset[str]:
        """What the columns are called whose name is blank."""
        head = self._head(path)
        with long_cells():
            names = next(csv.reader(io.StringIO(head, newline=""), delimiter=self._sign(head)), [])
        return frozenset(own for own, said in zip(_all_named(names), names) if not said.strip() and own != INDEX)

    def _is_row(self, path: Path, names: Sequence[str]) -> bool:
        """Say whether the line of names looks like one of the rows below it."""
        text = self._head(path) if self.header else ""
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=self._sign(text))
        try:
            with long_cells():
                first, *rows = [line for line in islice(lines, FIRST) if len(line) == len(names)] or [[]]
        except csv.Error:
            return False
        return looks_like_a_row(first, rows, self.missing)

    def _is_one_line(self, path: Path) -> bool:
        """Say whether the file ends within its header, without the end of a line."""
        head = self._head(path)
        return len(head) < BLOCK and "\n" not in head and "\r" not in head

    def _numeric(self, form: CsvForm) -> dict[str, bool]:
        """Columns to be read as numbers at once: undeclared or numeric ones that begin so and whose texts nobody asks for."""
        if (
            self.test_path is not None
            or self.thousands is not None
            or self.decimal not in (AUTO, ".")
            or np.isfinite(numbers(self.missing)).any()
        ):
            return {}
        forms = self.dates.keys() if isinstance(self.dates, Mapping) else ()
        taken = self.roles().keys() | {name for name, said in self.features.items() if said != "numeric"} | {*forms}
        with long_cells():
            found = begin_as_numbers(form, self._head(form.path), self.missing)
        return {name: is_whole for name, is_whole in found.items() if name not in taken}

    def problems(self) -> Iterator[Problem]:
        odd = tuple(self._odd_signs())
        yield from odd or super().problems()

    def header_problems(self, names: Sequence[str]) -> Iterator[Problem]:
        """Yield the problems of the header; where no target is found and the line looks like a row, it is none."""
        for problem in super().header_problems(names):
            if problem.where == "dataset.target" and self._is_row(Path(str(self.path)), names):
                found = of_a_row(names, self.target)
                yield replace(problem, fix=f"{found.message}; {found.do}; {problem.fix}", proposes=found.proposes)
            elif problem.where == "dataset.target" and (line := self._line_of_names()):
                fix = f"line {line.value} names it: set {line}; {problem.fix}"
                yield replace(problem, fix=fix, proposes=(line,))
            else:
                yield problem

    def _line_of_names(self) -> Proposal | None:
        """The line below the first that names the target, as a setting."""
        beginning = self._beginning(Path(str(self.path)))

        def names_in(take: TakenLines) -> Sequence[str]:
            text = take.text(beginning)
            with long_cells():
                return next(csv.reader(io.StringIO(text, newline=""), delimiter=self._sign(text)), [])

        try:
            return line_of_names(beginning.splitlines(), self.target, names_in) if self.target else None
        except csv.Error:
            return None

    def _odd_signs(self) -> Iterator[Problem]:
        """Yield a problem for a delimiter or decimal sign that is not one character."""
        for setting, value in (("delimiter", delimiter_character(self.delimiter)), ("decimal", self.decimal)):
            if value != AUTO and len(value) != 1:
                fix = "give one character, quoted for the shell (dataset.delimiter=tab for a tab), or auto"
                yield Problem("MSEL-305", f"{value!r} is not one character", f"dataset.{setting}", fix)
        if self.thousands is not None and self.thousands == self.decimal:
            what = f"{self.decimal!r} parts thousands and fractions"
            yield Problem("MSEL-305", what, "dataset.decimal and dataset.thousands", "set one of them")

    def _sign(self, head: str) -> str:
        """The character between two fields: the one declared, or what the first lines suggest."""
        return (
            recognise_delimiter(head[: head.rfind("\n") + 1] or head)
            if self.delimiter == AUTO
            else delimiter_character(self.delimiter)
        )

    def _head(self, path: Path) -> str:
        """The first lines that are taken, as text."""
        return self._lines(path).text(self._beginning(path))

    def _beginning(self, path: Path) -> str:
        """The first lines of the file."""
        data = first_bytes(path, HEAD)
        data = data if b"\n" in data else first_bytes(path, BLOCK)
        end = data.rfind(b"\n") + 1 or None
        return data[:end].decode(codec(self.encoding), errors="replace")

    def _lines(self, path: Path) -> TakenLines:
        """The lines that are taken; where none has names, with one that names the columns by their place."""
        if self.header:
            return TakenLines(self.header, self.skip_lines)
        text = "".join(self._beginning(path).splitlines(keepends=True)[self.skip_lines :])
        sign = self._sign(text)
        with long_cells():
            first = next(csv.reader(io.StringIO(text, newline=""), delimiter=sign), [])
        return TakenLines(0, self.skip_lines, sign.join(called(len(first))))

    def _find_delimiter(self, path: Path) -> tuple[str, bool]:
        """The delimiter of a file that is text of its encoding, not empty, without NUL bytes, with whole quotes.

        And whether each of its lines is a row.
        """
        blank, sign = True, self._sign(self._head(path))
        quotes = QuoteCheck(sign)
        take = self._lines(path)
        for block in take.of(_without_nul(path, self.encoding)):
            quotes.feed(block)
            blank = blank and not block.strip()
        if blank:
            raise DataError(Problem("MSEL-310", "the file is empty", str(path), "check dataset.path"))
        if quotes.end():
            return sign, quotes.lines
        DataError.raise_if(_quotes(path, self.encoding, sign, take))
        return sign, False


def _findings_of_signs(wanted: str, sign: str, path: Path) -> Iterator[Finding]:
    if wanted == AUTO and sign != DEFAULT:
        message = f"the fields of {path.name} are parted by {OTHERS[sign]}: recognised"
        yield Finding("DELIMITER", "info", message, "set dataset.delimiter if that is wrong")


def _without_nul(path: Path, encoding: str) -> Iterator[bytes]:
    """Yield the blocks of a text; DataError at the first NUL byte."""
    for number, block in enumerate(text_blocks(path, encoding)):
        if b"\0" in block:
            raise DataError(_nul(path, encoding, number, block))
        yield block


def _nul(path: Path, encoding: str, number: int, block: bytes) -> Problem:
    """Describe a NUL byte in the block of this number."""
    line = lines_of([*islice(text_blocks(path, encoding), number), block[: block.index(0)]]) + 1
    return Problem("MSEL-313", f"NUL byte in line {line}", str(path), "the file is damaged or no text: write it again")


def _quotes(path: Path, encoding: str, delimiter: str, take: TakenLines) -> Iterator[Problem]:
    """A strict walk through a file whose quotes are not all at the ends of cells."""
    text = io.TextIOWrapper(io.BufferedReader(Stream(take.of(text_blocks(path, encoding)))), "utf-8", newline="")
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    line = 0
    try:
        with long_cells():
            for _ in reader:
                line = reader.line_num
    except csv.Error as error:
        what = f"broken quotes in the record that begins in line {take.number(line + 1)} ({error})"
        yield Problem("MSEL-317", what, str(path), 'close the quote; a quote inside a quoted cell is written ""')


def _with_name(form: CsvForm) -> str:
    """The command that writes the file again with a name for its first column, where its bytes are the text."""
    path, line = form.path, form.take.number(1)
    if bare(path) != path or form.encoding not in ("utf-8", "latin-1", "cp1252") or first_bytes(path, 3) == codecs.BOM_UTF8:
        return f"line {line} of the file has to begin with it"
    edit, named = f"{line}s/^/row{form.delimiter}/", path.with_stem(f"{path.stem}_named")
    return f"sed {shlex.quote(edit)} {shlex.quote(str(path))} > {shlex.quote(str(named))}"


INDEX = "Unnamed: 0"  # what pandas calls a first column without a name: the index that a program has written along


def _all_named(names: Sequence[str]) -> tuple[str, ...]:
    """The names; one that is blank by the column's place, of the first as pandas calls it.

    >>> _all_named(["", "a", ""]), _all_named(["a", " ", "column_2"])
    (('Unnamed: 0', 'a', 'column_3'), ('a', 'column_2_', 'column_2'))
    """
    taken, made = set(names), []
    for place, name in enumerate(names):
        if not name.strip():
            name = INDEX if not place and len(names) > 1 else f"column_{place + 1}"
            while name in taken:
                name += "_"
        made.append(name)
    return tuple(made)


def _names(names: tuple[str, ...], path: Path, is_row: bool) -> Iterator[Problem]:
    """Yield a problem for column names that occur twice or are empty."""
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        found = of_a_row(names, None)
        fix, proposed = (f"{found.message}; {found.do}", found.proposes) if is_row else ("give each column its own name", ())
        yield Problem("MSEL-318", f"column names that occur twice: {', '.join(twice)}", str(path), fix, proposes=proposed)


def _fields(odd: list[arrow.InvalidRow], rows: int, form: CsvForm) -> Iterator[Problem]:
    """Yield a problem for rows with too many or too few fields, with their lines."""
    if not odd:
        return
    expected, path, line = len(form.names), form.path, form.take.number
    if not rows and all(row.actual_columns == expected + 1 for row in odd):
        what = f"all {len(odd)} rows have one field more than the header's {expected}"
        yield Problem("MSEL-316", what, str(path), f"name the first column, which may be a row number: {_with_name(form)}")
        return
    for code, word, found in (
        ("MSEL-314", "many", [row for row in odd if row.actual_columns > expected]),
        ("MSEL-315", "few", [row for row in odd if row.actual_columns < expected]),
    ):
        if found:
            named = "; ".join(f"line {line(row.number or 0)}: {row.actual_columns}" for row in found[:NAMED])
            more = f"; +{len(found) - NAMED} more" if len(found) > NAMED else ""
            what = f"too {word} fields, where the header has {expected} ({named}{more})"
            yield Problem(code, what, str(path), "quote cells that contain the delimiter, and write empty cells out")


# Check that the quotes of a text are whole, block by block and without a walk through its cells.
#
# Every quote opens or closes, in turn. One that opens stands where a cell begins, one that closes where a cell ends; a quote
# written twice within a cell closes and opens at once. Whatever is not so by this look (a quote within a bare cell, which is
# allowed; a cell longer than Python's reader takes) is left to the walk, which is strict and knows the line.

QUOTE, ENDS = 34, (10, 13)  # the byte, and those that end a line
NEAR = 1 << 18  # bytes looked at in one go
LONGEST_CELL = 1 << 30  # characters: Python's reader takes 131,072 by itself, Arrow a row of four blocks


@contextmanager
def long_cells() -> Iterator[None]:
    """Let Python's reader take long cells: a text of a patient may have more than 131,072 characters."""
    usual = csv.field_size_limit(LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(usual)


class QuoteCheck:
    """Feed it the blocks of a text: `whole` leaves nothing to the walk, and with `lines` no cell holds the end of a line."""

    def __init__(self, delimiter: str) -> None:
        """Start at the beginning of a record."""
        sign = delimiter.encode()
        self.whole, self.lines = len(sign) == 1, True
        self._beside = np.zeros(256, np.bool_)  # what may stand before a quote that opens, and after one that closes
        self._beside[[*ENDS, QUOTE, *sign[:1]]] = True
        self._longest = csv.field_size_limit()
        self._last, self._open, self._closing = 10, False, False
        self._length = 0  # bytes since the last record ended

    def feed(self, block: bytes) -> None:
        """Look at the next block."""
        data = np.frombuffer(block, np.uint8)
        for start in range(0, len(data) if self.whole else 0, NEAR):
            self._look(data[start : start + NEAR])

    def end(self) -> bool:
        """Return whether all of it was whole; a quote that is still open is not."""
        return self.whole and not self._open

    def _look(self, data: NDArray[np.uint8]) -> None:
        """Look at some bytes."""
        found = data == QUOTE
        for end in ENDS:
            found |= data == end
        places = np.flatnonzero(found)
        is_quote = data[places] == QUOTE
        within = (np.cumsum(is_quote)[~is_quote] + self._open) % 2 == 1
        quotes, ends = places[is_quote], places[~is_quote]
        opens, closes = (quotes[1::2], quotes[::2]) if self._open else (quotes[::2], quotes[1::2])
        before = np.where(opens > 0, data[opens - 1], self._last)
        inside = closes[closes + 1 < len(data)]
        self.whole &= bool(
            self._beside[before].all()
            and self._beside[data[inside + 1]].all()
            and (not self._closing or self._beside[data[0]])
            and self._short(ends[~within], len(data))
        )
        self.lines &= not within.any()
        self._closing = len(inside) < len(closes)
        self._open ^= bool(len(quotes) % 2)
        self._last = int(data[-1])

    def _short(self, ends: Integers, size: int) -> bool:
        """Say whether no record is longer than the longest cell that Python's reader takes."""
        lengths = np.diff(ends, prepend=-1 - self._length)
        self._length = size - 1 - int(ends[-1]) if len(ends) else self._length + size
        return max(int(lengths.max(initial=0)), self._length) <= self._longest
