"""F-beta: the weighted harmonic mean of precision and recall of a class, (1 + β²) N_ii / (β² N_i· + N_·i).

Recall counts β times as much as precision; β = 1 is F1. 0 for a class without a hit. Source: van Rijsbergen (1979).
"""

from dataclasses import dataclass

from modelsel.core.spec import number
from modelsel.core.types import Floats
from modelsel.measure.base import SHARE, ratio
from modelsel.measure.one_class import PerClass, right


@dataclass(frozen=True)
class FBeta(PerClass):
    """Higher is better; `positive` names the class, else the mean over classes that have rows or are predicted.

    >>> import numpy as np
    >>> FBeta(beta=2.0, positive=0).of(np.array([[[8.0, 2.0], [1.0, 6.0]]])).round(4).tolist()  # 5 · 8 / (4 · 10 + 9)
    [0.8163]
    """

    between = SHARE
    beta: float = number(2.0, above=0, help="how many times as much as precision recall counts")

    def each(self, matrices: Floats) -> Floats:
        square = self.beta**2
        below = square * matrices.sum(axis=2) + matrices.sum(axis=1)
        return ratio((1.0 + square) * right(matrices), below, 0.0)
