"""Outer split by groups: whole groups (patients, documents) are sealed, about the share asked for."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from modelsel.core.fingerprint import generator
from modelsel.core.spec import number, plain, whole
from modelsel.core.types import ClassTask, Partition, Task
from modelsel.split.base import BaseSplit, parts
from modelsel.statistics.sampling import deal_groups


@dataclass(frozen=True)
class Group(BaseSplit):
    """Groups, largest first, go where the proportions of rows and classes suffer least; sizes are near, not exact."""

    test: float = number(0.3, least=0.01, most=0.99, help="share of the rows that is sealed, approximately")
    seed: int = whole(0, least=0, help="does not follow the study's seed: another seed never moves the test rows")
    stratify: bool = plain(True, help="classes in proportion as far as whole groups allow")

    def problems(self, task: Task) -> Iterator[str]:
        """Yield a problem where there are no groups, or only one."""
        if task.groups is None:
            yield "split=group needs groups: set dataset.groups=COLUMN"
        elif (count := len(np.unique(task.groups))) < 2:
            yield f"{count} group cannot be split"

    def partition(self, task: Task) -> Partition:
        """Seal whole groups, about the share that is asked for."""
        assert task.groups is not None, "problems() was not asked"
        strata = task.target if self.stratify and isinstance(task, ClassTask) else None  # no sealed number moves a row
        part = deal_groups(task.groups, [1.0 - self.test, self.test], generator(self.seed, "split"), strata)
        return parts(task, part == 1)
