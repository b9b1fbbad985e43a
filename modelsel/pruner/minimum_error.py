"""Minimum-error pruning: a node becomes a leaf when its expected error is no more than that of its subtrees.

Expected error of a leaf of weight N under the m-estimate: min over c of 1 − (n_c + m p_c) / (N + m); of a test: the mean
of its branches by weight. p: class shares at the root, or 1/K. `m: laplace` is m = K with p uniform. With a cost matrix
the minimum is over the expected cost of each class.

Niblett and Bratko 1987; Cestnik and Bratko 1991, *On estimating probabilities in tree pruning*.
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from modelsel.core.spec import number, one_of
from modelsel.core.types import Floats
from modelsel.pruner.base import Pruning, RecomputedPath
from modelsel.tree.cutting import PruningData, cheaper_as_leaf
from modelsel.tree.node import PrunedView


@dataclass(frozen=True)
class MinimumError(Pruning):
    """Leaves may rise with m, so each m is pruned afresh, from the counts."""

    m: float | Literal["laplace"] = number(2.0, least=0.0, help="weight of the prior in rows, or laplace")
    prior: str = one_of("root", "uniform", help="class shares at the root, or equal ones")

    def path(self, cut: PrunedView, evidence: PruningData) -> RecomputedPath:
        return RecomputedPath(cut, evidence)

    def pruned(self, cut: PrunedView, evidence: PruningData) -> PrunedView:
        """The tree left at this m."""
        expected = self._expected_error(cut.tree.counts, evidence.cost_matrix)
        return replace(cut, leaf=cheaper_as_leaf(cut, expected))

    def _expected_error(self, counts: Floats, costs: Floats | None) -> Floats:
        """Expected error as a leaf times the weight at the node, which makes the mean over branches a sum."""
        classes = counts.shape[1]
        by_class = np.ones((classes, classes)) - np.eye(classes) if costs is None else costs
        m = float(classes if isinstance(self.m, str) else self.m)
        prior = self._prior(counts[0])
        weight: Floats = counts.sum(axis=1)
        share = np.divide(weight, weight + m, out=np.zeros_like(weight), where=weight > 0)
        least: Floats = ((counts + m * prior) @ by_class).min(axis=1)
        return least * share

    def _prior(self, root: Floats) -> Floats:
        """Return the prior class shares: uniform, or those of the root."""
        if self.prior == "uniform" or self.m == "laplace" or root.sum() == 0:
            return np.full(len(root), 1.0 / len(root))
        shares: Floats = root / root.sum()
        return shares
