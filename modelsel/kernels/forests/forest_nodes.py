"""Nodes of a grown tree read in order: parents, depths, class weights, where paths end first.

Class weights are kept at leaves alone, those of other nodes are sums. Per node they are listed from `start` to `end`, classes
ascending; a node to which no row came (honest trees) has the list of its nearest ancestor that has one.
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel
from modelsel.kernels.forests.forest_layout import KIND, RIGHT, TEST
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
def listed(nodes, first, held, weight):
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
