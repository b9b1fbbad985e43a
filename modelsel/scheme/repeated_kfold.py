"""Repeated k-fold cross-validation: k-fold over several shuffles, to average out the luck of one assignment.

Repeats do not make the standard error smaller by sqrt(repeats): the rows are the same, so losses are averaged over repeats
before the error over rows is taken. Source: Bouckaert & Frank (2004); Nadeau & Bengio (2003).
"""

from collections.abc import Iterator
from dataclasses import dataclass

from modelsel.core.spec import plain, whole
from modelsel.core.types import Resampling, Task
from modelsel.scheme.base import BaseScheme
from modelsel.scheme.partition import groups_ignored, partition, resampling, too_many_folds


@dataclass(frozen=True)
class RepeatedKfold(BaseScheme):
    """`repeats` independent k-fold partitions; the first is the one that a single k-fold of equal seed would draw."""

    folds: int = whole(10, least=2, help="number of parts")
    repeats: int = whole(10, least=1, help="number of shuffles")
    stratify: bool = plain(True, help="classes in proportion, exact to one row")
    seed: int | None = whole(None, least=0, help="none: the study's seed")
    keep_duplicates_together: bool = plain(False, help="identical rows (features) share a fold")

    def problems(self, task: Task) -> Iterator[str]:
        yield from too_many_folds(task, self.folds)
        yield from groups_ignored(task, self, dealt=True)

    def instantiate(self, task: Task, seed: int) -> Resampling:
        assign = partition(task, self.folds, self.stratify, self.keep_duplicates_together)
        return resampling(self, task, seed if self.seed is None else self.seed, self.repeats, assign)
