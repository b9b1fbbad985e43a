"""Rows as codes, and the leaves that they reach."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Codes, Floats, Integers, Table
from modelsel.forest.forest_tree import ForestTree
from modelsel.kernels.compiler import load
from modelsel.kernels.forests.forest_layout import AT, COLUMN, KIND, LOST, OTHERS, RIGHT, TEST
from modelsel.kernels.layout import EQUALITY, LEAF, THRESHOLD
from modelsel.tree.growing.columns import RankedColumns


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

    def translated(self, tree: ForestTree) -> Walked:
        """The tree, its tests asking for this coder's codes."""
        if self.ranked is not None:
            return tree
        return Translated(number_cuts(tree.nodes, tree.thresholds, self.cuts), tree.marks)

    def codes(self, rows: Integers) -> NDArray[np.int32]:
        """Rows × features; −1 where a value is missing."""
        if self.ranked is not None:
            codes = np.ascontiguousarray(self.ranked.codes[:, rows].T)
            for index in np.flatnonzero([feature.kind == "nominal" for feature in self.table.features]):
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
    kernel = load("forest_nodes")
    if kernel is None:
        cuts = cuts_of(nodes, thresholds, features)
        return number_cuts(nodes, thresholds, cuts), cuts
    nodes = nodes.copy()
    values, many = kernel.number(nodes, thresholds, features)
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
        own = column if feature.kind == "nominal" else np.searchsorted(cuts[index], column, "left")
        codes[:, index] = np.where(np.isnan(column), -1, own)
    return codes


def leaves_of(tree: Walked, codes: NDArray[np.int32], levels: Integers) -> Codes:
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


def _second(tree: Walked, node: int, row: Sequence[int], levels: Integers) -> bool:
    """Say whether a row goes to the second branch of a node."""
    own, column, at = (int(tree.nodes[node, number]) for number in (TEST, COLUMN, AT))
    code = row[column]
    if code < 0:
        return bool(own & LOST)
    if own & KIND == THRESHOLD:
        return code > at
    if code >= levels[column]:
        return bool(own & OTHERS)
    return code != at if own & KIND == EQUALITY else not tree.marks[at + code]
