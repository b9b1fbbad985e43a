"""Votes of a forest's trees for many ways of cutting them back at once, summed in whole numbers: no order changes a bit.

A row is sent down a tree once, by codes (rows × features). Where it ends under each cut is looked up per node, and the votes of
that node (only those that are not 0) are added. `left_out`: rows that a tree does not vote for (out of bag).
"""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel
from modelsel.kernels.forests.forest_layout import AT, COLUMN, LOST, OTHERS, RIGHT, SIDES, TEST
from modelsel.kernels.layout import EQUALITY, LEAF, THRESHOLD

GROUPED = 4  # rows per node from which those of a leaf are brought together: a quarter


@kernel(inline="always", _nrt=False)
def _leaf(codes, nodes, levels, marks):
    """The leaf of one row."""
    node = np.uint64(0)
    while nodes[node, TEST] != LEAF:
        test, at = nodes[node, TEST], nodes[node, AT]
        column = np.uint64(nodes[node, COLUMN])
        code = codes[column]
        if code < 0:
            second = nodes[node, SIDES] & LOST != 0
        elif test == THRESHOLD:
            second = code > at
        elif code >= levels[column]:
            second = nodes[node, SIDES] & OTHERS != 0
        elif test == EQUALITY:
            second = code != at
        else:
            second = marks[at + code] == 0
        node = np.uint64(nodes[node, RIGHT]) if second else node + np.uint64(1)
    return node


@kernel(types.nothing(types.fixed_columns, types.fixed_columns, types.fixed_wholes, types.fixed_flags, types.codes))
def leaves(codes, nodes, levels, marks, found):
    """The leaf of each row."""
    for i in range(len(codes)):
        found[i] = _leaf(codes[i], nodes, levels, marks)


@kernel(_nrt=False)
def _speak(node, end, first, classes, which, shares, wide, votes):
    """Add what one leaf says under all cuts."""
    for k in range(end.shape[1]):
        to, way, start = np.uint64(end[node, k]), np.uint64(which[k]), np.uint64(k * wide)
        for j in range(np.uint64(first[way, to]), np.uint64(first[way, to + np.uint64(1)])):
            votes[start + np.uint64(classes[j])] += shares[j]


@kernel()
def _together(leaf, nodes):
    """Rows in the order of their leaves, and where those of each leaf end."""
    ends, order = np.zeros(nodes, np.int64), np.empty(len(leaf), np.int64)
    for node in leaf:
        ends[node] += 1
    so_far = 0
    for node in range(nodes):
        ends[node], so_far = so_far, so_far + ends[node]
    for i in range(len(leaf)):
        order[ends[leaf[i]]] = i
        ends[leaf[i]] += 1
    return ends, order


@kernel(
    types.nothing(
        types.fixed_codes, types.fixed_flags, types.fixed_columns, types.fixed_columns, types.fixed_codes, types.fixed_codes,
        types.fixed_wholes, types.votes,
    )
)  # fmt: skip
def add(leaf, left_out, end, first, classes, which, shares, votes):
    """Add the votes of a tree. `end`: nodes × cuts; `first`: ways of voting × (nodes + 1); `which`: way of each cut.

    The rows of a leaf are brought together, so that its votes under all cuts are looked up once.
    """
    rows, cuts, wide = votes.shape
    flat = votes.reshape(rows, cuts * wide)
    if GROUPED * rows < len(end):
        for i in range(rows):
            if not (len(left_out) and left_out[i]):
                _speak(leaf[i], end, first, classes, which, shares, wide, flat[i])
        return
    ends, order = _together(leaf, len(end))
    own = np.zeros(cuts * wide, np.int64)
    for node in range(len(end)):
        start = ends[node - 1] if node else 0
        if start == ends[node]:
            continue
        own[:] = 0
        _speak(node, end, first, classes, which, shares, wide, own)
        for i in range(start, ends[node]):
            row = order[np.uint64(i)]
            if len(left_out) and left_out[row]:
                continue
            to_row = flat[row]
            for k in range(len(own)):
                to_row[k] += own[k]


@kernel(
    types.nothing(
        types.fixed_columns, types.fixed_columns, types.fixed_wholes, types.fixed_flags, types.fixed_wholes, types.fixed_wholes,
        types.fixed_codes, types.fixed_wholes, types.entries,
    )
)  # fmt: skip
def poll(codes, nodes, levels, marks, trees, first, classes, shares, votes):
    """Votes of all trees for each row (rows × classes); `trees`: where the nodes of each begin, and the end of the last."""
    for t in range(len(trees) - 1):
        own, start = nodes[trees[t] : trees[t + 1]], trees[t]
        for i in range(len(codes)):
            node = start + np.int64(_leaf(codes[i], own, levels, marks))
            for j in range(first[node], first[node + 1]):
                votes[i, classes[j]] += shares[j]


@kernel(types.nothing(types.fixed_votes, types.columns))
def elect(votes, elected):
    """The class of most votes per cut and row, the first where they are equal."""
    rows, cuts, classes = votes.shape
    for i in range(rows):
        for k in range(cuts):
            own = votes[i, k]
            most = own[0]
            for c in range(1, classes):
                most = max(most, own[c])
            best = 0
            while own[best] != most:
                best += 1
            elected[k, i] = best
