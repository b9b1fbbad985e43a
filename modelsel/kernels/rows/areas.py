"""Areas under the ROC curves of many candidates, whose scores are sorted already, under many weightings of their rows.

AUC = Σ over groups of equal score of W⁺ (2 W⁻ below + W⁻ in the group) / (2 · W⁺ total · W⁻ total), W the weights; in
whole numbers all sums are exact. `TOGETHER` weightings walk side by side, so that a row is looked up once for all of them.
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel

TOGETHER = 16


@kernel(_nrt=False)
def _walk(order, ends, group_of, weights, sums, area):
    """Areas before their division, and the weights of both sides in the first two rows of `sums`."""
    sums[:] = 0.0
    area[:] = 0.0
    for i in range(len(order)):
        row = np.uint64(order[i])
        group = group_of[row]  # sums of both sides: 0, 1 so far; 2, 3 in the group of equal score
        for k in range(TOGETHER):
            sums[group, k] += weights[row, k]
        if ends[i]:
            for k in range(TOGETHER):
                down, up = sums[2, k], sums[3, k]
                area[k] += up * (sums[0, k] + (sums[0, k] + down))
                sums[0, k] += down
                sums[1, k] += up
                sums[2, k], sums[3, k] = 0.0, 0.0


@kernel(types.cube(types.fixed_columns, types.fixed_marks, types.fixed_codes, types.fixed_rows, types.whole, types.whole))
def areas(order, ends, truth, weights, first, classes):
    """Area per weighting, class and candidate, a class against the rest; NaN without weight on both sides.

    order: rows by ascending score, class after class from `first` on, and for each class candidate after candidate; ends: is
    it the last of its score; weights: weightings × rows.
    """
    draws, candidates = len(weights), len(order) // classes
    found, group_of = np.empty((draws, classes, candidates)), np.empty(len(truth), np.uint64)
    some, sums, area = np.zeros((len(truth), TOGETHER)), np.empty((4, TOGETHER)), np.empty(TOGETHER)
    for start in range(0, draws, TOGETHER):
        many = min(TOGETHER, draws - start)
        for k in range(many):
            for row in range(len(truth)):
                some[row, k] = weights[start + k, row]
        for c in range(classes):
            for row in range(len(truth)):
                group_of[row] = 3 if truth[row] == first + c else 2
            for i in range(candidates):
                own = c * candidates + i
                _walk(order[own], ends[own], group_of, some, sums, area)
                for k in range(many):
                    pairs = sums[1, k] * sums[0, k]
                    found[start + k, c, i] = area[k] / (2.0 * pairs) if pairs > 0.0 else np.nan
    return found
