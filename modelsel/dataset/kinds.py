"""From a column to a feature: the declared kind checked, or a kind inferred from the distinct texts.

Inferred: all texts are numbers → numeric, and so they are when the only words among them are those with which programs write
a missing number, which is said; dates → numeric, as seconds since 1970, which is said; other words → nominal, said where there
are numbers too; nearly all numbers, doubtful commas, or dates whose day and month could change places → an error that asks,
with the settings that answer it, because each guess would be wrong for somebody.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from modelsel.core.column_kind.base import kind_named
from modelsel.core.errors import Problem
from modelsel.core.proposal import BARE, Proposal
from modelsel.core.reading import EITHER, ColumnReading
from modelsel.core.types import Codes, Feature, Finding, Floats, Integers
from modelsel.dataset.base import TableSettings, are_plain_numbers, read_declaration
from modelsel.dataset.column import (
    RawColumn,
    examples,
    in_thousands,
    like_dates,
    like_thousands,
    moments,
    numbers,
    read_numbers,
    with_comma,
    with_groups,
)
from modelsel.dataset.dates import COMPACT, COMPACT_RANGE, date_form_of, forms_of, seconds_by, shape_of_most
from modelsel.dataset.numerals import LOOKED_AT, bare_number, common_sign, decimal_beside, group_sign, sign_of
from modelsel.dataset.reading import ABSENT, OTHER, UNKNOWN, numbers_of, values_of
from modelsel.dataset.sentinels import sentinels
from modelsel.dataset.spellings import codes

EXACT = 2.0**53  # integers beyond this are no longer told apart as float64
FEW = 10  # different values of which nobody can tell whether they are numbers
WORDS = 3  # different words among numbers that a setting names one by one


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
    form = settings.date_form(column.name)
    if "%" in form and (kind is None or are_plain_numbers(kind)) and not column.dates:
        made = _read_dates(column, form, settings)
    elif kind == "text":
        made = ParsedFeature(ColumnReading(Feature.of_levels(column.name, text=True)))
    elif kind is not None:
        own = Feature(column.name, kind, levels or column.levels)
        made = _levels(column, own, settings) if own.has_levels else _numeric(column, settings, decimal, kind)
    elif column.numbers is not None:
        made = replace(_numeric(column, settings, decimal), inferred=column.guessed)
    else:
        made = _infer_kind(column, settings, decimal)
    return _with_values(column, made, settings)


def _with_values(column: RawColumn, made: ParsedFeature, settings: TableSettings) -> ParsedFeature:
    """What was decided, applied to the column; infinite values are a problem."""
    if made.reading is None:
        return made
    reading = replace(made.reading, missing=settings.missing_of(column.name), type=column.read_as, held=column.held)
    feature, values = values_of(column, reading)
    infinite = np.flatnonzero(np.isinf(values)) if not column.guessed else ()
    if len(infinite):
        what = f"infinite value in {len(infinite)} rows ({column.named(infinite)})"
        return _wrong("MSEL-340", what, f"column '{column.name}'", "correct them or make them missing")
    large = _large(column, values) if feature.is_number and not column.guessed else ()
    asked = _asked_of_numbers(column, values) if feature.is_number and made.reading.feature.dates is False else ()
    undeclared = () if column.name in settings.features else tuple(asked)
    findings = (*large, *made.findings, *undeclared)
    return replace(made, reading=replace(reading, feature=feature), values=values, findings=findings)


def _asked_of_numbers(column: RawColumn, values: Floats) -> Iterator[Finding]:
    """Yield what numbers may mean that they do not say: a code for missing, a date without signs."""
    name, numeric = column.name, Proposal("dataset.numeric", (column.name,))
    if found := sentinels(values):
        said = " and ".join(f"{code:g} in {many:,} rows" for code, many in found)
        message = f"column '{name}' holds {said}, far from all its other numbers: a code for a missing value?"
        coded = Proposal("dataset.missing_in", tuple(f"{name}={code:g}" for code, _ in found))
        yield Finding(
            "SENTINEL_CODES", "medium", message, f"set {coded} if so, or {numeric} if it is a number", (coded, numeric)
        )
    low, high = COMPACT_RANGE
    known = values[np.isfinite(values)] if column.dates is False else values[:0]
    if len(known) and known.min() >= low and known.max() <= high:
        texts = column.as_text().texts
        if len(texts) >= WORDS and forms_of(texts) == [COMPACT]:
            message = f"column '{name}' was read as numbers, and each is a day of the calendar: {examples(texts)}"
            dated = Proposal("dataset.dates", (f"{name}={COMPACT}",), sure=True)
            yield Finding(
                "NUMBERS_LIKE_DATES", "medium", message, f"set {dated}, or {numeric} if they are none", (dated, numeric)
            )


def _infer_kind(column: RawColumn, settings: TableSettings, decimal: str) -> ParsedFeature:
    """Infer a column's kind: numbers if all texts are, or dates, else names; a doubtful mixture is a problem."""
    found, sign = read_numbers(column.texts, decimal)
    strange = [column.texts[i] for i in np.flatnonzero(np.isnan(found)).tolist()]
    if (strange or settings.thousands) and (reading := read_with_signs(column, settings, decimal)):
        return ParsedFeature(reading, inferred=True)
    if not strange:
        return _plain_numbers(column, settings, decimal, sign)
    if len(strange) < len(column.texts) or _dates_among(column.texts, ABSENT):
        absent = [text for text in column.texts if text.strip().casefold() in ABSENT]
        if absent and (len(absent) == len(strange) or _dates_among(column.texts, ABSENT)):
            return _without_absent(column, absent, settings, decimal)
    if moments(column.texts) is not None:
        return _as_moments(column)
    if dated := _in_a_form(column, settings):
        return dated
    if problem := _doubtful(column, strange, settings, decimal):
        return ParsedFeature(problems=(problem,))
    made = _levels(column, Feature.of_levels(column.name), settings, inferred=True)
    return replace(made, findings=(*made.findings, *_numbers_among(column, strange, settings)))


