"""A grown tree as arrays: nodes in preorder, so that a parent stands before its children and a subtree is a slice.

The arrays are what kernels, pruners, text and drawing share. Node 0 is the root; the subtree of node i is i … i + size(i) − 1.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Booleans, Codes, Feature, Floats, Integers
from modelsel.kernels.layout import BY_SURROGATES, DIVIDED, EQUALITY, LEAF, MULTIWAY, SUBSET, THRESHOLD

# Linear models in the nodes of a tree of numbers: what a leaf says of a row, Σ_t c_t · value_t + intercept.
#
# A term is a number (a rank, of ordered levels), or 1 for a row whose level is among some and 0 for others. A missing value
# counts as `fill`: the mean of the training rows, or what their most common level counts as; so does a level that training had
# not declared.


BLOCK = 1 << 20  # numbers that are laid out at a time


@dataclass(frozen=True, eq=False)
class Term:
    """A number that a model reads of a feature: its own (of `ranks` levels the rank), or 1 where its level is marked."""

    feature: int
    fill: float
    levels: Booleans | None = None
    ranks: int = 0

    def of(self, column: Floats) -> Floats:
        """The value of each row.

        >>> Term(0, 0.0, np.array([True, False, True])).of(np.array([0.0, 1.0, 2.0, 3.0, np.nan])).tolist()
        [1.0, 0.0, 1.0, 0.0, 0.0]
        """
        if self.levels is None:
            unknown = np.isnan(column) | (column >= self.ranks) if self.ranks else np.isnan(column)
            return np.where(unknown, self.fill, column)
        marks = np.append(self.levels.astype(np.float64), self.fill)
        return marks[np.where(np.isnan(column), len(marks) - 1, np.minimum(column, len(marks) - 1)).astype(np.int64)]


@dataclass(frozen=True, eq=False)
class NodeModels:
    """A model per node over common terms; `squares`: Σ w (y − ŷ)² over the node's training rows, NaN where nobody asked."""

    terms: tuple[Term, ...]
    intercept: Floats  # nodes
    coefficients: Floats  # nodes × terms
    squares: Floats  # nodes

    def take(self, nodes: Integers) -> "NodeModels":
        """Take the models of some nodes."""
        return replace(
            self, intercept=self.intercept[nodes], coefficients=self.coefficients[nodes], squares=self.squares[nodes]
        )

    def values(self, values: Floats) -> Floats:
        """The terms of some rows (rows × features): rows × terms."""
        return np.stack([term.of(values[:, term.feature]) for term in self.terms], axis=1) if self.terms else values[:, :0]

    def answers(self, node: Codes | Integers, terms: Floats) -> Floats:
        """The answer of the model of each row's node, from the row's terms; it does not depend on the rows beside it."""
        found, step = np.empty(len(node)), max(1, BLOCK // max(1, len(self.terms)))
        for start in range(0, len(node), step):
            own = node[start : start + step]
            parts = self.coefficients[own]
            parts *= terms[start : start + step]
            said = self.intercept[own]
            for term in range(len(self.terms)):  # in this order, as SQL adds them
                said += parts[:, term]
            found[start : start + step] = said
        return found


__all__ = [
    "BY_SURROGATES",
    "DIVIDED",
    "EQUALITY",
    "LEAF",
    "MULTIWAY",
    "SUBSET",
    "TEST_NAMES",
    "THRESHOLD",
    "DecisionTree",
    "NodeNumbers",
    "PrunedView",
    "Surrogates",
]  # fmt: skip
TEST_NAMES = ("leaf", "threshold", "equality", "multiway", "subset")


@dataclass(frozen=True, eq=False)
class Surrogates:
    """Tests that mimic a node's own where its value is missing, best first: those of node i are first[i] … first[i + 1] − 1.

    `threshold` sends x ≤ threshold to the first child (to the second where `flipped`); on a nominal feature `sides` gives
    the child per level, −1 for levels that say nothing.
    """

    first: NDArray[np.int32]  # nodes + 1
    feature: NDArray[np.int32]
    threshold: Floats  # NaN on nominal features
    flipped: Booleans
    sides: dict[int, NDArray[np.int8]]  # surrogate -> per level
    agreement: Floats  # share of rows sent the way of the node's own test


@dataclass(frozen=True, eq=False)
class NodeNumbers:
    """The mean of each node's training rows in a tree of numbers, and their squared deviations from it."""

    mean: Floats
    squares: Floats  # Σ w (y − mean)²

    def take(self, nodes: Integers) -> "NodeNumbers":
        """Take the numbers of some nodes."""
        return NodeNumbers(self.mean[nodes], self.squares[nodes])


@dataclass(frozen=True, eq=False)
class DecisionTree:
    """Tests and training weights per node.

    THRESHOLD: first child takes x ≤ `threshold`. EQUALITY: first child takes the level `threshold`. MULTIWAY: children in
    the order of the levels. SUBSET: first child takes the levels marked in `subset[node]`. A tree of numbers has no classes,
    one column of `counts` and its `numbers`.
    """

    features: tuple[Feature, ...]
    classes: tuple[str, ...]
    parent: NDArray[np.int32]  # −1 for the root
    test: NDArray[np.int8]  # LEAF … SUBSET, as grown
    feature: NDArray[np.int32]  # −1 at leaves
    threshold: Floats  # NaN at leaves
    first: NDArray[np.int32]  # nodes + 1: children of i are child[first[i]:first[i + 1]]
    child: NDArray[np.int32]
    counts: Floats  # nodes × classes: training weights that reached the node
    goodness: Floats  # of the node's test, NaN at leaves
    subset: dict[int, Booleans]  # node -> per level: does it go to the first child
    missing_to: NDArray[np.int32] | None = None  # which child takes a missing value; DIVIDED, BY_SURROGATES; None: majority
    surrogates: Surrogates | None = None
    numbers: NodeNumbers | None = None

    def __post_init__(self) -> None:
        if self.missing_to is None:
            object.__setattr__(self, "missing_to", self.majority)

    def __len__(self) -> int:
        return len(self.parent)

    def children(self, node: int) -> NDArray[np.int32]:
        return self.child[self.first[node] : self.first[node + 1]]

    @cached_property
    def depth(self) -> NDArray[np.int32]:
        """Compute the depth of every node."""
        above, depth = self.parent.copy(), (self.parent >= 0).astype(np.int32)
        while (above >= 0).any():  # the way up doubles each time
            depth += np.where(above >= 0, depth[above], 0).astype(np.int32)
            above = np.where(above >= 0, above[above], -1)
        return depth

    @cached_property
    def levels(self) -> tuple[NDArray[np.int64], ...]:
        """Nodes per depth, the root's first."""
        order = np.argsort(self.depth, kind="stable")
        return tuple(np.split(order, np.flatnonzero(np.diff(self.depth[order])) + 1))

    @cached_property
    def size(self) -> NDArray[np.int32]:
        """Nodes of each subtree."""
        size = np.ones(len(self), np.int32)
        for node in range(len(self) - 1, 0, -1):
            size[self.parent[node]] += size[node]
        return size

    @cached_property
    def weight(self) -> Floats:
        """Training weight that reached each node."""
        weight: Floats = self.counts.sum(axis=1)
        return weight

    @cached_property
    def purest(self) -> Floats:
        """Weight of each node's largest class."""
        largest: Floats = self.counts.max(axis=1)
        return largest

    @cached_property
    def terminal(self) -> Booleans:
        """A mask of the nodes without a test."""
        return np.asarray(self.test == LEAF)

    @cached_property
    def filled(self) -> Floats:
        """Class weights of each node; those of the parent where no row arrived."""
        counts = self.counts.copy()
        for node in np.flatnonzero(self.weight == 0):
            counts[node] = counts[self.parent[node]]
        return counts

    @cached_property
    def share(self) -> Floats:
        """Each node's share of its parent's weight, 1 for the root: how a row of missing value is divided."""
        share = np.ones(len(self))
        share[1:] = self.weight[1:] / self.weight[self.parent[1:]]
        return share

    @cached_property
    def spared(self) -> Floats:
        """Squared error that the tests of each node's subtree save, its own included: Σ w_c (mean_c − mean)² per test."""
        assert self.numbers is not None
        return self._savings(np.square(self.numbers.mean[1:] - self.numbers.mean[self.parent[1:]]))

    @cached_property
    def deviance_spared(self) -> Floats:
        """Compute what tests save of half the Poisson deviance: Σ w_c (mean_c log(mean_c / mean) − mean_c + mean) per test."""
        assert self.numbers is not None
        mean, above = self.numbers.mean[1:], self.numbers.mean[self.parent[1:]]
        ratio = np.divide(mean, above, out=np.ones_like(mean), where=(mean > 0) & (above > 0))
        return self._savings(mean * np.log(ratio) - mean + above)

    def _savings(self, by_row: Floats) -> Floats:
        """Sum what the tests of each node's subtree save, from what each row of a child saves by its parent's test."""
        saved = np.zeros(len(self))
        np.add.at(saved, self.parent[1:], self.weight[1:] * by_row)
        for nodes in self.levels[:0:-1]:
            np.add.at(saved, self.parent[nodes], saved[nodes])
        return saved

    @cached_property
    def majority(self) -> NDArray[np.int32]:
        """Position among the children of the one of largest weight (ties: the first), −1 at leaves."""
        best = np.full(len(self), -1, np.int32)
        branches, weight = np.diff(self.first), self.weight[self.child]
        inner = np.flatnonzero(branches)
        if (branches[inner] == 2).all():  # the same in short
            best[inner] = weight[::2] < weight[1::2] - 1e-9
        else:
            largest = np.repeat(np.maximum.reduceat(weight, self.first[inner]), branches[inner])
            tops = np.flatnonzero(weight >= largest - 1e-9)[::-1]  # the first of equals is written last
            best[self.parent[self.child[tops]]] = tops - self.first[self.parent[self.child[tops]]]
        return best


@dataclass(frozen=True, eq=False)
class PrunedView:
    """A tree cut back: the same nodes, those marked `leaf` end a path; what lies beneath is no longer reached.

    `counts` give the class scores of a leaf, `prediction` its class: reduced-error pruning sets both from its own rows. In a
    tree of numbers `prediction` is the number that a leaf answers; where there are `models`, its model answers.
    """

    tree: DecisionTree
    leaf: Booleans
    prediction: NDArray[Any]
    counts: Floats
    models: NodeModels | None = None
