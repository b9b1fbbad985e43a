"""Reduced-error pruning: of all prunings the one with the least error on rows that did not grow the tree.

err(T) = Σ over leaves of the weight of S_prune that the leaf misclassifies, or of its squared error; among prunings of equal
error the one with the fewest nodes. One bottom-up pass finds it: a leaf takes its best class, an inner node the better of leaf
and pruned subtrees.

Quinlan 1987, *Simplifying decision trees*; optimality of the pass: Elomaa and Kääriäinen 2001.
"""

from dataclasses import dataclass, replace

import numpy as np

from modelsel.core.spec import number, plain
from modelsel.core.types import BOTH_TASKS, AnyTask, Floats
from modelsel.pruner.base import ConstantPath, Pruning
from modelsel.tree.cutting import PruningData, cheaper_as_leaf, errors_as_leaf
from modelsel.tree.node import NodeNumbers, PrunedView
from modelsel.tree.pruning import best_class


@dataclass(frozen=True)
class ReducedError(Pruning):
    """`share` of the analysis rows is held back, stratified by class, and only prunes."""

    share: float = number(0.3, above=0.0, most=0.9, help="share of the rows held back for pruning; they never grow the tree")
    relabel: bool = plain(True, help="a leaf takes the best class (of numbers, the mean) of the held-back rows that reach it")

    reads = BOTH_TASKS

    @classmethod
    def kernels(cls, task: AnyTask) -> tuple[str, ...]:
        """Return the files of kernels that it uses, which a study compiles before its cells."""
        return ("tallies",)

    def fit_key(self) -> dict[str, object]:
        return {"share": self.share}

    def sharing(self) -> tuple[object, ...]:
        return ("reduced_error", self.share, self.relabel)

    def path(self, cut: PrunedView, evidence: PruningData) -> ConstantPath:
        """Prune where the held-back rows err no more at a leaf than below it."""
        if evidence.pruning_counts is None:
            raise ValueError("reduced_error needs the counts of held-back rows (Evidence.pruning_counts)")
        if evidence.pruning_numbers is not None:
            return ConstantPath(_by_squares(cut, evidence.pruning_counts, evidence.pruning_numbers, self.relabel))
        labelled = _relabel(cut, evidence.pruning_counts, evidence.cost_matrix) if self.relabel else cut
        errors = errors_as_leaf(evidence.pruning_counts, labelled.prediction, evidence.cost_matrix)
        return ConstantPath(replace(labelled, leaf=cheaper_as_leaf(labelled, errors)))


def _by_squares(cut: PrunedView, counts: Floats, held_back: NodeNumbers, relabel: bool) -> PrunedView:
    """Prune where the squared error of the held-back rows is no larger at a leaf than below it."""
    arrived = counts[:, 0] > 0
    if relabel:
        answer = np.where(arrived, held_back.mean, cut.prediction)
        cut = replace(cut, prediction=answer, counts=np.where(arrived[:, None], counts, cut.counts))
    off = np.where(arrived, held_back.mean - cut.prediction, 0.0)
    return replace(cut, leaf=cheaper_as_leaf(cut, held_back.squares + counts[:, 0] * np.square(off)))


def _relabel(cut: PrunedView, counts: Floats, costs: Floats | None) -> PrunedView:
    """Classes and scores of the held-back rows wherever one arrives, those of growing elsewhere."""
    arrived = counts.sum(axis=1) > 0
    return replace(
        cut,
        prediction=np.where(arrived, best_class(counts, costs), cut.prediction).astype(np.int32),
        counts=np.where(arrived[:, None], counts, cut.counts),
    )