def _plain_numbers(column: RawColumn, settings: TableSettings, decimal: str, sign: str) -> ParsedFeature:
    """A column whose texts are all numbers; a problem where the sign between thousands parts fractions in some of them."""
    if settings.thousands and group_sign(column.texts) == settings.thousands:
        return _parted_otherwise(column, settings.thousands)
    guess = decimal == EITHER
    reading = _of_numbers(column, decimal=decimal, comma=sign == "," and guess)
    return ParsedFeature(reading, inferred=True, points=guess and like_thousands(column.texts))


def read_with_signs(column: RawColumn, settings: TableSettings, decimal: str) -> ColumnReading | None:
    """How numbers are read that have signs about them, or within, where settings allow to leave those out; else None."""
    sign = common_sign(column.texts, 1 - settings.near) if settings.signs == "strip" else ""
    reading = _of_numbers(column, signs=sign, decimal=decimal)
    bare = [*map(bare_number(reading), column.texts)] if sign else column.texts
    thousands = settings.thousands or ""
    if thousands and group_sign(bare) == thousands:
        reading = replace(reading, thousands=thousands, decimal=decimal_beside(thousands, decimal))
    if not reading.dressed or np.isnan(numbers_of(column, reading)[0]).any():
        return None
    return reading


def _dates_among(texts: Sequence[str], words: "frozenset[str]") -> bool:
    """Say whether texts are dates, but for such words."""
    first = next((text for text in texts if text.strip().casefold() not in words), "")
    if not (like_dates([first]) or forms_of([first])):
        return False
    known = [text for text in texts if text.strip().casefold() not in words]
    return len(known) < len(texts) and (moments(known) is not None or bool(forms_of(known)))


