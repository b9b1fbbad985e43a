"""The simplest candidate whose mean score is within p per cent of the best one's."""

from dataclasses import dataclass

from modelsel.core.spec import number
from modelsel.core.types import Scoreboard, round_to_scale
from modelsel.rule import base as simplest_module


@dataclass(frozen=True)
class WithinPercent(simplest_module.BaseRule):
    """`percent` of the best mean itself: 5 % of an error of .20 is .01. Moves only within the best one's unit of complexity."""

    percent: float = number(5.0, least=0, help="tolerated loss, in per cent of the best mean score")

    @property
    def limit_grows(self) -> bool:
        """True where a lower least cost means a lower limit: not for costs below 0 with more than 100 per cent."""
        return self.percent <= 100

    def choose(self, board: Scoreboard) -> int:
        """Choose the simplest candidate whose cost is within so many per cent of the best one's."""
        board = self.feasible(board)
        first = simplest_module.best(board)
        cost = board.cost
        limit = cost[first] + abs(cost[first]) * self.percent / 100.0
        return simplest_module.simplest(board, cost <= board.rounded(limit), board.unit[first])

    def limit(self, cost: float, se: float, scale: float = 1.0) -> float:
        """The greatest cost that can win where the least is `cost`, with its standard error."""
        return float(round_to_scale(cost + abs(cost) * self.percent / 100.0, scale))
