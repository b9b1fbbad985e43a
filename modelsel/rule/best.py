"""The candidate of best mean score; ties go to the simpler one, then to the declared order."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from modelsel.core.spec import plain
from modelsel.core.types import Resampling, Scoreboard
from modelsel.rule import bounds as bounds_module
from modelsel.rule import simplest


@dataclass(frozen=True)
class Best(simplest.AnyFolds):
    """Plain minimisation. Its winner's mean is optimistic, the more so the more candidates there are.

    Raises ValueError where nobody keeps the bounds.
    """

    subject_to: dict[str, Any] = plain({}, help='bounds on other measures: {recall: ">= 0.9"}')

    @property
    def bounds(self) -> tuple[bounds_module.Bound, ...]:
        """The bounds that a candidate's other means have to keep."""
        return bounds_module.bounds(self.subject_to)

    def problems(self, resampling: Resampling, over_rows: bool) -> Iterator[str]:
        yield from bounds_module.problems(self.subject_to)

    limit_grows = True

    def choose(self, board: Scoreboard) -> int:
        return simplest.best(bounds_module.among(board, self.bounds))

    def limit(self, cost: float, se: float) -> float:
        """The greatest cost that can win where the least is `cost`, with its standard error."""
        return cost
