"""Class weights of routed rows per node: what pruning rows say of a tree, and assessment rows of all that are cut from it."""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel


@kernel(types.matrix(
    types.fixed_wholes, types.fixed_codes, types.fixed_reals, types.fixed_codes, types.fixed_reals, types.fixed_codes,
    types.whole,
))  # fmt: skip
def weigh_nodes(owner, leaf, part, target, weight, parent, classes):
    """Nodes × classes: the weight that passes each node; fragment i is row i, whole, where `owner` is empty."""
    counts, whole = np.zeros((len(parent), classes)), len(owner) == 0
    for i in range(len(leaf)):
        row = i if whole else owner[i]
        counts[leaf[i], target[row]] += weight[row] if whole else part[i] * weight[row]
    for node in range(len(parent) - 1, 0, -1):
        for c in range(classes):
            counts[parent[node], c] += counts[node, c]
    return counts
