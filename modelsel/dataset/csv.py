"""Tables as text, read strictly: a field too many or too few, a NUL byte or an open quote is an error with its line.

Parsed by Arrow; files whose quotes do not all stand at the ends of cells are walked once more by Python's strict reader: Arrow
takes a quote that is never closed for a very long cell.
"""

import codecs
import csv
import io
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow.csv as arrow

from modelsel.core.errors import DataError, Problem
from modelsel.core.proposal import Proposal
from modelsel.core.reading import EITHER
from modelsel.core.spec import plain, whole
from modelsel.core.types import Finding
from modelsel.dataset.base import are_plain_numbers
from modelsel.dataset.column import numbers
from modelsel.dataset.files import BLOCK, File, Raw, bare, codec, first_bytes
from modelsel.dataset.header import line_of_names, looks_like_a_row, of_a_row, second_header, without_empty
from modelsel.dataset.lines import TakenLines, default_names
from modelsel.dataset.parsing import (
    AUTO,
    DEFAULT,
    FIRST,
    OTHERS,
    CsvForm,
    begin_as_numbers,
    delimiter_character,
    parse_columns,
    recognise_delimiter,
)
from modelsel.dataset.quotes import QuoteCheck, broken_quotes, long_cells, without_nul

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
        kept, empty = without_empty(columns, self._name_blank_columns(path), self.missing)
        if not rows:
            raise DataError(no_rows)
        decimal = {AUTO: "." if sign == DEFAULT else EITHER}.get(self.decimal, self.decimal)
        is_row_said = [of_a_row(names, self.target)] if is_row else []
        findings = (*_findings_of_signs(self.delimiter, sign, path), *is_row_said, *empty)
        return Raw(tuple(kept), decimal=decimal, findings=findings, unnamed=self._name_blank_columns(path))

    def _name_blank_columns(self, path: Path) -> frozenset[str]:
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
        taken = self.roles().keys() | {name for name, said in self.features.items() if not are_plain_numbers(said)} | {*forms}
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
        return TakenLines(0, self.skip_lines, sign.join(default_names(len(first))))

    def _find_delimiter(self, path: Path) -> tuple[str, bool]:
        """The delimiter of a file that is text of its encoding, not empty, without NUL bytes, with whole quotes.

        And whether each of its lines is a row.
        """
        blank, sign = True, self._sign(self._head(path))
        quotes = QuoteCheck(sign)
        take = self._lines(path)
        for block in take.of(without_nul(path, self.encoding)):
            quotes.feed(block)
            blank = blank and not block.strip()
        if blank:
            raise DataError(Problem("MSEL-310", "the file is empty", str(path), "check dataset.path"))
        if quotes.end():
            return sign, quotes.lines
        DataError.raise_if(broken_quotes(path, self.encoding, sign, take))
        return sign, False


def _findings_of_signs(wanted: str, sign: str, path: Path) -> Iterator[Finding]:
    if wanted == AUTO and sign != DEFAULT:
        message = f"the fields of {path.name} are parted by {OTHERS[sign]}: recognised"
        yield Finding("DELIMITER", "info", message, "set dataset.delimiter if that is wrong")


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
