"""Settle ties, for every rule: the simpler candidate, then the declared order.

Complexities are compared only within one unit (leaves with leaves); among candidates of several units, the first declared
says which unit is compared.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from modelsel.core.spec import plain
from modelsel.core.types import Booleans, Floats, Integers, Resampling, Scoreboard

# Bounds on other measures, which say who may win at all.
#
#     rule: {kind: best, subject_to: {recall: ">= 0.9", precision: {bound: ">= 0.5", positive: 1}}}
#
# The mean over folds has to keep the bound, to 1e-12; a mean that is not defined keeps none. Of those that do, the rule
# chooses. The bound is kept by the means that chose: of the winner, as of its score, they are optimistic, and the corrected
# estimate repeats the choice under the bound in each resample and says what the chosen ones reach out of bag.

BOUND = "bound"
SAID = re.compile(r"\s*(>=|<=|≥|≤)\s*([-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?)\s*")
HOW = 'write recall: ">= 0.9", or recall: {bound: ">= 0.9", positive: 1} with settings of the measure'


@dataclass(frozen=True)
class Bound:
    """`kind` and `settings` say which measure, `name` what the scoreboard calls it; `least` whether `value` is the least."""

    name: str
    kind: str
    settings: Mapping[str, Any]
    least: bool
    value: float

    def __str__(self) -> str:
        return f"{self.name} {'>=' if self.least else '<='} {self.value:g}"

    def lacking(self, means: Floats) -> Floats:
        """Compute each mean's distance from keeping the bound; 0 where it does, infinite where it is not defined."""
        away = self.value - means if self.least else means - self.value
        return np.where(np.isnan(means), np.inf, np.maximum(np.round(away, 12), 0.0))


def bounds(said: Mapping[str, object]) -> tuple[Bound, ...]:
    """The bounds that were said; ValueError for what is none.

    >>> [str(one) for one in bounds({"recall": ">= 0.9", "precision": {"bound": "<= 1", "positive": 1}})]
    ['recall >= 0.9', 'precision(positive=1) <= 1']
    """
    return tuple(_read_bound(str(kind), one) for kind, one in said.items())


def problems(said: Mapping[str, object]) -> Iterator[str]:
    """Yield the problems of bounds as they were declared."""
    for kind, one in said.items():
        try:
            _read_bound(str(kind), one)
        except ValueError as error:
            yield str(error)


def among(board: Scoreboard, wanted: Sequence[Bound]) -> Scoreboard:
    """The scoreboard on which only those are eligible that keep all bounds."""
    kept: Booleans = board.eligible
    for bound in wanted:
        kept = kept & (bound.lacking(board.beside[bound.name]) == 0)
    return replace(board, eligible=kept) if wanted else board


def nearest(board: Scoreboard, wanted: Sequence[Bound]) -> int:
    """The eligible candidate that misses the bounds by least; ties are broken by the score."""
    away = np.max([bound.lacking(board.beside[bound.name]) for bound in wanted], axis=0)
    return int(np.lexsort((board.cost, np.where(board.eligible, away, np.inf)))[0])


def _read_bound(kind: str, said: object) -> Bound:
    """Read a bound such as `>= 0.8`, with the settings of its measure."""
    settings = dict(said) if isinstance(said, Mapping) else {BOUND: said}
    found = SAID.fullmatch(str(settings.pop(BOUND, "")))
    if found is None:
        raise ValueError(f"rule.subject_to.{kind} is not a bound: {HOW}")
    own = ", ".join(f"{name}={value}" for name, value in settings.items())
    return Bound(f"{kind}({own})" if own else kind, kind, settings, found[1] in (">=", "≥"), float(found[2]))


@dataclass(frozen=True)
class BaseRule:
    """A rule from scores to the chosen candidate: a pure function, so that it can be replayed and bootstrapped.

    It chooses among the candidates that keep the bounds on other measures, where any are declared. A new one defines `choose`.

    Examples
    --------
    >>> import numpy as np
    >>> from modelsel.rule.best import Best
    >>> Best().choose(Scoreboard(
    ...     ids=("a", "b"), folds=np.array([[0.5, 0.5], [0.25, 0.25]]), mean=np.array([0.5, 0.25]), se=np.zeros(2),
    ...     complexity=np.ones(2), unit=("leaves", "leaves"), eligible=np.ones(2, bool)))
    1
    """

    subject_to: dict[str, Any] = plain({}, help='bounds on other measures: {recall: ">= 0.9"}')

    @property
    def bounds(self) -> tuple[Bound, ...]:
        """The bounds that a candidate's other means have to keep."""
        return bounds(self.subject_to)

    def problems(self, resampling: Resampling, over_rows: bool) -> Iterable[str]:
        """List reasons why it cannot be used with these folds and this measure.

        Parameters
        ----------
        resampling : Resampling
            The folds.
        over_rows : bool
            True for a measure that is a mean over rows.

        Returns
        -------
        iterable of str
            Sentences for the error message; none where all is well.
        """
        return problems(self.subject_to)

    def feasible(self, board: Scoreboard) -> Scoreboard:
        """Return the scoreboard on which only those are eligible that keep the bounds.

        Parameters
        ----------
        board : Scoreboard
            The scores of all candidates.

        Returns
        -------
        Scoreboard
            The same, with fewer that are eligible.
        """
        return among(board, self.bounds)

    def choose(self, board: Scoreboard) -> int:
        """Choose the winner; ties: the simpler, then the one declared first.

        Parameters
        ----------
        board : Scoreboard
            The scores of all candidates.

        Returns
        -------
        int
            The index of the winner.

        Raises
        ------
        ValueError
            Where no candidate is eligible.
        """
        raise NotImplementedError


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
