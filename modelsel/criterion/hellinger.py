"""Hellinger distance between two classes over the branches of a test.

    sqrt( Σ_r ( sqrt(N_r+ / N+) − sqrt(N_r− / N−) )² ),   0 where a class is absent

It depends on how each class spreads and not on their shares. Beyond two classes: the mean over one class against the rest,
weighted by class share. Cieslak and Chawla 2008, *Learning decision trees for unbalanced data*.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from modelsel.core.types import Floats
from modelsel.criterion.base import BaseCriterion, one_against_rest


def distance(tables: Floats) -> Floats:
    """Compute the distance between the two classes of … × branches × 2 tables."""
    n = tables.sum(axis=-2, keepdims=True)
    spread = np.sqrt(np.divide(tables, n, out=np.zeros_like(tables), where=n > 0))
    square = np.square(spread[..., 0] - spread[..., 1]).sum(axis=-1)
    length: Floats = np.sqrt(square)
    return np.where(n.min(axis=(-2, -1)) > 0, length, 0.0)


def hellinger(table: Floats) -> float:
    """Compute the distance for one branches × classes table, in loops."""
    branches, classes = table.shape
    total, mean = 0.0, 0.0
    for b in range(branches):
        for c in range(classes):
            total += table[b, c]
    for c in range(classes):
        own = 0.0
        for b in range(branches):
            own += table[b, c]
        if own <= 0 or own >= total:
            continue
        square = 0.0
        for b in range(branches):
            rest = 0.0
            for k in range(classes):
                rest += table[b, k] if k != c else 0.0
            square += (np.sqrt(table[b, c] / own) - np.sqrt(rest / (total - own))) ** 2
        mean += own / total * np.sqrt(square)
    return float(mean)


@dataclass(frozen=True)
class Hellinger(BaseCriterion):
    """Hellinger distance of the branches' shares. A test that parts two classes wholly has distance √2, whatever their shares.

    >>> round(float(Hellinger().goodness(np.array([[99.0, 0.0], [0.0, 1.0]]))), 4)
    1.4142
    """

    convex: ClassVar[bool] = True
    loop = staticmethod(hellinger)

    def goodness(self, tables: Floats) -> Floats:
        return one_against_rest(distance, tables)
