"""The target column where it is a number, and when it is taken for one.

`task=auto`: a number exactly where classes are refused for what the column is, so that no table of classes changes: more than
ten different fractional numbers (MSEL-323), nearly as many labels as rows (MSEL-324), or a label of one row among more than
`MANY` different numbers (MSEL-326). Other whole numbers stay classes; where they look like amounts, that is said. Where most
cells are numbers and classes are refused, what is told is which cells are none; where all are numbers in some dress ("€
1,250"), how they are to be written.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

import numpy as np

from modelsel.core.errors import Problem
from modelsel.core.types import Finding, Floats
from modelsel.dataset.columns.column import RawColumn, examples, rows_said
from modelsel.dataset.columns.numbers import read_numbers
from modelsel.dataset.columns.settings import TableSettings, read_declaration
from modelsel.dataset.columns.target import REGRESSION, Target

AUTO, CLASSIFY, REGRESS = "auto", "classification", "regression"  # what `task` may be
MANY = 20  # different numbers above which a label of one row makes them a quantity
AMOUNTS = REGRESSION  # different whole numbers above which classes look like amounts
MOSTLY = 0.9  # of the cells, above which those that are no numbers are taken for slips
REFUSED = {"MSEL-323", "MSEL-324"}
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
    values, strange = _values(column, decimal)
    if asked == REGRESS:
        return _numbers(column, values, strange)
    said = read_declaration(settings.features.get(column.name, column.kind))[0]
    known = np.isfinite(values)
    distinct = np.unique(values[known])
    undeclared = not column.levels and column.name not in settings.features
    mostly = known.sum() > MOSTLY * (~column.absent).sum() or formatted_numbers(strange)
    if strange and undeclared and mostly and _refuses_classes(classes, max(len(distinct), len(strange))):
        return _numbers(column, values, strange)
    if strange or column.levels or (not undeclared and said in ("nominal", "ordered")):
        return classes
    if not _refuses_classes(classes, len(distinct)):
        return replace(classes, findings=(*classes.findings, *_amounts(column.name, classes, distinct)))
    made = _numbers(column, values, strange)
    return replace(made, findings=(*made.findings, _target_finding(column.name)))


def _values(column: RawColumn, decimal: str) -> tuple[Floats, list[str]]:
    """A number per row, NaN where it is missing or none; and the texts that are none."""
    if column.numbers is not None:
        return column.numbers, []
    found, _ = read_numbers(column.texts, decimal)
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


def _numbers(column: RawColumn, values: Floats, strange: list[str]) -> Target:
    """The target as numbers, with all that is wrong with them."""
    kept = np.ones(len(values), np.bool_)
    problems = tuple(_problems(column, values, strange))
    return Target((), np.full(len(values), -1, np.int32), kept, problems, (), values)


def _problems(column: RawColumn, values: Floats, strange: list[str]) -> Iterator[Problem]:
    """Yield the problems of numbers: missing, text, infinite, one value only."""
    where, missing, infinite = f"column '{column.name}'", np.flatnonzero(column.absent), np.flatnonzero(np.isinf(values))
    if len(missing):
        what = f"missing target in {len(missing)} rows ({rows_said(missing)})"
        yield Problem("MSEL-320", what, where, "take these rows out or give them their number")
    if strange:
        rows = np.flatnonzero(np.isnan(values) & ~column.absent)
        what = f"not a number: {examples(strange)} in {len(rows)} rows ({rows_said(rows)})"
        fix = "correct them, or set dataset.missing or dataset.decimal; task=classification takes each text for a class"
        if formatted_numbers(strange):
            fix = "write plain numbers (1250.5), or set dataset.decimal; task=classification takes each text for a class"
        yield Problem("MSEL-327", what, where, fix)
    if len(infinite):
        what = f"infinite target in {len(infinite)} rows ({rows_said(infinite)})"
        yield Problem("MSEL-322", what, where, "correct these numbers")
    known = values[np.isfinite(values)]
    if len(np.unique(known)) < 2 and not strange:
        only = f"one value only ({known[0]:g})" if len(known) else "no number at all"
        yield Problem("MSEL-321", only, where, "there is nothing to choose: check dataset.target")


def _amounts(name: str, classes: Target, distinct: Floats) -> Iterator[Finding]:
    """Yield a finding where whole numbers are classes, and so many that they look like amounts."""
    if classes.problems or len(distinct) != len(classes.classes) or len(distinct) <= AMOUNTS:
        return
    message = f"target '{name}' holds {len(distinct)} different numbers, {_range(distinct)}, and was taken for classes"
    yield Finding("NUMBERS_AS_CLASSES", "medium", message, "set task=regression if they are amounts")


def _target_finding(name: str) -> Finding:
    """Say that the target was taken for a number; how many values it has and how large they are, sealed rows would tell too."""
    message = f"target '{name}' was taken for a number: it has more different values than classes would have"
    return Finding("TARGET_IS_A_NUMBER", "info", message, "set task=classification if each value is a class of its own")


def _range(distinct: Any) -> str:
    return f"from {distinct[0]:g} to {distinct[-1]:g}"
