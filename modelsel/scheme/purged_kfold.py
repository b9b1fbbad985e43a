"""Purged k-fold: blocks of time in turn, without the analysis rows that are near the assessed block.

    analysis = { i : t_i < start − gap  or  t_i > end + embargo }

start, end: first and last moment of the assessed block. For labels that are known later than their row (the outcome of the next
30 days): what overlaps the block would tell of it. Source: López de Prado (2018), Advances in Financial Machine Learning, 7.4.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from modelsel.core.spec import number, whole
from modelsel.core.types import Booleans, Task, dates
from modelsel.scheme.base import BaseScheme
from modelsel.scheme.partition import blocks_in_time, groups_ignored


@dataclass(frozen=True)
class PurgedKfold(BaseScheme):
    """Every row is assessed once; rows of one moment stay in one block."""

    reads_times: ClassVar[bool] = True
    folds: int = whole(5, least=2, help="number of blocks of time")
    gap: float = number(0.0, least=0.0, help="time left out before a block, in the unit of dataset.time (dates: seconds)")
    embargo: float = number(0.0, least=0.0, help="time left out after an assessed block, in the same unit")

    def problems(self, task: Task) -> Iterator[str]:
        """Yield why the rows cannot be divided in their order of time."""
        yield from groups_ignored(task, self)
        if task.times is None:
            yield f"scheme=purged_kfold needs times: set {dates(task)}"
        elif not np.all(np.diff(blocks_in_time(task.times, self.folds - 1))):
            moments = len(np.unique(task.times))
            yield f"{self.folds} blocks of {moments} moments leave a block empty: lower scheme.folds"
        elif not all(analysis.any() for analysis, _ in self.pairs(task, np.random.default_rng(0))):
            yield f"gap and embargo of {self.gap:g} and {self.embargo:g} leave nothing to analyse: lower them, or scheme.folds"

    def pairs(self, task: Task, rng: np.random.Generator) -> Iterator[tuple[Booleans, Booleans]]:
        assert task.times is not None, "problems() was not asked"
        edges, ordered, times = blocks_in_time(task.times, self.folds - 1), np.sort(task.times), task.times
        for block in range(self.folds):
            start, end = ordered[edges[block]], ordered[edges[block + 1] - 1]
            assessment = (times >= start) & (times <= end)
            yield ~assessment & ((times < start - self.gap) | (times > end + self.embargo)), assessment
