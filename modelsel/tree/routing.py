"""Route rows to leaves: to one leaf, or to several with parts of the row's weight."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import ClassTask, Codes, Floats, Integers, Table
from modelsel.kernels.compiler import load
from modelsel.tree.growing.late_surrogates import LateTree
from modelsel.tree.node import (
    BY_SURROGATES,
    MULTIWAY,
    SUBSET,
    THRESHOLD,
    DecisionTree,
    NodeNumbers,
    PrunedView,
    Surrogates,
)

# Rows routed to leaves: whole, or as fragments of their weight.


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
            return of_node.take(self.leaf, axis=0)
        starts = np.flatnonzero(np.diff(self.owner, prepend=-1))
        part = self.part.reshape(-1, *[1] * (of_node.ndim - 1))
        mean: Floats = np.add.reduceat(part * of_node[self.leaf], starts, axis=0)
        return mean


class Undivided(Routed):
    """The routes of rows none of which is divided; owners and parts are made when first read."""

    def __init__(self, leaf: NDArray[np.int32], unseen: int) -> None:
        vars(self).update(leaf=leaf, rows=len(leaf), unseen=unseen)

    @cached_property
    def owner(self) -> Integers:
        return np.arange(self.rows)

    @cached_property
    def part(self) -> Floats:
        return np.ones(self.rows)


NO_ROWS: Floats = np.empty((0, 0))
INFINITE = -2  # what the kernel answers to infinity in a table that nobody has checked
TOO_LARGE = "Input X contains infinity or a value too large for dtype('float64')."  # as scikit-learn says it


def route(tree: DecisionTree, table: Table, rows: Integers) -> Routed:
    """Send rows of a table down a tree; features are read by position.

    Raises ValueError for a table that nobody has `checked` and that has infinite values.
    """
    kernel = load("route")
    if not table.checked and len(rows) != len(table) and np.isinf(table.values).any():
        raise ValueError(TOO_LARGE)
    by_row = table.by_row
    sent = _pack(tree, kernel, in_place=by_row is not None)
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
    ended, leaves = load("route").ends(tree.parent, marks)
    return ended, leaves


def weights_by_node(tree: DecisionTree, routed: Routed, target: Codes, weight: Floats) -> Floats:
    """Nodes × classes: the weight of routed rows that passes each node."""
    undivided = isinstance(routed, Undivided)
    owner, part = (np.empty(0, np.int64), np.empty(0)) if undivided else (routed.owner, routed.part)
    counts: Floats = load("tallies").weigh_nodes(owner, routed.leaf, part, target, weight, tree.parent, len(tree.classes))
    return counts


def numbers_by_node(tree: DecisionTree, routed: Routed, target: Floats, weight: Floats) -> tuple[Floats, NodeNumbers]:
    """Nodes × 1 weights of routed rows that pass each node, and mean and squares of their numbers (NaN and 0 where none does).

    Sums are of whole numbers, so that they do not depend on the order of the rows.
    """
    middle = float(target.min() / 2 + target.max() / 2) if len(target) else 0.0  # of a single row none is held back
    part, about = routed.part * weight[routed.owner], target - middle
    sums = [
        _sum_arrived(tree, routed.leaf, part * power) for power in (1.0, about[routed.owner], np.square(about)[routed.owner])
    ]
    total, first, second = sums
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = first / total
        squares = np.where(total > 0, np.maximum(second - total * np.square(mean), 0.0), 0.0)
    return total[:, None].copy(), NodeNumbers(mean + middle, squares)


def _sum_arrived(tree: DecisionTree, leaf: Codes, parts: Floats) -> Floats:
    """Sum of parts over each node's subtree, each part rounded to 2^-60 of what all are at most together."""
    scale = np.ldexp(1.0, 60 - int(np.frexp(np.abs(parts).max(initial=0.0) * len(parts))[1]))
    found = np.zeros(len(tree), np.int64)
    np.add.at(found, leaf, np.rint(parts * scale).astype(np.int64))
    for nodes in tree.levels[:0:-1]:
        np.add.at(found, tree.parent[nodes], found[nodes])
    arrived: Floats = found / scale
    return arrived


@dataclass(frozen=True, eq=False)
class Packed:
    """A tree as the compiled walk reads it: for rows side by side (of columns brought together, or in place), and for a row."""

    lanes: tuple[NDArray[np.generic], ...]  # nodes, the same as reals, columns, children by level
    plain: tuple[NDArray[np.generic], ...]
    surrogates: tuple[NDArray[np.generic], ...]


