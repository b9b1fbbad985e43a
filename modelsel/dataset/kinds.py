"""From a column to a feature: the declared kind checked, or a kind inferred from the distinct texts.

Inferred: all texts are numbers → numeric, and so they are when the only words among them are those with which programs write
a missing number, which is said; dates (ISO 8601) → numeric, as seconds since 1970, which is said; other words → nominal, said
where there are numbers too; nearly all numbers, doubtful commas or dates → an error that asks for a declaration, because each
guess would be wrong for somebody.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from modelsel.core.errors import Problem
from modelsel.core.reading import EITHER, ColumnReading
from modelsel.core.types import Codes, Feature, Finding, Floats, Integers
from modelsel.dataset.base import TableSettings, read_declaration
from modelsel.dataset.column import (
    RawColumn,
    examples,
    in_thousands,
    like_dates,
    like_thousands,
    moments,
    name_rows,
    numbers,
    read_numbers,
    seconds,
    with_comma,
    with_groups,
)
from modelsel.dataset.reading import ABSENT, OTHER, values_of
from modelsel.dataset.spellings import codes

EXACT = 2.0**53  # integers beyond this are no longer told apart as float64

FEW = 10  # different values of which nobody can tell whether they are numbers
LOOKED_AT = 1000  # different values that are read for a common sign
# a sign or letters of a currency before a number (letters where there are fractions: ABC 12 is a code), or a unit behind it
_WITH_SIGN = re.compile(
    r"\s*(?:(?P<money>[A-Z]{3})(?=.*[.,]\d)|(?P<sign>[$€£¥₹]))?\s*(?P<number>[+-]?\d[\d.,'’]*)"
    r"\s*(?P<unit>[^\W\d_]{1,8}|[%‰°$€£¥₹]C?)?\s*"
)


@dataclass(frozen=True, eq=False)
class ParsedFeature:
    """How a column is read, with its values, or the problems that kept it from becoming a feature."""

    reading: ColumnReading | None = None
    values: Floats | None = None
    problems: tuple[Problem, ...] = ()
    findings: tuple[Finding, ...] = ()
    inferred: bool = False
    points: bool = False  # may part thousands, should commas be decimal in this table
    uncapped: Codes | None = None  # the texts of the rows, where the rarest levels were made one


def make(column: RawColumn, settings: TableSettings, decimal: str = ".") -> ParsedFeature:
    """The feature of a column whose missing cells are already marked."""
    said = settings.features.get(column.name)
    kind, levels = read_declaration(said) if said is not None else (column.kind, column.levels)
    if kind == "numeric":
        made = _numeric(column, decimal)
    elif kind == "text":
        made = ParsedFeature(ColumnReading(Feature(column.name, "nominal", text=True)))
    elif kind is not None:
        made = _nominal(column, str(kind), levels or column.levels, settings)
    elif column.numbers is not None:
        made = replace(_numeric(column, decimal), inferred=column.guessed)
    else:
        made = _infer_kind(column, settings, decimal)
    return _with_values(column, made, settings)


def _with_values(column: RawColumn, made: ParsedFeature, settings: TableSettings) -> ParsedFeature:
    """What was decided, applied to the column; infinite values are a problem."""
    if made.reading is None:
        return made
    reading = replace(made.reading, missing=tuple(settings.missing), type=column.read_as, held=column.held)
    feature, values = values_of(column, reading)
    infinite = np.flatnonzero(np.isinf(values)) if not column.guessed else ()
    if len(infinite):
        what = f"infinite value in {len(infinite)} rows ({name_rows(infinite)})"
        return _wrong("MSEL-340", what, f"column '{column.name}'", "correct them or make them missing")
    large = _large(column, values) if feature.kind == "numeric" and not column.guessed else ()
    return replace(made, reading=replace(reading, feature=feature), values=values, findings=(*large, *made.findings))


def _infer_kind(column: RawColumn, settings: TableSettings, decimal: str) -> ParsedFeature:
    """Infer a column's kind: numbers if all texts are, else names; a doubtful mixture is a problem."""
    found, sign = read_numbers(column.texts, decimal)
    strange = [column.texts[i] for i in np.flatnonzero(np.isnan(found)).tolist()]
    if not strange:
        guess = decimal == EITHER
        reading = _of_numbers(column, decimal=decimal, comma=sign == "," and guess)
        return ParsedFeature(reading, inferred=True, points=guess and like_thousands(column.texts))
    if len(strange) < len(column.texts) and all(text.strip().casefold() in ABSENT for text in strange):
        return _without_absent(column, strange, settings, decimal)
    if moments(column.texts) is not None:
        return _as_moments(column)
    if problem := _doubtful(column, strange, settings, decimal):
        return ParsedFeature(problems=(problem,))
    made = _nominal(column, "nominal", (), settings, inferred=True)
    return replace(made, findings=(*made.findings, *_numbers_among(column, strange), *_numbers_with_sign(column, settings)))


