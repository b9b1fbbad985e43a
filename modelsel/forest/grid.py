"""The votes of a tree under many cuts at once: where paths end under each of them, and what the nodes say."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Booleans, Codes, Integers
from modelsel.forest.forest_tree import parents
from modelsel.kernels.compiler import load

SHORT = 5  # classes of lists that are kept as lists alone
Words = NDArray[np.uint64]


@dataclass(frozen=True, eq=False)
class VoteLists:
    """Votes of nodes: classes and votes of node i from start[i] to end[i] − 1."""

    start: Codes
    end: Codes
    classes: Codes
    shares: Integers

    def of_nodes(self, nodes: Integers) -> "VoteLists":
        """Take the votes of some nodes, one after the other."""
        sizes = (self.end - self.start)[nodes]
        ends = np.cumsum(sizes).astype(np.int32)
        place = np.arange(sizes.sum()) + np.repeat(self.start[nodes] - (ends - sizes), sizes)
        return VoteLists(ends - sizes, ends, self.classes[place], self.shares[place])


@dataclass(frozen=True, eq=False)
class TreeVotes:
    """The votes of one tree under many cuts.

    `stops`: nodes × words, a bit per cut that stops there first; `lists`: votes of all nodes in one way of voting after the
    other, in `dense` too (row `row_of`) where they are long.
    """

    parent: Codes
    stops: Words
    lists: VoteLists
    row_of: Codes
    dense: Integers

    @classmethod
    def of(cls, nodes: NDArray[np.int32], stops: Words, ways: Sequence[VoteLists], classes: int) -> "TreeVotes":
        """Prepare the votes of one tree: long lists of classes are kept as dense rows."""
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

    @property
    def leaves(self) -> Integers:
        inner = np.zeros(len(self), bool)
        inner[self.parent[1:]] = True
        return np.flatnonzero(~inner)

    def stands(self, leaf: int, cuts: int) -> Integers:
        """Find the node where a row of a leaf ends under each cut."""
        found, node = np.zeros(cuts, np.int64), leaf
        while node >= 0:
            found[np.flatnonzero(bits(self.stops[node], cuts))] = node
            node = int(self.parent[node])
        return found


def mark_nodes(words: Words, cut: int, where: Booleans) -> None:
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
    own = np.ascontiguousarray(words).view(np.uint8)[..., : -(-cuts // 8)]
    loose = np.unpackbits(own, axis=-1, bitorder="little")
    return np.asarray(loose[..., :cuts], bool)


def first_stops(parent: Codes, stops: Words) -> Words:
    """Keep, of the cuts that end at a node, those that end at no node above."""
    kernel = load("forest_nodes")
    if kernel is not None:
        kernel.first_stops(parent, stops)
        return stops
    closed = np.zeros_like(stops)
    for node in range(1, len(parent)):
        closed[node] = closed[parent[node]] | stops[parent[node]]
        stops[node] &= ~closed[node]
    return stops


# Pairs of a cut and a way of voting, and the votes of rows under each: only what differs from one pair to another is summed.
#
# Pairs hang together in a spanning tree of least change, found on leaves of the first tree: each but the first has another one
# as its base, and for most rows and trees both end at the same node.

SAMPLE = 64  # leaves on which bases are found
NOBODY = np.zeros(0, np.uint8)


@dataclass(frozen=True, eq=False)
class Pairs:
    """The pairs in order of how often they differ from their bases, those that do first: what is written lies together."""

    cut: Integers
    way: Integers
    base: Integers  # −1: none
    order: Integers  # bases before those that need them
    place: Integers  # of each pair as it was asked for

    @classmethod
    def of(cls, cut: Integers, way: Integers, tree: TreeVotes) -> "Pairs":
        """Order the pairs by Prim's algorithm: each pair gets the base from which it differs least."""
        leaves = tree.leaves[:: max(1, -(-len(tree.leaves) // SAMPLE))]
        stands = np.array([tree.stands(int(leaf), int(cut.max()) + 1)[cut] for leaf in leaves]).T
        votes = (tree.lists.end - tree.lists.start)[way[:, None] * len(tree) + stands]
        least, base = votes.sum(axis=1).astype(np.float64), np.full(len(cut), -1, np.int64)
        order, changes = [], np.zeros(len(cut))
        waiting = np.ones(len(cut), bool)
        for _ in cut:
            k = int(np.where(waiting, least, np.inf).argmin())
            order.append(k)
            waiting[k], changes[k] = False, (stands[k] != stands[base[k]]).sum() if base[k] >= 0 else len(leaves)
            apart = ((stands != stands[k]) * (votes + votes[k])).sum(axis=1)
            better = waiting & (apart < least) & (way == way[k])
            least[better], base[better] = apart[better], k
        first = np.argsort(-changes, kind="stable")
        place = np.argsort(first)
        own = base[first]
        return cls(cut[first], way[first], np.where(own >= 0, place[own], -1), place[order], place)

    def room(self, classes: int, trees: list[TreeVotes], rows: int) -> Integers:
        """Make the room that the kernel writes to while votes of some rows are added."""
        widest = max(len(tree) for tree in trees)
        return np.zeros(64 * trees[0].stops.shape[1] + len(self.cut) * (1 + classes) + widest + rows, np.int64)

    def add(self, tree: TreeVotes, leaf: Codes, left_out: Booleans | None, room: Integers, votes: Integers) -> None:
        """Add what a tree says of rows in its leaves to their votes (rows × pairs and classes), less what their base has."""
        kernel, lists, way = load("forest_grid"), tree.lists, self.way * len(tree)
        skipped = NOBODY if left_out is None else left_out.astype(np.uint8)
        if kernel is not None:
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
        """The votes themselves, rows × pairs as they were asked for × classes."""
        found = votes.reshape(len(votes), len(self.cut), -1).copy()
        for k in self.order.tolist():
            if self.base[k] >= 0:
                found[:, k] += found[:, self.base[k]]
        return found[:, self.place]

    def elected(self, votes: Integers) -> Codes:
        """The class of most votes per pair and row, the first where they are equal."""
        kernel, found = load("forest_grid"), np.empty((len(self.cut), len(votes)), np.int32)
        if kernel is None:
            return np.asarray(self.whole(votes).argmax(axis=2).T.astype(np.int32))
        kernel.elect(votes, self.order, self.base, np.empty(votes.shape[1], np.int64), found)
        return found[self.place]