_PACKED: WeakKeyDictionary[DecisionTree, dict[bool, Packed]] = WeakKeyDictionary()


def _pack(tree: DecisionTree, kernel: ModuleType, in_place: bool) -> Packed:
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


# The rows that grew a tree, for pruners that send them elsewhere (subtree raising).

NO_POSITIONS, NO_WEIGHTS = np.empty(0, np.int64), np.empty(0)


@dataclass(frozen=True, eq=False)
class RerouteState:
    """Rows (repeats allowed) by position in `rows`; `tree.cutting.Reroute`."""

    tree: DecisionTree
    task: ClassTask
    rows: Integers

    @property
    def target(self) -> Codes:
        return self.task.target[self.rows]

    @property
    def weights(self) -> Floats:
        return self.task.row_weights[self.rows]

    def divide(self, node: int, rows: Integers, weights: Floats) -> Sequence[tuple[Integers, Floats]]:
        """Rows and weights per branch of a node's test; a divided row goes by the shares of the known rows given."""
        branch = self._branches(node, rows)
        many = len(self.tree.children(node))
        known = np.bincount(branch[branch >= 0], weights[branch >= 0], many)
        share = known / known.sum() if known.sum() > 0 else self.tree.share[self.tree.children(node)]
        order = np.argsort(branch, kind="stable")
        starts = np.searchsorted(branch[order], np.arange(many + 1))
        lost = order[: starts[0]]
        parts = [(NO_POSITIONS, NO_WEIGHTS)] * many
        for each in np.flatnonzero((np.diff(starts) > 0) | ((share > 0) & (len(lost) > 0))):
            own = order[starts[each] : starts[each + 1]]
            if len(lost) and share[each] > 0:
                own = np.sort(np.concatenate([own, lost]))
            parts[each] = rows[own], np.where(branch[own] < 0, weights[own] * share[each], weights[own])
        return parts

    def _branches(self, node: int, rows: Integers) -> Integers:
        """Position of the child per row, −1 where it is divided."""
        tree, feature = self.tree, int(self.tree.feature[node])
        value = self.task.values[self.rows[rows], feature]
        missing = np.isnan(value)
        unseen = (value >= len(tree.features[feature].levels)) & (tree.test[node] != THRESHOLD)
        branch = position(tree, node, np.where(missing | unseen, 0.0, value))
        assert tree.missing_to is not None
        to = int(tree.missing_to[node])
        branch[missing] = to if to > BY_SURROGATES else by_surrogates(tree, node, self.task.values, self.rows[rows[missing]])
        branch[unseen] = tree.majority[node]
        return branch


def position(tree: DecisionTree, node: int, value: Floats) -> Integers:
    """Position of the child that takes known values."""
    test, threshold = tree.test[node], tree.threshold[node]
    if test == THRESHOLD:
        inside = value <= threshold
    elif test == MULTIWAY:
        return value.astype(np.int64)
    elif test == SUBSET:
        inside = tree.subset[node][value.astype(np.int64)]
    else:
        inside = value == threshold
    return np.where(inside, 0, 1)


def by_surrogates(tree: DecisionTree, node: int, values: Floats, rows: Integers) -> Integers:
    """The first surrogate that is known decides, and where none is, the larger side."""
    assert tree.missing_to is not None
    branch = np.full(len(rows), -1)
    for each in _own(tree, node):
        branch = np.where(branch < 0, _side(tree, each, values, rows), branch)
    return np.where(branch < 0, BY_SURROGATES - tree.missing_to[node], branch)


def _own(tree: DecisionTree, node: int) -> range:
    found = tree.surrogates
    return range(0) if found is None else range(found.first[node], found.first[node + 1])


def _side(tree: DecisionTree, each: int, values: Floats, rows: Integers) -> Integers:
    """Compute the side to which each row's surrogate value sends it; −1 where it cannot tell."""
    found = tree.surrogates
    assert found is not None
    value = values[rows, found.feature[each]]
    if each not in found.sides:
        return np.where(np.isnan(value), -1, np.where((value <= found.threshold[each]) != found.flipped[each], 0, 1))
    sides = np.append(found.sides[each], np.int8(-1)).astype(np.int64)
    level = np.where(value < len(sides) - 1, value, len(sides) - 1)
    return sides[level.astype(np.int64)]
