"""Areas under the ROC curves of many candidates, whose scores are sorted already, under one weighting of their rows.

AUC = Σ over groups of equal score of W⁺ (2 W⁻ below + W⁻ in the group) / (2 · W⁺ total · W⁻ total), W the weights; in
whole numbers all sums are exact.
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel


@kernel(_nrt=False)
def _area(order, ends, plus, minus):
    """Compute the area of one candidate by trapezoids, ties counted half; NaN where a class is absent."""
    area, below, above, up, down = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(len(order)):
        row = np.uint64(order[i])
        up += plus[row]
        down += minus[row]
        if ends[i]:
            area += up * (below + (below + down))
            below += down
            above += up
            up, down = 0.0, 0.0
    pairs = above * below
    return area / (2.0 * pairs) if pairs > 0.0 else np.nan


@kernel(types.cube(types.fixed_columns, types.fixed_marks, types.fixed_codes, types.fixed_rows, types.whole, types.whole))
def areas(order, ends, truth, weights, first, classes):
    """Area per weighting, class and candidate, a class against the rest; NaN without weight on both sides.

    order: rows by ascending score, class after class from `first` on, and for each class candidate after candidate; ends: is
    it the last of its score; weights: weightings × rows.
    """
    candidates = len(order) // classes
    found, plus, minus = np.empty((len(weights), classes, candidates)), np.empty(len(truth)), np.empty(len(truth))
    for draw in range(len(weights)):
        for c in range(classes):
            for row in range(len(truth)):
                weight = weights[draw, row]
                plus[row], minus[row] = (weight, 0.0) if truth[row] == first + c else (0.0, weight)
            for i in range(candidates):
                own = c * candidates + i
                found[draw, c, i] = _area(order[own], ends[own], plus, minus)
    return found
