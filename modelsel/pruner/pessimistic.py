"""Pessimistic pruning: a test must pay for the half error that each of its leaves is charged.

Top down, a node becomes a leaf when e + ½ ≤ e' + L/2 + s · se, se = √(n' (N − n') / N), n' = min(N, e' + L/2):
N weight at the node, e its errors as a leaf, e' errors and L leaves of the grown subtree, s the number of standard errors.

Quinlan 1987, *Simplifying decision trees* (s = 1).
"""

from dataclasses import dataclass

import numpy as np

from modelsel.core.spec import number
from modelsel.core.types import Floats
from modelsel.pruner.base import CountsErrors, NestedSequence
from modelsel.tree.cutting import PruningData, below, errors_as_leaf
from modelsel.tree.node import PrunedView


@dataclass(frozen=True)
class Pessimistic(CountsErrors):
    """The subtree below stays as grown while its root is judged, so that one number per node answers every s."""

    standard_errors: float = number(1.0, least=0.0, help="standard errors that a subtree must gain; more prunes more")

    @property
    def strength(self) -> float:
        return float(self.standard_errors)

    def path(self, cut: PrunedView, evidence: PruningData) -> NestedSequence:
        return NestedSequence(cut, _critical(cut))


def _critical(cut: PrunedView) -> Floats:
    """The s from which on each node is a leaf: what it loses as one, over the standard error of its subtree's errors."""
    weight: Floats = cut.tree.counts.sum(axis=1)
    errors = errors_as_leaf(cut.tree.counts, cut.prediction, None)
    subtree = below(cut, errors) + 0.5 * below(cut, np.ones(len(weight)))
    seen = np.minimum(weight, subtree)
    deviation = np.sqrt(np.divide(seen * (weight - seen), weight, out=np.zeros_like(weight), where=weight > 0))
    loss = errors + 0.5 - subtree
    outright = np.where(loss <= 0, -np.inf, np.inf)
    return np.where(cut.leaf, np.inf, np.divide(loss, deviation, out=outright, where=deviation > 0))
