"""Twoing: how well two branches tell classes apart, whichever two groups of classes that makes.

    P_L P_R / 4 · (Σ_c |p(c | L) − p(c | R)|)²

Breiman, Friedman, Olshen and Stone 1984, section 4.3.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from modelsel.core.types import Floats
from modelsel.criterion.base import BaseCriterion, shares


def twoing(table: Floats) -> float:
    """Compute the twoing value of one 2 × classes table, in loops."""
    n = np.zeros(2)
    for b in range(2):
        for c in range(table.shape[1]):
            n[b] += table[b, c]
    if n[0] <= 0 or n[1] <= 0:
        return 0.0
    difference = 0.0
    for c in range(table.shape[1]):
        difference += abs(table[0, c] / n[0] - table[1, c] / n[1])
    return float(n[0] * n[1] / (n[0] + n[1]) ** 2 / 4 * difference**2)


@dataclass(frozen=True)
class Twoing(BaseCriterion):
    """Two branches only.

    >>> float(Twoing().goodness(np.array([[30.0, 10.0], [10.0, 30.0]])))
    0.0625
    """

    convex: ClassVar[bool] = True
    binary: ClassVar[bool] = True
    loop = staticmethod(twoing)

    def goodness(self, tables: Floats) -> Floats:
        """Score tables by P_L P_R / 4 (Σ |p(k|L) − p(k|R)|)²; 0 where a branch is empty."""
        weight = tables.sum(axis=-1)
        sides = weight / weight.sum(axis=-1, keepdims=True)
        p = shares(tables)
        difference = np.abs(p[..., 0, :] - p[..., 1, :]).sum(axis=-1)
        goodness: Floats = sides.prod(axis=-1) / 4 * np.square(difference)
        return np.where(weight.min(axis=-1) > 0, goodness, 0.0)
