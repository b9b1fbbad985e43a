"""From the columns of a source to a task: roles taken out, kinds settled, all problems of the contents in one pass."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from modelsel.core.errors import DataError, Problem
from modelsel.core.types import Feature, Finding, Floats, Task
from modelsel.dataset.columns import kinds
from modelsel.dataset.columns import roles as roles_module
from modelsel.dataset.columns import target as target_module
from modelsel.dataset.columns.column import NAMED, RawColumn
from modelsel.dataset.columns.numbers import numbers
from modelsel.dataset.columns.settings import TableSettings, listed

_INDEX = re.compile(r"Unnamed: \d+|__index_level_\d+__")  # as pandas names one that has no name


@dataclass(frozen=True, eq=False)
class Loaded:
    """A task with everything that a person should know about how it was read.

    What it *looks* like (`_profile`) is asked of the development rows, because it reads labels.
    """

    task: Task
    findings: tuple[Finding, ...]


def assemble(
    columns: Sequence[RawColumn], settings: TableSettings, name: str, decimal: str = ".", weights: Floats | None = None
) -> Loaded:
    """Build the task. `weights` are those of the source itself (ARFF), overruled by a weights column.

    A list of columns is emptied: each is let go once it has become a feature. Raises DataError with every problem of the
    contents.
    """
    problems: list[Problem] = []
    waiting = columns if isinstance(columns, list) else list(columns)
    rows, cleaned = len(waiting[0]) if waiting else 0, {}
    while waiting:
        column = waiting.pop(0)
        cleaned[column.name] = column.without(settings.missing)
    if not rows:
        raise DataError(Problem("MSEL-311", "a header and no rows", name, "the source needs data rows"))
    assert settings.target is not None, "problems() was not asked"
    types = {name: column.read_as for name, column in cleaned.items()}
    target = target_module.make(cleaned[settings.target], settings)
    problems += target.problems
    extra = _extra(cleaned, settings, problems)
    features, values, findings = _features(cleaned, rows, settings, decimal, problems)
    DataError.raise_if(problems)
    if weights is not None and settings.weights is None:
        extra["weights"] = weights
    task = Task(name=name, features=features, values=values, rows=np.arange(rows), classes=target.classes,
                target=target.codes, types=types, label_type=types[settings.target],
                drop_rare=settings.rare == "drop", **extra)  # fmt: skip
    task = task if target.kept.all() else task.take(np.flatnonzero(target.kept))
    return Loaded(task, (*findings, *target.findings))


def _features(
    columns: dict[str, RawColumn], rows: int, settings: TableSettings, decimal: str, problems: list[Problem]
) -> tuple[tuple[Feature, ...], Floats, list[Finding]]:
    """The features with their values; columns without any value, and a saved row index, are left out, which is said."""
    findings: list[Finding] = []
    made: list[tuple[Feature, kinds.ParsedFeature]] = []
    names = _candidates(columns, settings)
    matrix = np.empty((rows, len(names)), order="F")
    for name in names:
        column = columns.pop(name)
        if finding := _left_out(column, settings):
            findings.append(finding)
            continue
        one = kinds.make(column, settings, decimal)
        problems += one.problems
        findings += one.findings
        if one.feature is not None and one.values is not None:
            matrix[:, len(made)] = one.values
            made.append((replace(one.feature, cost=float(settings.costs.get(name, 1.0))), one))
    if not made and not any(problem.code.startswith("MSEL-34") for problem in problems):
        problems.append(
            Problem("MSEL-345", "no features are left", "dataset.features", "the source needs a column besides the target")
        )
    kept = matrix if len(made) == matrix.shape[1] else np.asfortranarray(matrix[:, : len(made)])
    return tuple(f for f, _ in made), kept, [*_inference([f for f, one in made if one.inferred]), *_commas(made), *findings]


def _commas(made: Sequence[tuple[Feature, kinds.ParsedFeature]]) -> Iterator[Finding]:
    """Yield a finding that names columns with decimal commas."""
    names = [feature.name for feature, one in made if one.comma]
    if names:
        message = f"decimal commas were recognised in {', '.join(names[:NAMED])}{', ...' if len(names) > NAMED else ''}"
        yield Finding("DECIMAL_COMMA", "info", message, "set dataset.decimal=',' to say so, or '.' if they are none")


def _left_out(column: RawColumn, settings: TableSettings) -> Finding | None:
    """Return the finding that a column is no feature: it is empty, or the row index that a program has written along."""
    name = column.name
    if column.absent.all():
        message = f"column '{name}' has no value in any row and was left out"
        return Finding("ALL_MISSING_COLUMN", "medium", message, f"declare dataset.features.{name}=ignore")
    if _INDEX.fullmatch(name) and name not in settings.features and _counts(column):
        message = f"column '{name}' is a saved row index (whole numbers, all different) and was left out"
        return Finding("INDEX_COLUMN", "low", message, f"save without it, or set dataset.id='{name}'")
    return None


def _counts(column: RawColumn) -> bool:
    """List each whole number once."""
    if column.absent.any():
        return False
    found = column.numbers if column.numbers is not None else numbers(column.texts)
    return bool(len(np.unique(found)) == len(column) and np.all(np.isfinite(found)) and np.all(found == np.round(found)))


def _candidates(columns: dict[str, RawColumn], settings: TableSettings) -> list[str]:
    """Columns that may become features: no role, not ignored."""
    roles = settings.roles()
    ignored = {name for name, said in settings.features.items() if said == "ignore"}
    if settings.others == "ignore":
        ignored |= set(columns) - set(settings.features)
    return [name for name in columns if name not in roles and name not in ignored]


def _inference(features: Sequence[Feature]) -> list[Finding]:
    """Report which kind was inferred for each feature."""
    if not features:
        return []
    nominal = [f"{f.name} ({len(f.levels)} levels)" for f in features if f.levels]
    numeric = [f.name for f in features if not f.levels]
    parts = [f"{kind}: {', '.join(said)}" for kind, said in (("numeric", numeric), ("nominal", nominal)) if said]
    return [Finding("INFERRED_KINDS", "info", f"kinds inferred; {'; '.join(parts)}", "declare dataset.features to fix them")]


def _extra(columns: dict[str, RawColumn], settings: TableSettings, problems: list[Problem]) -> dict[str, Any]:
    """Read the columns of weights, groups, ids, times, folds and held-out rows."""
    complain = problems.append
    made: dict[str, Any] = {}
    if settings.weights:
        made["weights"] = roles_module.weights(columns[settings.weights], complain)
    if settings.groups:
        made["groups"] = roles_module.groups(columns[settings.groups], complain)
    if settings.id:
        made["ids"] = roles_module.ids([columns[name] for name in listed(settings.id)], complain)
    if settings.time:
        made["times"] = roles_module.times(columns[settings.time], complain)
    if settings.fold:
        made["folds"] = roles_module.folds(columns[settings.fold], complain)
    if settings.held_out:
        made["held_out"] = roles_module.held_out(columns[settings.held_out], complain)
    return made
