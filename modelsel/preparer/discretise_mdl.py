"""Entropy-based discretisation with the minimum description length principle (Fayyad & Irani 1993): see `binning.mdl_cuts`.

It reads the classes, so that cuts made on all rows would leak: here they are made on analysis rows only.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from modelsel.core.spec import kind_of
from modelsel.core.types import CLASS_TASKS, Floats, Integers, Task, TaskKind
from modelsel.preparer.binning import (
    Binned,
    DistinctValues,
    OfDistinctValues,
    distinct_columns,
    kind_of_intervals,
    mdl_cuts,
    per_column,
)


@dataclass(frozen=True)
class DiscretiseMdl(OfDistinctValues):
    """A column without an accepted cut becomes one interval, `all`: it tells nothing about the class by itself."""

    levels: str = kind_of_intervals()

    reads: ClassVar[tuple[TaskKind, ...]] = CLASS_TASKS

    def fit_path(self, task: Task, rows: Integers, rng: np.random.Generator) -> "MdlCuts":
        return MdlCuts(task.features, distinct_columns(task, rows))


@dataclass(frozen=True, eq=False)
class MdlCuts(DistinctValues):
    """Distinct values whose cuts are looked for once, whatever the intervals become."""

    @cached_property
    def accepted(self) -> dict[int, Floats]:
        """The accepted cuts per numeric column."""
        return {column: mdl_cuts(own) for column, own in self.columns.items()}

    def prepared(self, preparer: OfDistinctValues) -> Binned:
        """The cuts as intervals of the preparer's kind."""
        return Binned(kind_of(preparer), per_column(self.features, self.accepted.items()), preparer.levels)