def _in_a_form(column: RawColumn, settings: TableSettings) -> ParsedFeature | None:
    """A column of dates in a form that is certain, or that the settings say; a problem where the form is to be asked."""
    forms, name, where = forms_of(column.texts), column.name, f"column '{column.name}'"
    if form := date_form_of(forms, settings.date_form(name)):
        return _as_moments(column, form)
    nominal, ignored = Proposal("dataset.nominal", (name,)), Proposal("dataset.ignore", (name,))
    if forms:
        sure = len(forms) == 1 or "." in forms[0]
        proposed = tuple(Proposal("dataset.dates", (f"{name}={form}",), sure=sure and form == forms[0]) for form in forms)
        doubt = "is the day first, or the month?" if len(forms) > 1 else f"by {forms[0]}, it seems"
        what = f"looks like dates: {examples(column.texts)}: {doubt}"
        fix = f"set {' or '.join(map(str, proposed))} (all columns: dataset.dates=day_first), {nominal} or {ignored}"
        return ParsedFeature(problems=(Problem("MSEL-343", what, where, fix, (*proposed, nominal, ignored)),))
    if like_dates(column.texts):
        what = f"looks like dates of several forms: {examples(column.texts)}"
        fix = f"write them as 2026-01-31, or set {nominal} or {ignored}"
        return ParsedFeature(problems=(Problem("MSEL-343", what, where, fix, (nominal, ignored)),))
    form = shape_of_most(column.texts, settings.near) if len(column.texts) > FEW else ""
    if not form:
        return None
    strange = [column.texts[i] for i in np.flatnonzero(np.isnan(seconds_by(form, column.texts))).tolist()]
    missing, dated = _as_missing(column, strange), Proposal("dataset.dates", (f"{name}={form}",))
    what = f"looks like dates by {form}, but for {examples(strange)} ({column.named(_rows_of(column, strange))})"
    fix = f"set {missing} {dated} where they are no dates, {nominal} or {ignored}"
    return ParsedFeature(problems=(Problem("MSEL-343", what, where, fix, (missing, dated, nominal, ignored)),))


def _read_dates(column: RawColumn, form: str, settings: TableSettings) -> ParsedFeature:
    """A column of dates in the form that the settings say."""
    text = column.as_text()
    absent = [word for word in text.texts if word.strip().casefold() in ABSENT]
    found = seconds_by(form, text.texts)
    strange = [text.texts[i] for i in np.flatnonzero(np.isnan(found)).tolist() if text.texts[i] not in absent]
    if strange and column.name not in settings.coerce_names:
        missing, forms = Proposal("dataset.coerce", (column.name,)), forms_of(text.texts)
        others = tuple(Proposal("dataset.dates", (f"{column.name}={one}",), sure=len(forms) == 1) for one in forms)
        what = f"no date by {form}: {examples(strange)} ({column.named(_rows_of(text, strange))})"
        fix = f"set {' or '.join(map(str, others))}" if others else f"set {missing}: then they are missing"
        return ParsedFeature(problems=(Problem("MSEL-346", what, f"column '{column.name}'", fix, others or (missing,)),))
    reading = _of_numbers(column, dates=True, date_form=form, declared=True, coerce=bool(strange))
    return ParsedFeature(reading, findings=(*count_coerced(text, strange), *_words_for_missing(text, absent)))


def _doubtful(column: RawColumn, strange: list[str], settings: TableSettings, decimal: str) -> Problem | None:
    """Return the problem of a column that fits two kinds: the person has to say which."""
    name, where, many = column.name, f"column '{column.name}'", len(column.texts)
    nominal, comma = Proposal("dataset.nominal", (name,)), Proposal("dataset.decimal", ",")
    if with_comma(column.texts) and (decimal == EITHER or (decimal == "." and in_thousands(column.texts))):
        thousands = Proposal("dataset.thousands", ",", sure=sum(text.count(",") for text in column.texts) > FEW)
        what = f"commas that may part thousands or fractions: {examples(strange)}"
        fix = f"set {thousands} or {comma}, or {nominal}, or write the numbers without"
        return Problem("MSEL-342", what, where, fix, (thousands, comma, nominal))
    if decimal == "." and with_comma(column.texts):
        fix = f"set {comma}, or {nominal}"
        return Problem("MSEL-342", f"decimal commas: {examples(strange)}", where, fix, (replace(comma, sure=True), nominal))
    if with_groups(column.texts) and (sign := group_sign(column.texts)):
        thousands = Proposal("dataset.thousands", sign, sure=True)
        what = f"numbers whose thousands are parted: {examples(strange)}"
        fix = f"set {thousands} or {nominal}, or write the numbers without"
        return Problem("MSEL-342", what, where, fix, (thousands, nominal))
    if settings.signs == "strip" and (problem := _parted_and_signed(column, settings)):
        return problem
    if many > FEW and 1 - len(strange) / many >= settings.near:
        return _nearly_numbers(column, strange)
    return None


