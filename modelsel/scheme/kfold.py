"""k-fold cross-validation: every row is assessed once, by models that did not see it.

Fold sizes differ by at most one. Source: Stone (1974); Breiman et al. (1984, 3.4.2).
"""

from collections.abc import Iterator
from dataclasses import dataclass

from modelsel.core.spec import plain, whole
from modelsel.core.types import Resampling, Task
from modelsel.scheme.base import BaseScheme
from modelsel.scheme.partition import groups_ignored, partition, resampling, too_many_folds


@dataclass(frozen=True)
class Kfold(BaseScheme):
    """`folds` parts dealt at random, without regard to classes."""

    folds: int = whole(10, least=2, help="number of parts")
    seed: int | None = whole(None, least=0, help="none: the study's seed")
    keep_duplicates_together: bool = plain(False, help="identical rows (features) share a fold")

    def problems(self, task: Task) -> Iterator[str]:
        yield from too_many_folds(task, self.folds)
        yield from groups_ignored(task, self, dealt=True)

    def instantiate(self, task: Task, seed: int) -> Resampling:
        assign = partition(task, self.folds, stratify=False, together=self.keep_duplicates_together)
        return resampling(self, task, seed if self.seed is None else self.seed, 1, assign)
