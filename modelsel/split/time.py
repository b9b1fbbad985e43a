"""Outer split by time: the latest rows are sealed; rows of one moment stay on one side."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from modelsel.core.spec import number
from modelsel.core.types import Booleans, Partition, Task, dates
from modelsel.split.base import BaseSplit
from modelsel.split.parts import groups_ignored, parts


@dataclass(frozen=True)
class Time(BaseSplit):
    """The last `test` of the rows in time order, begun at a change of time."""

    test: float = number(0.3, least=0.01, most=0.99, help="share of the rows that is sealed: the latest")

    def problems(self, task: Task) -> Iterator[str]:
        """Yield a problem where there are no times, or no change of time to cut at."""
        yield from groups_ignored(task, "time")
        if task.times is None:
            yield f"split=time needs times: set dataset.time={dates(task)}"
        elif not self._late(task).any() or self._late(task).all():
            yield f"no change of time leaves both sides a row at split.test={self.test}"

    def partition(self, task: Task) -> Partition:
        return parts(task, self._late(task))

    def _late(self, task: Task) -> Booleans:
        """Mark the latest rows."""
        assert task.times is not None, "problems() was not asked"
        ordered = np.sort(task.times)
        last = ordered[max(round((1.0 - self.test) * len(task)) - 1, 0)]
        return np.asarray(task.times > last)