def _parted_and_signed(column: RawColumn, settings: TableSettings) -> Problem | None:
    """Return the problem of numbers whose thousands are parted too, once the signs beside them are left out."""
    sign = common_sign(column.texts, 1 - settings.near)
    bare = [*map(bare_number(_of_numbers(column, signs=sign)), column.texts)] if sign else []
    groups = group_sign(bare) if with_groups(bare) or in_thousands(bare) else ""
    if not groups:
        return None
    thousands, nominal = Proposal("dataset.thousands", groups, sure=True), Proposal("dataset.nominal", (column.name,))
    what = f"numbers whose thousands are parted: {examples(column.texts)}"
    fix = f"set {thousands} or {nominal}, or write the numbers without"
    return Problem("MSEL-342", what, f"column '{column.name}'", fix, (thousands, nominal))


def _parted_otherwise(column: RawColumn, sign: str) -> ParsedFeature:
    """The problem of numbers in which the thousands sign also stands where no thousands end."""
    nominal = Proposal("dataset.nominal", (column.name,))
    what = f"{sign!r} parts thousands in some numbers, and fractions in others: {examples(column.texts)}"
    fix = f"write all numbers in one way, or set {nominal}"
    return ParsedFeature(problems=(Problem("MSEL-342", what, f"column '{column.name}'", fix, (nominal,)),))


def _nearly_numbers(column: RawColumn, strange: list[str]) -> Problem:
    """The problem of numbers with some words among them."""
    many, missing, nominal = len(column.texts), _as_missing(column, strange), Proposal("dataset.nominal", (column.name,))
    share = f"{many - len(strange)} of {many} different values are numbers"
    what = f"{share}, not {examples(strange)} ({column.named(_rows_of(column, strange))})"
    fix = f"set {missing} where they say that there is no number, or {nominal}"
    return Problem("MSEL-341", what, f"column '{column.name}'", fix, (missing, nominal))


def _as_missing(column: RawColumn, strange: list[str]) -> Proposal:
    """The setting by which words among numbers or dates are missing: one by one where they are few, and hold no figures."""
    wordy = not any(sign.isdigit() for text in strange for sign in text)
    sure = all(text.strip().casefold() in UNKNOWN for text in strange)
    if len(strange) <= WORDS and wordy:
        return Proposal("dataset.missing_in", tuple(f"{column.name}={text.strip()}" for text in strange), sure)
    return Proposal("dataset.coerce", (column.name,), sure)


def _without_absent(column: RawColumn, words: list[str], settings: TableSettings, decimal: str) -> ParsedFeature:
    """A column of numbers or dates in which programs wrote words where there is none."""
    made = _infer_kind(column.without({word.strip() for word in words}), settings, decimal)
    return replace(made, findings=(*made.findings, *_words_for_missing(column, words)))


def _words_for_missing(column: RawColumn, words: list[str]) -> Iterator[Finding]:
    """Yield a finding where words of programs were taken as missing."""
    if words:
        rows = len(_rows_of(column, words))
        message = f"column '{column.name}' holds numbers, and {examples(words)} in {rows} rows, which were taken as missing"
        missing = Proposal("dataset.missing_in", tuple(f"{column.name}={word.strip()}" for word in words), sure=True)
        nominal = Proposal("dataset.nominal", (column.name,))
        do = f"set {missing} to say so, or {nominal} if they say something"
        yield Finding("WORDS_FOR_MISSING", "low", message, do, (missing, nominal))


