"""Repeated holdout (Monte-Carlo cross-validation): several random holdouts, a row may be assessed in many or in none.

Source: Picard & Cook (1984). Its folds overlap more than those of k-fold; the corrected resampled variance allows for it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from modelsel.core.spec import number, plain, whole
from modelsel.core.types import Resampling, Task
from modelsel.scheme.base import BaseScheme
from modelsel.scheme.partition import groups_ignored, hold_out, resampling, too_many_folds


@dataclass(frozen=True)
class RepeatedHoldout(BaseScheme):
    """`repeats` independent draws of `share` of the rows for assessment."""

    share: float = number(0.3, least=0.01, most=0.99, help="share of the rows that is assessed")
    repeats: int = whole(10, least=1, help="number of draws")
    stratify: bool = plain(True, help="classes in proportion, exact to one row")
    seed: int | None = whole(None, least=0, help="none: the study's seed")
    keep_duplicates_together: bool = plain(False, help="identical rows (features) stay on one side")

    def problems(self, task: Task) -> Iterator[str]:
        yield from too_many_folds(task, 2)
        yield from groups_ignored(task, self, dealt=True)

    def instantiate(self, task: Task, seed: int) -> Resampling:
        assign = hold_out(task, self.share, self.stratify, self.keep_duplicates_together)
        return resampling(self, task, seed if self.seed is None else self.seed, self.repeats, assign)
