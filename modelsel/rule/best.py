"""The candidate of best mean score; ties go to the simpler one, then to the declared order."""

from dataclasses import dataclass

from modelsel.core.types import Scoreboard
from modelsel.rule import simplest


@dataclass(frozen=True)
class Best(simplest.AnyFolds):
    """Plain minimisation. Its winner's mean is optimistic, the more so the more candidates there are."""

    def choose(self, board: Scoreboard) -> int:
        return simplest.best(board)
