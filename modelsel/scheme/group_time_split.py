"""Group and time split: assessed are later rows of some groups, analysed earlier rows of other groups.

The rows in time order are cut into folds + 1 blocks, the groups are dealt into parts; of block i + 1 the rows of one part are
assessed, and what comes before the block in the other parts is analysed. Neither a group nor a moment is on both sides.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from modelsel.core.spec import number, whole
from modelsel.core.types import Booleans, Task, dates
from modelsel.scheme.base import BaseScheme
from modelsel.scheme.partition import blocks_in_time
from modelsel.statistics.sampling import deal_groups


@dataclass(frozen=True)
class GroupTimeSplit(BaseScheme):
    """folds × parts folds; those that leave a side empty are left out."""

    reads_groups: ClassVar[bool] = True
    reads_times: ClassVar[bool] = True
    folds: int = whole(4, least=1, help="number of assessed blocks of time")
    parts: int = whole(3, least=2, help="number of parts that the groups are dealt into")
    gap: float = number(0.0, least=0.0, help="time left out before a block, in the unit of dataset.time (dates: seconds)")

    def problems(self, task: Task) -> Iterator[str]:
        """Yield why the rows cannot be divided by groups and time."""
        if task.times is None:
            yield f"scheme=group_time_split needs times: set {dates(task)}"
        if task.groups is None:
            yield "scheme=group_time_split needs groups: set dataset.groups=COLUMN, or use scheme=time_split"
        elif self.parts > (many := len(np.unique(task.groups))):
            yield f"{many} groups cannot be dealt into {self.parts} parts: lower scheme.parts"
        if task.times is None or task.groups is None:
            return
        if not np.all(np.diff(blocks_in_time(task.times, self.folds))):
            moments = len(np.unique(task.times))
            yield f"{self.folds + 1} blocks of {moments} moments leave a block empty: lower scheme.folds"
        elif not any(True for _ in self.pairs(task, np.random.default_rng(0))):
            yield f"a gap of {self.gap:g} leaves nothing to analyse before any block: lower scheme.gap"

    def pairs(self, task: Task, rng: np.random.Generator) -> Iterator[tuple[Booleans, Booleans]]:
        assert task.times is not None, "problems() was not asked"
        assert task.groups is not None, "problems() was not asked"
        edges, ordered = blocks_in_time(task.times, self.folds), np.sort(task.times)
        part = deal_groups(task.groups, [1.0] * self.parts, rng)
        for block in range(1, self.folds + 1):
            start, last = ordered[edges[block]], ordered[edges[block + 1] - 1]
            before, within = task.times < start - self.gap, (task.times >= start) & (task.times <= last)
            before &= task.times < start
            for own in range(self.parts):
                analysis, assessment = before & (part != own), within & (part == own)
                if analysis.any() and assessment.any():
                    yield analysis, assessment
