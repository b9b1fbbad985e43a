"""Two learners on each data set by itself: the number of data sets on which one is told apart as the better.

Corrected resampled t of the fold differences (Nadeau & Bengio 2003), Holm over all pairs of a data set. The counts are no
test over data sets: they show where the ranks come from. A data set that was judged by one fold tells nobody apart.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from modelsel.comparison.across_tables.runs import ComparedRun
from modelsel.core.types import Floats, Integers
from modelsel.statistics.tests.paired import corrected_t, holm


def duels(runs: Sequence[ComparedRun], learners: Sequence[str], alpha: float = 0.05) -> Integers:
    """Learners × learners: the number of data sets on which the row's learner is told apart as better than the column's."""
    won = np.zeros((len(learners), len(learners)), np.int64)
    for run in runs:
        folds = np.array([run.of(name).folds for name in learners])
        if folds.shape[1] > 1:
            won += _won(-folds if run.higher_is_better else folds, run.ratio, alpha)
    return won


def _won(cost: Floats, ratio: float, alpha: float) -> Integers:
    """Mark which learner beats which after the corrected t-test with Holm's adjustment."""
    first, second = np.array(list(combinations(range(len(cost)), 2))).T
    test = corrected_t(np.round(cost[second] - cost[first], 12), ratio)
    told = holm(test.p) <= alpha
    won = np.zeros((len(cost), len(cost)), np.int64)
    won[first, second] = told & (test.mean > 0)
    won[second, first] = told & (test.mean < 0)
    return won
