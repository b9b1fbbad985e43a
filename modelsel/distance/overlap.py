"""Overlap distance, the number of features that differ: d(x, y) = Σ [x_f ≠ y_f].

Numbers are compared for equality too; a missing value differs from everything.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from modelsel.core.types import Integers, Table, Task
from modelsel.distance.base import NAME, FittedDistance


@dataclass(frozen=True)
class Overlap:
    """For nominal features. Distances are whole numbers, so that most of them are ties."""

    own_scale: ClassVar[bool] = True

    def problems(self, task: Table | None = None) -> Iterable[str]:
        return ()

    def fit(self, task: Task, rows: Integers, normalise: str) -> FittedDistance:
        ones = np.ones(len(task.features))
        kinds, sizes = np.full(len(ones), NAME, np.int8), np.zeros(len(ones), np.int64)
        return FittedDistance(kinds, center=0 * ones, scale=ones, missing=ones, sizes=sizes, power=1.0, rounded=False)
