"""Decrease of the variance: what CART's regression trees are grown by.

    i(S) = Σ (y − ȳ)² / |S|,   i(S) − Σ_r |S_r|/|S| · i(S_r) = Σ_r |S_r| (ȳ_r − ȳ)² / |S|

The Gini index is the same of classes: half the mean squared difference of two draws. Breiman, Friedman, Olshen and Stone 1984,
*Classification and regression trees*, ch. 8.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from modelsel.core.types import NUMBER_TASKS, Floats, TaskKind
from modelsel.criterion.base import BaseCriterion


def variance_decrease(weight: Floats, mean: Floats) -> Floats:
    """Decrease of the variance from weights and means of branches (… × branches).

    >>> float(variance_decrease(np.array([2.0, 2.0]), np.array([1.0, 3.0])))
    1.0
    """
    total = weight.sum(axis=-1)
    of_all = (weight * mean).sum(axis=-1) / total
    gain: Floats = (weight * np.square(mean - of_all[..., None])).sum(axis=-1) / total
    return gain


@dataclass(frozen=True)
class Variance(BaseCriterion):
    """The mean squared error that a test saves, in squares of the target's unit."""

    reads: ClassVar[tuple[TaskKind, ...]] = NUMBER_TASKS
