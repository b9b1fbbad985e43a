"""Beta calibration: logit p = a ln s − b ln(1 − s) + c, a and b at least 0, of largest likelihood.

A curve that can bend either way, and be the diagonal (a = b = 1, c = 0), which Platt's cannot. A coefficient that would be
negative is left out and the others are fitted again. Scores are kept from 0 and 1 by the least step of a double.
Source: Kull, Silva Filho & Flach (2017).
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from modelsel.calibrator.base import ClassByClass
from modelsel.core.types import Booleans, Floats
from modelsel.statistics.logistic import logistic

LEAST = float(np.finfo(np.float64).eps)
SUBSETS = ((0, 1), (1,), (0,))  # both terms, one, the other


@dataclass(frozen=True)
class Beta(ClassByClass):
    """Learnt are a, b and c.

    >>> score, positive = np.array([0.2, 0.4, 0.6, 0.8] * 5), np.array([0, 0, 1, 0, 0, 1, 1, 1, 0, 1] * 2, bool)
    >>> bool((Beta().parameters(score, positive, np.ones(20))[:2] >= 0).all())
    True
    """

    def parameters(self, score: Floats, positive: Booleans, weights: Floats) -> Floats:
        terms, target = _terms(score), positive.astype(np.float64)
        found = [(own, some) for own in SUBSETS if ((some := logistic(terms[:, list(own)], target, weights))[:-1] >= 0).all()]
        if not found:
            return np.array([0.0, 0.0, logit(np.average(target, weights=weights))])
        own, some = found[0] if len(found[0][0]) == 2 else max(found, key=lambda one: _likelihood(terms, target, weights, *one))
        learnt = np.zeros(3)
        learnt[[*own, 2]] = some
        return learnt

    def value(self, learnt: Floats, score: Floats) -> Floats:
        return np.asarray(expit(_terms(score) @ learnt[:2] + learnt[2]))


def _terms(score: Floats) -> Floats:
    inside = np.clip(score, LEAST, 1.0 - LEAST)
    return np.column_stack([np.log(inside), -np.log1p(-inside)])


def _likelihood(terms: Floats, target: Floats, weights: Floats, own: tuple[int, ...], learnt: Floats) -> float:
    raw = terms[:, list(own)] @ learnt[:-1] + learnt[-1]
    return float(weights @ (target * raw - np.logaddexp(0.0, raw)))
