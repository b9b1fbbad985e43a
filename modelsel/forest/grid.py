"""The votes of a tree under many cuts at once: where paths end under each of them, and what the nodes say."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Booleans, Codes, Integers
from modelsel.forest.preorder import parents
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
    """One tree under many cuts.

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
