"""Random outer split: a share of the rows is sealed, by class in proportion.

The rows drawn depend on the number of rows, their classes and `split.seed` alone, so that neither another study seed nor
another choice of columns moves the test rows. Declared units (`dataset.unit`) are sealed whole.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from modelsel.core.fingerprint import generator
from modelsel.core.spec import number, plain, whole
from modelsel.core.types import ClassTask, Partition, Task
from modelsel.split.base import BaseSplit, groups_ignored, one_unit, parts
from modelsel.statistics.sampling import deal_groups, draw


@dataclass(frozen=True)
class Random(BaseSplit):
    """`test` is the share of sealed rows. Another `seed` is another test set of the same data, and the guard will say so."""

    test: float = number(0.3, least=0.01, most=0.99, help="share of the rows that is sealed")
    seed: int = whole(0, least=0, help="does not follow the study's seed: another seed never moves the test rows")
    stratify: bool = plain(True, help="classes in proportion, exact to one row")

    def problems(self, task: Task) -> Iterator[str]:
        yield from groups_ignored(task, "random")
        if len(task) < 2:
            yield f"{len(task)} rows cannot be split"
        yield from one_unit(task)

    def partition(self, task: Task) -> Partition:
        size = min(max(round(self.test * len(task)), 1), len(task) - 1)
        strata = task.target if self.stratify and isinstance(task, ClassTask) else None  # no sealed number moves a row
        if task.units is not None and task.groups is not None:
            return parts(
                task, deal_groups(task.groups, [1.0 - self.test, self.test], generator(self.seed, "split"), strata) == 1
            )
        return parts(task, draw(len(task), size, generator(self.seed, "split"), strata))
