"""Apply a reading: columns of any source, as they stand there, become the numbers and levels that a model knows.

What is decided about a column (`dataset.kinds`) is a `ColumnReading`; here its texts become values, for the rows that it was
decided on and for all that come later, whatever door they come through.
"""

import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from modelsel.core.errors import DataError, Problem
from modelsel.core.proposal import Proposal
from modelsel.core.reading import EITHER, POINT, ColumnReading, Feature, TableReading
from modelsel.core.types import Finding, Floats, Table, names, of_texts
from modelsel.dataset.column import RawColumn, examples, like_dates, like_thousands, numbers, read_numbers, seconds
from modelsel.dataset.dates import seconds_by
from modelsel.dataset.declarations import nearest
from modelsel.dataset.numerals import bare_number
from modelsel.dataset.spellings import BOOLEAN, codes

OTHER = "(other levels)"
NOTHING = ("", "nan", "NaN", "None", "<NA>", "NaT")  # as a missing value is written where texts alone are taken
ABSENT = frozenset({"na", "n/a", "#n/a", "<na>", "nan", "null", "none", "nil", "-", "--", ".", "missing"})  # beside numbers
UNKNOWN = ABSENT | {"unknown", "unk", "not known", "not available", "not stated", "no answer", "undefined", "undetermined",
                    "n.a.", "n.a", "tbd", "unbekannt", "keine angabe", "k.a.", "?"}  # fmt: skip


def values_of(column: RawColumn, reading: ColumnReading) -> tuple[Feature, Floats]:
    """The feature and its values: numbers, or codes of levels; of texts with the levels of these rows.

    NaN where a value is missing, or is not a number. A level that the reading does not list has the code `len(levels)`.

    >>> column = RawColumn("x", ("1,5", "?"), np.array([0, 1, 0], np.int32))
    >>> values_of(column, ColumnReading(Feature("x", "numeric"), decimal=","))[1].tolist()
    [1.5, nan, 1.5]
    """
    feature = reading.feature
    if feature.is_number:
        return feature, _numbers(column, reading)
    text = column.without(reading.missing).as_text()
    if feature.text:
        made, found = of_texts(feature, [*text.texts, None])
        return made, found[text.codes]
    place, other = codes(feature.levels), code_of_others(reading)
    return feature, np.array([*(place.get(level, other) for level in text.texts), np.nan], np.float64)[text.codes]


def codes_of_spellings(reading: ColumnReading) -> Mapping[str, int]:
    """The texts that mean a level, each with its code, and those that say that a value is missing, with −1.

    For whoever has texts alone: there a missing value is empty, or what Python writes for it, unless that is a level; and a
    whole number may have got a point.

    >>> found = codes_of_spellings(ColumnReading(Feature("x", "nominal", ("?", "1")), ("NA",)))
    >>> [found[text] for text in ("", "nan", "NA", "?", "1", "1.0")]
    [-1, -1, -1, 0, 1, 1]
    """
    known = codes(reading.feature.levels)
    pointed = {f"{word}.0": code for word, code in known.items() if word.removeprefix("-").isdecimal()}
    return {**dict.fromkeys((*NOTHING, *reading.missing), -1), **pointed, **known}


def code_of_others(reading: ColumnReading) -> int:
    """The code of a level that the reading does not list: that of the rare ones, where they were made one."""
    levels = reading.feature.levels
    return codes(levels).get(OTHER, len(levels))


def absent_words(texts: Sequence[str], missing: Collection[str]) -> set[str]:
    """The words among the texts of numbers that say that there is none: those of the study, and those that programs write."""
    trimmed = {text.strip() for text in texts}
    return {word for word in trimmed if word in missing or word.casefold() in ABSENT}


def absent_spellings(reading: ColumnReading) -> list[str]:
    """The words for a missing number, in small letters, for whoever compares them so."""
    return sorted({*(word.casefold() for word in reading.missing), *ABSENT})


def missing_numbers(reading: ColumnReading) -> list[float]:
    """The numbers that say that there is none, -200 or 999.

    >>> missing_numbers(ColumnReading(Feature("x", "numeric"), ("", "-200")))
    [-200.0]
    """
    said = numbers(list(reading.missing))
    return [float(code) for code in said[np.isfinite(said)]]


def _numbers(column: RawColumn, reading: ColumnReading) -> Floats:
    """The number of each row."""
    if column.numbers is not None:
        found = column.without(reading.missing).numbers
        if found is not None and (column.dates or not reading.date_form):
            return found
        column = column.as_text()
    known = column.without(absent_words(column.texts, reading.missing))
    return np.asarray(np.append(numbers_of(known, reading)[0], np.nan)[known.codes])


def numbers_of(column: RawColumn, reading: ColumnReading) -> tuple[Floats, str]:
    """The number of each text, and its decimal sign; the seconds of a moment; of a column of truth values 0 and 1."""
    if (own := reading.feature.of.numbers(column.texts)) is not None:
        return own, POINT
    if column.levels == BOOLEAN:
        return np.array([BOOLEAN.index(text) for text in column.texts], np.float64), POINT
    if reading.date_form:
        return seconds_by(reading.date_form, column.texts), POINT
    if reading.feature.dates and like_dates(column.texts):
        return seconds(column.texts), POINT
    return read_numbers([*map(bare_number(reading), column.texts)] if reading.dressed else column.texts, reading.decimal)


# New rows for a fitted model: columns matched by name, levels mapped to the task's codes, unseen levels counted.


