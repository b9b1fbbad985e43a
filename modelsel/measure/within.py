"""Share of rows off by more than a tolerance: the weighted mean of 1 where |y − ŷ| > t, else 0.

It is to numbers what the error rate is to classes: a count of rows, however far off they are.
"""

from dataclasses import dataclass

import numpy as np

from modelsel.core.spec import number
from modelsel.core.types import NUMBER_TASKS, Floats, Outputs
from modelsel.measure.base import SHARE, OverRows


@dataclass(frozen=True)
class Within(OverRows):
    """Lower is better; 0 … 1.

    >>> from modelsel.core.types import NumberOutputs
    >>> Within(tolerance=1.0).losses(np.array([1.0, 2.0]), NumberOutputs(np.array([[2.0, 4.0]])), 0).tolist()
    [[0.0, 1.0]]
    """

    between = SHARE
    tolerance: float = number(1.0, least=0.0, help="in the target's unit: a row is off when its error exceeds it")

    reads = NUMBER_TASKS
    zero_one = True

    def losses(self, truth: Floats, outputs: Outputs, classes: int) -> Floats:
        return np.asarray(np.abs(outputs.predicted - truth) > self.tolerance, np.float64)
