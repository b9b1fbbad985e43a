"""The straight line: d(x, y) = sqrt(Σ (x_f − y_f)²).

Names that differ count 1, a missing value counts as the largest difference among the analysis rows.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from modelsel.core.types import Integers, Table, Task
from modelsel.distance.base import FittedDistance
from modelsel.distance.scale import minkowski_metric


@dataclass(frozen=True)
class Euclidean:
    """Minkowski's distance with p = 2. Without `normalise`, the feature with the largest unit decides alone."""

    own_scale: ClassVar[bool] = False

    def problems(self, task: Table | None = None) -> Iterable[str]:
        return ()

    def fit(self, task: Task, rows: Integers, normalise: str) -> FittedDistance:
        return minkowski_metric(task, rows, normalise, power=2.0)
