"""Isotonic regression: the rising steps that are nearest to the truth in squares, joined by straight lines between scores.

min Σ w_i (y_i − g(s_i))² over rising g; between the scores that were seen g is interpolated, beyond them it stays. It fits any
rising curve and needs rows for it: a few hundred, or it learns the noise. Source: Zadrozny & Elkan (2002); Ayer et al. (1955).
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import isotonic_regression

from modelsel.calibrator.base import ClassByClass
from modelsel.core.types import Booleans, Floats, Integers

NEAR = 1e-15  # scores that differ by less are one


@dataclass(frozen=True)
class Isotonic(ClassByClass):
    """Learnt are the corners: their scores, then their heights; scikit-learn's `isotonic`.

    >>> score, positive = np.array([0.1, 0.2, 0.3, 0.4]), np.array([False, True, False, True])
    >>> learnt = Isotonic().parameters(score, positive, np.ones(4))
    >>> Isotonic().value(learnt, np.array([0.0, 0.25, 0.35, 0.9])).round(6).tolist()
    [0.0, 0.5, 0.75, 1.0]
    """

    reads_decisions = True

    def parameters(self, score: Floats, positive: Booleans, weights: Floats) -> Floats:
        at, place = _told_apart(score)
        weight = np.bincount(place, weights)
        share = np.bincount(place, weights * positive) / weight
        height = isotonic_regression(share, weights=weight).x
        flat = np.zeros(len(at), bool)
        flat[1:-1] = (height[1:-1] == height[:-2]) & (height[1:-1] == height[2:])
        return np.concatenate([at[~flat], height[~flat]])

    def value(self, learnt: Floats, score: Floats) -> Floats:
        corners = len(learnt) // 2
        return np.asarray(np.interp(score, learnt[:corners], learnt[corners:]))


def _told_apart(score: Floats) -> tuple[Floats, Integers]:
    """The scores that there are, and which of them each row has; what is nearer than `NEAR` to the one before is the same."""
    at, place = np.unique(score, return_inverse=True)
    if not (np.diff(at) < NEAR).any():
        return at, place
    first = np.zeros(len(at), np.int64)
    for one in range(1, len(at)):
        first[one] = first[one - 1] if at[one] - at[first[one - 1]] < NEAR else one
    starts, group = np.unique(first, return_inverse=True)
    return at[starts], group[place]
