"""Error rate (0/1 loss): the weighted share of rows whose predicted class is not the true one."""

from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Codes, Floats, Outputs
from modelsel.measure.base import SHARE, OverRows


@dataclass(frozen=True)
class Error(OverRows):
    """Lower is better; 0 … 1."""

    between = SHARE
    zero_one = True

    def losses(self, truth: Codes, outputs: Outputs, classes: int) -> Floats:
        return np.asarray(np.not_equal(outputs.predicted, truth), np.float64)
