"""The simplest candidate within one standard error of the best: cost ≤ cost(best) + c · se(best).

The standard error is the best candidate's own. Source: Breiman, Friedman, Olshen & Stone (1984, 3.4.3).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from modelsel.core.spec import number, one_of
from modelsel.core.types import Resampling, Scoreboard, round_to_scale
from modelsel.rule import base as simplest_module


@dataclass(frozen=True)
class OneStandardError(simplest_module.BaseRule):
    """Moves only among candidates whose complexity has the best one's unit.

    Raises ValueError where the best candidate has no standard error (a single fold of a measure that is not a mean over rows).
    """

    errors: float = number(1.0, least=0, help="how many standard errors; 1 is the rule of Breiman et al.")
    across: str = one_of("unit", "bits", help="compare within the best one's unit, or code lengths of learners that give bits")

    needs_se = True
    limit_grows = False  # a better candidate may have a larger standard error

    @property
    def needs_unit(self) -> str | None:
        """The unit in which every candidate has to give its complexity."""
        return "bits" if self.across == "bits" else None

    def problems(self, resampling: Resampling, over_rows: bool) -> Iterator[str]:
        """Yield why this scheme gives no standard error."""
        yield from super().problems(resampling, over_rows)
        if not over_rows and len(resampling.folds) == resampling.repeats:
            yield (
                "one_standard_error needs a standard error, and single folds of a measure that is not a mean over rows give "
                "none: use several folds, or measure=error"
            )

    def choose(self, board: Scoreboard) -> int:
        """Choose the simplest candidate whose cost is within so many standard errors of the best one's."""
        board = self.feasible(board)
        first = simplest_module.best(board)
        se = float(board.se[first])
        if not np.isfinite(se):
            raise ValueError("one_standard_error needs a standard error, and this scheme and measure give none")
        if self.needs_unit and any(unit != self.needs_unit for unit in board.unit):
            raise ValueError(f"rule.across=bits needs every candidate's complexity in {self.needs_unit}")
        cost = board.cost
        return simplest_module.simplest(board, cost <= board.rounded(cost[first] + self.errors * se), board.unit[first])

    def limit(self, cost: float, se: float, scale: float = 1.0) -> float:
        """The greatest cost that can win where the least is `cost`, with its standard error."""
        return float(round_to_scale(cost + self.errors * se, scale))
