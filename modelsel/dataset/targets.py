"""The target column: classes in declared order or sorted, and everything that makes labels unusable."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.errors import Problem
from modelsel.core.proposal import Proposal
from modelsel.core.reading import ColumnReading
from modelsel.core.types import Booleans, Codes, Feature, Finding, Floats
from modelsel.dataset.base import TableSettings, declared_kind, read_declaration
from modelsel.dataset.column import RawColumn, examples, numbers, read_numbers, with_comma
from modelsel.dataset.kinds import read_with_signs, sorted_levels
from modelsel.dataset.numerals import bare_number, common_sign, group_sign
from modelsel.dataset.reading import ABSENT, UNKNOWN, numbers_of

MERGED = "(rare classes)"
FEW = 0.1  # of the rows, up to which a class may be no answer
REGRESSION = 10  # different fractional numbers that make a target a quantity


@dataclass(frozen=True, eq=False)
class Target:
    """Class per row (−1 where the label is missing or the row was dropped), classes, what is wrong, what is notable."""

    classes: tuple[str, ...]
    codes: Codes
    kept: Booleans
    problems: tuple[Problem, ...]
    findings: tuple[Finding, ...] = ()
    numbers: Floats | None = None  # the number of each row, where the target is one


def make(column: RawColumn, settings: TableSettings) -> Target:
    """Codes into the classes; rare classes kept, dropped or merged as said."""
    levels = read_declaration(settings.features[column.name])[1] if column.name in settings.features else column.levels
    column = column.as_text()
    assert column.codes is not None
    classes = levels or sorted_levels(column.texts)
    place = {name: code for code, name in enumerate(classes)}
    codes = np.array([*(place.get(text, -1) for text in column.texts), -1], np.int32)[column.codes]
    made = Target(classes, codes, np.ones(len(codes), np.bool_), ())
    made, rare = _rare(made, settings)
    problems = tuple(_problems(column, made, [text for text in column.texts if text not in place]))
    asked = () if levels or problems else tuple(_no_answers(column.name, made))
    return Target(made.classes, made.codes, made.kept, problems, (*rare, *asked))


def _no_answers(name: str, target: Target) -> Iterator[Finding]:
    """Yield a finding for each class of few rows whose name means "unknown"."""
    counts = np.bincount(target.codes[target.codes >= 0], minlength=len(target.classes)).tolist()
    words = [word for word, rows in zip(target.classes, counts) if rows <= FEW * sum(counts) and says_nothing(word)]
    if words:
        rows = sum(rows for word, rows in zip(target.classes, counts) if word in words)
        proposed = without_words(name, words)
        message = f"target '{name}' has {rows} of {sum(counts)} rows of class {examples(words)}: a class, or no answer?"
        do = f"if it is not an answer, set {' '.join(map(str, proposed))}, which leaves those rows out"
        yield Finding("CLASS_OR_NO_ANSWER", "medium", message, do, proposes=proposed)


def says_nothing(word: str) -> bool:
    """Say whether the name of a class means "unknown", as people and programs write it.

    >>> [says_nothing(word) for word in ("N/A", " unknown", "none of these", "-")]
    [True, True, False, True]
    """
    return word.strip().casefold() in UNKNOWN


def without_words(name: str, words: Sequence[str]) -> tuple[Proposal, ...]:
    """The settings by which rows with such words for a target are left out."""
    said, sure = tuple(f"{name}={word.strip()}" for word in words), all(word.strip().casefold() in ABSENT for word in words)
    return (Proposal("dataset.missing_in", said, sure), Proposal("dataset.without_target", "drop", sure))


def _rare(target: Target, settings: TableSettings) -> tuple[Target, tuple[Finding, ...]]:
    """Drop or merge classes below `rare_below` rows, and say so in a finding."""
    counts = np.bincount(target.codes[target.codes >= 0], minlength=len(target.classes))
    rare = (counts > 0) & (counts < settings.rare_below)
    if settings.rare == "keep" or not rare.any():
        return target, ()
    names = ", ".join(name for name, is_rare in zip(target.classes, rare) if is_rare)
    code = np.append(np.cumsum(~rare) - 1, -1).astype(np.int32)
    code[:-1][rare] = -1 if settings.rare == "drop" else (~rare).sum()
    classes = tuple(name for name, is_rare in zip(target.classes, rare) if not is_rare)
    kept = np.ones(len(target.codes), np.bool_)
    done = f"merged into '{MERGED}'"
    if settings.rare == "drop":
        kept = ~np.append(rare, False)[target.codes]
        done = f"dropped with their {int((~kept).sum())} rows"
    else:
        classes = (*classes, MERGED)
    finding = Finding("RARE_CLASSES", "medium", f"classes below {settings.rare_below} rows were {done}: {names}")
    return Target(classes, code[target.codes], kept, ()), (finding,)


def _problems(column: RawColumn, target: Target, undeclared: list[str]) -> Iterator[Problem]:
    """Yield the problems of a target column: missing labels, undeclared classes, labels that are numbers."""
    where = f"column '{column.name}'"
    assert column.codes is not None
    missing = np.flatnonzero(column.codes < 0)
    if len(missing):
        what = f"missing label in {len(missing)} rows ({column.named(missing)})"
        yield Problem("MSEL-320", what, where, f"set {DROP} to leave these rows out, or give them their label", (DROP,))
    if undeclared:
        yield Problem("MSEL-344", f"not among the declared classes: {examples(undeclared)}", where, "correct the labels")
        return
    found = numbers(column.texts)
    yield from _number_problems(column, found, where)
    yield from _count_problems(target, column.name, int((column.codes >= 0).sum()), bool(column.levels))


def _number_problems(column: RawColumn, found: NDArray[np.float64], where: str) -> Iterator[Problem]:
    """Yield problems of labels that are numbers: infinite, fractional, or one number written in two ways."""
    if not len(found) or np.isnan(found).any():
        return
    if np.isinf(found).any():
        rows = np.flatnonzero(np.append(np.isinf(found), False)[column.codes])
        yield Problem("MSEL-322", f"infinite label in {len(rows)} rows ({column.named(rows)})", where, "correct these labels")
    finite = found[np.isfinite(found)]
    if len(finite) > REGRESSION and np.any(finite != np.round(finite)):
        what = f"{len(finite)} different fractional numbers: this looks like regression"
        yield Problem("MSEL-323", what, where, f"set {REGRESSION_TASK}, or cut the quantity into classes", (REGRESSION_TASK,))
    elif same := _same_numbers(column.texts) if len(np.unique(finite)) < len(finite) and not _typed_text(column) else []:
        yield Problem("MSEL-325", f"labels that are the same number: {examples(same)}", where, "write each label in one way")


def _same_numbers(texts: Sequence[str]) -> list[str]:
    """The texts of which another says the same number, to the last digit.

    >>> _same_numbers(["01", "1", "1152921504606846976", "1152921504606846977", "inf"])
    ['01', '1']
    """
    exact = [Decimal(text.strip()) for text in texts]
    times = Counter(exact)
    return [text for text, value in zip(texts, exact, strict=True) if times[value] > 1]


def _typed_text(column: RawColumn) -> bool:
    """Say whether the source's own cells are texts, so that each way to write a number is a label of its own."""
    return bool(column.held) and column.type == "str"


