"""Places in preorder: the compiled loop, NumPy, and a walk of the tree."""

import numpy as np

from modelsel.core.types import Integers
from modelsel.kernels.compiler import load
from modelsel.kernels.layout import BRANCHES, DEPTH, FIRST, PARENT, RECORD
from tests.tree.in_numpy import preorder


def made(rng: np.random.Generator, inner: int) -> Integers:
    """Records of a random tree whose nodes with tests are drawn in any order, two to four branches each."""
    nodes, leaves = [[-1, 0, 0, 0]], [0]  # parent, depth, first, branches
    for _ in range(inner):
        node = leaves.pop(int(rng.integers(len(leaves))))
        branches = int(rng.integers(2, 5))
        nodes[node][2:] = [len(nodes), branches]
        leaves.extend(range(len(nodes), len(nodes) + branches))
        nodes.extend([node, nodes[node][1] + 1, 0, 0] for _ in range(branches))
    records = np.zeros((len(nodes), RECORD), np.int64)
    records[:, [PARENT, DEPTH, FIRST, BRANCHES]] = nodes
    return records


def walked(records: Integers) -> list[int]:
    """A stack of nodes, the first child on top."""
    place, stack, met = [0] * len(records), [0], 0
    while stack:
        node = stack.pop()
        place[node], met = met, met + 1
        first = int(records[node, FIRST])
        stack.extend(range(first + int(records[node, BRANCHES]) - 1, first - 1, -1))
    return place


def test_a_parent_stands_before_its_children_and_a_subtree_is_a_slice() -> None:
    rng, kernel = np.random.default_rng(0), load("preorder")
    for inner in range(60):
        records = made(rng, inner)
        assert preorder(records).tolist() == walked(records)
        assert kernel.preorder(records).tolist() == walked(records)
