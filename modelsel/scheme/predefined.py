"""Predefined folds: a column of the data says in which fold a row is assessed; −1 means never.

Several columns are repeats: there a row may also take no part (−2), so that training sets of their own stand side by side.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from modelsel.core.types import ABSENT, Integers, Resampling, Task
from modelsel.scheme.base import BaseScheme
from modelsel.scheme.partition import resampling


@dataclass(frozen=True)
class Predefined(BaseScheme):
    """Folds in the order of their numbers. The column has to keep groups whole; folds that cut one are refused."""

    def problems(self, task: Task) -> Iterator[str]:
        """Yield a problem of the fold column: there is none, or it crosses groups."""
        if task.folds is None:
            yield "scheme=predefined needs a fold column: set dataset.fold=COLUMN"
            return
        for column in _repeats(task):
            if problem := _problem(column, task.groups):
                yield problem
                return

    def instantiate(self, task: Task, seed: int) -> Resampling:
        """Make the folds of the column, or of each repeat's column."""
        assert task.folds is not None, "problems() was not asked"
        columns = _repeats(task)
        each = iter(columns)
        return resampling(self, task, seed, len(columns), lambda rng: next(each))


def _repeats(task: Task) -> list[Integers]:
    """A column of folds per repeat."""
    assert task.folds is not None, "problems() was not asked"
    return list(task.folds.reshape(len(task), -1).T)


def _problem(column: Integers, groups: Integers | None) -> str:
    """Say what is wrong with one column; empty when nothing is."""
    assessed = np.unique(column[column >= 0])
    if not len(assessed):
        return "the fold column assesses no row: it needs numbers from 0"
    if len(assessed) == 1 and not np.any((column < 0) & (column != ABSENT)):
        return "the fold column holds one fold only, which leaves nothing to analyse"
    if groups is not None and (crossing := _crossing(column, groups)):
        return f"{crossing} groups are in more than one fold of the fold column"
    return ""


def _crossing(column: Integers, groups: Integers) -> int:
    there = column != ABSENT
    pairs = np.unique(np.column_stack([groups[there], column[there]]), axis=0)
    return int(np.sum(np.unique(pairs[:, 0], return_counts=True)[1] > 1))
