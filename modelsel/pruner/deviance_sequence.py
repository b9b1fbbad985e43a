"""One of ten trees of the cost-complexity sequence by deviance, cut off where rows held back say that it overfits.

D(T) = −2 Σ over leaves, classes of n_c ln max(p_c, 1e-6), n_c the held-back weight of class c, p_c its share in growing.

Trees larger than the one of least D are dropped; of the others, down to three splits, ten at even steps remain. The floor of
1e-6 decides what is dropped: a pure leaf that one held-back row contradicts costs 27.6. Held-back rows neither grow the tree
nor soften it, so that a choice among these trees and their softenings may be made on them (`TreePath.held_back`).

Dvořák 2019, *Softening splits in classification trees*; the sequence: Breiman, Friedman, Olshen and Stone 1984, ch. 3.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from modelsel.core.spec import number, whole
from modelsel.core.types import AnyTask, Floats, Integers
from modelsel.pruner.base import NestedSequence, Pruning
from modelsel.pruner.cost_complexity import CostComplexity
from modelsel.tree.cutting import PruningData, cut_by
from modelsel.tree.node import PrunedView

FLOOR = 1e-6  # of a class share under the logarithm
LINKS = CostComplexity(impurity="entropy")  # deviance is 2 ln 2 times the entropy in bits: the same links


@dataclass(frozen=True)
class DevianceSequence(Pruning):
    """`step` 1 is the tree of least deviance on the held-back rows, `step` = `trees` the smallest that is asked for."""

    step: int = whole(1, least=1, help="which tree, from the largest")
    trees: int = whole(10, least=2, help="into how many even steps the sequence is divided")
    smallest: int = whole(3, least=1, help="splits of the last tree, or the fewest above")
    share: float = number(1 / 3, above=0.0, most=0.9, help="share of the rows held back; they neither grow nor soften")

    validates: ClassVar[bool] = True  # rows held back only judge: leaves keep the counts of growing

    @classmethod
    def kernels(cls, task: AnyTask) -> tuple[str, ...]:
        """Return the files of kernels that it uses, which a study compiles before its cells."""
        return ("tallies",)

    def fit_key(self) -> dict[str, object]:
        return {"share": self.share}

    def sharing(self) -> tuple[object, ...]:
        return ("deviance_sequence", self.share)

    def path(self, cut: PrunedView, evidence: PruningData) -> "DevianceSequencePath":
        """Compute deviance and leaves at each strength of the cost-complexity sequence."""
        if evidence.pruning_counts is None:
            raise ValueError("deviance_sequence needs the counts of held-back rows (Evidence.pruning_counts)")
        nested: NestedSequence = LINKS.path(cut, evidence)
        strengths = np.unique(np.append(0.0, nested.steps()))
        first, last = _lifetime(cut, nested.critical, strengths)
        deviance = _over_time(_deviance(cut.tree.counts, evidence.pruning_counts), first, last, len(strengths))
        leaves = np.rint(_over_time(np.ones(len(first)), first, last, len(strengths))).astype(np.int64)
        return DevianceSequencePath(nested, strengths, leaves - 1, deviance)


@dataclass(frozen=True, eq=False)
class DevianceSequencePath:
    """The whole sequence, from the largest tree to the root: strength, splits and deviance on the held-back rows."""

    nested: NestedSequence
    strengths: Floats
    splits: Integers
    deviance: Floats

    def cut(self, pruner: DevianceSequence) -> PrunedView:
        return cut_by(self.nested.base, self.nested.critical, float(self.strengths[self.taken(pruner)]))

    def taken(self, pruner: DevianceSequence) -> int:
        """Return the position of the tree that `pruner.step` takes from the sequence."""
        least = float(self.deviance.min())
        best = int(np.flatnonzero(self.deviance <= least + 1e-9 * abs(least))[-1])
        large = np.flatnonzero(self.splits >= pruner.smallest)
        last = max(int(large[-1]), best) if len(large) else best
        return int(np.rint(np.linspace(best, last, pruner.trees))[min(pruner.step, pruner.trees) - 1])


def _deviance(grown: Floats, held_back: Floats) -> Floats:
    """Compute the cost of the held-back rows at each node if it is a leaf."""
    weight = grown.sum(axis=1, keepdims=True)
    share = np.divide(grown, weight, out=np.zeros_like(grown), where=weight > 0)
    cost: Floats = -2.0 * (held_back * np.log(np.maximum(share, FLOOR))).sum(axis=1)
    return cost


def _lifetime(cut: PrunedView, critical: Floats, strengths: Floats) -> tuple[Integers, Integers]:
    """Per node, the first tree of the sequence in which it is a leaf, and the first in which it no longer stands."""
    own, above = np.where(cut.leaf, -np.inf, critical), np.full(len(critical), np.inf)
    for nodes in cut.tree.levels[1:]:
        parent = cut.tree.parent[nodes]
        above[nodes] = np.minimum(above[parent], own[parent])
    first = np.searchsorted(strengths, own, side="left")
    return first, np.maximum(first, np.searchsorted(strengths, above, side="left"))


def _over_time(of_leaf: Floats, first: Integers, last: Integers, trees: int) -> Floats:
    """Sum over the leaves of each tree of the sequence."""
    change = np.zeros(trees + 1)
    np.add.at(change, first, of_leaf)
    np.subtract.at(change, last, of_leaf)
    return np.asarray(np.cumsum(change)[:-1])
