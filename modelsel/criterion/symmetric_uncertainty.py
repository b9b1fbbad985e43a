"""Symmetric uncertainty: what branch and class tell of each other, as a share of what there is to know.

    2 I(a, c) / (E(a) + E(c)),   0 where both entropies are 0

Press, Teukolsky, Vetterling and Flannery 1988, *Numerical recipes in C*, section 14.4.
"""

from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Floats
from modelsel.criterion.base import BaseCriterion
from modelsel.criterion.entropy import entropy


def uncertainty(table: Floats) -> float:
    """Compute the symmetric uncertainty of one branches × classes table, in loops."""
    branches, classes = table.shape
    total, joint, rows, columns = 0.0, 0.0, 0.0, 0.0
    for b in range(branches):
        n = 0.0
        for c in range(classes):
            n += table[b, c]
            if table[b, c] > 0:
                joint += table[b, c] * np.log2(table[b, c])
        if n > 0:
            rows += n * np.log2(n)
        total += n
    for c in range(classes):
        n = 0.0
        for b in range(branches):
            n += table[b, c]
        if n > 0:
            columns += n * np.log2(n)
    whole = total * np.log2(total)
    known = 2 * whole - rows - columns
    return float(2 * (joint + whole - rows - columns) / known) if known > 1e-12 * total else 0.0


@dataclass(frozen=True)
class SymmetricUncertainty(BaseCriterion):
    """Symmetric uncertainty of test and class; 1 for a perfect test.

    >>> float(SymmetricUncertainty().goodness(np.array([[5.0, 0.0], [0.0, 5.0]])))
    1.0
    """

    loop = staticmethod(uncertainty)

    def goodness(self, tables: Floats) -> Floats:
        """Score tables by 2 (H(class) + H(branch) − H(both)) / (H(class) + H(branch)); 0 where both are known."""
        of_class, of_branch = entropy(tables.sum(axis=-2)), entropy(tables.sum(axis=-1))
        joint = entropy(tables.reshape(*tables.shape[:-2], -1))
        known = of_class + of_branch
        share: Floats = np.divide(2 * (known - joint), known, out=np.zeros_like(known), where=known > 1e-12)
        return share
