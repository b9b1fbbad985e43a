"""Time split: analysis rows come before assessment rows, with a window that grows or rolls.

The rows in time order are cut into folds + 1 blocks; fold i assesses block i + 1. Rows of one moment stay in one block.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from modelsel.core.spec import kind_of, one_of, whole
from modelsel.core.types import Resampling, Task, dates
from modelsel.scheme.base import BaseScheme
from modelsel.scheme.partition import blocks_in_time, fold, groups_ignored


@dataclass(frozen=True)
class TimeSplit(BaseScheme):
    """`expanding`: all earlier blocks are analysed; `rolling`: only the one before. `gap` rows between are left out."""

    reads_times: ClassVar[bool] = True
    folds: int = whole(5, least=1, help="number of assessed blocks")
    window: str = one_of("expanding", "rolling", help="which earlier blocks are analysed")
    gap: int = whole(0, least=0, help="rows left out between analysis and assessment")

    def problems(self, task: Task) -> Iterator[str]:
        """Yield why the rows cannot be divided in their order of time."""
        yield from groups_ignored(task, self)
        if task.times is None:
            yield f"scheme=time_split needs times: set {dates(task)}"
        elif not np.all(np.diff(edges := blocks_in_time(task.times, self.folds))):
            yield f"{self.folds + 1} blocks of {len(np.unique(task.times))} moments leave a block empty: lower scheme.folds"
        elif self.gap >= np.diff(edges)[0]:
            yield f"a gap of {self.gap} rows leaves nothing to analyse: scheme.gap must be below {np.diff(edges)[0]}"

    def instantiate(self, task: Task, seed: int) -> Resampling:
        """Order the rows by time, and make a fold at each change of block."""
        assert task.times is not None, "problems() was not asked"
        edges = blocks_in_time(task.times, self.folds)
        place = np.empty(len(task), np.int64)
        place[np.argsort(task.times, kind="stable")] = np.arange(len(task))
        made = []
        for index in range(self.folds):
            start = edges[index] if self.window == "rolling" else 0
            analysis = (place >= start) & (place < edges[index + 1] - self.gap)
            assessment = (place >= edges[index + 1]) & (place < edges[index + 2])
            made.append(fold(index, 0, analysis, assessment))
        return Resampling(kind_of(self), task.fingerprint, tuple(made))
