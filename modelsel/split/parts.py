"""Partitions of the outer splits: made from a mask of test rows, and checked."""

from collections.abc import Iterator

import numpy as np

from modelsel.core.errors import DataError, Problem
from modelsel.core.types import Booleans, Partition, Task


def parts(task: Task, test: Booleans) -> Partition:
    """Development and test rows in their order; DataError when the development rows are not fit to choose on."""
    made = Partition(np.flatnonzero(~test), np.flatnonzero(test))
    DataError.raise_if(_development_problems(task, made))
    return made


def groups_ignored(task: Task, kind: str) -> Iterator[str]:
    """Yield a problem where the task has groups, which this split would ignore."""
    if task.groups is not None:
        yield f"the task has groups and split={kind} would ignore them: use split=group, or leave dataset.groups out"


def _development_problems(task: Task, partition: Partition) -> Iterator[Problem]:
    """Yield the problems of a partition whose recipe was fine: too few development rows of a class.

    A class with one development row can be analysed or assessed, never both.
    """
    counts = np.bincount(task.target[partition.development], minlength=len(task.classes))
    test = np.bincount(task.target[partition.test], minlength=len(task.classes))
    if (counts > 0).sum() < 2:
        yield Problem("MSEL-331", "the development rows hold fewer than two classes", "split", "choose another split")
        return
    for name, n, held in zip(task.classes, counts.tolist(), test.tolist()):
        if n == 1 or (n == 0 and held):
            what = f"class '{name}' has {n} development row{'' if n == 1 else 's'} ({held} in the test set)"
            fix = "set dataset.rare=drop or dataset.rare=merge, or gather more rows of it"
            yield Problem("MSEL-332", what, "split", fix)
