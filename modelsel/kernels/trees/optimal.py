"""Least training errors or costs of all trees of a depth, for every number of leaves at once, bounded where work is limited.

Costs are counted above the least that each row costs whatever is said of it: the weight of rows that are misclassified, or what
labels cost by a matrix. One pass per cut finds the best stumps of both its sides, over all columns as lanes: for labels u, v a
running sum of what u saves more than v ([y = u] − [y = v] where errors count), whose extremes are the best stump with these two
leaves. The search around it is `tree_search`. Source: Demirović et al. (2022), MurTree.
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel
from modelsel.kernels.trees.tree_search import NEVER, search_by


@kernel()
def _best_pairs(ranks, signs, ends, weights, cut, inside, whole, least, sums, found):
    """What the best stump on either side saves into `found`: left, right; the same with `min_leaf`.

    Two labels that save too little on either side to do better are passed over; returns how many pairs were looked at.

    inside: sides × labels, what a lone leaf saves; whole: the weight of either side;
    ranks, ends, weights: positions × lanes (ends: −1 where a value ends, else 0); signs: pairs × positions × lanes.
    """
    kind, positions, lanes = signs.dtype.type, ranks.shape[0], ranks.shape[1]
    nought, labels = kind(0), inside.shape[1]
    for side in range(2):
        found[side] = found[2 + side] = inside[side].max()
    whole_left, whole_right = whole[0], whole[1]
    left, right, most_left, least_left, most_right, least_right = sums[0], sums[1], sums[2], sums[3], sums[4], sums[5]
    pair, done, strict = 0, 0, 0 if least <= 1 else 2
    for u in range(labels):
        for v in range(u + 1, labels):
            pair += 1
            most_on_left, most_on_right = inside[0, u] + inside[0, v], inside[1, u] + inside[1, v]
            if most_on_left <= found[strict] and most_on_right <= found[strict + 1]:
                continue
            sums[:] = nought
            own = signs[pair - 1]
            done += 1
            if least <= 1:
                for p in range(positions):
                    for f in range(lanes):
                        x, stays = own[p, f], ranks[p, f] <= cut
                        on_left = kind(left[f] + (x if stays else nought))
                        on_right = kind(right[f] + (nought if stays else x))
                        left[f], right[f] = on_left, on_right
                        on_left, on_right = kind(on_left & ends[p, f]), kind(on_right & ends[p, f])
                        most_left[f], least_left[f] = max(most_left[f], on_left), min(least_left[f], on_left)
                        most_right[f], least_right[f] = max(most_right[f], on_right), min(least_right[f], on_right)
            else:
                for p in range(positions):
                    for f in range(lanes):
                        x, w, stays = own[p, f], weights[p, f], ranks[p, f] <= cut
                        left[f] = kind(left[f] + (x if stays else nought))
                        right[f] = kind(right[f] + (nought if stays else x))
                        sums[6, f] = kind(sums[6, f] + (w if stays else nought))
                        sums[7, f] = kind(sums[7, f] + (nought if stays else w))
                        if ends[p, f] == 0:
                            continue
                        most_left[f], least_left[f] = max(most_left[f], left[f]), min(least_left[f], left[f])
                        most_right[f], least_right[f] = max(most_right[f], right[f]), min(least_right[f], right[f])
                        if sums[6, f] >= least and whole_left - sums[6, f] >= least:
                            sums[8, f], sums[9, f] = max(sums[8, f], left[f]), min(sums[9, f], left[f])
                        if sums[7, f] >= least and whole_right - sums[7, f] >= least:
                            sums[10, f], sums[11, f] = max(sums[10, f], right[f]), min(sums[11, f], right[f])
                for side in range(2):
                    high, low = np.int64(sums[8 + 2 * side].max()), np.int64(sums[9 + 2 * side].min())
                    found[2 + side] = max(found[2 + side], inside[side, v] + high, inside[side, u] - low)
            found[0] = max(found[0], inside[0, v] + np.int64(most_left.max()), inside[0, u] - np.int64(least_left.min()))
            found[1] = max(found[1], inside[1, v] + np.int64(most_right.max()), inside[1, u] - np.int64(least_right.min()))
    if least <= 1:
        found[2], found[3] = found[0], found[1]
    return done


@kernel()
def _savings(counts, gains, label):
    """What a label saves of the dearest that rows cost, by the weights of their classes."""
    saved = 0
    for k in range(len(counts)):
        saved += counts[k] * gains[k, label]
    return saved


@kernel()
def _dearest(counts, gains):
    """The most that can be saved: every class has its cheapest label."""
    dearest = 0
    for k in range(len(counts)):
        dearest += counts[k] * gains[k].max()
    return dearest


@kernel()
def _class_weights(order, rows):
    """Weight of each class in a node."""
    labels, weights, gains, _ = rows
    counts = np.zeros(len(gains), np.int64)
    for p in range(order.shape[0]):
        counts[labels[order[p, 0]]] += weights[order[p, 0]]
    return counts


@kernel()
def _leaf(order, rows):
    """Cost of a node without a test."""
    counts, gains, most = _class_weights(order, rows), rows[2], 0
    for label in range(gains.shape[1]):
        most = max(most, _savings(counts, gains, label))
    return _dearest(counts, gains) - most


@kernel()
def _worth(counts, gains):
    """Gains of the labels that are worth saying in a node, classes × labels, those that save most alone first.

    Left out are those that save no more than another of any class that is present: where errors count, absent classes.
    """
    saved = np.empty(gains.shape[1], np.int64)
    for label in range(len(saved)):
        saved[label] = _savings(counts, gains, label)
    kept, number = np.empty(len(saved), np.int64), 0
    for label in np.argsort(-saved, kind="mergesort"):
        worth = True
        for i in range(number):
            more = False
            for k in range(len(counts)):
                more = more or (counts[k] > 0 and gains[k, label] > gains[k, kept[i]])
            worth = worth and more
        if worth:
            kept[number] = label
            number += 1
    own = np.empty((len(counts), number), np.int64)
    for k in range(len(counts)):
        for i in range(number):
            own[k, i] = gains[k, kept[i]]
    return own


@kernel()
def _ready(order, ranks, rows):
    """A node's rows as lanes: per pair of labels what one saves more than the other, where values end, weights."""
    labels, weights, gains, kind = rows
    own = _worth(_class_weights(order, rows), gains)
    positions, lanes, answers = order.shape[0], order.shape[1], own.shape[1]
    signs = np.empty((answers * (answers - 1) // 2, positions, lanes), kind.dtype)
    ends, heavy = np.empty((positions, lanes), kind.dtype), np.empty((positions, lanes), kind.dtype)
    for p in range(positions):
        for f in range(lanes):
            row, pair = order[p, f], 0
            heavy[p, f] = weights[row]
            more = f < ranks.shape[0] and p + 1 < positions
            ends[p, f] = -1 if more and ranks[f, row] != ranks[f, order[p + 1, f]] else 0
            for u in range(answers):
                for v in range(u + 1, answers):
                    signs[pair, p, f] = weights[row] * (own[labels[row], u] - own[labels[row], v])
                    pair += 1
    counts, inside = np.empty((2, len(gains)), np.int64), np.empty((2, answers), np.int64)
    sums, whole, found = np.zeros((12, lanes), kind.dtype), np.empty(2, np.int64), np.empty(4, np.int64)
    return signs, ends, heavy, own, sums, counts, inside, whole, found


@kernel()
def _stumps(order, turned, cut, rows, lanes, least, below, sides):
    """The best stumps of both sides of a cut: a pass per pair of labels."""
    labels, weights, gains, kind = rows
    signs, ends, heavy, own, sums, counts, inside, whole, found = lanes
    counts[:] = 0
    for p in range(order.shape[0]):
        row = order[p, 0]
        counts[0 if turned[p, 0] <= cut else 1, labels[row]] += weights[row]
    for side in range(2):
        whole[side] = counts[side].sum()
        for label in range(own.shape[1]):
            inside[side, label] = _savings(counts[side], own, label)
    pairs = _best_pairs(turned, signs, ends, heavy, kind.dtype.type(cut), inside, whole, least, sums, found)
    for side in range(2):
        most = _dearest(counts[side], gains)
        below[side, 0] = sides[side, 0] = most - inside[side].max()
        below[side, 1], sides[side, 1] = most - found[side], most - found[2 + side]
    if whole[0] < least or whole[1] < least:
        sides[:] = NEVER
    return order.shape[0] * order.shape[1] * pairs


_search = search_by(_leaf, _ready, _stumps)
_SIGNATURE = (types.whole, types.entries, types.entries, types.wholes, types.wholes, types.entries, types.whole, types.wholes)
_OUT = (types.wholes, types.wholes, types.entries)


@kernel(types.nothing(*_SIGNATURE, *_OUT))
def small(depth, order, ranks, labels, weights, gains, least, work, best, low, chosen):
    """Write least costs, bounds and tests (column, rank, leaves on the left) per number of leaves; total cost and weight < 2¹⁵.

    order: positions × lanes, rows by each column's rank; lanes beyond the columns are copies that end nowhere. ranks: columns ×
    rows; gains: classes × labels, what a label saves of a class's dearest, the unit matrix where errors count; work: done and
    allowed, in positions × lanes × pairs of labels that were looked at.
    """
    kind = np.empty(0, np.int16)
    rows = labels, weights, gains, kind
    _search(depth, order, ranks, rows, weights, least, 0, kind, work, best, low, chosen)


@kernel(types.nothing(*_SIGNATURE, *_OUT))
def large(depth, order, ranks, labels, weights, gains, least, work, best, low, chosen):
    """The same of totals below 2³¹."""
    kind = np.empty(0, np.int32)
    rows = labels, weights, gains, kind
    _search(depth, order, ranks, rows, weights, least, 0, kind, work, best, low, chosen)
