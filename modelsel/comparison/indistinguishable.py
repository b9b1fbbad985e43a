"""Find the candidates that may be the best as well as the winner: the confidence set of a best candidate.

Where the measure is a mean over rows: max-t against the winner over a bootstrap of rows (groups, where there are groups), from
the out-of-fold losses of the candidates whose rows were kept; and beside it the set that holds every best candidate. How the
models vary with the rows that they are fitted on is in neither. Other measures: corrected resampled t of the fold differences
(Nadeau & Bengio 2003), two-sided, Holm over all eligible candidates; there is no second set then. Where there is neither (one
fold, a measure that is not a mean over rows), nobody is told apart.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from modelsel.core.selection import Losses, Selection
from modelsel.core.types import Booleans, Floats, Integers, Resampling, Scoreboard
from modelsel.record.documents import PairFacts
from modelsel.runner.results import standard_error
from modelsel.statistics.confidence_set import differences, every_best, may_be_best, resample
from modelsel.statistics.paired import Paired, corrected_t, five_by_two_f, holm, mcnemar, paired_t, unit_t

LEVEL = 0.05
BLOCK = 256  # columns of the loss matrix worked on at a time


@dataclass(frozen=True)
class Sets:
    """Positions, the better ones first: who may be the best beside the winner, and a set that holds every best (or None)."""

    indistinguishable: tuple[int, ...]
    every_best: tuple[int, ...] | None = None


def confidence_sets(
    board: Scoreboard,
    winner: int,
    losses: NDArray[np.generic],
    rng: np.random.Generator,
    *,
    weights: Floats | None = None,
    groups: Integers | None = None,
    more: int = 0,
) -> Sets:
    """Return both confidence sets by the rows of the loss matrix (rows × candidates, in the measure's own sign).

    `more` are candidates without rows: those that left a race, and in very large spaces all but the best. They are in neither
    set, and take their share of the 5 % in which the first may fail.
    """
    found = differences(losses, winner, rng, groups, weights)
    if board.higher_is_better:
        found = replace(found, sums=-found.sums, mean=-found.mean)
    found = replace(found, mean=np.where(board.eligible, found.mean, np.nan))
    moved = resample(found, rng)
    may = may_be_best(found, moved, 1 - LEVEL, more) & (np.arange(len(board.ids)) != winner)
    every = every_best(found, moved, 1 - LEVEL)
    return Sets(_best_first(board, np.flatnonzero(may)), _best_first(board, np.flatnonzero(every)))


def indistinguishable(board: Scoreboard, winner: int, ratio: float, more: int = 0) -> tuple[int, ...]:
    """Positions of the eligible candidates whose adjusted p-value over folds is above 5 %, the better ones first.

    `ratio` is n_test / n_train. `more` are candidates of the family that left a race: they count in Holm's correction as if
    theirs were the largest p-values.
    """
    others = np.flatnonzero(board.eligible & (np.arange(len(board.ids)) != winner))
    if not len(others):
        return ()
    p = np.append(p_values(board, winner, others, ratio, None), np.ones(more))
    return _best_first(board, others[holm(p)[: len(others)] > LEVEL])


def _best_first(board: Scoreboard, which: Integers) -> tuple[int, ...]:
    return tuple(which[np.lexsort((which, board.cost[which]))].tolist())


def p_values(
    board: Scoreboard,
    winner: int,
    others: Integers,
    ratio: float,
    losses: NDArray[np.generic] | None,
    groups: Integers | None = None,
) -> Floats:
    """Two-sided p-values of the others against the winner; of one holdout over rows, or over groups."""
    if board.folds.shape[1] > 1:
        return corrected_t(board.rounded(board.folds[others] - board.folds[winner]), ratio).p
    if losses is None:
        return np.ones(len(others))
    rows = ~np.isnan(losses[:, winner])
    mine = losses[rows, winner].astype(np.float64)
    p = np.empty(len(others))
    for start in range(0, len(others), BLOCK):
        at = slice(start, start + BLOCK)
        theirs = losses[np.ix_(np.flatnonzero(rows), others[at])].T.astype(np.float64)
        p[at] = _over_rows(mine, theirs) if groups is None else unit_t(theirs - mine, groups[rows]).p
    return p


def difference_errors(
    board: Scoreboard, winner: int, ratio: float, losses: NDArray[np.generic] | None, weights: Floats, groups: Integers | None
) -> Floats:
    """Standard error of each candidate's mean less the winner's; NaN for the winner and where the data say nothing.

    Several folds: sqrt((1/J + n_test / n_train) s²), s² the variance of the J fold differences, as in the test. One holdout:
    that of the (weighted) mean of the row differences, over groups where there are groups; NaN without row losses.
    """
    others = np.flatnonzero(board.eligible & (np.arange(len(board.ids)) != winner))
    errors = np.full(len(board.ids), np.nan)
    if board.folds.shape[1] > 1:
        errors[others] = corrected_t(board.rounded(board.folds[others] - board.folds[winner]), ratio).error
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


# Candidates whose rows were kept: in spaces above ten thousand the loss matrix has columns for the best of them only.


def part(board: Scoreboard, which: Integers) -> Scoreboard:
    """The scoreboard of some candidates, in their order on the whole one."""
    if len(which) == len(board.ids):
        return board
    return replace(
        board, ids=tuple(board.ids[i] for i in which), unit=tuple(board.unit[i] for i in which), folds=board.folds[which],
        mean=board.mean[which], se=board.se[which], complexity=board.complexity[which], eligible=board.eligible[which],
        beside={name: mean[which] for name, mean in board.beside.items()},
    )  # fmt: skip


def columns_on_board(board: Scoreboard, losses: Losses) -> Integers:
    """Positions on the board of the loss matrix's columns."""
    at = {name: position for position, name in enumerate(board.ids)}
    return np.array([at[name] for name in losses.ids], np.int64)


def place(which: Integers, position: int) -> int:
    """Return the index of a position of the whole board in an ascending subset of positions."""
    return int(np.searchsorted(which, position))


# The winner and the best of every other learner, compared on the same folds.
#
# Several folds: corrected resampled t with its interval; on five repeats of two folds Alpaydin's combined F (1999) in its
# place, with the same interval. One holdout: McNemar's exact test for 0/1 loss (with the interval of a
# paired t), a paired t for other row losses; over units where rows stand in groups. Holm over the comparisons shown; they were
# picked as the best of many, so that even the adjusted p-values are on the small side.


def pairs(selection: Selection, resampling: Resampling, groups: Integers | None = None) -> tuple[PairFacts, ...]:
    """The winner against each other candidate of `selection.assessed`; none where a single fold has no row losses.

    Rows of one of the `groups` are one unit.
    """
    columns, matrix = columns_on_board(selection.board, selection.losses), selection.losses.matrix
    board, winner = part(selection.board, columns), place(columns, selection.winner)
    others = np.array([board.ids.index(name) for name in selection.assessed.ids[1:]], np.int64)
    if not len(others) or (board.folds.shape[1] == 1 and matrix is None):
        return ()
    ratio = resampling.ratio
    test, method = _differences(board, winner, others, ratio, matrix, groups)
    p = p_values(board, winner, others, ratio, matrix, groups)
    if (repeats := _five_by_two(resampling)) is not None:
        p, method = _combined_p_values(board, winner, others, repeats), "5 × 2 cv F"
    return tuple(
        PairFacts(
            first=board.ids[winner],
            second=board.ids[other],
            difference=float(mean),
            low=float(low),
            high=float(high),
            p=float(own),
            adjusted=float(adjusted),
            method=method,
        )
        for other, mean, low, high, own, adjusted in zip(others, test.mean, test.low, test.high, p, holm(p))
    )


def _differences(
    board: Scoreboard, winner: int, others: Integers, ratio: float, matrix: NDArray[np.generic] | None, groups: Integers | None
) -> tuple[Paired, str]:
    """Mean differences (other minus winner) with their intervals, and how they were tested."""
    if matrix is None or board.folds.shape[1] > 1:
        return corrected_t(board.rounded(board.folds[others] - board.folds[winner]), ratio), "corrected resampled t"
    rows = np.flatnonzero(~np.isnan(matrix[:, winner]))
    mine, theirs = matrix[rows, winner].astype(np.float64), matrix[np.ix_(rows, others)].astype(np.float64).T
    if groups is not None:
        return unit_t(theirs - mine, groups[rows]), "paired t over units"
    binary = np.isin(mine, (0, 1)).all() and np.isin(theirs, (0, 1)).all()
    return paired_t(theirs - mine), "McNemar exact" if binary else "paired t over rows"


def _five_by_two(resampling: Resampling) -> Integers | None:
    """The folds of each repeat (5 × 2), None for other folds."""
    repeat = np.array([fold.repeat for fold in resampling.folds])
    if resampling.repeats != 5 or (np.bincount(repeat, minlength=5) != 2).any():
        return None
    return np.argsort(repeat, kind="stable").reshape(5, 2)


def _combined_p_values(board: Scoreboard, winner: int, others: Integers, repeats: Integers) -> Floats:
    differences = board.rounded(board.folds[others] - board.folds[winner])
    return np.array([five_by_two_f(one[repeats])[1] for one in differences])
