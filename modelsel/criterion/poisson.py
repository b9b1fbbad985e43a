"""Decrease of the Poisson deviance: trees of counts, whose spread grows with their mean.

    D(S) = 2 Σ (y log(y/ȳ) − y + ȳ),   (D(S) − Σ_r D(S_r)) / 2|S| = Σ_r |S_r| ȳ_r log(ȳ_r/ȳ) / |S|

Numbers are at least 0. A leaf of zeros says 0, for which the deviance of a later count is infinite: `leaf.statistic=m_estimate`
draws leaves towards the mean above. Levels of a nominal feature are tried in the order of their means, which is exact as for
the variance (Chou 1991). Therneau and Atkinson 1997, *An introduction to recursive partitioning using the RPART routines*, 8.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from modelsel.core.types import NUMBER_TASKS, Floats, NumberTask, Table, TaskKind
from modelsel.criterion.base import BaseCriterion
from modelsel.tree.growing.growth import POISSON_DEVIANCE, NumberLoss


def poisson_decrease(weight: Floats, mean: Floats) -> Floats:
    """Decrease of half the mean Poisson deviance from weights and means of branches (… × branches).

    >>> round(float(poisson_decrease(np.array([2.0, 2.0]), np.array([1.0, 3.0]))), 4)  # (2·log(1/2) + 6·log(3/2)) / 4
    0.2616
    """
    total = weight.sum(axis=-1)
    of_all = ((weight * mean).sum(axis=-1) / total)[..., None]
    ratio = np.where(mean > 0, mean / np.where(of_all > 0, of_all, 1.0), 1.0)
    gain: Floats = (weight * mean * np.log(ratio)).sum(axis=-1) / total
    return gain


@dataclass(frozen=True)
class Poisson(BaseCriterion):
    """Half the mean Poisson deviance that a test saves."""

    reads: ClassVar[tuple[TaskKind, ...]] = NUMBER_TASKS

    @property
    def number_loss(self) -> NumberLoss:
        return POISSON_DEVIANCE

    def problems(self, task: Table | None = None) -> Iterable[str]:
        if isinstance(task, NumberTask):
            low = int((task.target[task.row_weights > 0] < 0).sum())
            if low:
                yield f"criterion=poisson is of numbers from 0, and {low} of the target's are below: use criterion=variance"
