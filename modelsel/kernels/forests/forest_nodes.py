"""Nodes of a grown tree read in order: parents, depths, class weights, where paths end first.

Class weights are kept at leaves alone, those of other nodes are sums. Per node they are listed from `start` to `end`, classes
ascending; a node to which no row came (honest trees) has the list of its nearest ancestor that has one.
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel
from modelsel.kernels.forests.forest_layout import AT, COLUMN, KIND, RIGHT, TEST
from modelsel.kernels.layout import LEAF


@kernel(types.parents(types.fixed_columns))
def parents(nodes):
    """The parent (−1 at the root) and the depth of each node."""
    parent, depth = np.full(len(nodes), -1, np.int32), np.zeros(len(nodes), np.int32)
    for node in range(len(nodes)):
        if nodes[node, TEST] & KIND != LEAF:
            for child in (node + 1, np.int64(nodes[node, RIGHT])):
                parent[child], depth[child] = node, depth[node] + 1
    return parent, depth


@kernel(_nrt=False)
def _merge(start, end, one, other, classes, weights, made):
    """Add the lists of two nodes up behind `made`; returns where the sum ends."""
    i, j = start[one], start[other]
    while i < end[one] or j < end[other]:
        if j >= end[other] or (i < end[one] and classes[i] < classes[j]):
            classes[made], weights[made] = classes[i], weights[i]
            i += 1
        elif i >= end[one] or classes[j] < classes[i]:
            classes[made], weights[made] = classes[j], weights[j]
            j += 1
        else:
            classes[made], weights[made] = classes[i], weights[i] + weights[j]
            i += 1
            j += 1
        made += 1
    return made


@kernel()
def _longer(values, size):
    longer = np.empty(size, values.dtype)
    longer[: len(values)] = values
    return longer


@kernel(types.node_lists(types.fixed_columns, types.fixed_codes, types.fixed_codes, types.fixed_reals))
def list_weights(nodes, first, held, weight):
    """List class weights of each node (start, end, classes, weights) from those of the leaves."""
    start, end = np.zeros(len(nodes), np.int32), np.zeros(len(nodes), np.int32)
    classes, weights = np.empty(4 * len(held) + 64, np.int32), np.empty(4 * len(held) + 64)
    made, leaf = 0, len(first) - 1
    for node in range(len(nodes) - 1, -1, -1):
        one, other = node + 1, nodes[node, RIGHT]
        terminal = nodes[node, TEST] & KIND == LEAF
        if terminal:
            leaf -= 1
        longest = first[leaf + 1] - first[leaf] if terminal else end[one] - start[one] + end[other] - start[other]
        if made + longest > len(classes):
            size = 2 * (made + longest)
            classes, weights = _longer(classes, size), _longer(weights, size)
        start[node] = made
        if terminal:
            for k in range(first[leaf], first[leaf + 1]):
                classes[made], weights[made] = held[k], weight[k]
                made += 1
        else:
            made = _merge(start, end, one, other, classes, weights, made)
        end[node] = made
    for node in range(len(nodes)):
        if nodes[node, TEST] & KIND != LEAF:
            for child in (node + 1, np.int64(nodes[node, RIGHT])):
                if start[child] == end[child]:
                    start[child], end[child] = start[node], end[node]
    return start, end, classes[:made].copy(), weights[:made].copy()


@kernel(types.wholes(types.fixed_codes, types.fixed_codes, types.fixed_reals, types.whole))
def frequencies(start, end, weights, whole):
    """Give the shares of the lists' weights, in whole numbers of 1/`whole`."""
    shares = np.empty(len(weights), np.int64)
    for node in range(len(start)):
        total = 0.0
        for k in range(start[node], end[node]):
            total += weights[k]
        for k in range(start[node], end[node]):
            shares[k] = np.int64(np.floor(weights[k] / total * whole))
    return shares


@kernel(types.nothing(types.fixed_codes, types.words))
def first_stops(parent, stops):
    """Keep of the bits of each node (cuts that end there) those that no node above has."""
    closed = np.zeros(stops.shape, np.uint64)
    for node in range(1, len(parent)):
        above = parent[node]
        for w in range(stops.shape[1]):
            closed[node, w] = closed[above, w] | stops[above, w]
            stops[node, w] &= ~closed[node, w]


@kernel(_nrt=False)
def _order(values, owner, start, end):
    """Sort values with their owners (Shell 1959): most often one or two."""
    gap = 1
    while 3 * gap < end - start:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(start + gap, end):
            value, own, j = values[i], owner[i], i
            while j >= start + gap and values[j - gap] > value:
                values[j], owner[j] = values[j - gap], owner[j - gap]
                j -= gap
            values[j], owner[j] = value, own
        gap //= 3


@kernel(types.cuts(types.columns, types.fixed_reals, types.whole))
def number(nodes, thresholds, features):
    """Write the place of each node's threshold among those of its feature in the place of its code.

    Returned are the thresholds of each feature, ascending and once each, and how many they are. Codes, which rise with
    thresholds, put most of them into order.
    """
    first, many = np.zeros(features + 1, np.int64), np.zeros(features, np.int64)
    inner = np.empty(len(thresholds), np.int64)
    made = 0
    for node in range(len(nodes)):
        if nodes[node, TEST] != LEAF:
            inner[made] = node
            if not np.isnan(thresholds[made]):
                f = nodes[node, COLUMN]
                first[f + 1] = max(first[f + 1], np.int64(nodes[node, AT]) + 1)
            made += 1
    for f in range(features):
        first[f + 1] += first[f]
    ends = np.zeros(first[features] + 1, np.int32)
    for k in range(made):
        if not np.isnan(thresholds[k]):
            ends[first[nodes[inner[k], COLUMN]] + nodes[inner[k], AT] + 1] += 1
    for code in range(first[features]):
        ends[code + 1] += ends[code]
    values, owner = np.empty(ends[first[features]]), np.empty(ends[first[features]], np.int64)
    for k in range(made):
        if not np.isnan(thresholds[k]):
            code = first[nodes[inner[k], COLUMN]] + nodes[inner[k], AT]
            values[ends[code]], owner[ends[code]] = thresholds[k], inner[k]
            ends[code] += 1
    found, start = 0, np.int64(0)
    for f in range(features):
        for code in range(first[f], first[f + 1]):
            end = np.int64(ends[code])
            _order(values, owner, start, end)
            for i in range(start, end):
                if many[f] == 0 or values[found - 1] != values[i]:
                    values[found] = values[i]
                    found += 1
                    many[f] += 1
                nodes[owner[i], AT] = many[f] - 1
            start = end
    return values[:found].copy(), many
