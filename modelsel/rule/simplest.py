"""Settle ties, for every rule: the simpler candidate, then the declared order.

Complexities are compared only within one unit (leaves with leaves); among candidates of several units, the first declared
says which unit is compared.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from modelsel.core.spec import plain
from modelsel.core.types import Booleans, Floats, Integers, Resampling, Scoreboard
from modelsel.rule import bounds as bounds_module


@dataclass(frozen=True)
class Bounded:
    """A rule that chooses among those who keep bounds on other measures, where any are said; means and complexities suffice."""

    subject_to: dict[str, Any] = plain({}, help='bounds on other measures: {recall: ">= 0.9"}')

    @property
    def bounds(self) -> tuple[bounds_module.Bound, ...]:
        """The bounds that a candidate's other means have to keep."""
        return bounds_module.bounds(self.subject_to)

    def problems(self, resampling: Resampling, over_rows: bool) -> Iterator[str]:
        yield from bounds_module.problems(self.subject_to)

    def feasible(self, board: Scoreboard) -> Scoreboard:
        """The scoreboard on which only those are eligible that keep the bounds."""
        return bounds_module.among(board, self.bounds)


def best(board: Scoreboard) -> int:
    """The eligible candidate of least cost; ValueError when none is eligible."""
    if not board.eligible.any():
        raise ValueError("no candidate is eligible: none finished every fold with a finite score")
    cost = board.cost
    tied = np.flatnonzero(cost == cost.min())
    unit = board.unit[tied[0]]
    return min((i for i in tied.tolist() if board.unit[i] == unit), key=lambda i: (_complexity(board, i), i))


def best_each(board: Scoreboard, means: Floats) -> Integers:
    """Choices of `best` from each row of means, resamples × candidates; one by one only where there are ties."""
    cost = replace(board, mean=means).cost
    choices: Integers = cost.argmin(axis=1)
    least = cost.min(axis=1, keepdims=True)
    alone = np.isfinite(least[:, 0]) & ((cost == least).sum(axis=1) == 1)
    for row in np.flatnonzero(~alone).tolist():
        choices[row] = best(replace(board, mean=means[row]))
    return choices


def simplest(board: Scoreboard, among: Booleans, unit: str) -> int:
    """The simplest of some candidates of one unit; of equally simple ones the better, then the first declared."""
    mine = [i for i in np.flatnonzero(among & board.eligible).tolist() if board.unit[i] == unit]
    cost = board.cost
    return min(mine, key=lambda i: (_complexity(board, i), cost[i], i))


def _complexity(board: Scoreboard, index: int) -> float:
    """Mean complexity; one that was not measured counts as endless."""
    value = float(board.complexity[index])
    return np.inf if np.isnan(value) else round(value, 12)
