"""Holte's intervals of the rule 1R: each holds at least `bucket` rows of its most common class, and neighbours differ in that.

Distinct values are put together from the smallest on until a class has the weight `bucket`; values whose most common class is
the same still join, then the next interval begins. Neighbouring intervals of the same most common class (ties: the first)
become one. Before a tree of one test, on levels with a branch each (`learner=one_rule`), this is 1R. Source: Holte (1993),
*Very simple classification rules perform well on most commonly used datasets*.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from modelsel.core.spec import number
from modelsel.core.types import CLASS_TASKS, Floats, TaskKind
from modelsel.preparer.binning import Distinct, OfDistinctValues, kind_of_intervals


@dataclass(frozen=True)
class DiscretiseOneRule(OfDistinctValues):
    """Path parameters: all."""

    bucket: float = number(6.0, above=0, help="weight of the most common class that closes an interval; Holte's SMALL is 6")
    levels: str = kind_of_intervals()

    reads: ClassVar[tuple[TaskKind, ...]] = CLASS_TASKS

    def cuts(self, column: Distinct) -> Floats:
        return one_rule_cuts(column, self.bucket)


def one_rule_cuts(column: Distinct, bucket: float) -> Floats:
    """Cuts of one column.

    >>> classes = np.array([[2, 0], [2, 0], [1, 2], [0, 3], [0, 1]], float)
    >>> one_rule_cuts(Distinct(np.arange(5.0), classes), 3).tolist()
    [1.5]
    """
    starts: list[int] = []
    leaders: list[int] = []
    begin = 0
    while begin < len(column.values):
        end, leader = _close_interval(column.weights, begin, bucket)
        if not leaders or leaders[-1] != leader:
            starts.append(begin)
            leaders.append(leader)
        begin = end
    return column.between(np.array(starts[1:], np.int64))


def _close_interval(weights: Floats, begin: int, bucket: float) -> tuple[int, int]:
    """The end of the interval that begins at a value, and its most common class."""
    end, inside = begin, np.zeros(weights.shape[1])
    while end < len(weights) and inside.max() < bucket:
        inside += weights[end]
        end += 1
    leader = int(np.argmax(inside))
    while end < len(weights) and np.argmax(weights[end]) == leader:
        end += 1
    return end, leader
