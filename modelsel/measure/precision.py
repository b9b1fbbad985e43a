"""Precision of a class: the share of the rows predicted as it that are of it, N_ii / N_·i.

0 for a class that is never predicted. Source: van Rijsbergen (1979).
"""

from dataclasses import dataclass

from modelsel.core.types import Floats
from modelsel.measure.base import SHARE, ratio
from modelsel.measure.one_class import PerClass, right


@dataclass(frozen=True)
class Precision(PerClass):
    """Higher is better; `positive` names the class, else the mean over classes that have rows or are predicted.

    >>> import numpy as np
    >>> Precision(positive=1).of(np.array([[[8.0, 2.0], [1.0, 6.0]]])).tolist()
    [0.75]
    """

    between = SHARE

    def each(self, matrices: Floats) -> Floats:
        return ratio(right(matrices), matrices.sum(axis=1), 0.0)
