"""Rows sent down a forest as codes: the leaves that they reach, and the votes there under many cuts at once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Booleans, Codes, Floats, Integers, Table
from modelsel.forest.forest_tree import ForestTree, parents
from modelsel.kernels.compiler import load
from modelsel.kernels.forests.forest_layout import AT, COLUMN, TEST
from modelsel.kernels.layout import LEAF
from modelsel.tree.growing.columns import RankedColumns

# Rows as codes, and the leaves that they reach.


class Walked(Protocol):
    """A tree that rows are sent down: nodes, and marks of levels."""

    @property
    def nodes(self) -> NDArray[np.int32]: ...

    @property
    def marks(self) -> NDArray[np.uint8]: ...


@dataclass(frozen=True, eq=False)
class Coder:
    """A table as whole numbers that compare with those of the nodes as values do with thresholds.

    Of the table that grew the forest the ranks are there already; of another one a number's code is how many of the forest's
    thresholds lie below it.
    """

    table: Table
    levels: Integers
    ranked: RankedColumns | None
    cuts: Sequence[Floats]  # thresholds per feature, ascending

    @classmethod
    def of(cls, trees: Sequence[ForestTree], table: Table, ranked: RankedColumns | None) -> "Coder":
        """Prepare a table for routing: by its ranks where they are known, else by the trees' thresholds."""
        if ranked is not None:
            return cls(table, ranked.levels, ranked, ())
        levels = np.array([len(feature.levels) for feature in table.features], np.int64)
        nodes, thresholds = np.vstack([tree.nodes for tree in trees]), np.concatenate([tree.thresholds for tree in trees])
        return cls(table, levels, None, cuts_of(nodes, thresholds, len(table.features)))

    def translate(self, tree: ForestTree) -> Walked:
        """The tree, its tests asking for this coder's codes."""
        if self.ranked is not None:
            return tree
        return Translated(number_cuts(tree.nodes, tree.thresholds, self.cuts), tree.marks)

    def codes(self, rows: Integers) -> NDArray[np.int32]:
        """Rows × features; −1 where a value is missing."""
        if self.ranked is not None:
            codes = np.ascontiguousarray(self.ranked.codes[:, rows].T)
            for index in np.flatnonzero([not feature.has_order for feature in self.table.features]):
                strange = self.table.values[rows, index] >= self.levels[index]  # never declared: not the same as missing
                codes[strange, index] = self.levels[index]
            return codes
        return code_rows(self.table, rows, self.cuts)


class Translated(NamedTuple):
    """A tree that asks for the codes of another table."""

    nodes: NDArray[np.int32]
    marks: NDArray[np.uint8]


def number_trees(nodes: NDArray[np.int32], thresholds: Floats, features: int) -> tuple[NDArray[np.int32], tuple[Floats, ...]]:
    """Nodes of grown trees, whose thresholds are known by codes, as `number_cuts` gives them; and the cuts of each feature."""
    nodes = nodes.copy()
    values, many = load("forest_nodes").number(nodes, thresholds, features)
    return nodes, tuple(np.split(values, np.cumsum(many)[:-1]))


def number_cuts(nodes: NDArray[np.int32], thresholds: Floats, cuts: Sequence[Floats]) -> NDArray[np.int32]:
    """Nodes whose thresholds (one per node that is no leaf) are known by their places among the cuts of their features."""
    nodes = nodes.copy()
    for (own, values), own_cuts in zip(_by_feature(nodes, thresholds, len(cuts)), cuts, strict=True):
        nodes[own, AT] = np.searchsorted(own_cuts, values)
    return nodes


def cuts_of(nodes: NDArray[np.int32], thresholds: Floats, features: int) -> tuple[Floats, ...]:
    """All thresholds of nodes per feature, ascending and once each."""
    return tuple(np.unique(values) for _, values in _by_feature(nodes, thresholds, features))


def _by_feature(nodes: NDArray[np.int32], thresholds: Floats, features: int) -> Iterator[tuple[Integers, Floats]]:
    """The nodes that ask for a threshold of each feature, and these."""
    real = ~np.isnan(thresholds)
    inner, values = np.flatnonzero(nodes[:, TEST] != LEAF)[real], thresholds[real]
    columns = nodes[inner, COLUMN]
    narrow = columns.astype(np.uint16) if features <= 1 << 16 else columns  # which are sorted in linear time
    order, ends = np.argsort(narrow, kind="stable"), np.cumsum(np.bincount(columns, minlength=features))
    for start, end in pairwise([0, *ends.tolist()]):
        own = order[start:end]
        yield inner[own], values[own]


def code_rows(table: Table, rows: Integers, cuts: Sequence[Floats]) -> NDArray[np.int32]:
    """Per row and feature how many thresholds lie below the value, or its level; −1 where it is missing."""
    codes = np.empty((len(rows), len(table.features)), np.int32)
    for index, feature in enumerate(table.features):
        column = table.values[rows, index]
        own = column if not feature.has_order else np.searchsorted(cuts[index], column, "left")
        codes[:, index] = np.where(np.isnan(column), -1, own)
    return codes


def leaves_of(tree: Walked, codes: NDArray[np.int32], levels: Integers) -> Codes:
    """The leaf of each row."""
    found = np.zeros(len(codes), np.int32)
    load("forest_votes").leaves(codes, tree.nodes, levels, tree.marks, found)
    return found


# Many cuts at once: where paths end under each of them, and what the nodes say.


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
    load("forest_nodes").first_stops(parent, stops)
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
        lists, way = tree.lists, self.way * len(tree)
        skipped = NOBODY if left_out is None else left_out.astype(np.uint8)
        load("forest_grid").add(
            leaf, skipped, tree.parent, tree.stops, self.cut, self.base, way, lists.start, lists.end, lists.classes,
            lists.shares, tree.row_of, tree.dense, room, votes,
        )  # fmt: skip

    def whole(self, votes: Integers) -> Integers:
        """The votes themselves, rows × pairs as they were asked for × classes."""
        found = votes.reshape(len(votes), len(self.cut), -1).copy()
        for k in self.order.tolist():
            if self.base[k] >= 0:
                found[:, k] += found[:, self.base[k]]
        return found[:, self.place]

    def elect(self, votes: Integers) -> Codes:
        """The class of most votes per pair and row, the first where they are equal."""
        found = np.empty((len(self.cut), len(votes)), np.int32)
        load("forest_grid").elect(votes, self.order, self.base, np.empty(votes.shape[1], np.int64), found)
        return found[self.place]
