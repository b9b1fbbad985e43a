"""One tree of a forest as arrays, nodes in preorder."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Codes, Feature, Floats, Integers
from modelsel.kernels.forests.forest_layout import AT, COLUMN, DEPTH, LOST, OTHERS, PARENT, RIGHT, ROWS, SIDES, TEST
from modelsel.kernels.layout import EQUALITY, LEAF, SUBSET
from modelsel.tree.structure.node import DecisionTree


@dataclass(frozen=True, eq=False)
class ForestTree:
    """Numbers of each node (`kernels.forests.forest_layout`), thresholds, goodness, class weights, marked levels (SUBSET).

    The first child of node i is i + 1.
    """

    nodes: NDArray[np.int32]
    threshold: Floats
    goodness: Floats
    counts: Floats  # nodes × classes
    marks: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def parent(self) -> Codes:
        return np.ascontiguousarray(self.nodes[:, PARENT])

    @property
    def rows(self) -> Codes:
        """Distinct rows that grew each node."""
        return np.asarray(self.nodes[:, ROWS])

    @property
    def depth(self) -> Codes:
        return np.asarray(self.nodes[:, DEPTH])

    @cached_property
    def terminal(self) -> NDArray[np.bool_]:
        return np.asarray(self.nodes[:, TEST] == LEAF)

    def tree(self, features: tuple[Feature, ...], classes: tuple[str, ...]) -> DecisionTree:
        """The same as a tree that can be pruned, drawn and exported."""
        nodes, inner = self.nodes, np.flatnonzero(~self.terminal)
        first = np.zeros(len(self) + 1, np.int32)
        first[1:] = 2 * np.cumsum(~self.terminal)
        child = np.column_stack([inner + 1, nodes[inner, RIGHT]]).ravel().astype(np.int32)
        subset = {int(i): self.levels(int(i), features).astype(bool) for i in inner if nodes[i, TEST] == SUBSET}
        threshold = np.where(nodes[:, TEST] == EQUALITY, nodes[:, AT], self.threshold)
        missing = np.where(self.terminal, -1, nodes[:, SIDES] & LOST).astype(np.int32)
        return DecisionTree(
            features, classes, self.parent, nodes[:, TEST].astype(np.int8), np.ascontiguousarray(nodes[:, COLUMN]), threshold,
            first, child, self.counts, self.goodness, subset, missing,
        )  # fmt: skip

    def levels(self, node: int, features: tuple[Feature, ...]) -> NDArray[np.uint8]:
        """Mask the levels that take the first branch of a SUBSET test."""
        start = int(self.nodes[node, AT])
        return self.marks[start : start + len(features[self.nodes[node, COLUMN]].levels)]

    def cut(self, leaf: NDArray[np.bool_]) -> "ForestTree":
        """Without what stands under marked nodes, renumbered."""
        kept = reached(self, leaf)
        number = np.cumsum(kept) - 1
        nodes = self.nodes[kept]
        ends = leaf[kept]
        nodes[ends, TEST], nodes[ends, COLUMN], nodes[ends, RIGHT] = LEAF, -1, 0
        inner = ~ends
        nodes[inner, RIGHT] = number[nodes[inner, RIGHT]]
        nodes[1:, PARENT] = number[nodes[1:, PARENT]]
        nothing = np.where(ends, np.nan, 1.0)
        return ForestTree(nodes, self.threshold[kept] * nothing, self.goodness[kept] * nothing, self.counts[kept], self.marks)

    def others_to(self) -> Integers:
        """Return the branch of a level that no row had: 0 or 1."""
        return np.asarray((self.nodes[:, SIDES] & OTHERS) // OTHERS, np.int64)


def reached(tree: ForestTree, leaf: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Nodes that no marked node stands above."""
    stands: NDArray[Any] = np.ones(len(tree), bool)
    order = np.argsort(tree.depth, kind="stable")
    for nodes in np.split(order, np.flatnonzero(np.diff(tree.depth[order])) + 1)[1:]:
        above = tree.nodes[nodes, PARENT]
        stands[nodes] = stands[above] & ~leaf[above]
    return stands
