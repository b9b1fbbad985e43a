"""Send rows down a tree whose thresholds are ramps, iteratively, over arrays shared by all.

A row brings one number per test: its value at a ramp, the position of the child at any other test, NaN where it is divided
by the children's shares. Left of a ramp is 1 up to c − a, ½ at c, 0 from c + b on, linear in between; a width of 0 is a step.
"""

import numpy as np
from numba import types as numba_types

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel

ROWS = numba_types.Array(numba_types.float64, 2, "C", readonly=True)  # rows × tests
FLAGS, NODES, PER_NODE = types.fixed_flags, types.fixed_codes, types.fixed_reals
# column of x (−1: leaf), is it a ramp, threshold, width below, width above, first, child, share of the parent's weight
TREE = numba_types.Tuple((NODES, FLAGS, PER_NODE, PER_NODE, PER_NODE, NODES, NODES, PER_NODE))
BLOCK = 128  # rows whose weights at all nodes stay near the processor
WALKED = numba_types.Tuple((types.wholes, types.codes, types.reals))


@kernel()
def _left_share(value, threshold, below, above):
    """Share of the weight that goes to the first child of a ramp."""
    if value <= threshold:
        short = threshold - value
        return 1.0 if short >= below else 0.5 + 0.5 * short / below
    over = value - threshold
    return 0.0 if over >= above else 0.5 - 0.5 * over / above


@kernel()
def _longer(array, size):
    longer = np.zeros(max(size, 2 * len(array)), array.dtype)
    longer[: len(array)] = array
    return longer


@kernel(inline="always")
def _descend(row, x, tree, node, weight, nodes, weights, top):
    """Follow the first branch to a leaf, put the others on the stack; leaf, weight there, new top."""
    slot, ramp, threshold, below, above, first, child, share = tree
    while slot[node] >= 0:
        value, start = x[row, slot[node]], first[node]
        if np.isnan(value):
            for k in range(first[node + 1] - 1, start, -1):
                if share[child[k]] > 0:
                    nodes[top], weights[top] = child[k], weight * share[child[k]]
                    top += 1
            node = child[start]
            weight *= share[node]
        elif ramp[node]:
            left = _left_share(value, threshold[node], below[node], above[node])
            if left == 0.0:
                node = child[start + 1]
                continue
            if left < 1.0:
                nodes[top], weights[top] = child[start + 1], weight * (1.0 - left)
                top += 1
            node, weight = child[start], weight * left
        else:
            node = child[start + int(value)]
    return node, weight, top


@kernel(WALKED(types.whole, ROWS, TREE))
def walk(root, x, tree):
    """Per fragment, row after row: the row, the leaf, the part of its weight; those of no weight are left out."""
    n, size = len(x), len(tree[0])
    owner, leaf, part = np.empty(n, np.int64), np.empty(n, np.int32), np.empty(n)
    nodes, weights = np.empty(size, np.int32), np.empty(size)
    made = 0
    for row in range(n):
        nodes[0], weights[0], top = root, 1.0, 1
        while top > 0:
            node, weight, top = _descend(row, x, tree, nodes[top - 1], weights[top - 1], nodes, weights, top - 1)
            if weight > 0.0:
                if made == len(leaf):
                    owner, leaf, part = _longer(owner, made + 1), _longer(leaf, made + 1), _longer(part, made + 1)
                owner[made], leaf[made], part[made] = row, node, weight
                made += 1
    return owner[:made], leaf[:made], part[:made]


@kernel(types.nothing(ROWS, TREE, PER_NODE, types.reals))
def mean(x, tree, of_leaf, out):
    """Mean of a number per leaf over the leaves that each row reaches."""
    size = len(tree[0])
    nodes, weights = np.empty(size, np.int32), np.empty(size)
    for row in range(len(x)):
        nodes[0], weights[0], top, total = 0, 1.0, 1, 0.0
        while top > 0:
            node, weight, top = _descend(row, x, tree, nodes[top - 1], weights[top - 1], nodes, weights, top - 1)
            total += weight * of_leaf[node]
        out[row] = total


@kernel()
def _shares(values, threshold, below, above, left, rows):
    """`_left_share` of some rows to the last bit, without a branch: several are computed at once; 0/0 counts as whole."""
    for i in range(rows):
        short = threshold - values[i]
        share = 0.5 + 0.5 * short / (below if short >= 0.0 else above)
        share = share if share < 1.0 else 1.0
        left[i] = share if share > 0.0 else 0.0


@kernel()
def _divide(own, left, first, second, rows):
    for i in range(rows):
        first[i] = own[i] * left[i]
        second[i] = own[i] * (1.0 - left[i])


@kernel()
def _add(own, of_leaf, out, rows):
    for i in range(rows):
        out[i] += own[i] * of_leaf


@kernel(types.nothing(ROWS, TREE, PER_NODE, types.reals))
def mean_of_ramps(x, tree, of_leaf, out):
    """`mean` where every test is a ramp and no row is divided; x is tests × rows, and a node's rows are taken together."""
    slot, _, threshold, below, above, first, child, _ = tree
    weight, left = np.empty((len(slot), BLOCK)), np.empty(BLOCK)
    for start in range(0, len(out), BLOCK):
        rows = min(BLOCK, len(out) - start)
        weight[0] = 1.0
        out[start : start + rows] = 0.0
        for node in range(len(slot)):
            if slot[node] < 0:
                _add(weight[node], of_leaf[node], out[start:], rows)
            else:
                _shares(x[slot[node], start:], threshold[node], below[node], above[node], left, rows)
                _divide(weight[node], left, weight[child[first[node]]], weight[child[first[node] + 1]], rows)


@kernel(types.real(PER_NODE, FLAGS, PER_NODE, types.whole))
def deviation(r, positive, weight, shape):
    """Weighted mean of d = |r − [positive]| (shape 0), d² (1) or exp(4(d − 1)) (2)."""
    total, whole = 0.0, 0.0
    for row in range(len(r)):
        d = 1.0 - r[row] if positive[row] else r[row]
        loss = d if shape == 0 else d * d if shape == 1 else np.exp(4.0 * (d - 1.0))
        total += weight[row] * loss
        whole += weight[row]
    return total / whole
