"""The input and output of pruners.

A pruner gets a `PrunedView` (the grown tree, or a truncation of it by a stopping limit) and the `PruningData`: whatever else is
known about the training rows. It returns a `PruningPath`, which answers every pruner of equal `sharing()` without
growing or routing again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from modelsel.core.types import Codes, Floats, Integers
from modelsel.tree.structure.node import NodeNumbers, PrunedView


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
    """One grown tree, pruned at every strength.

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
