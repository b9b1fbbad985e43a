"""Group k-fold cross-validation: rows of one group (a patient, a document) are never on both sides of a fold."""

from collections.abc import Iterator
from dataclasses import dataclass

from modelsel.core.spec import plain, whole
from modelsel.core.types import Resampling, Task
from modelsel.scheme._grouped import group_problems, grouped


@dataclass(frozen=True)
class GroupKfold:
    """Whole groups are dealt into `folds` parts of nearly equal numbers of rows."""

    folds: int = whole(10, least=2, help="number of parts; at most the number of groups")
    seed: int | None = whole(None, least=0, help="none: the study's seed")
    keep_duplicates_together: bool = plain(False, help="groups that share an identical row count as one")

    def problems(self, task: Task) -> Iterator[str]:
        yield from group_problems(task, self.folds, self)

    def instantiate(self, task: Task, seed: int) -> Resampling:
        own = seed if self.seed is None else self.seed
        return grouped(self, task, own, self.folds, None, self.keep_duplicates_together)
