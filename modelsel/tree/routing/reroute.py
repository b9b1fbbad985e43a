"""The rows that grew a tree, for pruners that send them elsewhere (subtree raising)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Codes, Floats, Integers, Task
from modelsel.tree.structure.node import BY_SURROGATES, MULTIWAY, SUBSET, THRESHOLD, DecisionTree

NO_ROWS, NO_WEIGHTS = np.empty(0, np.int64), np.empty(0)


@dataclass(frozen=True, eq=False)
class RerouteState:
    """Rows (repeats allowed) by position in `rows`; `tree.structure.evidence.Reroute`."""

    tree: DecisionTree
    task: Task
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
        parts = [(NO_ROWS, NO_WEIGHTS)] * many
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
    return sides[np.where(np.isnan(level), len(sides) - 1, level).astype(np.int64)]
