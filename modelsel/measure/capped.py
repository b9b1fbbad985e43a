"""An error of numbers counted at most so much, which has an interval on sealed rows as an error itself has not.

    loss_i = min(|y_i − ŷ_i|, b)^p        p = 1: mean absolute error; p = 2: mean squared error, shown as its root

The cap b is fixed before any sealed number is read: from development targets (specification of a study: `guard.cap`). A row
is also off when its error exceeds the tolerance, which the same look counts; how many rows exceed the cap is counted too.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import NUMBER_TASKS, Booleans, Floats, Outputs
from modelsel.measure.base import OverRows


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
