"""Mean Poisson deviance: the weighted mean of 2 (y ln(y / ŷ) − y + ŷ), for counts and rates.

y ln(y / ŷ) is 0 where y is. Predictions have to be above 0: a candidate with others has no score. Source: McCullagh & Nelder
(1989).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import xlogy

from modelsel.core.types import NUMBER_TASKS, Floats, Outputs, Resampling, Task
from modelsel.measure.base import FROM_0, OverRows


@dataclass(frozen=True)
class PoissonDeviance(OverRows):
    """Lower is better; from 0.

    >>> from modelsel.core.types import NumberOutputs
    >>> PoissonDeviance().losses(np.array([0.0, 2.0]), NumberOutputs(np.array([[1.0, 2.0]])), 0).tolist()
    [[2.0, 0.0]]
    """

    between = FROM_0
    reads = NUMBER_TASKS

    def problems(self, task: Task, resampling: Resampling) -> Iterator[str]:
        if negative := int((task.target < 0).sum()):
            yield f"poisson_deviance is one of counts, and the target is below 0 in {negative} rows"

    def losses(self, truth: Floats, outputs: Outputs, classes: int) -> Floats:
        said = np.where(outputs.predicted > 0, outputs.predicted, np.nan)
        return np.asarray(2.0 * (xlogy(truth, truth / said) - truth + said))
