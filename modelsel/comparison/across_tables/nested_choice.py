"""Fold scores of a learner whose settings were chosen, for every fold, on the other folds.

    s_j = f[c(j), j],   c(j) = the candidate of best mean score over the folds other than j, of the same repeat

The mean of the best candidate's own folds is the best of many and favours learners with many candidates; here the fold that
scores a choice took no part in it. Ties go to the first candidate. What is left is small: models of the other folds were
fitted on rows of fold j, whose labels so reach the choice. Nested cross-validation (`outer`) is free of that and costs its
refits. A scheme of one fold leaves no other folds: then it is the best score. Source: Varma & Simon (2006) on the bias.
"""

import numpy as np

from modelsel.core.types import Floats, Integers


def score_choice(folds: Floats, repeat: Integers, higher_is_better: bool = False) -> Floats:
    """One score per fold, from candidates × folds; `repeat` is the repeat of each fold.

    >>> score_choice(np.array([[0.1, 0.4, 0.1], [0.2, 0.2, 0.3]]), np.zeros(3, np.int64)).tolist()
    [0.1, 0.4, 0.3]
    """
    cost = -folds if higher_is_better else folds
    chosen = [np.round(cost[:, _others(fold, repeat)].mean(axis=1), 12).argmin() for fold in range(folds.shape[1])]
    return np.asarray(folds[chosen, np.arange(folds.shape[1])])


def _others(fold: int, repeat: Integers) -> Integers:
    """The folds that may choose: those of the same repeat, else (a holdout each) all others, else the only one."""
    places = np.arange(len(repeat))
    inside = places[(repeat == repeat[fold]) & (places != fold)]
    return inside if len(inside) else places[places != fold] if len(places) > 1 else places