@dataclass(frozen=True, eq=False)
class PredictionRows:
    """Rows that a model can predict, and what was noticed about them."""

    table: Table
    findings: tuple[Finding, ...]
    ids: Mapping[str, Sequence[str]] = field(default_factory=dict)  # columns that identify the rows, as they stand there


def apply(given: Sequence[RawColumn], reading: TableReading, name: str, where: str, decimal: str = POINT) -> PredictionRows:
    """Read columns of any source as the reading says; those that it does not name are left aside.

    `decimal` is how the source itself writes numbers, where it says that. A level that the reading does not list becomes the
    code len(levels). Raises DataError for missing columns and cells that are no numbers, all in one pass.
    """
    columns = {column.name: column for column in given}
    known = [_as_written(column, decimal) for column in reading.columns if column.name in columns]
    read = [values_of(columns[one.name], one) for one in known]
    problems = [*_lacking(reading.features, columns, where)]
    for one, (_, values) in zip(known, read, strict=True):
        problems += _no_numbers(columns[one.name], one, values)
    problems += _thousands([(columns[one.name], one) for one in known], reading.comma)
    DataError.raise_if(problems)
    rows = np.arange(len(given[0]) if given else 0)
    matrix = np.column_stack([values for _, values in read]) if read else np.empty((len(rows), 0))
    table = Table(name=name, features=tuple(feature for feature, _ in read), values=matrix, rows=rows)
    unseen = [found for one, (_, values) in zip(known, read, strict=True) for found in _unseen(columns[one.name], one, values)]
    return PredictionRows(table, tuple(unseen))


def _as_written(column: ColumnReading, decimal: str) -> ColumnReading:
    """The reading of a column in a source whose own form says how its numbers are written."""
    said = decimal == POINT or column.decimal == EITHER or bool(column.thousands)
    return column if said else replace(column, decimal=decimal)


def _lacking(features: Sequence[Feature], columns: Mapping[str, RawColumn], where: str) -> Iterator[Problem]:
    """Yield a problem for each column of the reading that the source lacks."""
    for name in names(features):
        if name not in columns:
            fix = f"{nearest(name, list(columns))}the model needs it"
            yield Problem("MSEL-370", f"the column '{name}' is missing", where, fix)


def _no_numbers(column: RawColumn, reading: ColumnReading, values: Floats) -> Iterator[Problem]:
    """Yield a problem for cells that should be numbers, and are neither finite nor missing."""
    if reading.feature.has_levels or reading.coerce:
        return
    absent = column.without({*reading.missing, *absent_words(column.texts, reading.missing)}).absent
    wrong = np.flatnonzero((np.isnan(values) & ~absent) | np.isinf(values))
    if len(wrong):
        fix = "correct them or make them missing"
        yield Problem("MSEL-346", f"not a finite number ({column.named(wrong)})", f"column '{column.name}'", fix)


def _thousands(given: Sequence[tuple[RawColumn, ColumnReading]], comma: bool) -> Iterator[Problem]:
    """Yield a problem for each column of `1.250` beside decimal commas, here or in the table that was learnt from."""
    texts = [(one, column.without(absent_words(column.texts, one.missing))) for column, one in given
             if one.feature.is_number and one.decimal == EITHER and column.codes is not None]  # fmt: skip
    signs = {one.name: numbers_of(column, one)[1] for one, column in texts}
    if comma or "," in signs.values():
        for one, column in texts:
            if signs[one.name] == POINT and not one.declared and like_thousands(column.texts):
                yield find_parted_thousands(one.name, column.texts)


def find_parted_thousands(name: str, texts: Sequence[str], beside: str = "") -> Problem:
    """The problem of points that may part thousands, in a table with decimal commas (`beside`: in which column)."""
    pointed = examples([text for text in texts if "." in text])
    other = f"column '{beside}'" if beside else "the table"
    what = f"points that may part thousands or fractions: {pointed}; {other} has decimal commas"
    thousands, numeric = Proposal("dataset.thousands", "."), Proposal("dataset.numeric", (name,))
    fix = f"set {thousands} if they part thousands, or {numeric} if they part fractions"
    return Problem("MSEL-342", what, f"column '{name}'", fix, (thousands, numeric))


def _unseen(column: RawColumn, reading: ColumnReading, values: Floats) -> Iterator[Finding]:
    """Yield a finding where rows hold levels that the reading does not list."""
    levels = reading.feature.levels
    count = int((values >= len(levels)).sum()) if reading.feature.has_levels and not reading.feature.text else 0
    if count:
        known = codes(levels)
        strange = [level for level in column.without(reading.missing).as_text().texts if level not in known]
        message = f"column '{column.name}': {count} rows hold levels that the model has not seen: {examples(strange)}"
        yield Finding("UNSEEN_LEVELS", "medium", message, "a tree sends them with the majority")


def warn_of_unseen(rows: Table) -> Table:
    """Return the rows unchanged; a warning names the columns with levels that the model never saw, and counts their values."""
    counts = {f.name: int((rows.values[:, i] >= len(f.levels)).sum()) for i, f in enumerate(rows.features) if f.levels}
    if found := {name: count for name, count in counts.items() if count}:
        each = ", ".join(f"{name!r} ({count} of {len(rows)} rows)" for name, count in found.items())
        warnings.warn(
            f"levels that the model has not seen, in column {each}; a tree sends them with the majority", stacklevel=5
        )
    return rows
