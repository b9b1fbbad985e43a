"""The input and output of pruners.

A pruner gets a `PrunedView` (the grown tree, or a truncation of it by a stopping limit) and the `PruningData`: whatever else is
known about the training rows. It returns a `PruningPath`, which answers every pruner of equal `sharing()` without
growing or routing again.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from modelsel.core.types import Codes, Floats, Integers
from modelsel.tree.structure.node import PrunedView


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
    """The data of a pruner beyond the tree's own counts."""

    total: float  # training weight at the root: what risks are shares of
    pruning_counts: Floats | None = None  # nodes × classes: weights of the rows held back from growing (reduced error)
    cost_matrix: Floats | None = None  # true class × predicted class
    reroute: Reroute | None = None


class PruningPath(Protocol):
    """One grown tree, pruned at every strength."""

    def cut(self, pruner: Any) -> PrunedView:
        """The tree that `pruner` leaves; `pruner` has the `sharing()` of the one that made the path."""
        ...


class Pruner(Protocol):
    """Grown tree in, smaller tree out; a frozen dataclass."""

    def fit_key(self) -> dict[str, Any]:
        """Return what growing depends on: {} or, for reduced error, {"share": share held back for pruning}."""
        ...

    def sharing(self) -> tuple[Any, ...]:
        """Pruners of equal sharing are answered by one path."""
        ...

    def path(self, cut: PrunedView, evidence: PruningData) -> PruningPath: ...

    def problems(self, costs: bool = False) -> Iterable[str]:
        """Reasons why this combination is not valid; `costs`: the leaves are labelled by a cost matrix."""
        ...
