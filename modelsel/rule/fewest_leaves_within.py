"""The tree of fewest leaves whose mean score is within a margin of the best candidate's, whatever kind that is."""

from dataclasses import dataclass

import numpy as np

from modelsel.core.spec import number
from modelsel.core.types import Scoreboard, round_to_scale
from modelsel.rule import base as simplest_module


@dataclass(frozen=True)
class FewestLeavesWithin(simplest_module.BaseRule):
    """`margin` in units of the score. When no tree is within it, the best candidate is chosen."""

    margin: float = number(0.01, least=0, help="tolerated loss, in units of the score")

    limit_grows = True  # with the least cost

    def choose(self, board: Scoreboard) -> int:
        """Choose the tree of fewest leaves within the margin; the best candidate where no tree is."""
        board = self.feasible(board)
        first = simplest_module.best(board)
        cost = board.cost
        trees = np.array([unit == "leaves" for unit in board.unit])
        near = trees & (cost <= board.rounded(cost[first] + self.margin))
        return simplest_module.simplest(board, near, "leaves") if near.any() else first

    def limit(self, cost: float, se: float, scale: float = 1.0) -> float:
        """The greatest cost that can win where the least is `cost`, with its standard error."""
        return float(round_to_scale(cost + self.margin, scale))
