"""Preparation: each step is fitted on the analysis rows and on nothing else, then applied to all rows.

A step is handed a task that *consists* of the analysis rows: it could not look at others if it wanted to. Steps of equal
growing (one ranking of features, one set of cuts) share a fit per fold, whichever candidates and learners stand behind them.
"""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from modelsel.core.fingerprint import array_digest, digest, generator
from modelsel.core.protocols import Prepared, Ranking, Selected
from modelsel.core.spec import kind_of, resolved
from modelsel.core.types import Integers, Task, positions
from modelsel.runner.memo import Memo

_RANKINGS: Memo[Ranking] = Memo(16)


def prepare(steps: Sequence[Any], task: Task, rows: Integers, seed: int) -> tuple[tuple[Prepared, ...], Task]:
    """The steps, fitted one after the other on `rows`, and the task as they describe it."""
    fitted: list[Prepared] = []
    before: list[dict[str, Any]] = []
    where = rows_digest(task, rows) if steps else ""
    for step in steps:
        fitted.append(_ranking(step, task, rows, (seed, where, digest([before, kind_of(step), step.growing()]))).prepared(step))
        task = fitted[-1].apply(task)
        before.append(resolved(step))
    return tuple(fitted), task


def columns_left(selections: Sequence[Prepared]) -> Integers | None:
    """Columns that consecutive selections leave; None where there is none."""
    columns: Integers | None = None
    for selection in selections:
        own = np.asarray(cast(Selected, selection).columns)
        columns = own if columns is None else columns[own]
    return columns


def rows_digest(task: Task, rows: Integers) -> str:
    """Which rows of which task: what a fit's generator is derived from, beside seed and growing specification."""
    return digest([task.fingerprint, array_digest(rows)])


def _ranking(step: Any, task: Task, rows: Integers, identity: tuple[int, str, str]) -> Ranking:
    """The step's fit; `identity` names all that it depends on."""

    def fit() -> Ranking:
        seen = task.take(rows)
        return step.fit_path(seen, positions(seen), generator(*identity))  # type: ignore[no-any-return]

    return _RANKINGS.get(identity, fit)