def _count_problems(target: Target, name: str, labelled: int, declared: bool) -> Iterator[Problem]:
    """Yield problems of class counts: one class, as many classes as an id has, classes with one row."""
    codes = target.codes[target.codes >= 0]
    counts = np.bincount(codes, minlength=len(target.classes))
    used, where = int((counts > 0).sum()), f"column '{name}'"
    if used < 2:
        only = f"one class only ('{target.classes[int(counts.argmax())]}')" if used else "no label at all"
        yield Problem("MSEL-321", only, where, "there is nothing to choose: check dataset.target")
    elif used * 2 > labelled >= 10 and not declared:
        yield Problem("MSEL-324", f"{used} classes in {labelled} rows: this looks like an id", where, "choose another target")
    else:
        single = [name for name, n in zip(target.classes, counts.tolist()) if n == 1]
        if single:
            what = f"class with one row: {examples(single)}"
            proposed: tuple[Proposal, ...] = (Proposal("dataset.rare", "drop"),)
            fix = "set dataset.rare=drop or dataset.rare=merge, or gather more rows of it"
            if unknown := [word for word in single if says_nothing(word)]:
                proposed = without_words(name, unknown)
                fix = f"if it is not an answer, set {' '.join(map(str, proposed))}; else {fix}"
            yield Problem("MSEL-326", what, where, fix, proposes=proposed)


# The target column where it is a number, and when it is taken for one.
#
# `task=auto`: a number exactly where classes are refused for what the column is, so that no table of classes changes: more than
# ten different fractional numbers (MSEL-323), nearly as many labels as rows (MSEL-324), or a label of one row among more than
# `MANY` different numbers (MSEL-326). Other whole numbers stay classes; where they look like amounts, that is said. Where most
# cells are numbers and classes are refused, what is told is which cells are none; where all are numbers in some dress ("€
# 1,250"), how they are to be written.


