"""Platt scaling: a logistic curve over the score, p = 1 / (1 + exp(−(a s + b))), a at least 0.

a and b are of largest likelihood for the targets (N₊ + 1) / (N₊ + 2) of positive rows and 1 / (N₋ + 2) of others, which keep
the curve from the ends; N by weight. A negative slope would turn the order of the scores around: then a is 0, and p the mean
target. Source: Platt (1999); Lin, Lin & Weng (2007).
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from modelsel.calibrator.base import ClassByClass
from modelsel.core.types import Booleans, Floats
from modelsel.statistics.logistic import logistic


@dataclass(frozen=True)
class Platt(ClassByClass):
    """Learnt are a and b; scikit-learn's `sigmoid`, where that has no negative slope.

    >>> score, positive = np.array([0.1, 0.2, 0.6, 0.9]), np.array([False, False, True, True])
    >>> learnt = Platt().parameters(score, positive, np.ones(4))
    >>> Platt().value(learnt, np.array([0.0, 0.5, 1.0])).round(2).tolist()
    [0.19, 0.55, 0.86]
    """

    reads_decisions = True

    def parameters(self, score: Floats, positive: Booleans, weights: Floats) -> Floats:
        above, below = weights[positive].sum(), weights[~positive].sum()
        target = np.where(positive, (above + 1.0) / (above + 2.0), 1.0 / (below + 2.0))
        slope, start = logistic(score[:, None], target, weights)
        if slope >= 0:
            return np.array([slope, start])
        return np.array([0.0, logit(np.average(target, weights=weights))])

    def value(self, learnt: Floats, score: Floats) -> Floats:
        return np.asarray(expit(learnt[0] * score + learnt[1]))
