"""Rows sent down the trees of a forest by codes (rows × features): their leaves, and the votes of these, in whole numbers."""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel
from modelsel.kernels.forests.forest_layout import AT, COLUMN, KIND, LOST, OTHERS, RIGHT, TEST
from modelsel.kernels.layout import EQUALITY, LEAF, THRESHOLD


@kernel(inline="always", _nrt=False)
def _leaf(codes, nodes, levels, marks):
    """The leaf of one row."""
    node = np.uint64(0)
    while nodes[node, TEST] != LEAF:
        own, at = nodes[node, TEST], nodes[node, AT]
        test = own & KIND
        column = np.uint64(nodes[node, COLUMN])
        code = codes[column]
        if code < 0:
            second = own & LOST != 0
        elif test == THRESHOLD:
            second = code > at
        elif code >= levels[column]:
            second = own & OTHERS != 0
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


@kernel(
    types.nothing(
        types.fixed_columns, types.fixed_columns, types.fixed_wholes, types.fixed_flags, types.fixed_wholes, types.fixed_codes,
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