AUTO, CLASSIFY, REGRESS = "auto", "classification", "regression"  # what `task` may be
MANY = 20  # different numbers above which a label of one row makes them a quantity
AMOUNTS = REGRESSION  # different whole numbers above which classes look like amounts
MOSTLY = 0.9  # of the cells, above which those that are no numbers are taken for slips
REFUSED = {"MSEL-323", "MSEL-324"}
CLASSES, REGRESSION_TASK = Proposal("task", "classification"), Proposal("task", "regression")
DROP = Proposal("dataset.without_target", "drop")
_ASKED: ContextVar[str] = ContextVar("task", default=AUTO)


@contextmanager
def read_as(task: str) -> Iterator[None]:
    """Let targets read within the block be classes, numbers, or what they look like (`auto`)."""
    token = _ASKED.set(task)
    try:
        yield
    finally:
        _ASKED.reset(token)


def settle_target(column: RawColumn, classes: Target, settings: TableSettings, decimal: str) -> Target:
    """The target as classes, or as numbers where that was asked for or is what the column holds."""
    asked = _ASKED.get()
    if asked == CLASSIFY:
        return classes
    values, strange = number_of_each(column, settings, decimal)
    if asked == REGRESS:
        return _numbers(column, values, strange, settings)
    said = read_declaration(settings.features.get(column.name, column.kind))[0]
    known = np.isfinite(values)
    distinct = np.unique(values[known])
    undeclared = not column.levels and column.name not in settings.features
    mostly = known.sum() > MOSTLY * (~column.absent).sum() or formatted_numbers(strange)
    if strange and undeclared and mostly and _refuses_classes(classes, max(len(distinct), len(strange))):
        return _numbers(column, values, strange, settings)
    if strange or column.levels or (not undeclared and _declares_levels(said)):
        return classes
    if not _refuses_classes(classes, len(distinct)):
        return replace(classes, findings=(*classes.findings, *_amounts(column.name, classes, distinct)))
    made = _numbers(column, values, strange, settings)
    return replace(made, findings=(*made.findings, _target_finding(column.name)))


def number_of_each(column: RawColumn, settings: TableSettings, decimal: str) -> tuple[Floats, list[str]]:
    """A number per row, NaN where it is missing or none; and the texts that are none."""
    if column.numbers is not None:
        return column.numbers, []
    reading = read_with_signs(column, settings, decimal)
    found = read_numbers(column.texts, decimal)[0] if reading is None else numbers_of(column, reading)[0]
    strange = [column.texts[place] for place in np.flatnonzero(np.isnan(found)).tolist()]
    return np.asarray(np.append(found, np.nan)[column.codes]), strange


def formatted_numbers(texts: Sequence[str]) -> bool:
    """Say whether texts are numbers with their thousands apart, a comma for a point, a currency or a percent sign.

    >>> [formatted_numbers(texts) for texts in (["€ 1,250.50", "-12'000", "3,5 %"], ["1.2.2020", "7"], ["A 7"], [])]
    [True, False, False, False]
    """
    return bool(texts) and all(_DRESSED.fullmatch(text) for text in texts)


_SIGN = r"[$€£¥₹%]?"
_GROUPED = r"\d{1,3}([,'’\s]\d{3})+(\.\d+)?|\d{1,3}(\.\d{3})+(,\d+)?|\d+([.,]\d+)?"
_DRESSED = re.compile(rf"\s*{_SIGN}\s*[+-]?({_GROUPED})\s*{_SIGN}\s*", re.ASCII)


def _refuses_classes(classes: Target, distinct: int) -> bool:
    """Say whether classes are refused for what the column is."""
    codes = {problem.code for problem in classes.problems}
    return bool(codes & REFUSED) or ("MSEL-326" in codes and distinct > MANY)


def _numbers(column: RawColumn, values: Floats, strange: list[str], settings: TableSettings) -> Target:
    """The target as numbers, with all that is wrong with them."""
    kept = np.ones(len(values), np.bool_)
    problems = tuple(_strange_cells(column, values, strange, settings))
    return Target((), np.full(len(values), -1, np.int32), kept, problems, (), values)


