"""Outer split by time: the latest rows are sealed; rows of one moment, and of one declared unit, stay on one side."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from modelsel.core.spec import number
from modelsel.core.types import Booleans, Floats, Integers, Partition, Task, dates
from modelsel.split.base import BaseSplit, groups_ignored, parts


@dataclass(frozen=True)
class Time(BaseSplit):
    """The last `test` of the rows in time order, begun at a change of time."""

    reads_times: ClassVar[bool] = True

    test: float = number(0.3, least=0.01, most=0.99, help="share of the rows that is sealed: the latest")

    def problems(self, task: Task) -> Iterator[str]:
        """Yield a problem where there are no times, or no change of time to cut at."""
        yield from groups_ignored(task, "time")
        if task.times is None:
            yield f"split=time needs times: set {dates(task)}"
        elif not self._late(task).any() or self._late(task).all():
            whole = "" if task.units is None else " and no unit on both sides"
            yield f"no change of time leaves both sides a row{whole} at split.test={self.test}"

    def partition(self, task: Task) -> Partition:
        return parts(task, self._late(task))

    def _late(self, task: Task) -> Booleans:
        """Mark the latest rows."""
        assert task.times is not None, "problems() was not asked"
        ordered = np.sort(task.times)
        last = ordered[max(round((1.0 - self.test) * len(task)) - 1, 0)]
        return np.asarray(task.times > (last if task.groups is None else _between(task.groups, task.times, last)))


def _between(groups: Integers, times: Floats, last: float) -> float:
    """The moment nearest to `last` at which no group has rows before and after; infinite where there is none."""
    _, code = np.unique(groups, return_inverse=True)
    first, end = np.full(code.max() + 1, np.inf), np.full(code.max() + 1, -np.inf)
    np.minimum.at(first, code, times)
    np.maximum.at(end, code, times)
    moments = np.unique(times)[:-1]
    # a group is cut where it has begun by a moment and not ended by it
    cut = np.searchsorted(np.sort(first), moments, "right") > np.searchsorted(np.sort(end), moments, "right")
    whole = moments[~cut]
    return float(whole[np.abs(whole - last).argmin()]) if len(whole) else np.inf
