"""The target column: classes in declared order or sorted, and everything that makes labels unusable."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from modelsel.core.errors import Problem
from modelsel.core.types import Booleans, Codes, Finding, Floats
from modelsel.dataset.columns.column import RawColumn, examples, rows_said
from modelsel.dataset.columns.kinds import sorted_levels
from modelsel.dataset.columns.numbers import numbers
from modelsel.dataset.columns.settings import TableSettings, read_declaration

MERGED = "(rare classes)"
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
    return Target(made.classes, made.codes, made.kept, problems, rare)


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
        what = f"missing label in {len(missing)} rows ({rows_said(missing)})"
        yield Problem("MSEL-320", what, where, "take these rows out or give them their label")
    if undeclared:
        yield Problem("MSEL-344", f"not among the declared classes: {examples(undeclared)}", where, "correct the labels")
        return
    found = numbers(column.texts)
    yield from _number_problems(column, found, where)
    yield from _count_problems(target, where, int((column.codes >= 0).sum()), bool(column.levels))


def _number_problems(column: RawColumn, found: NDArray[np.float64], where: str) -> Iterator[Problem]:
    """Yield problems of labels that are numbers: infinite, fractional, or one number written in two ways."""
    if not len(found) or np.isnan(found).any():
        return
    if np.isinf(found).any():
        rows = np.flatnonzero(np.append(np.isinf(found), False)[column.codes])
        yield Problem("MSEL-322", f"infinite label in {len(rows)} rows ({rows_said(rows)})", where, "correct these labels")
    finite = found[np.isfinite(found)]
    if len(finite) > REGRESSION and np.any(finite != np.round(finite)):
        what = f"{len(finite)} different fractional numbers: this looks like regression"
        fix = "set task=regression, or cut the quantity into classes"
        yield Problem("MSEL-323", what, where, fix)
    elif len(np.unique(finite)) < len(finite):
        same = [text for text, value in zip(column.texts, found) if np.sum(found == value) > 1]
        yield Problem("MSEL-325", f"labels that are the same number: {examples(same)}", where, "write each label in one way")


def _count_problems(target: Target, where: str, labelled: int, declared: bool) -> Iterator[Problem]:
    """Yield problems of class counts: one class, as many classes as an id has, classes with one row."""
    codes = target.codes[target.codes >= 0]
    counts = np.bincount(codes, minlength=len(target.classes))
    used = int((counts > 0).sum())
    if used < 2:
        only = f"one class only ('{target.classes[int(counts.argmax())]}')" if used else "no label at all"
        yield Problem("MSEL-321", only, where, "there is nothing to choose: check dataset.target")
    elif used * 2 > labelled >= 10 and not declared:
        yield Problem("MSEL-324", f"{used} classes in {labelled} rows: this looks like an id", where, "choose another target")
    else:
        single = [name for name, n in zip(target.classes, counts.tolist()) if n == 1]
        if single:
            what = f"class with one row: {examples(single)}"
            yield Problem("MSEL-326", what, where, "set dataset.rare=drop or dataset.rare=merge, or gather more rows of it")
