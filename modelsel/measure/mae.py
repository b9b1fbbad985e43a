"""Mean absolute error: Σ w_i |y_i − ŷ_i| / Σ w_i, in the target's unit.

Of all predictions of a row the median has the least. Source: Laplace (1774).
"""

from dataclasses import dataclass

import numpy as np

from modelsel.core.types import NUMBER_TASKS, Floats, Outputs
from modelsel.measure.base import FROM_0, OverRows


@dataclass(frozen=True)
class Mae(OverRows):
    """Lower is better; from 0.

    >>> from modelsel.core.types import NumberOutputs
    >>> Mae().losses(np.array([1.0, 2.0]), NumberOutputs(np.array([[1.0, 4.0]])), 0).tolist()
    [[0.0, 2.0]]
    """

    between = FROM_0
    reads = NUMBER_TASKS

    def losses(self, truth: Floats, outputs: Outputs, classes: int) -> Floats:
        return np.asarray(np.abs(outputs.predicted - truth))
