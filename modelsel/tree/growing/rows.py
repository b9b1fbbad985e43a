"""The rows of a fit: distinct, ascending, a repeated row with a larger weight, rows without weight left out."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from modelsel.core.types import ClassTask, Codes, Floats, Integers

TABLE_ROWS = 50_000_000  # integral weights beyond this sum are treated as real numbers


@dataclass(frozen=True, eq=False)
class WeightedRows:
    """Positions in the task, and weights."""

    task: ClassTask
    rows: Integers
    weight: Floats

    @classmethod
    def of(cls, task: ClassTask, rows: Integers) -> "WeightedRows":
        """Gather the distinct rows that have weight, ascending; a repeated row gets a larger weight."""
        if task.weights is None and (rows[1:] > rows[:-1]).all():
            return cls(task, rows, np.ones(len(rows)))
        repeats = np.bincount(rows, minlength=len(task)).astype(np.float64)
        weight = repeats if task.weights is None else repeats * task.weights
        chosen = np.flatnonzero(weight > 0)
        return cls(task, chosen, weight[chosen])

    @cached_property
    def counts(self) -> Floats:
        """Weight per class."""
        weight = None if self.unit else self.weight
        counts: Floats = np.bincount(self.task.target[self.rows], weight, len(self.task.classes)).astype(np.float64)
        return counts

    @cached_property
    def integral(self) -> bool:
        return float(self.weight.sum()) <= TABLE_ROWS and (self.unit or bool((self.weight == np.floor(self.weight)).all()))

    @cached_property
    def unit(self) -> bool:
        return bool((self.weight == 1).all())

    @property
    def number(self) -> Codes:
        """The number of each data row among these, −1 where it is not."""
        number = np.full(len(self.task), -1, np.int32)
        number[self.rows] = np.arange(len(self.rows), dtype=np.int32)
        return number
