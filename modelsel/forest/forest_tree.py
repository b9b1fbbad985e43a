"""One tree of a forest as arrays, nodes in preorder: what a path keeps of each tree, as little as says all."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Booleans, Codes, Feature, Floats, Integers
from modelsel.kernels.compiler import load
from modelsel.kernels.forests.forest_layout import AT, COLUMN, KIND, LOST, OTHERS, RIGHT, ROWS, TEST, WHOLE
from modelsel.kernels.layout import EQUALITY, LEAF, SUBSET
from modelsel.tree.node import DecisionTree, NodeNumbers

# Class weights of the nodes of a forest's tree, listed: most nodes hold few of many classes.


@dataclass(frozen=True, eq=False)
class NodeLists:
    """Node i has `classes` (ascending) and `weights` from start[i] to end[i] − 1."""

    start: Codes
    end: Codes
    classes: Codes
    weights: Floats

    @classmethod
    def of(cls, nodes: NDArray[np.int32], first: Codes, classes: Codes, weights: Floats) -> "NodeLists":
        """Sum the lists of the leaves; a node to which no row came has those of its nearest ancestor that has some."""
        return cls(*load("forest_nodes").list_weights(nodes, first, classes, weights))

    @classmethod
    def from_dense(cls, counts: Floats) -> "NodeLists":
        """Make lists from nodes × classes."""
        node, classes = np.nonzero(counts)
        first = np.r_[0, np.cumsum(np.bincount(node, minlength=len(counts)))].astype(np.int32)
        return cls(first[:-1], first[1:], classes.astype(np.int32), counts[node, classes])

    def dense(self, classes: int) -> Floats:
        """Nodes × classes."""
        sizes = self.end - self.start
        node = np.repeat(np.arange(len(self.start)), sizes)
        place = np.arange(len(node)) + np.repeat(self.start - np.r_[0, np.cumsum(sizes)[:-1]], sizes)
        counts = np.zeros((len(self.start), classes))
        counts[node, self.classes[place]] = self.weights[place]
        return counts

    def shares(self) -> Integers:
        """Give each weight's share of its node's, in whole numbers of 1/2⁴⁰."""
        found: Integers = load("forest_nodes").frequencies(self.start, self.end, self.weights, WHOLE)
        return found


def sum_leaves(parent: Codes, counts: Floats) -> Floats:
    """Class weights of all nodes from those of the leaves."""
    for node in range(len(counts) - 1, 0, -1):
        counts[parent[node]] += counts[node]
    return counts


class LeafWeights(NamedTuple):
    """Class weights of the leaves, one leaf after the other: those of leaf i are first[i] … first[i + 1] − 1."""

    first: Codes
    classes: Codes
    weights: Floats


@dataclass(frozen=True, eq=False)
class ForestTree:
    """Numbers of each node (`kernels.forests.forest_layout`), what belongs to tests and to leaves, marked levels (SUBSET).

    The first child of node i is i + 1. Class weights are kept at leaves alone: those of other nodes are sums. Where the target
    is a number, a sum of numbers and a weight stand for two classes.
    """

    nodes: NDArray[np.int32]
    thresholds: Floats  # of the nodes that are no leaves, in their order; NaN where the test asks for levels
    gains: Floats  # goodness of their tests
    leaves: LeafWeights
    marks: NDArray[np.uint8]
    classes: int

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def test(self) -> Codes:
        """LEAF, THRESHOLD, EQUALITY or SUBSET."""
        return np.asarray(self.nodes[:, TEST] & KIND)

    @property
    def terminal(self) -> Booleans:
        return np.asarray(self.nodes[:, TEST] & KIND == LEAF)

    @property
    def rows(self) -> Codes:
        """Distinct rows that grew each node."""
        return np.asarray(self.nodes[:, ROWS])

    @property
    def parent(self) -> Codes:
        return parents(self.nodes)[0]

    @property
    def depth(self) -> Codes:
        return parents(self.nodes)[1]

    @property
    def threshold(self) -> Floats:
        """Per node, NaN at leaves."""
        return self._of_tests(self.thresholds)

    @property
    def goodness(self) -> Floats:
        """Per node, NaN at leaves."""
        return self._of_tests(self.gains)

    @property
    def lists(self) -> NodeLists:
        """Class weights of each node as lists."""
        return NodeLists.of(self.nodes, *self.leaves)

    @property
    def leaf_lists(self) -> NodeLists | None:
        """Class weights of the leaves as lists; None where no row came to one, which has its ancestor's then."""
        first = self.leaves.first
        return NodeLists(first[:-1], first[1:], *self.leaves[1:]) if (np.diff(first) > 0).all() else None

    @property
    def counts(self) -> Floats:
        """Class weights, nodes × classes."""
        return self.lists.dense(self.classes)

    def _of_tests(self, values: Floats) -> Floats:
        found = np.full(len(self), np.nan)
        found[~self.terminal] = values
        return found

    def tree(self, features: tuple[Feature, ...], classes: tuple[str, ...], numbers: NodeNumbers | None = None) -> DecisionTree:
        """Return it as a tree that can be pruned, drawn and exported; `numbers` where there are no classes."""
        nodes, test, terminal = self.nodes, self.test, self.terminal
        inner = np.flatnonzero(~terminal)
        first = np.zeros(len(self) + 1, np.int32)
        first[1:] = 2 * np.cumsum(~terminal)
        child = np.column_stack([inner + 1, nodes[inner, RIGHT]]).ravel().astype(np.int32)
        subset = {int(i): self.levels(int(i), features).astype(bool) for i in np.flatnonzero(test == SUBSET)}
        threshold = np.where(test == EQUALITY, nodes[:, AT], self.threshold)
        missing = np.where(terminal, -1, nodes[:, TEST] & LOST != 0).astype(np.int32)
        return DecisionTree(
            features, classes, self.parent, test.astype(np.int8), np.ascontiguousarray(nodes[:, COLUMN]), threshold,
            first, child, self.counts if numbers is None else self.counts[:, 1:].copy(), self.goodness, subset, missing,
            numbers=numbers,
        )  # fmt: skip

    def levels(self, node: int, features: Sequence[Feature]) -> NDArray[np.uint8]:
        """Mask the levels that take the first branch of a SUBSET test."""
        start = int(self.nodes[node, AT])
        return self.marks[start : start + len(features[self.nodes[node, COLUMN]].levels)]

    def others_to(self) -> Integers:
        """Return the branch of a level that no row had: 0 or 1."""
        return np.asarray(self.nodes[:, TEST] & OTHERS != 0, np.int64)

    def find_reached(self, leaf: Booleans) -> Booleans:
        """Nodes that no marked node stands above."""
        if np.array_equal(leaf, self.terminal):
            return np.ones(len(self), bool)
        above, depth = parents(self.nodes)
        stands = np.ones(len(self), bool)
        order = np.argsort(depth, kind="stable")
        for nodes in np.split(order, np.flatnonzero(np.diff(depth[order])) + 1)[1:]:
            stands[nodes] = stands[above[nodes]] & ~leaf[above[nodes]]
        return stands

    def cut(self, leaf: Booleans, kept: Booleans) -> tuple[NDArray[np.int32], Floats]:
        """Nodes without those under marked ones, renumbered, with the thresholds of their tests; `kept`: `find_reached`."""
        if kept.all():
            return self.nodes[:, :ROWS].copy(), self.thresholds
        number = np.cumsum(kept) - 1
        nodes, ends = self.nodes[kept, :ROWS], leaf[kept]
        nodes[ends] = LEAF, -1, 0, 0
        nodes[~ends, RIGHT] = number[nodes[~ends, RIGHT]]
        return nodes, self.thresholds[(kept & ~leaf)[~self.terminal]]


# Parents and depths of a forest's tree, whose nodes know their second child alone.


def parents(nodes: NDArray[np.int32]) -> tuple[Codes, Codes]:
    """Find the parent (−1 at the root) and the depth of each node."""
    parent, depth = load("forest_nodes").parents(nodes)
    return parent, depth
