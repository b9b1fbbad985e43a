"""Preparation: each step is fitted on the analysis rows and on nothing else, then applied to all rows.

A step is handed a task that *consists* of the analysis rows: it could not look at others if it wanted to. Steps of equal
growing (one ranking of features, one set of cuts) share a fit per fold, whichever candidates and learners stand behind them.

Three things are checked in every cell, and what breaks one is refused as a `LeakError`, by name: the fit saw the fold's
analysis rows; a fitted step is applied without labels; and it says of a few rows, shown alone, what it says of them among
all others (a mean taken while it is applied would have seen the assessment rows).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from modelsel.core.fingerprint import array_digest, digest, generator
from modelsel.core.lru_cache import LRUCache
from modelsel.core.spec import kind_of, spec_of
from modelsel.core.types import Floats, Integers, Table, Task, positions
from modelsel.preparer.base import BasePreparer, FeatureRanking, FittedPreparer, SelectedColumns

PROBED = 64  # rows of either half that a step is asked about alone
SAME = 1e-9  # of a column's largest value: far above what the order of summation does


class LeakError(ValueError):
    """A preparation step knows more than its analysis rows."""


@dataclass(frozen=True, eq=False)
class Fit:
    """A fit of a step, and the digest of the rows that it was shown."""

    ranking: FeatureRanking
    seen: str


RANKINGS: LRUCache[Fit] = LRUCache(16)


def prepare(steps: Sequence[BasePreparer], task: Task, rows: Integers, seed: int) -> tuple[tuple[FittedPreparer, ...], Task]:
    """The steps, fitted one after the other on `rows`, and the task as they describe it."""
    fitted: list[FittedPreparer] = []
    before: list[dict[str, object]] = []
    where, probes = (rows_digest(task, rows), _probes(task, rows)) if steps else ("", {})
    for step in steps:
        identity = (seed, where, digest([before, kind_of(step), step.fit_key()]))
        fitted.append(_fit(step, task, rows, identity).prepared(step))
        task = _apply_step(step, fitted[-1], task, probes)
        before.append(spec_of(step))
    return tuple(fitted), task


def columns_left(selections: Sequence[FittedPreparer]) -> Integers | None:
    """Columns that consecutive selections leave; None where there is none."""
    columns: Integers | None = None
    for selection in selections:
        own = np.asarray(cast(SelectedColumns, selection).columns)
        columns = own if columns is None else columns[own]
    return columns


def rows_digest(task: Task, rows: Integers) -> str:
    """Compute the digest of some rows of a task, whatever their weights.

    A fit's generator is derived from it, beside seed and growing specification.
    """
    return digest([task.draw_fingerprint, array_digest(rows)])


def _fit(step: BasePreparer, task: Task, rows: Integers, identity: tuple[int, str, str]) -> FeatureRanking:
    """The step's fit; it depends on `identity` and weights alone. Raises LeakError when it saw other rows than these."""

    def fit() -> Fit:
        seen = task.take(rows)
        return Fit(step.fit_path(seen, positions(seen), generator(*identity)), array_digest(seen.rows))

    known = RANKINGS.get(identity if task.weights is None else (*identity, array_digest(task.weights)), fit)
    if known.seen != array_digest(task.rows[rows]):
        raise LeakError(f"preparer {kind_of(step)} was fitted on other rows than the analysis rows")
    return known.ranking


def _apply_step(step: object, fitted: FittedPreparer, task: Task, probes: Mapping[str, Integers]) -> Task:
    """The task as the fitted step describes it. Raises LeakError when a row's description depends on other rows."""
    try:
        ready = fitted.apply(_without_labels(task, slice(None)))
    except AttributeError as error:
        raise LeakError(f"preparer {kind_of(step)} asks for what rows to be predicted do not have: {error}") from error
    if not np.array_equal(ready.rows, task.rows):
        raise LeakError(f"preparer {kind_of(step)} changed which rows there are")
    for half, some in probes.items():
        alone = fitted.apply(_without_labels(task, some))
        if alone.features != ready.features or not _are_equal(alone.values, ready.values[some]):
            raise LeakError(f"preparer {kind_of(step)} says something else of {half} rows when it is not shown the other rows")
    return task.with_features(ready.features, ready.values)


def _probes(task: Task, rows: Integers) -> dict[str, Integers]:
    """A few rows of either half: never all of them, so that there are others to depend on."""
    halves = {"analysis": rows, "assessment": np.setdiff1d(positions(task), rows)}
    return {name: half[:: max(2, len(half) // PROBED)] for name, half in halves.items() if len(half)}


def _without_labels(task: Task, rows: Integers | slice) -> Table:
    """Some rows without classes, weights and folds."""
    return Table(name=task.name, features=task.features, values=task.values[rows], rows=task.rows[rows], source=task.source)


def _are_equal(one: Floats, other: Floats) -> bool:
    """Equal but for rounding, column by column."""
    if one.shape != other.shape:
        return False
    scale = np.max(np.nan_to_num(np.abs(other), posinf=0.0), axis=0, initial=0.0)
    return all(np.allclose(a, b, rtol=0, atol=SAME * s, equal_nan=True) for a, b, s in zip(one.T, other.T, scale))
