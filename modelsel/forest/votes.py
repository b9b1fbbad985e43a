"""Rows as codes, the leaves that they reach, and the votes of these."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Codes, Floats, Integers, Table
from modelsel.forest.forest_tree import ForestTree
from modelsel.kernels.compiler import load
from modelsel.kernels.forests.forest_layout import AT, COLUMN, LOST, OTHERS, RIGHT, SIDES, TEST
from modelsel.kernels.layout import EQUALITY, LEAF, THRESHOLD
from modelsel.tree.growing.columns import RankedColumns

NOBODY = np.zeros(0, np.uint8)


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
        if ranked is not None:
            return cls(table, ranked.levels, ranked, ())
        levels = np.array([len(feature.levels) for feature in table.features], np.int64)
        return cls(table, levels, None, thresholds(trees, len(table.features)))

    def translated(self, tree: ForestTree) -> ForestTree:
        """The tree, its tests asking for this coder's codes."""
        if self.ranked is not None:
            return tree
        nodes = tree.nodes.copy()
        for index, cuts in enumerate(self.cuts):
            own = (nodes[:, TEST] == THRESHOLD) & (nodes[:, COLUMN] == index)
            nodes[own, AT] = np.searchsorted(cuts, tree.threshold[own])
        return replace(tree, nodes=nodes)

    def codes(self, rows: Integers) -> NDArray[np.int32]:
        """Rows × features; −1 where a value is missing."""
        if self.ranked is not None:
            codes = np.ascontiguousarray(self.ranked.codes[:, rows].T)
            for index in np.flatnonzero([feature.kind == "nominal" for feature in self.table.features]):
                strange = self.table.values[rows, index] >= self.levels[index]  # never declared: not the same as missing
                codes[strange, index] = self.levels[index]
            return codes
        return coded(self.table, rows, self.cuts)


def thresholds(trees: Sequence[ForestTree], features: int) -> tuple[Floats, ...]:
    """All thresholds of a forest per feature, ascending and once each."""
    columns = np.concatenate([np.zeros(0, np.int32), *(tree.nodes[:, COLUMN] for tree in trees)])
    values = np.concatenate([np.zeros(0), *(tree.threshold for tree in trees)])
    real = ~np.isnan(values)
    return tuple(np.unique(values[real & (columns == feature)]) for feature in range(features))


def coded(table: Table, rows: Integers, cuts: Sequence[Floats]) -> NDArray[np.int32]:
    """Per row and feature how many thresholds lie below the value, or its level; −1 where it is missing."""
    codes = np.empty((len(rows), len(table.features)), np.int32)
    for index, feature in enumerate(table.features):
        column = table.values[rows, index]
        own = column if feature.kind == "nominal" else np.searchsorted(cuts[index], column, "left")
        codes[:, index] = np.where(np.isnan(column), -1, own)
    return codes


@dataclass(frozen=True, eq=False)
class Ballots:
    """The votes of one tree: where each node's rows end under each cut, and what the nodes say in each way of voting."""

    tree: ForestTree
    end: NDArray[np.int32]  # nodes × cuts
    way: NDArray[np.int32]  # per cut
    first: NDArray[np.int32]  # ways × (nodes + 1)
    classes: NDArray[np.int32]
    shares: Integers

    @classmethod
    def of(cls, tree: ForestTree, end: Codes, way: Integers, ways: Sequence[Integers]) -> "Ballots":
        every = np.concatenate(ways)
        node, classes = np.nonzero(every)
        counts = np.bincount(node, minlength=len(every))
        starts = np.r_[0, np.cumsum(counts)].astype(np.int32)
        size = len(tree)
        first = np.array([starts[k * size : (k + 1) * size + 1] for k in range(len(ways))], np.int32)
        return cls(
            tree, np.ascontiguousarray(end.T, np.int32), way.astype(np.int32), np.ascontiguousarray(first),
            classes.astype(np.int32), every[node, classes],
        )  # fmt: skip

    def add(self, codes: NDArray[np.int32], levels: Integers, left_out: NDArray[np.bool_] | None, votes: Integers) -> None:
        """Add this tree's votes (rows × cuts × classes)."""
        leaf, kernel = leaves_of(self.tree, codes, levels), load("forest_votes")
        skipped = NOBODY if left_out is None else left_out.astype(np.uint8)
        if kernel is not None:
            kernel.add(leaf, skipped, self.end, self.first, self.classes, self.way, self.shares, votes)
            return
        for k, way in enumerate(self.way):
            dense = np.zeros((len(self.tree), votes.shape[2]), np.int64)
            for node in range(len(self.tree)):
                own = slice(self.first[way, node], self.first[way, node + 1])
                dense[node, self.classes[own]] = self.shares[own]
            voting = np.flatnonzero(skipped == 0) if len(skipped) else np.arange(len(leaf))
            votes[voting, k] += dense[self.end[leaf[voting], k]]


def elected(votes: Integers) -> Codes:
    """The class of most votes per cut and row, the first where they are equal."""
    kernel, found = load("forest_votes"), np.empty((votes.shape[1], votes.shape[0]), np.int32)
    if kernel is None:
        return np.asarray(votes.argmax(axis=2).T.astype(np.int32))
    kernel.elect(votes, found)
    return found


def leaves_of(tree: ForestTree, codes: NDArray[np.int32], levels: Integers) -> Codes:
    """The leaf of each row."""
    kernel, found = load("forest_votes"), np.zeros(len(codes), np.int32)
    if kernel is not None:
        kernel.leaves(codes, tree.nodes, levels, tree.marks, found)
        return found
    for i, row in enumerate(codes.tolist()):
        node = 0
        while tree.nodes[node, TEST] != LEAF:
            node = int(tree.nodes[node, RIGHT]) if _second(tree, node, row, levels) else node + 1
        found[i] = node
    return found


def _second(tree: ForestTree, node: int, row: Sequence[int], levels: Integers) -> bool:
    test, column, at, sides = (int(tree.nodes[node, number]) for number in (TEST, COLUMN, AT, SIDES))
    code = row[column]
    if code < 0:
        return bool(sides & LOST)
    if test == THRESHOLD:
        return code > at
    if code >= levels[column]:
        return bool(sides & OTHERS)
    return code != at if test == EQUALITY else not tree.marks[at + code]
