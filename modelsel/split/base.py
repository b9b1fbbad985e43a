"""Base of outer splits: which rows are sealed for the final test."""

from collections.abc import Iterable, Iterator
from typing import ClassVar

import numpy as np

from modelsel.core.errors import DataError, Problem
from modelsel.core.types import Booleans, ClassTask, Finding, Integers, Partition, Task


class BaseSplit:
    """Base of outer splits into development and test rows. A new one defines `partition`.

    `Partition.test` is empty for `split=none`. The class attribute `reads_times` says that rows are divided in the order
    of time.

    Examples
    --------
    >>> from modelsel.dataset.play_tennis import PlayTennis
    >>> from modelsel.split.random import Random
    >>> parts = Random(test=0.5).partition(PlayTennis().read())
    >>> len(parts.development), len(parts.test)
    (7, 7)
    """

    reads_times: ClassVar[bool] = False  # where True, a lone column of dates is the time of the rows

    def problems(self, task: Task) -> Iterable[str]:
        """List reasons why it cannot be used on this task.

        Parameters
        ----------
        task : Task
            All rows.

        Returns
        -------
        iterable of str
            Sentences for the error message; none where all is well.
        """
        return ()

    def partition(self, task: Task) -> Partition:
        """Choose the test rows.

        Parameters
        ----------
        task : Task
            All rows.

        Returns
        -------
        Partition
            Positions of the development and of the test rows; no row is in both.
        """
        raise NotImplementedError


# Partitions of the outer splits: made from a mask of test rows, and checked.


def parts(task: Task, test: Booleans) -> Partition:
    """Development and test rows in their order; DataError when the development rows are not fit to choose on.

    With dataset.rare=drop classes that would be left a single development row, or test rows alone, are on neither side.
    """
    kept = np.ones(len(task), np.bool_)
    if isinstance(task, ClassTask) and task.drop_rare:
        kept = ~_too_few(_counts(task, ~test), _counts(task, test))[task.target]
    made = Partition(np.flatnonzero(~test & kept), np.flatnonzero(test & kept))
    DataError.raise_if(_class_problems(task, made) if isinstance(task, ClassTask) else _number_problems(task, made))
    return made


def dropped_classes(task: Task, partition: Partition) -> Iterator[Finding]:
    """Yield a finding that names the classes whose rows are on neither side."""
    if not isinstance(task, ClassTask):
        return
    counts = _counts(task, np.concatenate([partition.development, partition.test]))
    gone = (counts == 0) & (_counts(task) > 0)
    if gone.any():
        names = ", ".join(name for name, is_gone in zip(task.classes, gone) if is_gone)
        rows = len(task) - len(partition.development) - len(partition.test)
        message = f"classes of which the split left too few development rows were dropped with their {rows} rows: {names}"
        yield Finding("RARE_CLASSES", "medium", message, "gather more rows of them")


def groups_ignored(task: Task, kind: str) -> Iterator[str]:
    """Yield a problem where the task has groups that are not declared as units, which this split would ignore."""
    if task.groups is not None and task.units is None:
        yield f"the task has groups and split={kind} would ignore them: use split=group, or leave dataset.groups out"


def one_unit(task: Task) -> Iterator[str]:
    """Yield a problem where all rows stand in one group, which cannot be on both sides."""
    if task.units is not None and task.groups is not None and len(np.unique(task.groups)) < 2:
        yield "all rows stand in one group: there is nothing to seal"


def _class_problems(task: ClassTask, partition: Partition) -> Iterator[Problem]:
    """Yield the problems of a partition whose recipe was fine: too few development rows of a class.

    A class with one development row can be analysed or assessed, never both.
    """
    counts, test = _counts(task, partition.development), _counts(task, partition.test)
    if (counts > 0).sum() < 2:
        yield Problem("MSEL-331", "the development rows hold fewer than two classes", "split", "choose another split")
        return
    for name, n, few in zip(task.classes, counts, _too_few(counts, test)):
        if few:  # how many of the class are sealed is not told: nothing is on record yet, and it would say their labels
            what = f"class '{name}' has {n} development row{'' if n == 1 else 's'}"
            fix = "set dataset.rare=drop, or dataset.rare=merge with dataset.rare_below above its rows, or gather more of them"
            yield Problem("MSEL-332", what, "split", fix)


def _number_problems(task: Task, partition: Partition) -> Iterator[Problem]:
    """Yield a problem where the development rows have one number only: nothing can be learnt from them."""
    if not np.ptp(task.target[partition.development]):
        yield Problem("MSEL-331", "the development rows hold one target value only", "split", "choose another split")


def _too_few(development: Integers, test: Integers) -> Booleans:
    """Mask the classes with a single development row, or with test rows alone."""
    return np.asarray((development == 1) | ((development == 0) & (test > 0)))


def _counts(task: ClassTask, rows: Integers | Booleans | None = None) -> Integers:
    return np.bincount(task.target if rows is None else task.target[rows], minlength=len(task.classes))
