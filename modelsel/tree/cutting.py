"""Arithmetic on trees that are cut back: what still stands, what lies below a node, and the three ways to cut.

All passes go level by level over arrays, so that their cost is that of the depth. `cut_by` reads a nested sequence off
one critical strength per node, `weakest_links` finds those strengths, `cheaper_as_leaf` decides every node bottom up.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from modelsel.core.types import Booleans, Codes, Floats, Integers
from modelsel.kernels.compiler import load
from modelsel.tree.node import DecisionTree, NodeNumbers, PrunedView

TIE = 1e-12  # relative; sums in another order differ by less, different counts by more


def reached(cut: PrunedView) -> Booleans:
    """Mask the nodes of the cut tree: no node above them is marked as leaf."""
    tree, stands = cut.tree, np.ones(len(cut.leaf), bool)
    for nodes in tree.levels[1:]:
        above = tree.parent[nodes]
        stands[nodes] = stands[above] & ~cut.leaf[above]
    return stands


def ends(cut: PrunedView) -> Integers:
    """Per node of the grown tree, where a row that comes by it ends in the cut one (the node itself while it is no leaf)."""
    tree, end, closed = cut.tree, np.arange(len(cut.leaf)), cut.leaf.copy()
    for nodes in tree.levels[1:]:
        above = tree.parent[nodes]
        end[nodes] = np.where(closed[above], end[above], nodes)
        closed[nodes] |= closed[above]
    return end


def leaves(cut: PrunedView) -> int:
    """Leaves of the cut tree, empty branches among them."""
    return int(np.count_nonzero(reached(cut) & cut.leaf))


def errors_as_leaf(counts: Floats, prediction: Codes, costs: Floats | None) -> Floats:
    """Weight misclassified at each node if it were a leaf of its class, or its cost (true class × predicted class)."""
    if costs is not None:
        return np.asarray((counts * costs.T[prediction]).sum(axis=1))
    others = counts.copy()
    others[np.arange(len(counts)), prediction] = 0.0
    return np.asarray(others.sum(axis=1))


def below(cut: PrunedView, of_leaf: Floats) -> Floats:
    """Sum of `of_leaf` over the leaves of the cut tree under each node (a leaf's own at leaves)."""
    total = np.zeros(len(of_leaf))
    for nodes, parents in _upwards(cut.tree):
        total[nodes] = np.where(cut.leaf[nodes], of_leaf[nodes], total[nodes])
        np.add.at(total, parents, total[nodes[: len(parents)]])
    return total


def tests_below(cut: PrunedView, price: Floats) -> Floats:
    """Sum of `price` over the tests of the cut tree under each node, its own included."""
    total = np.where(cut.leaf, 0.0, price)
    for nodes, parents in _upwards(cut.tree):
        total[nodes] = np.where(cut.leaf[nodes], 0.0, total[nodes])
        np.add.at(total, parents, total[nodes[: len(parents)]])
    return total


def branches_less_one(tree: DecisionTree) -> Floats:
    """Count the leaves that each test adds: 1 at a binary node (and at leaves, where it is not read)."""
    more: Floats = np.maximum(np.diff(tree.first).astype(np.float64) - 1.0, 1.0)
    return more


def cut_by(cut: PrunedView, critical: Floats, strength: float) -> PrunedView:
    """Cut back where the critical strength does not exceed `strength`."""
    return PrunedView(cut.tree, cut.leaf | (critical <= strength), cut.prediction, cut.counts)


def cheaper_as_leaf(cut: PrunedView, as_leaf: Floats, slack: float = 0.0) -> Booleans:
    """Mask the nodes that become leaves, bottom up: a node is one once it costs no more than its subtrees plus `slack`.

    Without slack this is the pruning of least total cost, and among those the one with the fewest nodes.
    """
    leaf, cost = cut.leaf.copy(), np.zeros(len(as_leaf))
    for nodes, parents in _upwards(cut.tree):
        subtrees = cost[nodes]
        leaf[nodes] |= as_leaf[nodes] <= subtrees + slack + TIE * np.abs(subtrees)
        cost[nodes] = np.where(leaf[nodes], as_leaf[nodes], subtrees)
        np.add.at(cost, parents, cost[nodes[: len(parents)]])
    return leaf


def weakest_links(cut: PrunedView, risk: Floats, price: Floats) -> Floats:
    """The strength at which each node becomes a leaf when Σ risk(leaves) + strength · Σ price(tests) is minimised.

    g(t) = (R(t) − R(T_t)) / P(T_t); the nodes of least g collapse, all that tie at one strength, and what is above them
    is weighed again (Breiman, Friedman, Olshen and Stone 1984, ch. 3). `price` is above 0 at every test. Strengths below
    0 count as 0; a node that never stands alone as the top of a collapsed subtree keeps infinity.
    """
    tree, tie, kernel = cut.tree, 0.1 * TIE * float(risk[0]), load("weakest_links")
    critical: Floats = kernel.collapse(tree.parent, tree.first, tree.child, cut.leaf, risk, price, tie)
    return critical


def steps(cut: PrunedView, critical: Floats) -> Floats:
    """The strengths at which the cut tree changes, ascending."""
    tree, least = cut.tree, np.full(len(critical), np.inf)
    for nodes in tree.levels[1:]:
        above = tree.parent[nodes]
        least[nodes] = np.minimum(least[above], critical[above])
    changes = reached(cut) & ~cut.leaf & (critical < least)
    return np.unique(critical[changes])


def _upwards(tree: DecisionTree) -> Iterator[tuple[Integers, Integers]]:
    """Levels from the deepest to the root, each with the parents of its nodes (none for the root)."""
    deepest_first = tree.levels[::-1]
    for nodes in deepest_first[:-1]:
        yield nodes, tree.parent[nodes].astype(np.int64)
    yield deepest_first[-1], np.empty(0, np.int64)


# What a pruner gets: a `PrunedView` (the grown tree, or a truncation of it by a stopping limit) and the `PruningData`, whatever
# else is known about the training rows. It returns a `PruningPath`, which answers every pruner of equal `sharing()` without
# growing or routing again.


class Reroute(Protocol):
    """The rows that grew the tree, for pruners that send them elsewhere (subtree raising)."""

    @property
    def target(self) -> Codes:
        """Class of each growing row, by position in this collection."""
        ...

    @property
    def weights(self) -> Floats:
        """Weight of each growing row at the root."""
        ...

    def divide(self, node: int, rows: Integers, weights: Floats) -> Sequence[tuple[Integers, Floats]]:
        """Rows and their weights per branch of `node`'s test (grown tree), in the order of its children.

        `rows` need not be those that reached the node when it grew. A missing value goes as the learner's policy says;
        where it is divided, by the shares of the known rows among those given.
        """
        ...


@dataclass(frozen=True, eq=False)
class PruningData:
    """The data of a pruner beyond the tree's own counts.

    Parameters
    ----------
    total : float
        Training weight at the root, above 0: what risks are shares of.
    pruning_counts : Floats, optional
        Nodes × classes (of numbers × 1): weights of the rows held back from growing.
    cost_matrix : Floats, optional
        True class × predicted class, at least 0.
    reroute : Reroute, optional
        The rows that grew the tree, where a pruner may send them elsewhere.
    pruning_numbers : NodeNumbers, optional
        Of a tree of numbers: mean and squares of the rows held back, per node.
    risk : Floats, optional
        Of a tree of numbers: what each node costs as a leaf, where that is no squared error.

    Examples
    --------
    >>> PruningData(total=14.0).pruning_counts is None
    True
    """

    total: float  # training weight at the root: what risks are shares of
    pruning_counts: Floats | None = None  # nodes × classes: weights of the rows held back from growing (reduced error)
    cost_matrix: Floats | None = None  # true class × predicted class
    reroute: Reroute | None = None
    pruning_numbers: NodeNumbers | None = None
    risk: Floats | None = None


class PruningPath(Protocol):
    """A grown tree, pruned at every strength.

    Examples
    --------
    >>> from modelsel.pruner.base import ConstantPath
    >>> path: PruningPath = ConstantPath("a tree")
    >>> path.cut(None)
    'a tree'
    """

    def cut(self, pruner: Any) -> PrunedView:
        """Return the tree that a pruner leaves.

        Parameters
        ----------
        pruner : Pruning
            One with the `sharing()` of the pruner that made the path.

        Returns
        -------
        PrunedView
            The pruned tree.
        """
        ...
