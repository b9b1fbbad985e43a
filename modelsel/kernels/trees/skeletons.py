"""Least training errors of a tree of depth 2 for every choice of columns of its tests: its skeleton.

For each cut of the root one pass per column finds the best stump of either side by that column, its leaves of different
classes. A skeleton (root, left, right) costs the least over the cuts of its root. Cuts are left out between two that prove
enough: rows of a part cost no more than those of the whole, so that c between a < c < b costs at least E(left of a) +
E(right of b). Source: the bounds of Brița et al. (2025), ConTree.
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel

NEVER = 1 << 60  # more than any cost
COLUMN = 1 << 32  # place of a cut: column × this + rank


@kernel()
def _apart(one, other):
    """Weight that two leaves of different classes take rightly, at most."""
    best, second, top = -1, -1, -1
    for k in range(len(one)):
        if one[k] > best:
            best, second, top = one[k], best, k
        elif one[k] > second:
            second = one[k]
    most, next_most, most_at = -1, -1, -1
    for k in range(len(other)):
        if other[k] > most:
            most, next_most, most_at = other[k], most, k
        elif other[k] > next_most:
            next_most = other[k]
    if top != most_at:
        return best + most
    return max(best + next_most, second + most)


@kernel()
def _stumps(order, ranks, labels, weights, owner, least, on_left, counts, before, rest, found, free):
    """Least errors of a stump on either side: by the feature that it tests; into `free` by any, whatever its leaves weigh."""
    columns, classes = ranks.shape[0], counts.shape[1]
    whole, heavy, last = counts.sum(axis=1), np.zeros(2, np.int64), np.empty(2, np.int64)
    found[:] = NEVER
    for side in range(2):
        free[side] = whole[side] - counts[side].max()
    for f in range(columns):
        before[:], heavy[:], last[:] = 0, 0, -1
        for p in range(order.shape[0]):
            row = order[p, f]
            side = 0 if on_left[row] else 1
            if last[side] >= 0 and ranks[f, row] != last[side]:
                for k in range(classes):
                    rest[k] = counts[side, k] - before[side, k]
                wrong = whole[side] - _apart(before[side], rest)
                free[side] = min(free[side], wrong)
                if heavy[side] >= least and whole[side] - heavy[side] >= least:
                    found[side, owner[f]] = min(found[side, owner[f]], wrong)
            last[side] = ranks[f, row]
            before[side, labels[row]] += weights[row]
            heavy[side] += weights[row]


@kernel(
    types.nothing(
        types.entries, types.entries, types.wholes, types.wholes, types.wholes, types.whole, types.whole, types.whole,
        types.wholes, types.entries, types.entries,
    )
)  # fmt: skip
def skeletons(order, ranks, labels, weights, owner, classes, least, most, work, table, place):
    """Write the least errors of each skeleton, and where its root is cut, as far as they are at most `most`.

    order: positions × columns; ranks: columns × rows; owner: the feature of each column. table, place: features × (features +
    1)², the tests of the left and the right side, the last a leaf; place: column × 2³² + rank. work: done, allowed, in
    positions × columns; where less is allowed than is needed, the table holds what was found until then.
    """
    rows, columns = order.shape[0], ranks.shape[0]
    features = table.shape[0]
    counts, before, rest = np.zeros((2, classes), np.int64), np.zeros((2, classes), np.int64), np.zeros(classes, np.int64)
    found, free = np.empty((2, features + 1), np.int64), np.empty(2, np.int64)
    on_left = np.zeros(rows, np.bool_)
    stack, ends = np.empty((64, 2), np.int64), np.empty((64, 2), np.int64)
    for g in range(columns):
        cuts = np.unique(ranks[g])[:-1]
        stack[0, 0], stack[0, 1], height = 0, len(cuts), 1
        ends[0] = 0
        while height > 0:
            height -= 1
            begin, end, from_left, from_right = stack[height, 0], stack[height, 1], ends[height, 0], ends[height, 1]
            if begin >= end or from_left + from_right > most:
                continue
            if work[0] >= work[1]:
                return
            work[0] += rows * columns
            middle = (begin + end) // 2
            counts[:] = 0
            for row in range(rows):
                on_left[row] = ranks[g, row] <= cuts[middle]
                counts[0 if on_left[row] else 1, labels[row]] += weights[row]
            _stumps(order, ranks, labels, weights, owner, least, on_left, counts, before, rest, found, free)
            whole = counts.sum(axis=1)
            if whole[0] >= least and whole[1] >= least and free[0] + free[1] <= most:
                for side in range(2):
                    found[side, features] = whole[side] - counts[side].max()
                own, root = g * COLUMN + cuts[middle], owner[g]
                for i in range(features + 1):
                    for k in range(features + 1):
                        cost = found[0, i] + found[1, k]
                        if i == features and k == features:
                            cost = whole[0] + whole[1] - _apart(counts[0], counts[1])
                        at = i * (features + 1) + k
                        if cost <= most and cost < table[root, at]:
                            table[root, at], place[root, at] = cost, own
            stack[height, 0], stack[height, 1] = begin, middle
            ends[height, 0], ends[height, 1] = from_left, free[1]
            stack[height + 1, 0], stack[height + 1, 1] = middle + 1, end
            ends[height + 1, 0], ends[height + 1, 1] = free[0], from_right
            height += 2
