"""Least squared error of all trees of a depth, for every number of leaves at once, bounded where work is limited.

Of rows of weights w and weighted numbers v, with U = Σ w y², a leaf costs U − V² / W. A test of the side with V and W saves
(V b − B W)² / (W b (W − b)) of it, b and B: sums of w and v on its left. One pass per cut finds the best test of both its
sides, over all columns as lanes. The search around it is `tree_search`; sums are exact, and the order of rows does not matter.
Source: van den Bos, van der Linden & Demirović (2024), optimal regression trees.
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel
from modelsel.kernels.trees.tree_search import NEVER, search_by

PASSES = 12  # a step of reals takes as long as so many of 16 bits


@kernel()
def _leaf(order, rows):
    """Cost of a node without a test."""
    values, squares, weights = rows
    value, square, weight = 0.0, 0.0, 0.0
    for p in range(order.shape[0]):
        row = order[p, 0]
        value, square, weight = value + values[row], square + squares[row], weight + weights[row]
    return max(0.0, square - value * value / max(weight, 1.0))


@kernel()
def _ready(order, ranks, rows):
    """A node's rows as lanes: weighted numbers, weights, and 1 where values end."""
    values, _, weights = rows
    numbers, heavy, ends = np.empty(order.shape), np.empty(order.shape), np.zeros(order.shape)
    for p in range(order.shape[0]):
        for f in range(order.shape[1]):
            row = order[p, f]
            numbers[p, f], heavy[p, f] = values[row], weights[row]
            if f < ranks.shape[0] and p + 1 < order.shape[0] and ranks[f, row] != ranks[f, order[p + 1, f]]:
                ends[p, f] = 1.0
    return numbers, heavy, ends, np.empty((8, order.shape[1])), np.empty((2, 3))


@kernel()
def _stumps(order, turned, cut, rows, lanes, least, below, sides):
    """The best tests of both sides of a cut by one pass over all columns."""
    values, squares, weights = rows
    numbers, heavy, ends, sums, whole = lanes
    whole[:] = 0.0
    for p in range(order.shape[0]):
        row, side = order[p, 0], 0 if turned[p, 0] <= cut else 1
        whole[side, 0] += values[row]
        whole[side, 1] += weights[row]
        whole[side, 2] += squares[row]
    v_left, w_left, v_right, w_right = whole[0, 0], whole[0, 1], whole[1, 0], whole[1, 1]
    sums[:] = 0.0
    on_left, weight_left, on_right, weight_right = sums[0], sums[1], sums[2], sums[3]
    most_left, most_right, own_left, own_right = sums[4], sums[5], sums[6], sums[7]
    lightest = float(least)
    for p in range(order.shape[0]):
        for f in range(order.shape[1]):
            v, w, stays, ending = numbers[p, f], heavy[p, f], turned[p, f] <= cut, ends[p, f] > 0
            on_left[f] += v if stays else 0.0
            weight_left[f] += w if stays else 0.0
            on_right[f] += 0.0 if stays else v
            weight_right[f] += 0.0 if stays else w
            b, rest = weight_left[f], w_left - weight_left[f]
            off, under = v_left * b - on_left[f] * w_left, b * rest
            saved = off * off / (under if ending and under > 0 else np.inf)
            most_left[f] = max(most_left[f], saved)
            own_left[f] = max(own_left[f], saved if min(b, rest) >= lightest else 0.0)
            b, rest = weight_right[f], w_right - weight_right[f]
            off, under = v_right * b - on_right[f] * w_right, b * rest
            saved = off * off / (under if ending and under > 0 else np.inf)
            most_right[f] = max(most_right[f], saved)
            own_right[f] = max(own_right[f], saved if min(b, rest) >= lightest else 0.0)
    for side in range(2):
        value, weight = whole[side, 0], max(whole[side, 1], 1.0)
        alone = max(0.0, whole[side, 2] - value * value / weight)
        below[side, 0] = sides[side, 0] = alone
        below[side, 1] = max(0.0, alone - sums[4 + side].max() / weight)
        sides[side, 1] = max(0.0, alone - sums[6 + side].max() / weight)
    if min(w_left, w_right) < lightest:
        sides[:] = NEVER
    return order.shape[0] * order.shape[1] * PASSES


_search = search_by(_leaf, _ready, _stumps)


@kernel(
    types.nothing(
        types.whole, types.entries, types.entries, types.reals, types.reals, types.reals, types.whole, types.real,
        types.wholes, types.reals, types.reals, types.entries,
    )
)  # fmt: skip
def numbers(depth, order, ranks, values, squares, weights, least, slack, work, best, low, chosen):
    """Write least costs, bounds and tests (column, rank, leaves on the left) per number of leaves.

    order: positions × lanes, rows by each column's rank; lanes beyond the columns are copies that end nowhere. ranks: columns ×
    rows; values, squares: weighted; slack: costs that differ by less are equal; work: done and allowed, in positions × lanes ×
    `PASSES`.
    """
    rows = values, squares, weights
    _search(depth, order, ranks, rows, weights, least, slack, np.empty(0, np.int64), work, best, low, chosen)
