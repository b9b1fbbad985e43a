"""The votes of trees under many cuts at once: what differs from one cut to the next is all that is summed.

A cut is one way of limiting and pruning the trees, a pair a cut and a way in which its leaves vote. Pairs hang together in a
spanning tree of least change, found on leaves of the first tree: each but the first has another one as its base, and for most
rows and trees both end at the same node.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Booleans, Codes, Integers
from modelsel.forest.preorder import parents
from modelsel.kernels.compiler import load

SAMPLE = 64  # leaves on which bases are found
NOBODY = np.zeros(0, np.uint8)
Words = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class VoteLists:
    """What the nodes say: classes and votes of node i from start[i] to end[i] − 1."""

    start: Codes
    end: Codes
    classes: Codes
    shares: Integers

    def of_nodes(self, nodes: Integers) -> "VoteLists":
        """Those of some nodes, one after the other."""
        sizes = (self.end - self.start)[nodes]
        ends = np.cumsum(sizes).astype(np.int32)
        place = np.arange(sizes.sum()) + np.repeat(self.start[nodes] - (ends - sizes), sizes)
        return VoteLists(ends - sizes, ends, self.classes[place], self.shares[place])


@dataclass(frozen=True, eq=False)
class TreeVotes:
    """One tree: where paths end under each cut (`stops`: nodes × words, a bit per cut that stops there first), and what nodes
    say in each way of voting (`start`, `end`: ways × nodes)."""

    parent: Codes
    stops: Words
    start: NDArray[np.int32]
    end: NDArray[np.int32]
    classes: Codes
    shares: Integers

    @classmethod
    def of(cls, nodes: NDArray[np.int32], stops: Words, ways: Sequence[VoteLists]) -> "TreeVotes":
        before = np.r_[0, np.cumsum([len(way.classes) for way in ways])[:-1]].astype(np.int32)[:, None]
        start, end = (np.array([getattr(way, name) for way in ways], np.int32) + before for name in ("start", "end"))
        parent = parents(nodes)[0]
        return cls(
            parent, first_stops(parent, stops), start, end, np.concatenate([way.classes for way in ways]),
            np.concatenate([way.shares for way in ways]),
        )  # fmt: skip

    def stands(self, leaf: int, cuts: int) -> Integers:
        """Where a row of a leaf ends under each cut."""
        found, node = np.zeros(cuts, np.int64), leaf
        while node >= 0:
            found[np.flatnonzero(bits(self.stops[node], cuts))] = node
            node = int(self.parent[node])
        return found


def marked(words: Words, cut: int, where: Booleans) -> None:
    """Set the bit of a cut at some nodes, and clear it at the others."""
    bit = np.uint64(1 << (cut % 64))
    words[:, cut // 64] &= ~bit
    words[where, cut // 64] |= bit


def mask(cuts: Sequence[int], words: int) -> Words:
    """Words with the bits of some cuts."""
    found = np.zeros(words, np.uint64)
    for cut in cuts:
        found[cut // 64] |= np.uint64(1 << (cut % 64))
    return found


def bits(words: Words, cuts: int) -> Booleans:
    """Cuts marked by words (the last axis)."""
    loose = np.unpackbits(np.ascontiguousarray(words).view(np.uint8), axis=-1, bitorder="little")
    return np.asarray(loose[..., :cuts], bool)


def first_stops(parent: Codes, stops: Words) -> Words:
    """Of the cuts that end at a node those that end at no node above."""
    kernel = load("forest_nodes")
    if kernel is not None:
        kernel.first_stops(parent, stops)
        return stops
    closed = np.zeros_like(stops)
    for node in range(1, len(parent)):
        closed[node] = closed[parent[node]] | stops[parent[node]]
        stops[node] &= ~closed[node]
    return stops


@dataclass(frozen=True, eq=False)
class Pairs:
    """Cut and way of each pair, its base (−1: none), and an order in which bases stand before those that need them."""

    cut: Integers
    way: Integers
    base: Integers
    order: Integers

    @classmethod
    def of(cls, cut: Integers, way: Integers, tree: TreeVotes) -> "Pairs":
        """Prim's algorithm; what hangs nowhere costs its own votes, what differs from its base those of both."""
        inner = np.zeros(len(tree.parent), bool)
        inner[tree.parent[1:]] = True
        leaves = np.flatnonzero(~inner)
        leaves = leaves[:: max(1, -(-len(leaves) // SAMPLE))]
        stands = np.array([tree.stands(int(leaf), int(cut.max()) + 1)[cut] for leaf in leaves]).T
        votes = (tree.end - tree.start)[way[:, None], stands]
        least, base = votes.sum(axis=1).astype(np.float64), np.full(len(cut), -1, np.int64)
        order: list[int] = []
        for _ in cut:
            k = int(least.argmin())
            order.append(k)
            apart = ((stands != stands[k]) * (votes + votes[k])).sum(axis=1)
            better = (apart < least) & (way == way[k])
            better[order] = False
            least[better], base[better] = apart[better], k
            least[k] = np.inf
        return cls(cut, way, base, np.array(order, np.int64))

    def add(self, tree: TreeVotes, leaf: Codes, left_out: Booleans | None, votes: Integers) -> None:
        """Add what a tree says of rows in its leaves to their votes (rows × pairs × classes), less what their base has."""
        kernel = load("forest_grid")
        skipped = NOBODY if left_out is None else left_out.astype(np.uint8)
        if kernel is not None:
            kernel.add(
                leaf, skipped, tree.parent, tree.stops, self.cut, self.base, self.way, tree.start, tree.end, tree.classes,
                tree.shares, votes,
            )  # fmt: skip
            return
        for row in np.flatnonzero(skipped == 0) if len(skipped) else range(len(leaf)):
            stands = tree.stands(int(leaf[row]), int(self.cut.max()) + 1)[self.cut]
            for k, base in enumerate(self.base.tolist()):
                for pair, sign in ((k, 1), (base, -1)):
                    if pair >= 0:
                        own = slice(tree.start[self.way[pair], stands[pair]], tree.end[self.way[pair], stands[pair]])
                        votes[row, k, tree.classes[own]] += sign * tree.shares[own]

    def whole(self, votes: Integers) -> Integers:
        """The votes themselves."""
        found = votes.copy()
        for k in self.order.tolist():
            if self.base[k] >= 0:
                found[:, k] += found[:, self.base[k]]
        return found

    def elected(self, votes: Integers) -> Codes:
        """The class of most votes per pair and row, the first where they are equal."""
        kernel, found = load("forest_grid"), np.empty((votes.shape[1], votes.shape[0]), np.int32)
        if kernel is None:
            return np.asarray(self.whole(votes).argmax(axis=2).T.astype(np.int32))
        kernel.elect(votes, self.order, self.base, found)
        return found