def _strange_cells(column: RawColumn, values: Floats, strange: list[str], settings: TableSettings) -> Iterator[Problem]:
    """Yield the problems of numbers: missing, text, infinite, one value only."""
    where, missing, infinite = f"column '{column.name}'", np.flatnonzero(column.absent), np.flatnonzero(np.isinf(values))
    if len(missing):
        what = f"missing target in {len(missing)} rows ({column.named(missing)})"
        yield Problem("MSEL-320", what, where, f"set {DROP} to leave these rows out, or give them their number", (DROP,))
    if strange:
        rows = np.flatnonzero(np.isnan(values) & ~column.absent)
        what = f"not a number: {examples(strange)} in {len(rows)} rows ({column.named(rows)})"
        proposed = tuple(_readings(column, strange, settings))
        do = f"set {' '.join(map(str, proposed))}" if proposed else "write plain numbers (1250.5)"
        fix = f"{do}; {CLASSES} takes each text for a class"
        yield Problem("MSEL-327", what, where, fix, (*proposed, CLASSES))
    if len(infinite):
        what = f"infinite target in {len(infinite)} rows ({column.named(infinite)})"
        yield Problem("MSEL-322", what, where, "correct these numbers")
    known = values[np.isfinite(values)]
    if len(np.unique(known)) < 2 and not strange:
        only = f"one value only ({known[0]:g})" if len(known) else "no number at all"
        yield Problem("MSEL-321", only, where, "there is nothing to choose: check dataset.target")
    elif extreme := beyond_squares(known):
        yield Problem("MSEL-328", extreme, where, OTHER_UNIT)


OTHER_UNIT = "measure it in another unit: divide or multiply it by a power of two"
OF_LOSSES = 56  # binary digits of numbers whose squared errors, and their sums, stand in a study's matrix in single precision
OF_FITS = 400  # and of those whose sums of squares a fit can take


def beyond_squares(values: Floats, digits: int = OF_LOSSES) -> str:
    """Say why finite numbers cannot be squared and summed; nothing where they can.

    >>> beyond_squares(np.array([1e-200, 2e-200])), beyond_squares(np.array([0.0, 1.5]))
    ('its numbers lie closer than 2^-56 together: their squares get lost as 0', '')
    """
    if not len(values):
        return ""
    lowest, highest = float(np.min(values)), float(np.max(values))
    if max(-lowest, highest) > 2.0**digits:
        return f"it has numbers beyond 2^{digits}: sums of their squares get infinite"
    if 0 < highest - lowest < 2.0**-digits:
        return f"its numbers lie closer than 2^-{digits} together: their squares get lost as 0"
    return ""


def check_squares(values: Floats, digits: int = OF_LOSSES) -> None:
    """Raise ValueError where the numbers of `y` cannot be squared and summed."""
    if extreme := beyond_squares(values, digits):
        raise ValueError(f"MSEL-328: y: {extreme}; {OTHER_UNIT}")


def _declares_levels(said: object) -> bool:
    """Say whether a declaration is of levels."""
    kind = declared_kind(said)
    return kind is not None and kind.has_levels


def _readings(column: RawColumn, strange: list[str], settings: TableSettings) -> Iterator[Proposal]:
    """Yield the settings that make numbers of all texts: signs and thousands left out, else rows without number left out."""
    if not formatted_numbers(strange):
        yield Proposal("dataset.coerce", (column.name,))
        yield DROP
        return
    sign = common_sign(column.texts, 0.0)
    bare = [*map(bare_number(ColumnReading(Feature.of_numbers(column.name), signs=sign)), column.texts)]
    groups = group_sign(bare)
    if sign:
        yield Proposal("dataset.signs", "strip", sure=True)
    if groups:
        yield Proposal("dataset.thousands", groups, sure=True)
    elif hasattr(settings, "decimal") and with_comma(bare) and not any("." in text for text in bare):
        yield Proposal("dataset.decimal", ",", sure=True)


def _amounts(name: str, classes: Target, distinct: Floats) -> Iterator[Finding]:
    """Yield a finding where whole numbers are classes, and so many that they look like amounts."""
    if classes.problems or len(distinct) != len(classes.classes) or len(distinct) <= AMOUNTS:
        return
    message = f"target '{name}' holds {len(distinct)} different numbers, {_range(distinct)}, and was taken for classes"
    fix = f"set {REGRESSION_TASK} if they are amounts, or {CLASSES} if each is a class of its own"
    yield Finding("NUMBERS_AS_CLASSES", "medium", message, fix, (REGRESSION_TASK, CLASSES))


def _target_finding(name: str) -> Finding:
    """Say that the target was taken for a number; how many values it has and how large they are, sealed rows would tell too."""
    message = f"target '{name}' was taken for a number: it has more different values than classes would have"
    fix = f"set {REGRESSION_TASK} to say so, or {CLASSES} if each value is a class of its own"
    return Finding("TARGET_IS_A_NUMBER", "info", message, fix, (REGRESSION_TASK, CLASSES))


def _range(distinct: Any) -> str:
    return f"from {distinct[0]:g} to {distinct[-1]:g}"