def count_coerced(column: RawColumn, strange: list[str]) -> Iterator[Finding]:
    """Yield a finding that counts the cells that say no number, and are missing."""
    if strange:
        rows = len(_rows_of(column, strange))
        message = (
            f"column '{column.name}': {rows:,} of {len(column):,} rows say no number, and are missing: {examples(strange)}"
        )
        yield Finding("NO_NUMBERS", "low", message, "dataset.coerce says so")


def _numbers_among(column: RawColumn, strange: list[str], settings: TableSettings) -> Iterator[Finding]:
    """Yield a finding where half of the values are numbers, or nearly all are numbers with a sign: perhaps all should be."""
    many, name = len(column.texts), column.name
    nominal = Proposal("dataset.nominal", (name,))
    if 2 * len(strange) <= many:
        missing = _as_missing(column, strange)
        message = f"column '{name}' was read as nominal, though {many - len(strange)} of {many} different values are numbers"
        do = f"it also holds {examples(strange)}: set {missing} where they say that there is no number, or {nominal}"
        yield Finding("NUMBERS_AS_LEVELS", "medium", message, do, (missing, nominal))
        return
    texts = column.texts[:LOOKED_AT]
    signs = Counter(sign for text in texts if (sign := sign_of(text)))
    sign, told = signs.most_common(1)[0] if signs else ("", 0)
    if len(texts) <= FEW or told < settings.near * len(texts):
        return
    message = f"column '{name}' was read as nominal, though its values are numbers with {sign!r}: {examples(texts)}"
    if common_sign(column.texts, 1 - settings.near):
        strip = Proposal("dataset.signs", "strip", sure=True)
        yield Finding("NUMBERS_AS_LEVELS", "medium", message, f"set {strip}, or {nominal}", (strip, nominal))
    else:
        others = ", ".join(map(repr, [other for other in signs if other != sign][:WORDS])) or "other words"
        do = f"write all in one unit, or set {nominal}"
        yield Finding("NUMBERS_AS_LEVELS", "medium", f"{message}; others with {others}", do, (nominal,))


def _numeric(column: RawColumn, settings: TableSettings, decimal: str, kind: str = "") -> ParsedFeature:
    """Read a column that is declared to hold numbers, as numbers or dates, or as its kind writes them."""
    if column.numbers is not None:
        return ParsedFeature(_of_numbers(column, kind=kind))
    absent = [text for text in column.texts if text.strip().casefold() in ABSENT]
    known = column.without({word.strip() for word in absent}) if absent else column
    plain = not kind or not kind_named(kind).writes_its_own
    reading = (plain and read_with_signs(known, settings, decimal)) or _of_numbers(column, decimal=decimal)
    if plain and known.texts and moments(known.texts) is not None:
        reading = _of_numbers(column, dates=True, decimal=decimal)
    elif plain and (form := date_form_of(forms_of(known.texts), settings.date_form(column.name))):
        reading = _of_numbers(column, dates=True, date_form=form)
    reading = replace(reading, declared=True, feature=_of_kind(reading.feature, kind))
    found = numbers_of(column, reading)[0]
    strange = [column.texts[i] for i in np.flatnonzero(np.isnan(found)).tolist()]
    if not strange or column.name in settings.coerce_names:
        return ParsedFeature(replace(reading, coerce=bool(strange)), findings=tuple(count_coerced(column, strange)))
    missing = _as_missing(column, strange)
    wrong = "not a number" if plain else f"not of the kind {kind}"
    what = f"{wrong}: {examples(strange)} ({column.named(_rows_of(column, strange))})"
    fix = f"correct them, or set {missing}: then they are missing"
    return ParsedFeature(problems=(Problem("MSEL-346", what, f"column '{column.name}'", fix, (missing,)),))


