"""Places of nodes when a parent stands before its children and a subtree is a slice."""

import numpy as np

from modelsel.kernels import types
from modelsel.kernels.compiler import kernel
from modelsel.kernels.layout import BRANCHES, FIRST, PARENT


@kernel(types.wholes(types.entries))
def preorder(nodes):
    """Place per node from records in the order in which they were made: children after their parent, siblings in a row."""
    size, position = np.ones(len(nodes), np.int64), np.zeros(len(nodes), np.int64)
    for node in range(len(nodes) - 1, 0, -1):
        size[nodes[node, PARENT]] += size[node]
    for node in range(len(nodes)):
        place = position[node] + 1
        for child in range(nodes[node, FIRST], nodes[node, FIRST] + nodes[node, BRANCHES]):
            position[child] = place
            place += size[child]
    return position
