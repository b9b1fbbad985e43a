"""Order and area under the ROC curve without a new array: merge sort from the last order, which changes little.

AUC = Σ over groups of equal score of W⁺ (W⁻ below + ½ W⁻ in the group) / (W⁺ total · W⁻ total), W the weights.
"""

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel

RUN = 16  # rows sorted by insertion before merging begins


@kernel()
def _insert(scores, order, start, end):
    """Sort a range of the order by insertion."""
    for i in range(start + 1, end):
        row = order[i]
        score, j = scores[row], i
        while j > start and scores[order[j - 1]] > score:
            order[j] = order[j - 1]
            j -= 1
        order[j] = row


@kernel()
def _merge(scores, order, scratch, start, middle, end):
    """Two neighbouring runs into one; nothing to do where they already follow each other."""
    if scores[order[middle - 1]] <= scores[order[middle]]:
        return
    for i in range(start, middle):
        scratch[i] = order[i]
    i, j, k = start, middle, start
    while i < middle and j < end:
        if scores[order[j]] < scores[scratch[i]]:
            order[k] = order[j]
            j += 1
        else:
            order[k] = scratch[i]
            i += 1
        k += 1
    while i < middle:
        order[k] = scratch[i]
        i += 1
        k += 1


@kernel(types.nothing(types.fixed_reals, types.wholes, types.wholes))
def sort(scores, order, scratch):
    """Put `order` (a permutation) into ascending order of score; `scratch` is as long."""
    n = len(order)
    for start in range(0, n, RUN):
        _insert(scores, order, start, min(start + RUN, n))
    width = RUN
    while width < n:
        for start in range(0, n - width, 2 * width):
            _merge(scores, order, scratch, start, start + width, min(start + 2 * width, n))
        width *= 2


@kernel(types.real(types.fixed_reals, types.fixed_flags, types.fixed_reals, types.wholes, types.wholes))
def auc(scores, positive, weight, order, scratch):
    """Area under the curve, ties counted half; NaN without weight in both classes. Leaves `order` sorted."""
    sort(scores, order, scratch)
    below, area, all_positive, at = 0.0, 0.0, 0.0, 0
    while at < len(order):
        score, up, down = scores[order[at]], 0.0, 0.0
        while at < len(order) and scores[order[at]] == score:
            row = order[at]
            if positive[row]:
                up += weight[row]
            else:
                down += weight[row]
            at += 1
        area += up * (below + 0.5 * down)
        below += down
        all_positive += up
    return area / (all_positive * below)
