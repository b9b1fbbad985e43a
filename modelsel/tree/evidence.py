"""What pruners are given and what they give back.

A pruner gets a `Cut` (the grown tree, or a truncation of it by a stopping limit) and the `Evidence`: whatever else is
known about the training rows. It returns a `PruningPath`, which answers every pruner of equal `sharing()` without
growing or routing again.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from modelsel.core.types import Booleans, Codes, Floats, Integers
from modelsel.tree.node import Cut


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
class Evidence:
    """What is known beyond the tree's own counts."""

    total: float  # training weight at the root: what risks are shares of
    pruning_counts: Floats | None = None  # nodes × classes: weights of the rows held back from growing (reduced error)
    cost_matrix: Floats | None = None  # true class × predicted class
    reroute: Reroute | None = None


class PruningPath(Protocol):
    """One grown tree, pruned at every strength."""

    def cut(self, pruner: Any) -> Cut:
        """The tree that `pruner` leaves; `pruner` has the `sharing()` of the one that made the path."""
        ...


class Pruner(Protocol):
    """Grown tree in, smaller tree out; a frozen dataclass."""

    def growing(self) -> dict[str, Any]:
        """What the growing of the tree depends on: {} or, for reduced error, {"share": share held back for pruning}."""
        ...

    def sharing(self) -> tuple[Any, ...]:
        """Pruners of equal sharing are answered by one path."""
        ...

    def path(self, cut: Cut, evidence: Evidence) -> PruningPath: ...

    def problems(self, costs: bool = False) -> Iterable[str]:
        """Reasons why this combination is not valid; `costs`: the leaves are labelled by a cost matrix."""
        ...


@dataclass(frozen=True, eq=False)
class Nested:
    """A nested sequence: a node is a leaf at every strength from its critical one upwards."""

    base: Cut
    critical: Floats  # per node; infinite where the node never becomes a leaf

    def cut(self, pruner: Any) -> Cut:
        return cut_by(self.base, self.critical, pruner.strength)

    def strengths(self) -> Floats:
        """The strengths at which the tree changes, ascending."""
        inner = reached(self.base) & ~self.base.leaf
        above = _least_above(self.base, self.critical)
        changes: Floats = np.unique(self.critical[inner & (self.critical < above) & np.isfinite(self.critical)])
        return changes


def cut_by(cut: Cut, critical: Floats, strength: float) -> Cut:
    """Cut back where the critical strength does not exceed `strength`."""
    return replace(cut, leaf=cut.leaf | (critical <= strength))


def reached(cut: Cut) -> Booleans:
    """Which nodes stand in the cut tree: no node above them is marked as leaf."""
    tree, stands = cut.tree, np.ones(len(cut.leaf), bool)
    for nodes in levels(tree.depth)[1:]:
        above = tree.parent[nodes]
        stands[nodes] = stands[above] & ~cut.leaf[above]
    return stands


def ends(cut: Cut) -> Integers:
    """Per node of the grown tree, the leaf of the cut tree where a row that comes by that node ends (or the node itself)."""
    tree, end = cut.tree, np.arange(len(cut.leaf))
    for nodes in levels(tree.depth)[1:]:
        above = end[tree.parent[nodes]]
        end[nodes] = np.where(cut.leaf[above], above, nodes)
    return end


def leaves(cut: Cut) -> int:
    """Leaves of the cut tree, empty branches among them."""
    return int(np.count_nonzero(reached(cut) & cut.leaf))


def levels(depth: np.ndarray[Any, Any]) -> list[Integers]:
    """Nodes per depth, the root's first."""
    order = np.argsort(depth, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(depth[order])) + 1)


def _least_above(cut: Cut, critical: Floats) -> Floats:
    """Least critical strength among the ancestors of each node."""
    tree, least = cut.tree, np.full(len(critical), np.inf)
    for nodes in levels(tree.depth)[1:]:
        above = tree.parent[nodes]
        least[nodes] = np.minimum(least[above], critical[above])
    return least
