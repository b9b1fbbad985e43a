"""The winner and the best of every other learner, compared on the same folds.

Several folds: corrected resampled t with its interval; on five repeats of two folds Alpaydin's combined F (1999) in its place,
with the same interval. One holdout: McNemar's exact test for 0/1 loss (with the interval of a
paired t), a paired t for other row losses; over units where rows stand in groups. Holm over the comparisons shown; they were
picked as the best of many, so that even the adjusted p-values are on the small side.
"""

import numpy as np
from numpy.typing import NDArray

from modelsel.comparison.indistinguishable import columns_on_board, p_values, part, place
from modelsel.comparison.ratio import assessed_per_analysed
from modelsel.core.selection import Selection
from modelsel.core.types import Floats, Integers, Resampling, Scoreboard
from modelsel.record.documents import PairShape
from modelsel.statistics.paired import Paired, corrected_t, five_by_two_f, holm, paired_t, unit_t


def pairs(selection: Selection, resampling: Resampling, groups: Integers | None = None) -> tuple[PairShape, ...]:
    """The winner against each other candidate of `selection.assessed`; none where a single fold has no row losses.

    Rows of one of the `groups` are one unit.
    """
    columns, matrix = columns_on_board(selection.board, selection.losses), selection.losses.matrix
    board, winner = part(selection.board, columns), place(columns, selection.winner)
    others = np.array([board.ids.index(name) for name in selection.assessed.ids[1:]], np.int64)
    if not len(others) or (board.folds.shape[1] == 1 and matrix is None):
        return ()
    ratio = assessed_per_analysed(resampling)
    test, method = _differences(board, winner, others, ratio, matrix, groups)
    p = p_values(board, winner, others, ratio, matrix, groups)
    if (repeats := _five_by_two(resampling)) is not None:
        p, method = _combined(board, winner, others, repeats), "5 × 2 cv F"
    return tuple(
        PairShape(
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


def _combined(board: Scoreboard, winner: int, others: Integers, repeats: Integers) -> Floats:
    differences = board.rounded(board.folds[others] - board.folds[winner])
    return np.array([five_by_two_f(one[repeats])[1] for one in differences])
