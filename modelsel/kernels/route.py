"""Send rows down a tree: each to the leaf it reaches, or to several with parts of its weight.

A missing value goes to the child that the node names, or down all branches by their shares, or where the first surrogate
that is known sends it. A level that was not declared goes with the majority and is counted.
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel
from modelsel.kernels.layout import BY_SURROGATES, DIVIDED, EQUALITY, LEAF, SUBSET, THRESHOLD


@kernel()
def _by_surrogate(row, node, values, tree, fallback):
    """Child by the first surrogate whose value is known, else the larger side."""
    levels, first, feature, threshold, flipped, at, sides = tree
    for s in range(first[node], first[node + 1]):
        value = values[feature[s], row]
        if np.isnan(value):
            continue
        if at[s] < 0:
            return 1 if (value <= threshold[s]) == (flipped[s] == 1) else 0
        if value < levels[feature[s]] and sides[at[s] + int(value)] >= 0:
            return sides[at[s] + int(value)]
    return fallback


@kernel()
def _branch(test, value, threshold, at, marks):
    """Position of the child that takes a known value."""
    if test == THRESHOLD:
        return 0 if value <= threshold else 1
    if test == EQUALITY:
        return 0 if value == threshold else 1
    if test == SUBSET:
        return 0 if marks[at + int(value)] else 1
    return int(value)


@kernel()
def _longer(array, size):
    longer = np.zeros(max(size, 2 * len(array)), array.dtype)
    longer[: len(array)] = array
    return longer


@kernel(
    types.routed(
        types.fixed_rows, types.fixed_wholes, types.fixed_bytes, types.fixed_codes, types.fixed_reals, types.fixed_codes,
        types.fixed_codes, types.fixed_codes, types.fixed_codes, types.fixed_reals, types.fixed_codes, types.fixed_flags,
        types.surrogates,
    )
)  # fmt: skip
def walk(values, rows, test, feature, threshold, first, child, missing_to, majority, share, at, marks, surrogates):
    """Per fragment, row after row: position in `rows`, leaf, part of the weight; and how many rows met an unseen level."""
    n = len(rows)
    owner, leaf, part = np.empty(n, np.int64), np.empty(n, np.int32), np.empty(n)
    levels = surrogates[0]
    nodes, weights = np.empty(64, np.int64), np.empty(64)
    made, unseen = 0, 0
    for i in range(n):
        row, met = rows[i], False
        nodes[0], weights[0], top = 0, 1.0, 1
        while top > 0:
            top -= 1
            node, weight = nodes[top], weights[top]
            while test[node] != LEAF:
                value, f = values[feature[node], row], feature[node]
                if np.isnan(value):
                    to = missing_to[node]
                    if to == DIVIDED:
                        break
                    if to < 0:
                        to = _by_surrogate(row, node, values, surrogates, BY_SURROGATES - to)
                elif test[node] != THRESHOLD and value >= levels[f]:
                    to, met = majority[node], True
                else:
                    to = _branch(test[node], value, threshold[node], at[node], marks)
                node = child[first[node] + to]
            if test[node] == LEAF:
                if made == len(leaf):
                    owner, leaf, part = _longer(owner, made + 1), _longer(leaf, made + 1), _longer(part, made + 1)
                owner[made], leaf[made], part[made] = i, node, weight
                made += 1
                continue
            branches = first[node + 1] - first[node]
            if top + branches > len(nodes):
                nodes, weights = _longer(nodes, top + branches), _longer(weights, top + branches)
            for k in range(first[node + 1] - 1, first[node] - 1, -1):
                if share[child[k]] > 0:
                    nodes[top], weights[top] = child[k], weight * share[child[k]]
                    top += 1
        unseen += met
    return owner[:made], leaf[:made], part[:made], unseen


@kernel(types.ended(types.fixed_codes, types.fixed_marks))
def ends(parent, leaf):
    """Per tree and node: where a row that comes by ends when the marked nodes are leaves; and how many leaves stand."""
    trees, nodes = leaf.shape
    end, leaves = np.empty((trees, nodes), np.int32), np.zeros(trees, np.int64)
    for tree in range(trees):
        marks, to = leaf[tree], end[tree]
        for node in range(nodes):
            above = parent[node]
            # a node above that ends elsewhere, or is itself marked, closes this one
            if above >= 0 and (marks[above] or to[above] != above):
                to[node] = to[above]
            else:
                to[node] = node
                leaves[tree] += marks[node]
    return end, leaves
