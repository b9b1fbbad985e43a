"""Stratified k-fold cross-validation: each fold holds every class in proportion, exact to one row.

Source: Breiman et al. (1984, 8.4.2); Kohavi (1995) finds ten stratified folds the best of the cheap schemes.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from modelsel.core.spec import plain, whole
from modelsel.core.types import Resampling, Task
from modelsel.scheme.base import BaseScheme
from modelsel.scheme.partition import groups_ignored, partition, resampling, too_many_folds


@dataclass(frozen=True)
class StratifiedKfold(BaseScheme):
    """`folds` parts with the classes in proportion; sizes differ by at most one."""

    folds: int = whole(10, least=2, help="number of parts")
    seed: int | None = whole(None, least=0, help="none: the study's seed")
    keep_duplicates_together: bool = plain(
        False, help="identical rows (features) share a fold; proportions then near, not exact"
    )

    def problems(self, task: Task) -> Iterator[str]:
        yield from too_many_folds(task, self.folds)
        yield from groups_ignored(task, self, dealt=True)

    def instantiate(self, task: Task, seed: int) -> Resampling:
        assign = partition(task, self.folds, stratify=True, together=self.keep_duplicates_together)
        return resampling(self, task, seed if self.seed is None else self.seed, 1, assign)
