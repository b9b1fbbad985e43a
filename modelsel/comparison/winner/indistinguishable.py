"""Find the candidates that the data cannot tell from the winner: a paired test for each, corrected for their number.

Several folds: corrected resampled t of the fold differences (Nadeau & Bengio 2003). One holdout: McNemar's exact test on the
rows for 0/1 loss, a paired t for other row losses. Two-sided, Holm over all eligible candidates. Where there is no test
(one holdout, a measure that is no mean over rows), nobody is told apart.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Booleans, Floats, Integers, Scoreboard
from modelsel.runner.aggregation.losses import standard_error
from modelsel.statistics.tests.paired import corrected_t, holm, mcnemar, paired_t

LEVEL = 0.05
BLOCK = 256  # columns of the loss matrix worked on at a time


def indistinguishable(
    board: Scoreboard, winner: int, ratio: float, losses: NDArray[Any] | None = None, level: float = LEVEL, more: int = 0
) -> tuple[int, ...]:
    """Positions of the eligible candidates whose adjusted p-value against the winner is above `level`, the better ones first.

    `ratio` is n_test / n_train; `losses` the loss matrix (rows × candidates), read when there is a single fold. `more` are
    candidates of the family that left a race: they count in Holm's correction as if theirs were the largest p-values.
    """
    others = np.flatnonzero(board.eligible & (np.arange(len(board.ids)) != winner))
    if not len(others):
        return ()
    p = np.append(p_values(board, winner, others, ratio, losses), np.ones(more))
    near = others[holm(p)[: len(others)] > level]
    return tuple(near[np.lexsort((near, board.cost[near]))].tolist())


def p_values(board: Scoreboard, winner: int, others: Integers, ratio: float, losses: NDArray[Any] | None) -> Floats:
    """Two-sided p-values of the others against the winner."""
    if board.folds.shape[1] > 1:
        return corrected_t(np.round(board.folds[others] - board.folds[winner], 12), ratio).p
    if losses is None:
        return np.ones(len(others))
    rows = ~np.isnan(losses[:, winner])
    mine = losses[rows, winner].astype(np.float64)
    p = np.empty(len(others))
    for start in range(0, len(others), BLOCK):
        at = slice(start, start + BLOCK)
        p[at] = _over_rows(mine, losses[np.ix_(np.flatnonzero(rows), others[at])].T.astype(np.float64))
    return p


def difference_errors(
    board: Scoreboard, winner: int, ratio: float, losses: NDArray[Any] | None, weights: Floats, groups: Integers | None
) -> Floats:
    """Standard error of each candidate's mean less the winner's; NaN for the winner and where the data say nothing.

    Several folds: sqrt((1/J + n_test / n_train) s²), s² the variance of the J fold differences, as in the test. One holdout:
    that of the (weighted) mean of the row differences, over groups where there are groups; NaN without row losses.
    """
    others = np.flatnonzero(board.eligible & (np.arange(len(board.ids)) != winner))
    errors = np.full(len(board.ids), np.nan)
    if board.folds.shape[1] > 1:
        errors[others] = corrected_t(np.round(board.folds[others] - board.folds[winner], 12), ratio).error
    elif losses is not None:
        rows = np.flatnonzero(~np.isnan(losses[:, winner]))
        mine = losses[rows, winner].astype(np.float64)[:, None]
        own = None if groups is None else np.unique(groups[rows], return_inverse=True)[1]
        for start in range(0, len(others), BLOCK):
            at = others[start : start + BLOCK]
            errors[at] = standard_error(losses[np.ix_(rows, at)].astype(np.float64) - mine, weights[rows], own)
    return errors


def _over_rows(mine: Floats, theirs: Floats) -> Floats:
    if _is_binary(mine) and _is_binary(theirs):
        return mcnemar((mine < theirs).sum(axis=1), (mine > theirs).sum(axis=1))
    return paired_t(theirs - mine).p


def _is_binary(losses: Floats) -> bool:
    zero_or_one: Booleans = (losses == 0) | (losses == 1)
    return bool(zero_or_one.all())
