"""Specificity of a class: the share of the rows of other classes that are not predicted as it.

1 − Σ_{i≠c} N_ic / Σ_{i≠c} N_i·. Not defined (NaN) for a class that has all rows; the mean over classes leaves it out.
With two classes the specificity of one is the recall of the other. Source: Yerushalmy (1947).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from modelsel.core.types import ClassTask, Floats, Resampling
from modelsel.measure.base import SHARE, ratio
from modelsel.measure.one_class import PerClass, only_one_class


@dataclass(frozen=True)
class Specificity(PerClass):
    """Higher is better; `positive` names the class, else the mean over classes that have rows or are predicted.

    >>> import numpy as np
    >>> Specificity(positive=1).of(np.array([[[8.0, 2.0], [1.0, 6.0]]])).tolist()
    [0.8]
    """

    between = SHARE

    def problems(self, task: ClassTask, resampling: Resampling) -> Iterator[str]:
        yield from super().problems(task, resampling)
        yield from only_one_class("specificity", task, resampling)

    def each(self, matrices: Floats) -> Floats:
        classes = np.arange(matrices.shape[1])
        wrongly, rows = np.zeros(matrices.shape[:2]), np.zeros(matrices.shape[:2])
        for one in classes:  # one class after the other, so that a candidate's sums do not depend on those beside it;
            others = classes != one  # and sums over other classes, not differences: 0 is 0 whatever the weights
            wrongly += np.where(others, matrices[:, one], 0.0)
            rows += np.where(others, matrices[:, one].sum(axis=1, keepdims=True), 0.0)
        return 1.0 - ratio(wrongly, rows, np.nan)
