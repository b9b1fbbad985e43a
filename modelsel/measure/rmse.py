"""Root mean squared error: √(Σ w_i (y_i − ŷ_i)² / Σ w_i), in the target's unit, a root per fold.

A mean of roots is no root of a mean: `mse`, shown as its root, is over all rows and has standard errors and corrections.
"""

from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Floats
from modelsel.measure.base import FROM_0, OfNumbers, weighted_mean


@dataclass(frozen=True)
class Rmse(OfNumbers):
    """Lower is better; from 0."""

    between = FROM_0

    def of(self, truth: Floats, predicted: Floats, weights: Floats) -> Floats:
        return np.sqrt(weighted_mean(np.square(predicted - truth), weights))
