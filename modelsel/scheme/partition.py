"""From an assignment of rows to folds: what the partitioning schemes share."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from modelsel.core.fingerprint import generator
from modelsel.core.spec import kind_of, plain, whole
from modelsel.core.types import ABSENT, Booleans, ClassTask, Codes, Finding, Floats, Fold, Integers, Resampling, Task
from modelsel.statistics.copied_rows import copied_rows
from modelsel.statistics.sampling import deal, deal_groups, draw, equal_rows

QUANTILES = 10  # of a target that is a number, by which folds are stratified
Assign = Callable[[np.random.Generator], Integers]


def resampling(scheme: object, task: Task, seed: int, repeats: int, assign: Assign) -> Resampling:
    """Make folds from one assignment per repeat.

    A row is assessed in fold ≥ 0; with −1 it only ever serves analysis, and ABSENT it takes no part.

    A repeat draws from the seed, the rows and its own number alone, so that more repeats leave the first ones as they are.
    """
    folds: list[Fold] = []
    for repeat in range(repeats):
        assignment = assign(generator(seed, task.draw_fingerprint, f"repeat {repeat}"))
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
    """k folds of nearly equal size; declared units, and with `together` identical rows (features), share a fold."""
    strata, same = strata_of(task, folds) if stratify else None, _together(task, together)
    if same is not None:
        return lambda rng: deal_groups(same, [1.0] * folds, rng, strata)
    return lambda rng: deal(len(task), folds, rng, strata)


def hold_out(task: Task, share: float, stratify: bool, together: bool) -> Assign:
    """Fold 0 is assessed (about `share` of the rows, at least one, never all), the rest is analysis only."""
    strata, same = strata_of(task, 2) if stratify else None, _together(task, together)
    if same is not None:
        return lambda rng: -deal_groups(same, [share, 1.0 - share], rng, strata)
    size = min(max(round(share * len(task)), 1), len(task) - 1)
    return lambda rng: draw(len(task), size, rng, strata).astype(np.int64) - 1


def too_many_folds(task: Task, folds: int) -> Iterator[str]:
    """Yield a problem where there are more folds than rows."""
    many, what = (len(task), "rows") if task.units is None else (len(np.unique(task.units)), "units")
    if folds > many:
        yield f"{folds} folds of {many} {what}: scheme.folds may be at most {many}"


def groups_ignored(task: Task, scheme: object, dealt: bool = False) -> Iterator[str]:
    """Yield a problem where the task has groups: on both sides of a fold they make the score too good.

    `dealt` says that the scheme deals declared units (`dataset.unit`) as a whole.
    """
    if task.groups is not None and not (dealt and task.units is not None):
        both = "scheme=group_time_split, scheme=group_kfold or " if task.times is not None else "scheme=group_kfold or "
        yield (
            f"the task has groups and scheme={kind_of(scheme)} would ignore them: use {both}"
            f"scheme=stratified_group_kfold, or leave dataset.{'groups' if task.units is None else 'unit'} out"
        )


def blocks_in_time(times: Floats, folds: int) -> Integers:
    """Compute the ends of folds + 1 blocks of rows in time order, each moved on to the next change of time.

    >>> blocks_in_time(np.array([3.0, 1.0, 1.0, 2.0]), 1).tolist()
    [0, 2, 4]
    """
    ordered = np.sort(times)
    wanted = np.arange(1, folds + 1) * len(times) // (folds + 1)
    inner = np.searchsorted(ordered, ordered[np.maximum(wanted - 1, 0)], side="right")
    return np.concatenate([[0], inner, [len(times)]]).astype(np.int64)


def _together(task: Task, duplicates: bool) -> Integers | None:
    """The rows that share a fold: those of a declared unit (or its group), and identical ones where that is asked for."""
    if task.units is None or task.groups is None:
        return equal_rows(task.values) if duplicates else copies_in(task)
    same = equal_rows(task.values) if duplicates else None
    return task.groups if same is None else _join(task.groups, same)


_COPIES: WeakKeyDictionary[Task, Integers | None] = WeakKeyDictionary()


def copies_in(task: Task) -> Integers | None:
    """The rows that are copies of each other by how often they come and how their labels agree; None where there are none."""
    if task not in _COPIES:
        found = copied_rows((task.values,), np.asarray(task.target)) if task.groups is None else None
        _COPIES[task] = found.unit if found is not None and found.agreed else None
    return _COPIES[task]


def strata_of(task: Task, folds: int) -> Codes:
    """Labels whose proportions every part should have: the classes; of numbers, which tenth of the rows the target is in."""
    return task.target if isinstance(task, ClassTask) else tenths(np.asarray(task.target, np.float64), folds)


def tenths(target: Floats, parts: int) -> Codes:
    """Return the tenth of some numbers that each of them is in.

    Equal numbers share a label; of few numbers there are fewer labels, so that each has a row for every part.

    >>> tenths(np.array([5.0, 1.0, 1.0, 9.0]), 2)
    array([1, 0, 0, 1], dtype=int32)
    """
    bins = min(QUANTILES, max(1, len(target) // parts))
    place = np.searchsorted(np.sort(target), target)  # rows below: the same for equal numbers
    return np.asarray(place * bins // max(1, len(target)), np.int32)


# Base of the group schemes: whole groups are dealt, so that none is on both sides of a fold.


@dataclass(frozen=True)
class Grouped:
    """A scheme that deals groups; which proportions it keeps is left to say."""

    folds: int = whole(10, least=2, help="number of parts; at most the number of groups")
    seed: int | None = whole(None, least=0, help="none: the study's seed")
    keep_duplicates_together: bool = plain(False, help="groups that share an identical row count as one")

    @abstractmethod
    def strata(self, task: Task) -> Codes | None:
        """Labels whose proportions every part should have; None: only the numbers of rows count."""

    def problems(self, task: Task) -> Iterator[str]:
        """Yield a problem where there are no groups, or too few."""
        if task.groups is None:
            yield f"scheme={kind_of(self)} needs groups: set dataset.groups=COLUMN"
        elif (count := len(np.unique(task.groups))) < self.folds:
            yield f"{self.folds} folds of {count} groups: scheme.folds may be at most {count}"

    def instantiate(self, task: Task, seed: int) -> Resampling:
        """Deal the groups to the folds."""
        assert task.groups is not None, "problems() was not asked"
        groups = _join(task.groups, equal_rows(task.values)) if self.keep_duplicates_together else task.groups
        sizes, strata = [1.0] * self.folds, self.strata(task)
        own = seed if self.seed is None else self.seed
        return resampling(self, task, own, 1, lambda rng: deal_groups(groups, sizes, rng, strata))


def _join(groups: Integers, same: Integers) -> Integers:
    """The connected components of rows that share a group or are identical: the least label spreads until it is at rest."""
    label = np.unique(groups, return_inverse=True)[1].astype(np.int64)
    while True:
        before = label.copy()
        for key in (same, groups):
            _, index = np.unique(key, return_inverse=True)
            least = np.full(index.max(initial=-1) + 1, len(label), np.int64)
            np.minimum.at(least, index, label)
            label = least[index]
        if np.array_equal(label, before):
            return label


# Classes with fewer rows than folds: some folds assess none of their rows, which is said before the run.


def fewer_rows_than_folds(task: Task, resampling: Resampling) -> Iterator[Finding]:
    """A finding that names the classes with their rows; nothing for schemes of one or two folds."""
    folds = sum(fold.repeat == 0 for fold in resampling.folds)
    if (
        not isinstance(task, ClassTask) or folds <= 2 or folds >= len(task)
    ):  # leaving one out, every class has fewer rows than folds
        return
    counts = np.bincount(task.target, minlength=len(task.classes)).tolist()
    few = [f"{name} ({n})" for name, n in zip(task.classes, counts) if 0 < n < folds]
    if few:
        message = f"classes with fewer development rows than the {folds} folds: {', '.join(few)}"
        do = "fewer folds, or dataset.rare=merge or drop with dataset.rare_below"
        yield Finding("FEWER_ROWS_THAN_FOLDS", "medium", message, do)
