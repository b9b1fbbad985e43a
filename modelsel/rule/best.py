"""The candidate of best mean score; ties go to the simpler one, then to the declared order."""

from dataclasses import dataclass

from modelsel.core.types import Floats, Integers, Scoreboard
from modelsel.rule import base


@dataclass(frozen=True)
class Best(base.BaseRule):
    """Plain minimisation. Its winner's mean is optimistic, the more so the more candidates there are.

    Raises ValueError where nobody keeps the bounds.
    """

    limit_grows = True

    def choose(self, board: Scoreboard) -> int:
        return base.best(self.feasible(board))

    def choose_each(self, board: Scoreboard, means: Floats) -> Integers:
        """Choices of `choose` from each row of means, resamples × candidates; without bounds."""
        return base.best_each(board, means)

    def limit(self, cost: float, se: float) -> float:
        """The greatest cost that can win where the least is `cost`, with its standard error."""
        return cost
