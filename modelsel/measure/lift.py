"""Lift at a share: how many times as many rows of a class are among the top share by score as in as many rows at random.

lift = (weight of positive rows in the top share / weight of positive rows) / share. Guesses have 1; at most min(1 / share,
1 / class share). Of the rows of equal score across the limit the part that fits is taken, whatever the order of rows.
"""

from dataclasses import dataclass

import numpy as np

from modelsel.core.spec import number
from modelsel.core.types import Booleans, Floats
from modelsel.measure.base import FROM_0, ratio
from modelsel.measure.one_class import OneAgainstRest
from modelsel.statistics.auc import SortedScores


@dataclass(frozen=True)
class Lift(OneAgainstRest):
    """Higher is better; 1 is chance.

    >>> from modelsel.core.types import Outputs
    >>> scores = np.array([0.9, 0.8, 0.7, 0.6])
    >>> outputs = Outputs(np.zeros((1, 4), np.int32), np.stack([1 - scores, scores], axis=-1)[None])
    >>> Lift(share=0.25).score(np.array([1, 0, 1, 0], np.int32), outputs, None, 2).tolist()  # 1 of 2 in a quarter of the rows
    [2.0]
    """

    between = FROM_0
    share: float = number(0.1, above=0, most=1, help="share of the rows, by weight, that is taken from the top")

    def of(self, falling: SortedScores, positive: Booleans, weights: Floats) -> Floats:
        each = weights[falling.order]
        plus = np.where(positive, weights, 0.0)[falling.order]
        upto = np.cumsum(each, axis=-1)
        end = np.take_along_axis(upto, falling.last, axis=-1)
        start = np.take_along_axis(upto - each, falling.first, axis=-1)
        part = np.clip(ratio(self.share * upto[..., -1:] - start, end - start, 0.0), 0.0, 1.0)
        return np.asarray((plus * part).sum(axis=-1) / plus.sum(axis=-1) / self.share)
