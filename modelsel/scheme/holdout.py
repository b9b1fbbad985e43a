"""Holdout inside the development rows: one part is assessed, the rest is analysed.

Cheap and unbiased for the smaller analysis set, but its score rests on few rows. This is not the sealed test.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from modelsel.core.spec import number, plain, whole
from modelsel.core.types import Resampling, Task
from modelsel.scheme.base import BaseScheme
from modelsel.scheme.partition import groups_ignored, hold_out, resampling, too_many_folds


@dataclass(frozen=True)
class Holdout(BaseScheme):
    """`share` of the rows is assessed, by class in proportion where `stratify`."""

    share: float = number(0.3, least=0.01, most=0.99, help="share of the rows that is assessed")
    stratify: bool = plain(True, help="classes in proportion, exact to one row")
    seed: int | None = whole(None, least=0, help="none: the study's seed")
    keep_duplicates_together: bool = plain(False, help="identical rows (features) stay on one side")

    def problems(self, task: Task) -> Iterator[str]:
        yield from too_many_folds(task, 2)
        yield from groups_ignored(task, self, dealt=True)

    def instantiate(self, task: Task, seed: int) -> Resampling:
        assign = hold_out(task, self.share, self.stratify, self.keep_duplicates_together)
        return resampling(self, task, seed if self.seed is None else self.seed, 1, assign)
