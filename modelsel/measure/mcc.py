"""Matthews correlation: the correlation of true and predicted class, Σ (N N_ii − N_i· N_·i) over the root of both variances.

The variances are N² − Σ N_i·² and N² − Σ N_·i²; 0 where one of them is 0. As sums over pairs, 2 Σ_{i<j} N_i· N_j·, they have no
differences whose rounding could make a constant prediction's variance other than 0.
Source: Matthews (1975); Gorodkin (2004) for more classes.
"""

from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Floats
from modelsel.measure.base import FromConfusion, ratio


@dataclass(frozen=True)
class Mcc(FromConfusion):
    """Higher is better; −1 … 1, 0 is chance."""

    between = (-1.0, 1.0)

    def of(self, matrices: Floats) -> Floats:
        total = matrices.sum(axis=(1, 2))
        truly, said = matrices.sum(axis=2), matrices.sum(axis=1)
        covariance = np.trace(matrices, axis1=1, axis2=2) * total - (truly * said).sum(axis=1)
        found = ratio(covariance, np.sqrt(_pairs(truly)) * np.sqrt(_pairs(said)), 0.0)
        return np.asarray(np.clip(found, *self.between))  # rounding may leave 1 + 2e-16


def _pairs(margin: Floats) -> Floats:
    """2 Σ_{i<j} N_i N_j per candidate."""
    return np.asarray(2.0 * (margin[:, 1:] * np.cumsum(margin, axis=1)[:, :-1]).sum(axis=1))
