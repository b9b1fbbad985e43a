"""Critical-value pruning: a node becomes a leaf when neither it nor any test below reaches the goodness asked for.

critical(t) = max of the goodness of the tests in the subtree of t; a leaf where critical(t) < threshold. The scale is the
criterion's own: bits for entropy, −ln p for chi_square.

Mingers 1987, *Expert systems – rule induction with statistical data*.
"""

from dataclasses import dataclass

import numpy as np

from modelsel.core.spec import number
from modelsel.core.types import Floats
from modelsel.pruner.base import NestedSequence, Pruning
from modelsel.tree.cutting import PruningData
from modelsel.tree.node import PrunedView


@dataclass(frozen=True)
class CriticalValue(Pruning):
    """Keeps a weak test above a strong one, which stopping by `min_gain` would not."""

    threshold: float = number(0.0, help="goodness, on the criterion's scale, that a test or one below it must reach")

    @property
    def strength(self) -> float:
        return float(np.nextafter(np.round(self.threshold, 12), -np.inf))  # a goodness equal to the threshold reaches it

    def path(self, cut: PrunedView, evidence: PruningData) -> NestedSequence:
        return NestedSequence(cut, _best_below(cut))


def _best_below(cut: PrunedView) -> Floats:
    """Largest goodness in each subtree of the cut tree, rounded to 1e-12 so that ties are ties."""
    best = np.where(cut.leaf, -np.inf, np.round(cut.tree.goodness, 12))
    for nodes in cut.tree.levels[:0:-1]:
        parents = cut.tree.parent[nodes]
        np.maximum.at(best, parents, np.where(cut.leaf[parents], -np.inf, best[nodes]))
    return np.where(cut.leaf, np.inf, best)