def _doubtful(column: RawColumn, strange: list[str], settings: TableSettings, decimal: str) -> Problem | None:
    """Return the problem of a column whose kind nobody should guess."""
    where, many = f"column '{column.name}'", len(column.texts)
    if like_dates(column.texts):
        fix = f"write them as 2026-01-31 (day or month first?), or declare dataset.features.{column.name} as nominal or ignore"
        return Problem("MSEL-343", f"looks like dates: {examples(column.texts)}", where, fix)
    if with_comma(column.texts) and (decimal == EITHER or (decimal == "." and in_thousands(column.texts))):
        what = f"commas that may part thousands or fractions: {examples(strange)}"
        return Problem("MSEL-342", what, where, "set dataset.decimal=',', or write the numbers without them")
    if decimal == "." and with_comma(column.texts):
        return Problem("MSEL-342", f"decimal commas: {examples(strange)}", where, "set dataset.decimal=','")
    if with_groups(column.texts):
        what = f"numbers whose thousands are parted: {examples(strange)}"
        return Problem("MSEL-342", what, where, f"write them without, or declare dataset.features.{column.name}=nominal")
    if many > FEW and 1 - len(strange) / many >= settings.near:
        share = f"{many - len(strange)} of {many} different values are numbers"
        what = f"{share}, not {examples(strange)} ({name_rows(_rows_of(column, strange))})"
        fix = f"declare dataset.features.{column.name} as nominal, or add the words to dataset.missing"
        return Problem("MSEL-341", what, where, fix)
    return None


def _without_absent(column: RawColumn, words: list[str], settings: TableSettings, decimal: str) -> ParsedFeature:
    """A column of numbers in which programs wrote words where there is none."""
    rows = len(_rows_of(column, words))
    made = _infer_kind(column.without({word.strip() for word in words}), settings, decimal)
    message = f"column '{column.name}' holds numbers, and {examples(words)} in {rows} rows, which were taken as missing"
    said = Finding("WORDS_FOR_MISSING", "low", message, f"declare dataset.features.{column.name}=nominal if they say something")
    return replace(made, findings=(*made.findings, said))


def _numbers_among(column: RawColumn, strange: list[str]) -> Iterator[Finding]:
    """Half of the values are numbers: perhaps all should be."""
    many = len(column.texts)
    if 2 * len(strange) <= many:
        message = (
            f"column '{column.name}' was read as nominal, though {many - len(strange)} of {many} different values are numbers"
        )
        do = (
            f"it also holds {examples(strange)}: add them to dataset.missing, or declare dataset.features.{column.name}=nominal"
        )
        yield Finding("NUMBERS_AS_LEVELS", "medium", message, do)


def _numbers_with_sign(column: RawColumn, settings: TableSettings) -> Iterator[Finding]:
    """Nearly all of the values are numbers with the same sign or unit: `12%`, `CHF 3.50`."""
    texts = column.texts[:LOOKED_AT]
    read = [found for text in texts if (found := _WITH_SIGN.fullmatch(text))]
    signs = Counter(found["money"] or found["sign"] or found["unit"] for found in read)
    sign, many = signs.most_common(1)[0] if signs else (None, 0)
    if sign and len(texts) > FEW and many >= settings.near * len(texts):
        example = next(found for found in read if sign in found.groups())
        message = f"column '{column.name}' was read as nominal, though its values are numbers with {sign!r}: {examples(texts)}"
        do = f"write {example['number']} in place of {example[0]!r}, or declare dataset.features.{column.name}=nominal"
        yield Finding("NUMBERS_AS_LEVELS", "medium", message, do)


def _numeric(column: RawColumn, decimal: str) -> ParsedFeature:
    """Read a column that is declared numeric, as numbers or dates."""
    if column.numbers is not None:
        return ParsedFeature(_of_numbers(column))
    dates = like_dates(column.texts)
    found = seconds(column.texts) if dates else read_numbers(column.texts, decimal)[0]
    strange = [column.texts[i] for i in np.flatnonzero(np.isnan(found)).tolist()]
    if strange:
        what = f"not a number: {examples(strange)} ({name_rows(_rows_of(column, strange))})"
        return _wrong(
            "MSEL-346", what, f"column '{column.name}'", "correct them, add them to dataset.missing or declare nominal"
        )
    return ParsedFeature(_of_numbers(column, dates, decimal=decimal, declared=True))


