"""Gain over a power of the cost, with the gain on an exponential scale.

    (2^Gain − 1) / (Cost + 1)^w,   0 ≤ w ≤ 1

Núñez 1988, *Economic induction: a case study*; 1991, *The use of background knowledge in decision tree induction*.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from modelsel.core.spec import number, part
from modelsel.core.types import Floats, Table
from modelsel.criterion.base import BaseCriterion, PerCost
from modelsel.criterion.chi_square import ChiSquare


def economy(goodness: float, cost: float, exponent: float) -> float:
    """Compute the economy of one feature."""
    return float((2.0**goodness - 1.0) / (cost + 1.0) ** exponent)


@dataclass(frozen=True)
class Nunez(PerCost):
    """Costs are those of the task's features.

    >>> float(Nunez(w=1.0).worth(np.array(1.0), np.array(3.0)))
    0.25
    """

    gain: BaseCriterion = part("criterion", "entropy")
    w: float = number(0.5, least=0.0, most=1.0, help="0 ignores costs, 1 weighs them fully")

    worth_loop = staticmethod(economy)

    @property
    def exponent(self) -> float:
        return self.w

    def problems(self, task: Table | None = None) -> Iterable[str]:
        yield from super().problems(task)
        if isinstance(self.gain, ChiSquare):
            yield "2^gain needs a gain in bits; that of chi_square has no bound, and all strong tests would tie"

    def worth(self, goodness: Floats, cost: Floats) -> Floats:
        worth: Floats = (np.power(2.0, goodness) - 1.0) / np.power(cost + 1.0, self.w)
        return worth
