"""Gini index: the chance that two draws from a node differ in class; goodness is its decrease.

    i(S) = 1 − Σ_c p_c²,   i(S) − Σ_r |S_r|/|S| · i(S_r)

Breiman, Friedman, Olshen and Stone 1984, *Classification and regression trees*.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from modelsel.core.types import Floats
from modelsel.criterion.base import BaseCriterion, decrease, shares
from modelsel.kernels.layout import GINI


def gini(weights: Floats) -> Floats:
    """Gini index of class weights (… × classes).

    >>> float(gini(np.array([1.0, 1.0])))
    0.5
    """
    index: Floats = 1.0 - np.square(shares(weights)).sum(axis=-1)
    return index


def gain(table: Floats) -> float:
    """Decrease of the index for one branches × classes table, in loops."""
    branches, classes = table.shape
    total, inner, whole = 0.0, 0.0, 0.0
    for b in range(branches):
        n, squares = 0.0, 0.0
        for c in range(classes):
            n += table[b, c]
            squares += table[b, c] * table[b, c]
        if n > 0:
            inner += squares / n
        total += n
    for c in range(classes):
        n = 0.0
        for b in range(branches):
            n += table[b, c]
        whole += n * n
    return (inner - whole / total) / total


@dataclass(frozen=True)
class Gini(BaseCriterion):
    """Raschka's example: (40, 40) into (20, 40) and (20, 0).

    >>> round(float(Gini().goodness(np.array([[20.0, 40.0], [20.0, 0.0]]))), 4)
    0.1667
    """

    fused: ClassVar[int] = GINI
    boundary: ClassVar[bool] = True
    convex: ClassVar[bool] = True
    loop = staticmethod(gain)

    def goodness(self, tables: Floats) -> Floats:
        return decrease(gini, tables)
