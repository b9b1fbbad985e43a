"""Mean squared error: Σ w_i (y_i − ŷ_i)² / Σ w_i, in the square of the target's unit; shown as its root.

Of all predictions of a row the mean has the least. Source: Gauss (1821).
"""

from dataclasses import dataclass

import numpy as np

from modelsel.core.types import NUMBER_TASKS, Floats, Outputs
from modelsel.measure.base import FROM_0, OverRows


@dataclass(frozen=True)
class Mse(OverRows):
    """Lower is better; from 0.

    >>> from modelsel.core.types import NumberOutputs
    >>> Mse().losses(np.array([1.0, 2.0]), NumberOutputs(np.array([[1.0, 4.0]])), 0).tolist()
    [[0.0, 4.0]]
    """

    between = FROM_0
    reads = NUMBER_TASKS
    squared = True

    def losses(self, truth: Floats, outputs: Outputs, classes: int) -> Floats:
        return np.asarray(np.square(outputs.predicted - truth))
