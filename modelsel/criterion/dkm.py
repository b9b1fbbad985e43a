"""The impurity of Dietterich, Kearns and Mansour: 2 sqrt(p (1 − p)), steeper than entropy where one class is rare.

    i(S) = 2 sqrt(p (1 − p)),   i(S) − Σ_r |S_r|/|S| · i(S_r)

Beyond two classes: the mean of the decreases over one class against the rest, weighted by class share. Dietterich, Kearns and
Mansour 1996, *Applying the weak learning framework to understand and improve C4.5*.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from modelsel.core.types import Floats
from modelsel.criterion.base import BaseCriterion, decrease, one_against_rest, shares


def impurity(weights: Floats) -> Floats:
    """Compute the impurity of the weights of two classes (… × 2)."""
    index: Floats = 2.0 * np.sqrt(shares(weights).prod(axis=-1))
    return index


def dkm(table: Floats) -> float:
    """Compute the decrease for one branches × classes table, in loops."""
    branches, classes = table.shape
    total, mean = 0.0, 0.0
    for b in range(branches):
        for c in range(classes):
            total += table[b, c]
    for c in range(classes):
        own, others, inner = 0.0, 0.0, 0.0
        for b in range(branches):
            rest = 0.0
            for k in range(classes):
                rest += table[b, k] if k != c else 0.0
            own += table[b, c]
            others += rest
            inner += 2 * np.sqrt(table[b, c] * rest)
        mean += own / total * (2 * np.sqrt(own * others) - inner) / total
    return float(mean)


@dataclass(frozen=True)
class Dkm(BaseCriterion):
    """Decrease of 2 sqrt(p (1 − p)); a test that parts two classes wholly gains the whole impurity.

    >>> round(float(Dkm().goodness(np.array([[9.0, 0.0], [0.0, 1.0]]))), 4)
    0.6
    """

    convex: ClassVar[bool] = True
    boundary: ClassVar[bool] = True
    loop = staticmethod(dkm)

    def goodness(self, tables: Floats) -> Floats:
        return one_against_rest(lambda two: decrease(impurity, two), tables)
