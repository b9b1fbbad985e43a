"""The family between and beyond: d(x, y) = (Σ |x_f − y_f|^p)^(1/p), with p = 1 Manhattan, 2 Euclidean, ∞ Chebyshev.

Names that differ count 1, a missing value counts as the largest difference among the analysis rows.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from modelsel.core.spec import number
from modelsel.core.types import Integers, Table, Task
from modelsel.distance.base import FittedDistance
from modelsel.distance.scale import minkowski_metric


@dataclass(frozen=True)
class Minkowski:
    """Below p = 1 it would be no metric."""

    p: float = number(3.0, least=1, help="1: Manhattan, 2: Euclidean; the larger, the more the largest difference counts")

    own_scale: ClassVar[bool] = False

    def problems(self, task: Table | None = None) -> Iterable[str]:
        return ()

    def fit(self, task: Task, rows: Integers, normalise: str) -> FittedDistance:
        return minkowski_metric(task, rows, normalise, power=float(self.p))
