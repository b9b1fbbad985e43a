"""An error of numbers counted at most so much, which has an interval on sealed rows as an error itself has not.

    loss_i = min(|y_i − ŷ_i|, b)^p        p = 1: mean absolute error; p = 2: mean squared error, shown as its root

The cap b is fixed before any sealed number is read: from development targets (specification of a study: `guard.cap`). A row
is also off when its error exceeds the tolerance, which the same look counts; how many rows exceed the cap is counted too.
"""

from dataclasses import dataclass
from math import ceil, floor, log10
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import NUMBER_TASKS, Booleans, Floats, Outputs
from modelsel.measure.base import OverRows
from modelsel.measure.within import Within


@dataclass(frozen=True)
class CappedError(OverRows):
    """The mean of capped errors, to a power; `tolerance` is that of the rows that are counted beside it.

    Examples
    --------
    >>> from modelsel.core.types import NumberOutputs
    >>> capped = CappedError(tolerance=1.0, cap=3.0, power=2)
    >>> said = NumberOutputs(np.array([[1.0, 4.0, 20.0]]))
    >>> capped.losses(np.array([1.0, 2.0, 3.0]), said, 0).tolist(), capped.off(np.array([1.0, 2.0, 3.0]), said).tolist()
    ([[0.0, 4.0, 9.0]], [False, True, True])
    """

    reads = NUMBER_TASKS
    tolerance: float
    cap: float
    power: int = 1
    kind: str = "capped"

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the largest loss of a row."""
        return 0.0, self.cap**self.power

    def losses(self, truth: Any, outputs: Outputs, classes: int) -> Floats:
        """Capped errors to the power, candidates × rows."""
        return np.asarray(np.minimum(np.abs(outputs.predicted - truth), self.cap) ** self.power, np.float64)

    def off(self, truth: NDArray[np.generic], outputs: Outputs) -> Booleans:
        """Mask the rows that the first candidate misses by more than the tolerance."""
        return np.asarray(np.abs(outputs.predicted[0] - truth) > self.tolerance)

    def beyond(self, truth: NDArray[np.generic], outputs: Outputs) -> Booleans:
        """Mask the rows that the first candidate misses by more than the cap."""
        return np.asarray(np.abs(outputs.predicted[0] - truth) > self.cap)


# Quantiles of absolute errors, bounded by counts on a grid of errors that is fixed before any sealed number is read.
#
#     ξ_q = inf {e : P(|y − ŷ| ≤ e) ≥ q}
#
# The grid has 24 values a decade (steps of a tenth), in two digits, from a hundredth of its end up to it. A row is also off
# when its error exceeds the tolerance, which the same look counts (specification of a study: `guard.beside`).


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
        """Count the rows that the first candidate misses by at most each value of the grid."""
        away = np.sort(np.abs(outputs.predicted[0] - truth))
        return tuple(np.searchsorted(away, self.grid, "right").tolist())
