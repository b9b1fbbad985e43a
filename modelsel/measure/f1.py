"""F1: the harmonic mean of precision and recall of a class, 2 N_ii / (N_i· + N_·i).

0 for a class that is neither predicted rightly nor has rows but is predicted; a class without rows and predictions counts
nothing. Source: van Rijsbergen (1979).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from modelsel.core.spec import one_of, whole
from modelsel.core.types import ClassTask, Floats, Resampling
from modelsel.measure.base import SHARE, FromConfusion, ratio


@dataclass(frozen=True)
class F1(FromConfusion):
    """Higher is better."""

    between = SHARE
    average: str = one_of("macro", "weighted", help="mean over classes: plain, or by class share")
    positive: int | None = whole(None, least=0, help="index of the one class that counts; none: the mean over classes")

    def problems(self, task: ClassTask, resampling: Resampling) -> Iterator[str]:
        if self.positive is not None and self.positive >= len(task.classes):
            yield f"measure.positive={self.positive}: the task has classes 0 to {len(task.classes) - 1}"

    def of(self, matrices: Floats) -> Floats:
        truly, said = matrices.sum(axis=2), matrices.sum(axis=1)
        each = ratio(2.0 * np.einsum("cii->ci", matrices), truly + said, 0.0)
        if self.positive is not None:
            return np.asarray(each[:, self.positive])
        weight = truly if self.average == "weighted" else (truly + said > 0).astype(np.float64)
        return ratio((each * weight).sum(axis=1), weight.sum(axis=1), np.nan)
