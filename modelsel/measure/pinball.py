"""Pinball loss of a quantile q: q (y − ŷ) where the target is above, (1 − q)(ŷ − y) where it is below; the mean over rows.

Of all predictions the q-quantile has the least; at q = ½ it is half the absolute error. Source: Koenker & Bassett (1978).
"""

from dataclasses import dataclass

import numpy as np

from modelsel.core.spec import number
from modelsel.core.types import NUMBER_TASKS, Floats, Outputs
from modelsel.measure.base import FROM_0, OverRows


@dataclass(frozen=True)
class Pinball(OverRows):
    """Lower is better; from 0.

    >>> from modelsel.core.types import NumberOutputs
    >>> Pinball(q=0.9).losses(np.array([1.0, 2.0]), NumberOutputs(np.array([[0.0, 3.0]])), 0).round(4).tolist()
    [[0.9, 0.1]]
    """

    between = FROM_0
    q: float = number(0.5, above=0.0, most=1.0, help="the quantile that is predicted")

    reads = NUMBER_TASKS

    def losses(self, truth: Floats, outputs: Outputs, classes: int) -> Floats:
        above = truth - outputs.predicted
        return np.asarray(np.maximum(self.q * above, (self.q - 1.0) * above))
