"""Cohen's kappa: agreement beyond what the two margins would give by chance, (p_o − p_e) / (1 − p_e).

p_o = Σ N_ii / N, p_e = Σ N_i· N_·i / N². Not defined (NaN) where truth and prediction are one and the same single class.
Source: Cohen (1960).
"""

from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Floats
from modelsel.measure.base import FromConfusion, ratio


@dataclass(frozen=True)
class Kappa(FromConfusion):
    """Higher is better; 0 is chance."""

    between = (-1.0, 1.0)

    def of(self, matrices: Floats) -> Floats:
        total = matrices.sum(axis=(1, 2))
        observed = np.trace(matrices, axis1=1, axis2=2) * total
        chance = (matrices.sum(axis=2) * matrices.sum(axis=1)).sum(axis=1)
        return ratio(observed - chance, total * total - chance, np.nan)
