"""Expected cost: C_ij is paid when class i is predicted as class j, classes in the task's order.

A matrix of ones with a zero diagonal is the error rate. Source: Breiman et al. (1984, 1.5).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from modelsel.core.spec import plain
from modelsel.core.types import ClassTask, Codes, Floats, Outputs, Resampling
from modelsel.measure.base import OverRows


@dataclass(frozen=True)
class CostMatrix(OverRows):
    """Lower is better. `costs` has a row per true class and a column per predicted class."""

    costs: tuple[tuple[float, ...], ...] = plain((), help="a row per true class, a column per predicted class")

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the largest cost of a row."""
        return float(np.min(self.costs)), float(np.max(self.costs))

    def problems(self, task: ClassTask, resampling: Resampling) -> Iterator[str]:
        width = len(task.classes)
        if len(self.costs) != width or any(len(row) != width for row in self.costs):
            yield f"measure.costs must be {width} × {width}, rows and columns in the order {', '.join(task.classes)}"
        elif not np.all(np.isfinite(np.asarray(self.costs, np.float64))):
            yield "measure.costs must be finite numbers"

    def losses(self, truth: Codes, outputs: Outputs, classes: int) -> Floats:
        return np.asarray(np.asarray(self.costs, np.float64)[truth, outputs.predicted])
