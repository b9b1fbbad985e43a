"""Measures of one class against the rest from the confusion matrix, and their mean over classes.

A class counts where it has rows or is predicted, and where the measure is defined for it; NaN when none counts.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from modelsel.core.spec import one_of, whole
from modelsel.core.types import Floats, Resampling, Task
from modelsel.measure.base import FromConfusion, ratio
from modelsel.measure.positive import out_of_range


@dataclass(frozen=True)
class PerClass(FromConfusion):
    """Higher is better. `each` is what a new one has to say."""

    average: str = one_of("macro", "weighted", help="mean over classes: plain, or by class share")
    positive: int | None = whole(None, least=0, help="index of the one class that counts; none: the mean over classes")

    def problems(self, task: Task, resampling: Resampling) -> Iterator[str]:
        yield from out_of_range(self.positive, task)

    def each(self, matrices: Floats) -> Floats:
        """Candidates × classes, from candidates × true class × predicted class; NaN where not defined."""
        raise NotImplementedError

    def of(self, matrices: Floats) -> Floats:
        each = self.each(matrices)
        if self.positive is not None:
            return np.asarray(each[:, self.positive])
        truly, said = matrices.sum(axis=2), matrices.sum(axis=1)
        weight = truly if self.average == "weighted" else (truly + said > 0).astype(np.float64)
        weight = np.where(np.isnan(each), 0.0, weight)
        return ratio((np.nan_to_num(each) * weight).sum(axis=1), weight.sum(axis=1), np.nan)


def right(matrices: Floats) -> Floats:
    """N_ii, candidates × classes."""
    return np.asarray(np.einsum("cii->ci", matrices).copy())
