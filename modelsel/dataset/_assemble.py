"""From the columns of a source to a task: roles taken out, kinds settled, all problems of the contents in one pass."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from modelsel.core.errors import DataError, Problem
from modelsel.core.types import Feature, Finding, Floats, Task
from modelsel.dataset import _kinds, _roles, _target
from modelsel.dataset._column import Column
from modelsel.dataset._settings import Settings, listed


@dataclass(frozen=True, eq=False)
class Loaded:
    """A task with everything that a person should know about how it was read.

    What it *looks* like (`_profile`) is asked of the development rows, because it reads labels.
    """

    task: Task
    findings: tuple[Finding, ...]


def assemble(
    columns: Sequence[Column], settings: Settings, name: str, decimal: str = ".", weights: Floats | None = None
) -> Loaded:
    """Build the task. `weights` are those of the source itself (ARFF), overruled by a weights column.

    Raises DataError with every problem of the contents.
    """
    problems: list[Problem] = []
    cleaned = {column.name: column.without(settings.missing) for column in columns}
    rows = len(columns[0]) if columns else 0
    if not rows:
        raise DataError(Problem("MSEL-311", "a header and no rows", name, "the source needs data rows"))
    assert settings.target is not None, "problems() was not asked"
    target = _target.make(cleaned[settings.target], settings)
    problems += target.problems
    features, values, findings = _features(cleaned, settings, decimal, problems)
    extra = _extra(cleaned, settings, problems)
    DataError.raise_if(problems)
    if weights is not None and settings.weights is None:
        extra["weights"] = weights
    task = Task(name=name, features=features, values=values, rows=np.arange(rows), classes=target.classes,
                target=target.codes, **extra)  # fmt: skip
    task = task if target.kept.all() else task.take(np.flatnonzero(target.kept))
    return Loaded(task, (*findings, *target.findings))


def _features(
    columns: dict[str, Column], settings: Settings, decimal: str, problems: list[Problem]
) -> tuple[tuple[Feature, ...], Floats, list[Finding]]:
    """The features with their values; columns without any value are left out, which is said."""
    features: list[Feature] = []
    values: list[Floats] = []
    findings: list[Finding] = []
    inferred: list[Feature] = []
    for column in _candidates(columns, settings):
        if column.absent.all():
            message = f"column '{column.name}' has no value in any row and was left out"
            findings.append(Finding("ALL_MISSING_COLUMN", "medium", message, f"declare dataset.features.{column.name}=ignore"))
            continue
        made = _kinds.make(column, settings, decimal)
        problems += made.problems
        findings += made.findings
        if made.feature is not None and made.values is not None:
            feature = replace(made.feature, cost=float(settings.costs.get(column.name, 1.0)))
            features.append(feature)
            values.append(made.values)
            inferred += [feature] if made.inferred else []
    if not features and not any(problem.code.startswith("MSEL-34") for problem in problems):
        problems.append(
            Problem("MSEL-345", "no features are left", "dataset.features", "the source needs a column besides the target")
        )
    matrix = np.asfortranarray(np.column_stack(values)) if values else np.empty((0, 0))
    return tuple(features), matrix, [*_inference(inferred), *findings]


def _candidates(columns: dict[str, Column], settings: Settings) -> list[Column]:
    """Columns that may become features: no role, not ignored."""
    roles = settings.roles()
    ignored = {name for name, said in settings.features.items() if said == "ignore"}
    if settings.others == "ignore":
        ignored |= set(columns) - set(settings.features)
    return [column for name, column in columns.items() if name not in roles and name not in ignored]


def _inference(features: Sequence[Feature]) -> list[Finding]:
    if not features:
        return []
    nominal = [f"{f.name} ({len(f.levels)} levels)" for f in features if f.levels]
    numeric = [f.name for f in features if not f.levels]
    parts = [f"{kind}: {', '.join(said)}" for kind, said in (("numeric", numeric), ("nominal", nominal)) if said]
    return [Finding("INFERRED_KINDS", "info", f"kinds inferred; {'; '.join(parts)}", "declare dataset.features to fix them")]


def _extra(columns: dict[str, Column], settings: Settings, problems: list[Problem]) -> dict[str, Any]:
    complain = problems.append
    made: dict[str, Any] = {}
    if settings.weights:
        made["weights"] = _roles.weights(columns[settings.weights], complain)
    if settings.groups:
        made["groups"] = _roles.groups(columns[settings.groups], complain)
    if settings.id:
        made["ids"] = _roles.ids([columns[name] for name in listed(settings.id)], complain)
    if settings.time:
        made["times"] = _roles.times(columns[settings.time], complain)
    if settings.fold:
        made["folds"] = _roles.folds(columns[settings.fold], complain)
    if settings.held_out:
        made["held_out"] = _roles.held_out(columns[settings.held_out], complain)
    return made
