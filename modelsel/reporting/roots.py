"""A mean squared error as people read it: its root, in the unit of the target. The record and its tables keep the mean.

    √a ± se / (2 √a)        √a − √b = (a − b) / (√a + √b)

Standard errors and intervals of differences are taken along by the same lines (delta method).
"""

from collections.abc import Sequence
from dataclasses import replace
from math import isfinite, sqrt
from typing import TypeVar

from modelsel.core.outcome import CorrectedFacts, NestedFacts, ScoreFacts, StudySummary
from modelsel.record.candidates import Row
from modelsel.record.documents import PairFacts

SQUARED = "mse"
ROOTED = "root mse"
Estimate = TypeVar("Estimate", CorrectedFacts, NestedFacts, CorrectedFacts | None)


def is_squared(outcome: StudySummary) -> bool:
    """Say whether a study's scores are squares of the target's unit."""
    return outcome.measure == SQUARED


def outcome_as_read(outcome: StudySummary) -> StudySummary:
    """The summary with roots in place of mean squared errors; any other as it is."""
    if not is_squared(outcome):
        return outcome
    won, nested = outcome.winner, outcome.nested
    return outcome.but(
        measure=ROOTED,
        winner=won.but(cv=_score(won.cv), corrected=_interval(won.corrected)),
        floor=[line.but(cv=line.cv and _score(line.cv)) for line in outcome.floor],
        nested=nested and _interval(nested).but(scores=[*map(root, nested.scores)]),
        ensembles=[one.but(corrected=_interval(one.corrected)) for one in outcome.ensembles],
    )


def rows_as_read(outcome: StudySummary, rows: Sequence[Row]) -> list[Row]:
    """Candidates with roots in place of mean squared errors; any others as they are. `outcome` is the recorded one."""
    if not is_squared(outcome):
        return list(rows)
    won = next((row.mean for row in rows if row.id == outcome.winner.id), float("nan"))
    return [
        replace(
            row, mean=_root(row.mean), se=spread(row.mean, row.se), folds=tuple(map(_root, row.folds)),
            difference_se=root_difference(row.difference_se, row.mean, won),
        )
        for row in rows
    ]  # fmt: skip


def pairs_as_read(outcome: StudySummary, rows: Sequence[Row], pairs: Sequence[PairFacts]) -> list[PairFacts]:
    """Known differences, of roots in place of those of mean squared errors; `rows` are the recorded candidates."""
    pairs = [pair for pair in pairs if pair.difference is not None]
    if not is_squared(outcome):
        return pairs
    mean = {row.id: row.mean for row in rows}

    def take_roots(pair: PairFacts) -> PairFacts:
        own = mean[pair.first], mean[pair.second]
        low, high = (None if end is None else root_difference(end, *own) for end in (pair.low, pair.high))
        return pair.but(difference=root_difference(pair.difference, *own), low=low, high=high)

    return [take_roots(pair) for pair in pairs]


def root(value: float | None) -> float | None:
    """The root of a mean squared error; None where there is none.

    >>> root(9.0), root(None), root(-1.0)  # an interval may end below nought
    (3.0, None, 0.0)
    """
    return None if value is None else _root(value)


def spread(mean: float, se: float) -> float:
    """The standard error of the root.

    >>> spread(16.0, 0.5)
    0.0625
    """
    return se / (2 * sqrt(mean)) if mean > 0 else se and 0.0


def root_difference(difference: float, one: float, other: float) -> float:
    """A difference of two mean squared errors as one of their roots.

    >>> root_difference(16.0 - 9.0, 16.0, 9.0)
    1.0
    """
    total = _root(one) + _root(other)
    return difference / total if total > 0 else difference and 0.0


def rise_of_root(rise: float, mean: float) -> float:
    """A rise of a mean squared error as one of its root.

    >>> rise_of_root(7.0, 9.0)
    1.0
    """
    return _root(mean + rise) - _root(mean)


def _root(value: float) -> float:
    return sqrt(max(value, 0.0)) if isfinite(value) else value


def _score(cv: ScoreFacts) -> ScoreFacts:
    """A cross-validated score by its root."""
    return cv.but(mean=_root(cv.mean), se=None if cv.se is None else spread(cv.mean, cv.se), folds=[*map(root, cv.folds)])


def _interval(stated: Estimate) -> Estimate:
    """A score with its interval by roots."""
    return stated and stated.but(mean=_root(stated.mean), low=_root(stated.low), high=_root(stated.high))
