"""The heterogeneous Euclidean-overlap metric, for numbers and names together.

    d(x, y) = sqrt(Σ t_f²),   t_f = |x_f − y_f| / (max_f − min_f) for numbers, 0 or 1 for names, 1 where either is missing

The ranges are those of the analysis rows; a row outside them may differ by more than 1.
Source: Wilson & Martinez (1997), Journal of Artificial Intelligence Research 6.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from modelsel.core.types import Integers, Table, Task
from modelsel.distance.base import FittedDistance
from modelsel.distance.scale import minkowski_metric


@dataclass(frozen=True)
class Heom:
    """Its scale is part of its definition: `normalise` changes nothing."""

    own_scale: ClassVar[bool] = True

    def problems(self, task: Table | None = None) -> Iterable[str]:
        return ()

    def fit(self, task: Task, rows: Integers, normalise: str) -> FittedDistance:
        return minkowski_metric(task, rows, "range", power=2.0)
