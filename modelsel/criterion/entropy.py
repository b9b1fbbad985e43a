"""Information gain: the bits about the class that a test gives.

    H(S) − Σ_r |S_r|/|S| · H(S_r),   H = −Σ_c p_c log2 p_c

Shannon 1948; Quinlan 1986, *Induction of decision trees*.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from modelsel.core.types import Floats
from modelsel.criterion.base import BaseCriterion, decrease, shares
from modelsel.kernels.layout import ENTROPY


def entropy(weights: Floats) -> Floats:
    """Entropy in bits of class weights (… × classes).

    >>> round(float(entropy(np.array([9.0, 5.0]))), 3)
    0.94
    """
    p = shares(weights)
    bits: Floats = -(p * np.log2(p, out=np.zeros_like(p), where=p > 0)).sum(axis=-1)
    return bits


def gain(table: Floats) -> float:
    """Compute the decrease of entropy for one branches × classes table, in loops."""
    branches, classes = table.shape
    total, bits = 0.0, 0.0
    for b in range(branches):
        n = 0.0
        for c in range(classes):
            if table[b, c] > 0:
                n += table[b, c]
                bits += table[b, c] * np.log2(table[b, c])
        if n > 0:
            bits -= n * np.log2(n)
        total += n
    for c in range(classes):
        n = 0.0
        for b in range(branches):
            n += table[b, c]
        if n > 0:
            bits -= n * np.log2(n)
    return float(bits + total * np.log2(total)) / total


@dataclass(frozen=True)
class Entropy(BaseCriterion):
    """Outlook on play_tennis: Sunny 2+3−, Overcast 4+0−, Rain 3+2−.

    >>> round(float(Entropy().goodness(np.array([[2.0, 3.0], [4.0, 0.0], [3.0, 2.0]]))), 6)
    0.24675
    """

    fused: ClassVar[int] = ENTROPY
    boundary: ClassVar[bool] = True
    convex: ClassVar[bool] = True
    loop = staticmethod(gain)

    def goodness(self, tables: Floats) -> Floats:
        return decrease(entropy, tables)
