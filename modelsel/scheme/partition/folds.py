"""From an assignment of rows to folds: what the partitioning schemes share."""

from collections.abc import Callable, Iterator

import numpy as np

from modelsel.core.fingerprint import generator
from modelsel.core.spec import kind_of
from modelsel.core.types import ABSENT, Booleans, Codes, Fold, Integers, Resampling, Task
from modelsel.statistics.sampling import deal, deal_groups, draw, equal_rows

Assign = Callable[[np.random.Generator], Integers]


def resampling(scheme: object, task: Task, seed: int, repeats: int, assign: Assign) -> Resampling:
    """Make folds from one assignment per repeat.

    A row is assessed in fold ≥ 0; with −1 it only ever serves analysis, and ABSENT it takes no part.

    A repeat draws from the seed, the rows and its own number alone, so that more repeats leave the first ones as they are.
    """
    folds: list[Fold] = []
    for repeat in range(repeats):
        assignment = assign(generator(seed, task.fingerprint, f"repeat {repeat}"))
        for number in np.flatnonzero(np.bincount(assignment[assignment >= 0])):
            folds.append(fold(len(folds), repeat, (assignment != number) & (assignment != ABSENT), assignment == number))
    return Resampling(kind_of(scheme), task.fingerprint, tuple(folds))


def fold(index: int, repeat: int, analysis: Booleans, assessment: Booleans) -> Fold:
    """A fold from two masks, its arrays read-only."""
    rows = np.flatnonzero(analysis), np.flatnonzero(assessment)
    for array in rows:
        array.flags.writeable = False
    return Fold(index, repeat, *rows)


def partition(task: Task, folds: int, stratify: bool, together: bool) -> Assign:
    """k folds of nearly equal size; with `together`, identical rows (features) share a fold."""
    strata = _strata(task, stratify)
    if together:
        same = equal_rows(task.values)
        return lambda rng: deal_groups(same, [1.0] * folds, rng, strata)
    return lambda rng: deal(len(task), folds, rng, strata)


def hold_out(task: Task, share: float, stratify: bool, together: bool) -> Assign:
    """Fold 0 is assessed (about `share` of the rows, at least one, never all), the rest is analysis only."""
    strata = _strata(task, stratify)
    if together:
        same = equal_rows(task.values)
        return lambda rng: -deal_groups(same, [share, 1.0 - share], rng, strata)
    size = min(max(round(share * len(task)), 1), len(task) - 1)
    return lambda rng: draw(len(task), size, rng, strata).astype(np.int64) - 1


def too_many_folds(task: Task, folds: int) -> Iterator[str]:
    """Yield a problem where there are more folds than rows."""
    if folds > len(task):
        yield f"{folds} folds of {len(task)} rows: scheme.folds may be at most {len(task)}"


def groups_ignored(task: Task, scheme: object) -> Iterator[str]:
    """Yield a problem where the task has groups: on both sides of a fold they make the score too good."""
    if task.groups is not None:
        yield (
            f"the task has groups and scheme={kind_of(scheme)} would ignore them: use scheme=group_kfold or "
            "scheme=stratified_group_kfold, or leave dataset.groups out"
        )


def _strata(task: Task, stratify: bool) -> Codes | None:
    return task.target if stratify else None