def _as_moments(column: RawColumn, form: str = "") -> ParsedFeature:
    """Make a numeric feature of dates, and say what else they can be."""
    name, by = column.name, f" by {form}" if form else ""
    timed, ignored, numeric = (
        Proposal("dataset.time", name), Proposal("dataset.ignore", (name,)), Proposal("dataset.numeric", (name,)),
    )  # fmt: skip
    message = f"column '{name}' holds dates, which were read{by} as moments: a feature that may tell the future"
    do = (
        f"`preparer: dates` in a space (learner=NAME learner.preparer=dates) takes their parts; set {timed} "
        f"if rows are divided by it, {ignored} if it is no feature, or {numeric} if it is one"
    )
    said = Finding("DATES_AS_NUMBERS", "medium", message, do, (timed, ignored, numeric))
    return ParsedFeature(_of_numbers(column, dates=True, date_form=form), findings=(said,), inferred=True)


def _of_numbers(column: RawColumn, dates: bool = False, kind: str = "", **how: Any) -> ColumnReading:
    return ColumnReading(_of_kind(Feature.of_numbers(column.name, dates=dates or column.dates), kind), **how)


def _of_kind(feature: Feature, kind: str) -> Feature:
    """The feature as one of a kind that is declared, if any."""
    return replace(feature, kind=kind) if kind else feature


def _levels(column: RawColumn, feature: Feature, settings: TableSettings, inferred: bool = False) -> ParsedFeature:
    """Make a feature of levels; declared ones are checked, others gathered."""
    column = column.as_text()
    assert column.codes is not None
    where, kind, levels = f"column '{column.name}'", feature.kind, feature.levels
    if feature.is_ranked and not levels:
        found = sorted_levels(column.texts)
        proposed = Proposal(f"dataset.features.{column.name}", {kind: found[:FEW]})
        typed = (
            proposed
            if BARE.fullmatch(column.name)
            else f"features={ {column.name: {kind: [*found[:FEW]]}} } in a file or Python"
        )
        fix = f"write them from the lowest to the highest: {typed}"
        what = f"a column of the kind {kind} needs its levels in order"
        return ParsedFeature(problems=(Problem("MSEL-347", what, where, fix, (proposed,) if typed is proposed else ()),))
    findings: tuple[Finding, ...] = ()
    if not levels:
        levels, findings = _cap_levels(column, settings.max_levels)
        reading, before = ColumnReading(replace(feature, levels=levels)), column.codes if findings else None
        return ParsedFeature(reading, findings=findings, inferred=inferred, uncapped=before)
    strange = [text for text in column.texts if text not in codes(levels)]
    if strange:
        what = f"not among the declared levels: {examples(strange)} ({column.named(_rows_of(column, strange))})"
        return _wrong("MSEL-344", what, where, f"the levels are {examples(levels)}; correct the cells or the declaration")
    return ParsedFeature(ColumnReading(feature), findings=findings, inferred=inferred)


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
    ignored, more = Proposal("dataset.ignore", (column.name,)), Proposal("dataset.max_levels", len(column.texts))
    finding = Finding("MANY_LEVELS", "medium", message, f"set {ignored}, or {more} to keep them all", (ignored, more))
    return (*sorted_levels([column.texts[i] for i in kept.tolist()]), OTHER), (finding,)


def _large(column: RawColumn, values: Floats) -> Iterator[Finding]:
    """Yield a finding where whole numbers are too large to be told apart."""
    big = int(np.sum(np.abs(values) > EXACT))
    if big and (column.codes is None or all(text.strip().lstrip("+-").isdigit() for text in column.texts)):
        message = f"column '{column.name}' holds {big} integers beyond 2^53, which numbers cannot tell apart: is it an id?"
        proposed = (Proposal("dataset.id", column.name), Proposal("dataset.nominal", (column.name,)))
        yield Finding("BIG_INTEGERS", "medium", message, f"set {proposed[0]}, or {proposed[1]}", proposed)


def _rows_of(column: RawColumn, texts: list[str]) -> Integers:
    wanted = np.isin(np.array(column.texts, object), np.array(texts, object))
    return np.flatnonzero(np.append(wanted, False)[column.codes])


def _wrong(code: str, what: str, where: str, fix: str) -> ParsedFeature:
    return ParsedFeature(problems=(Problem(code, what, where, fix),))
