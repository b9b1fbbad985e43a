"""Class weights of the nodes of a forest's tree, listed: most nodes hold few of many classes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Codes, Floats, Integers
from modelsel.forest.preorder import parents
from modelsel.kernels.compiler import load
from modelsel.kernels.forests.forest_layout import KIND, TEST, WHOLE
from modelsel.kernels.layout import LEAF


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
        kernel = load("forest_nodes")
        if kernel is not None:
            return cls(*kernel.listed(nodes, first, classes, weights))
        counts = np.zeros((len(nodes), int(classes.max(initial=0)) + 1))
        leaves = np.flatnonzero(nodes[:, TEST] & KIND == LEAF)
        counts[np.repeat(leaves, np.diff(first)), classes] = weights
        return cls.from_dense(filled(summed(parents(nodes)[0], counts), parents(nodes)[0]))

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
        kernel = load("forest_nodes")
        if kernel is not None:
            found: Integers = kernel.frequencies(self.start, self.end, self.weights, WHOLE)
            return found
        shares = np.empty(len(self.weights), np.int64)
        for start, end in zip(self.start.tolist(), self.end.tolist(), strict=True):
            shares[start:end] = np.floor(self.weights[start:end] / self.weights[start:end].sum() * WHOLE)
        return shares


def summed(parent: Codes, counts: Floats) -> Floats:
    """Class weights of all nodes from those of the leaves."""
    for node in range(len(counts) - 1, 0, -1):
        counts[parent[node]] += counts[node]
    return counts


def filled(counts: Floats, parent: Codes) -> Floats:
    """Nodes to which no row came have the class weights of their nearest ancestor that has some."""
    for node in range(1, len(counts)):
        if not counts[node].any():
            counts[node] = counts[parent[node]]
    return counts
