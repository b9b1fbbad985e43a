"""Predefined folds: a column of the data says in which fold a row is assessed; −1 means never."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Resampling, Task
from modelsel.scheme._folds import resampling


@dataclass(frozen=True)
class Predefined:
    """Folds in the order of their numbers. Groups are the business of whoever made the column; crossing ones are refused."""

    def problems(self, task: Task) -> Iterator[str]:
        if task.folds is None:
            yield "scheme=predefined needs a fold column: set dataset.fold=COLUMN"
        elif not len(assessed := np.unique(task.folds[task.folds >= 0])):
            yield "the fold column assesses no row: it needs numbers from 0"
        elif len(assessed) == 1 and not np.any(task.folds < 0):
            yield "the fold column holds one fold only, which leaves nothing to analyse"
        elif task.groups is not None and _crossing(task):
            yield f"{_crossing(task)} groups are in more than one fold of the fold column"

    def instantiate(self, task: Task, seed: int) -> Resampling:
        assert task.folds is not None, "problems() was not asked"
        folds = task.folds
        return resampling(self, task, seed, 1, lambda rng: folds)


def _crossing(task: Task) -> int:
    assert task.groups is not None
    assert task.folds is not None
    pairs = np.unique(np.column_stack([task.groups, task.folds]), axis=0)
    return int(np.sum(np.unique(pairs[:, 0], return_counts=True)[1] > 1))
