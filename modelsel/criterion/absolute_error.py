"""Decrease of the mean absolute error: trees whose leaves say medians, which few rows far off do not move.

    i(S) = min_a Σ |y − a| / |S|,   i(S) − Σ_r |S_r|/|S| · i(S_r)

a is a median of S. Levels of a nominal feature that are cut as a set are tried in the order of their medians, which is not
always the best of all sets. Breiman, Friedman, Olshen and Stone 1984, *Classification and regression trees*, 8.11.
"""

from dataclasses import dataclass
from typing import ClassVar

from modelsel.core.types import NUMBER_TASKS, TaskKind
from modelsel.criterion.base import BaseCriterion
from modelsel.tree.growing.growth import ABSOLUTE_ERROR, NumberLoss


@dataclass(frozen=True)
class AbsoluteError(BaseCriterion):
    """The mean absolute error that a test saves; leaves say the median unless `leaf.statistic` names another."""

    reads: ClassVar[tuple[TaskKind, ...]] = NUMBER_TASKS

    @property
    def number_loss(self) -> NumberLoss:
        return ABSOLUTE_ERROR
