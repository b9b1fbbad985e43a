"""The largest difference decides: d(x, y) = max |x_f − y_f|.

Names that differ count 1, a missing value counts as the largest difference among the analysis rows.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from modelsel.core.types import Integers, Table, Task
from modelsel.distance.base import FittedDistance
from modelsel.distance.scale import minkowski_metric


@dataclass(frozen=True)
class Chebyshev:
    """Minkowski's distance with p → ∞. With one nominal feature most distances are ties at 1."""

    own_scale: ClassVar[bool] = False

    def problems(self, task: Table | None = None) -> Iterable[str]:
        return ()

    def fit(self, task: Task, rows: Integers, normalise: str) -> FittedDistance:
        return minkowski_metric(task, rows, normalise, power=np.inf)
