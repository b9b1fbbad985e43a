"""Areas under the ROC curves of many candidates, whose scores are sorted already, under one weighting of their rows.

AUC = Σ over groups of equal score of W⁺ (2 W⁻ below + W⁻ in the group) / (2 · W⁺ total · W⁻ total), W the weights; in
whole numbers all sums are exact.
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel


@kernel(types.reals(types.fixed_columns, types.fixed_marks, types.fixed_reals, types.fixed_reals))
def areas(order, ends, plus, minus):
    """Area per candidate; NaN without weight in both classes.

    order: candidates × rows, by ascending score; ends: is it the last of its score; plus, minus: weight per row as a positive
    one and as a negative one, one of them 0.
    """
    found = np.empty(len(order))
    for candidate in range(len(order)):
        own, last = order[candidate], ends[candidate]
        area, below, above, up, down = 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(len(own)):
            row = np.uint64(own[i])
            up += plus[row]
            down += minus[row]
            if last[i]:
                area += up * (below + (below + down))
                below += down
                above += up
                up, down = 0.0, 0.0
        pairs = above * below
        found[candidate] = area / (2.0 * pairs) if pairs > 0.0 else np.nan
    return found
