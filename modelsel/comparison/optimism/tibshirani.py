"""Bias of the smallest cross-validated score, from the folds alone.

    bias = (1/K) Σ_k [ e_k(ĉ) − min_c e_k(c) ],    corrected = CV(ĉ) + bias

e_k(c) is the score of candidate c on fold k (as a cost), ĉ the winner. A cheap cross-check: too large when folds are small,
because each fold's minimum is then itself very optimistic. Source: Tibshirani & Tibshirani (2009), Annals of Applied
Statistics 3.
"""

import numpy as np

from modelsel.core.types import Scoreboard


def tibshirani_bias(board: Scoreboard, winner: int) -> float:
    """Estimate how much better the winner's mean looks than it is, in units of the score and never negative."""
    sign = -1.0 if board.higher_is_better else 1.0
    folds = sign * board.folds[board.eligible]
    return float(np.mean(sign * board.folds[winner] - folds.min(axis=0)))


def tibshirani(board: Scoreboard, winner: int) -> float:
    """The winner's mean score made worse by the bias."""
    sign = -1.0 if board.higher_is_better else 1.0
    return float(board.mean[winner] + sign * tibshirani_bias(board, winner))
