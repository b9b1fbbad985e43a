"""Recall (sensitivity) of a class: the share of its rows that are predicted as it, N_ii / N_i·.

Not defined (NaN) for a class without rows; the mean over classes leaves it out, so that the plain mean is 1 − balanced error.
Source: van Rijsbergen (1979).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from modelsel.core.types import ClassTask, Floats, Resampling
from modelsel.measure.base import SHARE, ratio
from modelsel.measure.one_class import PerClass, right, without


@dataclass(frozen=True)
class Recall(PerClass):
    """Higher is better; `positive` names the class, else the mean over classes with rows. Weighted, it is 1 − error.

    >>> import numpy as np
    >>> Recall(positive=0).of(np.array([[[8.0, 2.0], [1.0, 6.0]]])).tolist()
    [0.8]
    """

    between = SHARE

    def problems(self, task: ClassTask, resampling: Resampling) -> Iterator[str]:
        yield from super().problems(task, resampling)
        if self.positive is not None:
            yield from without("recall", self.positive, task, resampling)

    def each(self, matrices: Floats) -> Floats:
        return ratio(right(matrices), matrices.sum(axis=2), np.nan)
