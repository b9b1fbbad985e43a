"""One cut of a feature drawn at random among the rows of a node, and its goodness (extremely randomised trees)."""

import numpy as np

from modelsel.kernels.compiler import kernel
from modelsel.kernels.forests.draws import CUT, below, share, word
from modelsel.kernels.forests.search.forest_cuts import shift, sides
from modelsel.kernels.forests.search.forest_goodness import begin, consider, move


@kernel(_nrt=False)
def draw_threshold(key, feature, lowest, highest, values):
    """A value drawn between those of two codes, below the higher one, and the largest code whose value is at most that."""
    first, last = values[lowest], values[highest]
    drawn = first + share(word(key ^ CUT, feature)) * (last - first)
    low, high = lowest, highest - 1
    while low < high:
        middle = (low + high + 1) // 2
        if values[middle] <= drawn:
            low = middle
        else:
            high = middle - 1
    return low, drawn if first <= drawn < last else values[low]


@kernel(_nrt=False)
def try_threshold(codes, drawn, at, n, lost_rows, total, lost, apart, data, best, state, judge, ruler):
    """Goodness of one threshold."""
    target, weight = data
    low, high = sides(lost_rows, apart)
    better = False
    for side in range(low, high):
        begin(state, judge, total, lost, n + lost_rows, lost_rows, side)
        for i in range(len(drawn)):
            row = np.uint64(drawn[i])
            if 0 <= codes[row] <= at:
                move(target[row], weight[row], state, judge)
                state[2][0] += 1
                state[2][1] -= 1
        better |= consider(best, np.float64(at), np.float64(at), side, state, judge, ruler)
    return better


@kernel(_nrt=False)
def try_levels(
    key, feature, equality, tally, counts, order, n, lost_rows, total, lost, apart, best, state, judge, ruler, marks
):
    """Goodness of one level, or of a set of levels, drawn among those that occur."""
    own = word(key ^ CUT, feature)
    chosen = below(own, len(order))
    low, high = sides(lost_rows, apart)
    better = False
    for side in range(low, high):
        begin(state, judge, total, lost, n + lost_rows, lost_rows, side)
        inside = 0
        for k in range(len(order)):
            if k == chosen or (not equality and k != (chosen + 1) % len(order) and word(own, order[k]) >> np.uint64(63)):
                shift(order[k], tally, counts, state, judge)
                inside += 1
        if consider(best, np.float64(order[chosen]), np.float64(order[chosen]), side, state, judge, ruler):
            better = True
            marks[:] = 0
            for k in range(len(order)):
                if k == chosen or (not equality and k != (chosen + 1) % len(order) and word(own, order[k]) >> np.uint64(63)):
                    marks[order[k]] = 1
    return better
