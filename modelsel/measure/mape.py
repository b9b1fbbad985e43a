"""Mean absolute percentage error: the weighted mean of |y_i − ŷ_i| / max(|y_i|, ε), ε the smallest step above 1.

A share, not a percentage, as scikit-learn has it. It is huge where the target is near 0. Source: de Myttenaere et al. (2016).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from modelsel.core.types import NUMBER_TASKS, Floats, Outputs, Resampling, Task
from modelsel.measure.base import FROM_0, OverRows


@dataclass(frozen=True)
class Mape(OverRows):
    """Lower is better; from 0.

    >>> from modelsel.core.types import NumberOutputs
    >>> Mape().losses(np.array([2.0, 4.0]), NumberOutputs(np.array([[1.0, 5.0]])), 0).tolist()
    [[0.5, 0.25]]
    """

    between = FROM_0
    reads = NUMBER_TASKS

    def problems(self, task: Task, resampling: Resampling) -> Iterator[str]:
        if zeros := int((task.target == 0).sum()):
            yield f"mape divides by the target, which is 0 in {zeros} rows: use measure=mae"

    def losses(self, truth: Floats, outputs: Outputs, classes: int) -> Floats:
        return np.asarray(np.abs(outputs.predicted - truth) / np.maximum(np.abs(truth), np.finfo(np.float64).eps))