def _as_moments(column: RawColumn) -> ParsedFeature:
    """Make a numeric feature of dates, and say what else they can be."""
    message = f"column '{column.name}' holds dates, which were read as moments: a feature that may tell the future"
    do = (
        f"`preparer: dates` in a space (learner=NAME learner.preparer=dates) takes their parts; set dataset.time={column.name} "
        f"if rows are divided by it, dataset.features.{column.name}=ignore if it is no feature, or numeric if it is"
    )
    said = Finding("DATES_AS_NUMBERS", "medium", message, do)
    return ParsedFeature(_of_numbers(column, dates=True), findings=(said,), inferred=True)


def _of_numbers(column: RawColumn, dates: bool = False, **how: Any) -> ColumnReading:
    return ColumnReading(Feature(column.name, "numeric", dates=dates or column.dates), **how)


def _nominal(
    column: RawColumn, kind: str, levels: tuple[str, ...], settings: TableSettings, inferred: bool = False
) -> ParsedFeature:
    """Make a nominal or ordered feature; declared levels are checked, others gathered."""
    column = column.as_text()
    assert column.codes is not None
    where = f"column '{column.name}'"
    if kind == "ordered" and not levels:
        fix = f"write dataset.features.{column.name}={{ordered: [lowest, ..., highest]}}"
        return _wrong("MSEL-347", "an ordered column needs its levels in order", where, fix)
    findings: tuple[Finding, ...] = ()
    if not levels:
        levels, findings = _cap_levels(column, settings.max_levels)
        reading, before = ColumnReading(Feature(column.name, _kind(kind), levels)), column.codes if findings else None
        return ParsedFeature(reading, findings=findings, inferred=inferred, uncapped=before)
    strange = [text for text in column.texts if text not in codes(levels)]
    if strange:
        what = f"not among the declared levels: {examples(strange)} ({name_rows(_rows_of(column, strange))})"
        return _wrong("MSEL-344", what, where, f"the levels are {examples(levels)}; correct the cells or the declaration")
    return ParsedFeature(ColumnReading(Feature(column.name, _kind(kind), levels)), findings=findings, inferred=inferred)


def sorted_levels(texts: Sequence[str]) -> tuple[str, ...]:
    """Levels in the order of their numbers where all are numbers, else of their characters.

    >>> sorted_levels(("10", "9", "2"))
    ('2', '9', '10')
    """
    found = numbers(texts)
    if np.isfinite(found).all():
        return tuple(text for _, text in sorted(zip(found.tolist(), texts)))
    return tuple(sorted(texts))


def _cap_levels(column: RawColumn, most: int) -> tuple[tuple[str, ...], tuple[Finding, ...]]:
    """The levels of a nominal column; beyond `most`, the rarest become one level, which is said."""
    if len(column.texts) <= most:
        return sorted_levels(column.texts), ()
    assert column.codes is not None
    counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.texts))
    kept = np.argsort(-counts, kind="stable")[: most - 1]
    message = f"column '{column.name}' has {len(column.texts)} levels: the rarest became '{OTHER}', {most} are left"
    finding = Finding("MANY_LEVELS", "medium", message, "declare it as ignore or dataset.id, or raise dataset.max_levels")
    return (*sorted_levels([column.texts[i] for i in kept.tolist()]), OTHER), (finding,)


def _large(column: RawColumn, values: Floats) -> Iterator[Finding]:
    """Yield a finding where whole numbers are too large to be told apart."""
    big = int(np.sum(np.abs(values) > EXACT))
    if big and (column.codes is None or all(text.strip().lstrip("+-").isdigit() for text in column.texts)):
        message = f"column '{column.name}' holds {big} integers beyond 2^53, which numbers cannot tell apart: is it an id?"
        yield Finding("BIG_INTEGERS", "medium", message, f"set dataset.id={column.name}, or declare it as nominal or ignore")


def _rows_of(column: RawColumn, texts: list[str]) -> Integers:
    wanted = np.isin(np.array(column.texts, object), np.array(texts, object))
    return np.flatnonzero(np.append(wanted, False)[column.codes])


def _kind(name: str) -> Any:
    return "ordered" if name == "ordered" else "nominal"


def _wrong(code: str, what: str, where: str, fix: str) -> ParsedFeature:
    return ParsedFeature(problems=(Problem(code, what, where, fix),))
