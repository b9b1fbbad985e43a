"""Base of the group schemes: whole groups are dealt, so that none is on both sides of a fold."""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from modelsel.core.spec import kind_of, plain, whole
from modelsel.core.types import Codes, Integers, Resampling, Task
from modelsel.scheme.partition.folds import resampling
from modelsel.statistics.sampling import deal_groups, equal_rows


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
        groups = _joined(task.groups, equal_rows(task.values)) if self.keep_duplicates_together else task.groups
        sizes, strata = [1.0] * self.folds, self.strata(task)
        own = seed if self.seed is None else self.seed
        return resampling(self, task, own, 1, lambda rng: deal_groups(groups, sizes, rng, strata))


def _joined(groups: Integers, same: Integers) -> Integers:
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
