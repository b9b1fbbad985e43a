"""Decrease of the mean pinball loss of a quantile q: trees whose leaves say that quantile.

    ρ(e) = q e for e > 0, (q − 1) e below,   i(S) = min_a Σ ρ(y − a) / |S|,   i(S) − Σ_r |S_r|/|S| · i(S_r)

a is a quantile of S. At q = ½ the trees are those of the absolute error. Levels of a nominal feature that are cut as a set are
tried in the order of their quantiles, which is not always the best of all sets. Koenker and Bassett 1978, *Regression
quantiles*; Bhat, Kumar and Vaz 2015, *Towards scalable quantile regression trees*.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from modelsel.core.spec import number
from modelsel.core.types import NUMBER_TASKS, Table, TaskKind
from modelsel.criterion.base import BaseCriterion
from modelsel.kernels.layout import PINBALL
from modelsel.tree.growing.growth import NumberLoss


@dataclass(frozen=True)
class Quantile(BaseCriterion):
    """The mean pinball loss that a test saves; leaves say the quantile unless `leaf.statistic` names another statistic."""

    q: float = number(0.5, above=0.0, most=1.0, help="share of rows below, less than 1")

    reads: ClassVar[tuple[TaskKind, ...]] = NUMBER_TASKS

    @property
    def number_loss(self) -> NumberLoss:
        return NumberLoss(PINBALL, self.q)

    def problems(self, task: Table | None = None) -> Iterable[str]:
        if self.q == 1.0:
            yield "criterion.q is the share of rows below a quantile: above 0 and below 1"
