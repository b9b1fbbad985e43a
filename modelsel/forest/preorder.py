"""Parents and depths of a forest's tree, whose nodes know their second child alone."""

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Codes
from modelsel.kernels.compiler import load
from modelsel.kernels.forests.forest_layout import KIND, RIGHT, TEST
from modelsel.kernels.layout import LEAF


def parents(nodes: NDArray[np.int32]) -> tuple[Codes, Codes]:
    """Find the parent (−1 at the root) and the depth of each node."""
    kernel = load("forest_nodes")
    if kernel is not None:
        parent, depth = kernel.parents(nodes)
        return parent, depth
    parent, depth = np.full(len(nodes), -1, np.int32), np.zeros(len(nodes), np.int32)
    for node in np.flatnonzero(nodes[:, TEST] & KIND != LEAF):
        for child in (node + 1, nodes[node, RIGHT]):
            parent[child], depth[child] = node, depth[node] + 1
    return parent, depth
