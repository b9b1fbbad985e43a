"""Average precision: the mean, over the rows of a class, of the precision at their score, with no interpolation.

AP = Σ_{i positive} w_i P(s_i) / Σ_{i positive} w_i, P(s) the share, by weight, of positive rows among those of score ≥ s.
Guesses have about the class's share. Not defined (NaN) without rows of the class.
"""

from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Booleans, Floats
from modelsel.measure.base import SHARE, ratio
from modelsel.measure.one_class import OneAgainstRest
from modelsel.statistics.auc import SortedScores


@dataclass(frozen=True)
class AveragePrecision(OneAgainstRest):
    """Higher is better; rows of equal score enter together.

    >>> from modelsel.core.types import Outputs
    >>> scores = np.array([0.9, 0.8, 0.7, 0.6])
    >>> outputs = Outputs(np.zeros((1, 4), np.int32), np.stack([1 - scores, scores], axis=-1)[None])
    >>> AveragePrecision().score(np.array([1, 0, 1, 0], np.int32), outputs, None, 2).round(4).tolist()  # (1 + 2/3) / 2
    [0.8333]
    """

    between = SHARE

    def of(self, falling: SortedScores, positive: Booleans, weights: Floats) -> Floats:
        plus = np.where(positive, weights, 0.0)[falling.order]
        found = np.take_along_axis(np.cumsum(plus, axis=-1), falling.last, axis=-1)
        taken = np.take_along_axis(np.cumsum(weights[falling.order], axis=-1), falling.last, axis=-1)
        return np.asarray((plus * ratio(found, taken, 0.0)).sum(axis=-1) / plus.sum(axis=-1))
