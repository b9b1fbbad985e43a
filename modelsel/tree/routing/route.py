"""Route rows to leaves: to one leaf, or to several with parts of the row's weight."""

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Codes, Floats, Integers, Table
from modelsel.kernels.compiler import load
from modelsel.tree.growing.late_surrogates import LateTree
from modelsel.tree.routing.numpy_router import walk
from modelsel.tree.routing.routed import Routed, Undivided
from modelsel.tree.structure.node import DecisionTree, PrunedView, Surrogates

NO_ROWS: Floats = np.empty((0, 0))
INFINITE = -2  # what the kernel answers to infinity in a table that nobody has checked
TOO_LARGE = "Input X contains infinity or a value too large for dtype('float64')."  # as scikit-learn says it


def route(tree: DecisionTree, table: Table, rows: Integers) -> Routed:
    """Send rows of a table down a tree; features are read by position.

    Raises ValueError for a table that nobody has `checked` and that has infinite values.
    """
    kernel = load("route")
    if not table.checked and (kernel is None or len(rows) != len(table)) and np.isinf(table.values).any():
        raise ValueError(TOO_LARGE)
    if kernel is None:
        return walk(tree, table, rows)
    by_row = table.by_row
    sent = _packed(tree, kernel, in_place=by_row is not None)
    columns, by_row = (table.values.T, NO_ROWS) if by_row is None else (NO_ROWS, by_row)
    rows = np.ascontiguousarray(rows, np.int64)
    shares, checked = tree.share, table.checked
    owner, leaf, part, unseen = kernel.walk(columns, by_row, rows, *sent.lanes, sent.plain, sent.surrogates, shares, checked)
    if unseen == INFINITE:
        raise ValueError(TOO_LARGE)
    if unseen < 0:  # a row has a hole, and nobody has looked for surrogates yet
        return _with_surrogates(tree, table, rows)
    if len(owner) < len(leaf):
        return Undivided(leaf, unseen)
    return Routed(owner, leaf, part, len(rows), unseen)


def _with_surrogates(tree: DecisionTree, table: Table, rows: Integers) -> Routed:
    """Pack a tree again once it has found its surrogates."""
    assert isinstance(tree, LateTree)
    del _PACKED[tree]
    tree.find()
    return route(tree, table, rows)


def ends(tree: DecisionTree, cuts: Sequence[PrunedView]) -> tuple[Codes, Integers]:
    """Cuts × nodes: where a row that comes by the node ends in the tree that is cut; and the number of its leaves."""
    marks = np.empty((len(cuts), len(tree)), bool)
    for own, cut in zip(marks, cuts, strict=True):
        own[:] = cut.leaf
    kernel = load("route")
    if kernel is None:
        from modelsel.tree.structure import cutting

        ended = np.array([cutting.ends(cut) for cut in cuts], np.int32).reshape(marks.shape)
        return ended, np.array([cutting.leaves(cut) for cut in cuts], np.int64)
    ended, leaves = kernel.ends(tree.parent, marks)
    return ended, leaves


def weights_by_node(tree: DecisionTree, routed: Routed, target: Codes, weight: Floats) -> Floats:
    """Nodes × classes: the weight of routed rows that passes each node."""
    kernel = load("tallies")
    if kernel is None:
        return in_numpy(tree, routed, target, weight)
    undivided = isinstance(routed, Undivided)
    owner, part = (np.empty(0, np.int64), np.empty(0)) if undivided else (routed.owner, routed.part)
    counts: Floats = kernel.arrived(owner, routed.leaf, part, target, weight, tree.parent, len(tree.classes))
    return counts


def in_numpy(tree: DecisionTree, routed: Routed, target: Codes, weight: Floats) -> Floats:
    """The same in NumPy: the twin."""
    counts = np.zeros(tree.counts.shape)
    np.add.at(counts, (routed.leaf, target[routed.owner]), routed.part * weight[routed.owner])
    for node in range(len(tree) - 1, 0, -1):
        counts[tree.parent[node]] += counts[node]
    return counts


@dataclass(frozen=True, eq=False)
class Packed:
    """A tree as the compiled walk reads it: for rows side by side (of columns brought together, or in place), and for a row."""

    lanes: tuple[NDArray[np.generic], ...]  # nodes, the same as reals, columns, children by level
    plain: tuple[NDArray[np.generic], ...]
    surrogates: tuple[NDArray[np.generic], ...]


_PACKED: WeakKeyDictionary[DecisionTree, dict[bool, Packed]] = WeakKeyDictionary()


def _packed(tree: DecisionTree, kernel: ModuleType, in_place: bool) -> Packed:
    """Packed once per tree and kind of table."""
    found = _PACKED.setdefault(tree, {}).get(in_place)
    if found is None:
        at, marks = flat_subsets(tree)
        assert tree.missing_to is not None
        plain = tree.test, tree.feature, tree.threshold, tree.first, tree.child, tree.missing_to, tree.majority, at, marks
        waiting = isinstance(tree, LateTree) and tree.waiting
        surrogates = _flat_surrogates(tree, None if waiting else tree.surrogates)
        if waiting:  # a list that does not fit the nodes: the walk says that it wants them
            surrogates = surrogates[0], surrogates[2], *surrogates[2:]
        nodes = np.zeros((len(tree) + 1) * kernel.WORD, np.int32)
        columns, table = kernel.pack(*plain, surrogates[0], nodes, nodes.view(np.float64), in_place)
        lanes = nodes, nodes.view(np.float64), columns, table
        found = _PACKED[tree][in_place] = Packed(lanes, plain, surrogates)
    return found


def flat_subsets(tree: DecisionTree) -> tuple[Codes, NDArray[np.uint8]]:
    """Start of each node's marks, and all marks."""
    at, marks = np.full(len(tree), -1, np.int32), [np.zeros(0, np.uint8)]
    start = 0
    for node, inside in tree.subset.items():
        at[node] = start
        marks.append(inside.astype(np.uint8))
        start += len(inside)
    return at, np.concatenate(marks)


def _flat_surrogates(tree: DecisionTree, found: Surrogates | None) -> tuple[NDArray[np.generic], ...]:
    """Flatten surrogates to arrays for the kernel."""
    levels = np.array([len(feature.levels) for feature in tree.features], np.int32)
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
