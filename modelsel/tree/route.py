"""Which leaf a row reaches, or which leaves with what part of its weight."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Codes, Floats, Integers, Table
from modelsel.kernels.compiler import load
from modelsel.tree.node import Cut, Tree


@dataclass(frozen=True, eq=False)
class Routed:
    """Fragments of rows, row after row: `owner` (position among the routed rows), `leaf` and `part` of its weight."""

    owner: Integers
    leaf: NDArray[np.int32]
    part: Floats
    rows: int
    unseen: int  # rows that met a level never seen in training, and went with the majority

    @property
    def whole(self) -> bool:
        """No row is divided: fragment i is row i."""
        return len(self.leaf) == self.rows

    def per_row(self, of_node: Floats) -> Floats:
        """Mean over each row's fragments of a node × … array."""
        if self.whole:
            return of_node[self.leaf]
        starts = np.flatnonzero(np.diff(self.owner, prepend=-1))
        part = self.part.reshape(-1, *[1] * (of_node.ndim - 1))
        mean: Floats = np.add.reduceat(part * of_node[self.leaf], starts, axis=0)
        return mean


def route(tree: Tree, table: Table, rows: Integers) -> Routed:
    """Send rows of a table down a tree; features are read by position."""
    kernel = load("route")
    if kernel is None:
        from modelsel.tree.numpy_router import walk

        return walk(tree, table, rows)
    at, marks = _flat_subsets(tree)
    assert tree.missing_to is not None
    owner, leaf, part, unseen = kernel.walk(
        table.values.T, np.ascontiguousarray(rows, np.int64), tree.test, tree.feature, tree.threshold, tree.first, tree.child,
        tree.missing_to, tree.majority, tree.share, at, marks, _flat_surrogates(tree),
    )  # fmt: skip
    return Routed(owner, leaf, part, len(rows), unseen)


def ends(tree: Tree, cuts: Sequence[Cut]) -> tuple[Codes, Integers]:
    """Cuts × nodes: where a row that comes by the node ends in the tree that is cut; and the number of its leaves."""
    marks = np.empty((len(cuts), len(tree)), bool)
    for own, cut in zip(marks, cuts, strict=True):
        own[:] = cut.leaf
    kernel = load("route")
    if kernel is None:
        from modelsel.tree import cutting

        ended = np.array([cutting.ends(cut) for cut in cuts], np.int32).reshape(marks.shape)
        return ended, np.array([cutting.leaves(cut) for cut in cuts], np.int64)
    ended, leaves = kernel.ends(tree.parent, marks)
    return ended, leaves


def weights_by_node(tree: Tree, routed: Routed, target: Codes, weight: Floats) -> Floats:
    """Nodes × classes: the weight of routed rows that passes each node."""
    counts = np.zeros(tree.counts.shape)
    np.add.at(counts, (routed.leaf, target[routed.owner]), routed.part * weight[routed.owner])
    for node in range(len(tree) - 1, 0, -1):
        counts[tree.parent[node]] += counts[node]
    return counts


def _flat_subsets(tree: Tree) -> tuple[Codes, NDArray[np.uint8]]:
    """Start of each node's marks, and all marks."""
    at, marks = np.full(len(tree), -1, np.int32), [np.zeros(0, np.uint8)]
    start = 0
    for node, inside in tree.subset.items():
        at[node] = start
        marks.append(inside.astype(np.uint8))
        start += len(inside)
    return at, np.concatenate(marks)


def _flat_surrogates(tree: Tree) -> tuple[NDArray[np.generic], ...]:
    levels = np.array([len(feature.levels) for feature in tree.features], np.int32)
    found = tree.surrogates
    if found is None:
        nothing = np.zeros(0, np.int32)
        return (
            levels,
            np.zeros(len(tree) + 1, np.int32),
            nothing,
            np.zeros(0),
            np.zeros(0, np.uint8),
            nothing,
            np.zeros(0, np.int8),
        )
    at, sides = np.full(len(found.feature), -1, np.int32), [np.zeros(0, np.int8)]
    start = 0
    for each, side in found.sides.items():
        at[each] = start
        sides.append(side)
        start += len(side)
    return levels, found.first, found.feature, found.threshold, found.flipped.astype(np.uint8), at, np.concatenate(sides)
