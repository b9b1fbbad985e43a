"""Quantiles of absolute errors, bounded by counts on a grid of errors that is fixed before any sealed number is read.

    ξ_q = inf {e : P(|y − ŷ| ≤ e) ≥ q}

The grid has 24 values a decade (steps of a tenth), in two digits, from a hundredth of its end up to it. A row is also off when
its error exceeds the tolerance, which the same look counts (specification of a study: `guard.beside`).
"""

from dataclasses import dataclass
from math import ceil, floor, log10

import numpy as np

from modelsel.core.types import NUMBER_TASKS, Outputs
from modelsel.measure.within import Within

STEPS, DECADES = 24, 2  # values of the grid for each power of ten, and powers


@dataclass(frozen=True)
class ErrorQuantiles(Within):
    """The share of rows that are off, as `within`; beside it some quantiles of the absolute error.

    Examples
    --------
    >>> from modelsel.core.types import NumberOutputs
    >>> half = ErrorQuantiles(tolerance=1.0, end=2.0, quantiles=(0.5,))
    >>> half.grid[:3], half.grid[-3:], len(half.grid)
    ((0.022, 0.024, 0.026), (1.6, 1.8, 2.0), 48)
    >>> half.within(np.array([1.0, 2.0, 3.0]), NumberOutputs(np.array([[1.02, 3.7, 9.0]])))[-3:]
    (1, 2, 2)
    """

    end: float = 1.0
    quantiles: tuple[float, ...] = (0.5,)
    kind: str = "error_quantiles"

    reads = NUMBER_TASKS

    @property
    def grid(self) -> tuple[float, ...]:
        """The values of the absolute error at which rows are counted, ascending."""
        first, last = ceil(STEPS * (log10(self.end) - DECADES) - 1e-9), floor(STEPS * log10(self.end) + 1e-9)
        values = (float(f"{10 ** (step / STEPS):.1e}") for step in range(first, last + 1))
        return (*sorted({value for value in values if value < self.end}), self.end)

    def within(self, truth: object, outputs: Outputs) -> tuple[int, ...]:
        """How many rows the first candidate misses by at most each value of the grid."""
        away = np.sort(np.abs(outputs.predicted[0] - truth))
        return tuple(np.searchsorted(away, self.grid, "right").tolist())
