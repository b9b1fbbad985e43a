"""Predefined outer split: a column, or a second file, says which rows are sealed."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Partition, Task
from modelsel.split.base import BaseSplit, parts


@dataclass(frozen=True)
class Predefined(BaseSplit):
    """Rows marked in `dataset.held_out` (or read from `dataset.test_path`) are the test rows."""

    def problems(self, task: Task) -> Iterator[str]:
        """Yield a problem where no rows are marked, all are, or groups are divided."""
        if task.held_out is None:
            yield "split=predefined needs test rows: set dataset.held_out=COLUMN or dataset.test_path=FILE"
        elif not task.held_out.any() or task.held_out.all():
            yield f"the held-out column marks {int(task.held_out.sum())} of {len(task)} rows: both sides need rows"
        elif task.groups is not None and (both := _on_both_sides(task)):
            what = "groups" if task.units is None else "units"
            yield f"{both} {what} are on both sides of the predefined split: hold out each with all of its rows, or with none"

    def partition(self, task: Task) -> Partition:
        assert task.held_out is not None, "problems() was not asked"
        return parts(task, task.held_out)


def _on_both_sides(task: Task) -> int:
    assert task.groups is not None
    assert task.held_out is not None
    return len(np.intersect1d(task.groups[task.held_out], task.groups[~task.held_out]))
