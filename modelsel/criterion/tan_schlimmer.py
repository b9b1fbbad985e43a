"""Gain squared over cost: a test that costs four times as much must gain twice as much.

    Gain² / Cost

Tan and Schlimmer 1990, *Two case studies in cost-sensitive concept acquisition*.
"""

from dataclasses import dataclass

import numpy as np

from modelsel.core.spec import part
from modelsel.core.types import Floats
from modelsel.criterion.base import BaseCriterion, PerCost


def square_per_cost(goodness: float, cost: float, exponent: float) -> float:  # noqa: ARG001
    """Compute the square of the gain over the cost of one feature."""
    return goodness * goodness / cost


@dataclass(frozen=True)
class TanSchlimmer(PerCost):
    """Costs are those of the task's features.

    >>> float(TanSchlimmer().worth(np.array(0.4), np.array(2.0)))
    0.08...
    """

    gain: BaseCriterion = part("criterion", "entropy")

    worth_loop = staticmethod(square_per_cost)

    def worth(self, goodness: Floats, cost: Floats) -> Floats:
        return np.square(goodness) / cost
