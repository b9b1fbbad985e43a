"""Balanced error: the mean over classes of the share of the class that is misclassified; rare classes count as much as others.

BER = 1 − (1/K) Σ_i N_ii / N_i·, over the K classes with rows.
"""

from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Floats
from modelsel.measure.base import SHARE, FromConfusion, ratio


@dataclass(frozen=True)
class BalancedError(FromConfusion):
    """Lower is better; predicting one class always gives 1 − 1/K."""

    between = SHARE
    higher_is_better = False

    def of(self, matrices: Floats) -> Floats:
        rows = matrices.sum(axis=2)
        recall = ratio(np.einsum("cii->ci", matrices).copy(), rows, 0.0)
        return 1.0 - ratio(recall.sum(axis=1), (rows > 0).sum(axis=1).astype(np.float64), np.nan)
