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

SAMPLE, SHORT = 64, 5  # leaves on which bases are found; classes of lists that are kept as lists alone
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
    say: lists of all nodes in one way of voting after the other, in `dense` too (row `row_of`) where they are long."""

    parent: Codes
    stops: Words
    lists: VoteLists
    row_of: Codes
    dense: Integers

    @classmethod
    def of(cls, nodes: NDArray[np.int32], stops: Words, ways: Sequence[VoteLists], classes: int) -> "TreeVotes":
        before = np.cumsum([0, *(len(way.classes) for way in ways)]).astype(np.int32)
        lists = VoteLists(
            np.concatenate([way.start + first for way, first in zip(ways, before)]),
            np.concatenate([way.end + first for way, first in zip(ways, before)]),
            np.concatenate([way.classes for way in ways]), np.concatenate([way.shares for way in ways]),
        )  # fmt: skip
        long = np.flatnonzero(lists.end - lists.start >= max(SHORT, classes / 4))
        row_of, dense, own = (
            np.full(len(lists.start), -1, np.int32),
            np.zeros((len(long), classes), np.int64),
            lists.of_nodes(long),
        )
        row_of[long] = np.arange(len(long))
        dense[np.repeat(np.arange(len(long)), own.end - own.start), own.classes] = own.shares
        parent = parents(nodes)[0]
        return cls(parent, first_stops(parent, stops), lists, row_of, dense)

    def __len__(self) -> int:
        return len(self.parent)

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
        votes = (tree.lists.end - tree.lists.start)[way[:, None] * len(tree) + stands]
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
        """Add what a tree says of rows in its leaves to their votes (rows × pairs and classes), less what their base has."""
        kernel, lists, way = load("forest_grid"), tree.lists, self.way * len(tree)
        skipped = NOBODY if left_out is None else left_out.astype(np.uint8)
        if kernel is not None:
            room = np.zeros(64 * tree.stops.shape[1] + len(way) + votes.shape[1] + len(tree) + len(votes), np.int64)
            kernel.add(
                leaf, skipped, tree.parent, tree.stops, self.cut, self.base, way, lists.start, lists.end, lists.classes,
                lists.shares, tree.row_of, tree.dense, room, votes,
            )  # fmt: skip
            return
        wide = votes.shape[1] // len(way)
        for row in np.flatnonzero(skipped == 0) if len(skipped) else range(len(leaf)):
            stands = tree.stands(int(leaf[row]), int(self.cut.max()) + 1)[self.cut]
            for k, base in enumerate(self.base.tolist()):
                for pair, sign in ((k, 1), (base, -1)):
                    if pair >= 0:
                        own = slice(lists.start[way[pair] + stands[pair]], lists.end[way[pair] + stands[pair]])
                        votes[row, k * wide + lists.classes[own]] += sign * lists.shares[own]

    def whole(self, votes: Integers) -> Integers:
        """The votes themselves, rows × pairs × classes."""
        found = votes.reshape(len(votes), len(self.cut), -1).copy()
        for k in self.order.tolist():
            if self.base[k] >= 0:
                found[:, k] += found[:, self.base[k]]
        return found

    def elected(self, votes: Integers) -> Codes:
        """The class of most votes per pair and row, the first where they are equal."""
        kernel, found = load("forest_grid"), np.empty((len(self.cut), len(votes)), np.int32)
        if kernel is None:
            return np.asarray(self.whole(votes).argmax(axis=2).T.astype(np.int32))
        kernel.elect(votes, self.order, self.base, np.empty(votes.shape[1], np.int64), found)
        return found
