"""Decrease of the error rate of predicting the majority.

    i(S) = 1 − max_c p_c,   i(S) − Σ_r |S_r|/|S| · i(S_r)

Concave but not strictly: many tests tie, often at zero. Breiman, Friedman, Olshen and Stone 1984, section 4.1.
"""

from dataclasses import dataclass
from typing import ClassVar

from modelsel.core.types import Floats
from modelsel.criterion.base import BaseCriterion, decrease, shares


def error_rate(weights: Floats) -> Floats:
    """Share of the classes that are not the largest (… × classes)."""
    rate: Floats = 1.0 - shares(weights).max(axis=-1)
    return rate


def gain(table: Floats) -> float:
    """Decrease of the error rate for one branches × classes table, in loops."""
    branches, classes = table.shape
    right, total, whole = 0.0, 0.0, 0.0
    for b in range(branches):
        most = 0.0
        for c in range(classes):
            most = max(most, table[b, c])
            total += table[b, c]
        right += most
    for c in range(classes):
        n = 0.0
        for b in range(branches):
            n += table[b, c]
        whole = max(whole, n)
    return (right - whole) / total


@dataclass(frozen=True)
class Misclassification(BaseCriterion):
    """Raschka's example: both splits of (40, 40) look alike to it.

    >>> import numpy as np
    >>> Misclassification().goodness(np.array([[[30.0, 10.0], [10.0, 30.0]], [[20.0, 40.0], [20.0, 0.0]]]))
    array([0.25, 0.25])
    """

    convex: ClassVar[bool] = True
    loop = staticmethod(gain)

    def goodness(self, tables: Floats) -> Floats:
        return decrease(error_rate, tables)
