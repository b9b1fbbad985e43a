"""One fully grown tree of numbers that answers every stopping limit and every pruner with its strength.

As `path`, of which it takes the pruned trees and the rows that were sent down once; a leaf answers a number, by whatever
statistic a learner asks for. Trees are pruned by the loss of that statistic: for each loss there is a sequence of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from modelsel.core.types import Floats, Integers, NumberOutputs, NumberTask, Table
from modelsel.learner.base import training_error
from modelsel.learner.trees.leaf import MEAN, Leaf, Loss
from modelsel.learner.trees.number_model import NumberTreeModel, answers
from modelsel.learner.trees.path import PrunedTree, PrunedTreeCache, PrunedTrees, RoutedRows
from modelsel.learner.trees.statistic import NodeStatistics
from modelsel.tree.growing.whole_target import exact_sum
from modelsel.tree.pruning import compact
from modelsel.tree.structure.evidence import PruningData
from modelsel.tree.structure.node import DecisionTree, PrunedView


@dataclass(eq=False)
class NumberTreePath:
    """The grown tree, what pruners may know, and answers found so far (a path is used by one thread)."""

    tree: DecisionTree
    evidence: PruningData
    task: NumberTask
    rows: Integers
    growing: Integers  # of these, the rows that grew the tree
    certain: bool  # every analysis row grew the tree and is predicted by the node that counts it
    _pruned: dict[Loss, PrunedTreeCache] = field(default_factory=dict)  # by the loss that prunes

    def outputs(self, learners: Sequence[object], table: Table, rows: Integers, scores: bool) -> NumberOutputs:
        """Compute the numbers of every learner; learners with the same pruned tree and statistic share them."""
        return NumberOutputs(self._predicted(learners, RoutedRows(self.tree, table, rows)))

    def complexity(self, learners: Sequence[Any]) -> Floats:
        """Count the leaves that are left for every learner."""
        found = np.empty(len(learners))
        for (_, loss), own in _by_leaf(learners).items():
            left = self._standings(loss).of([learners[i] for i in own])
            found[own] = np.array([standing.leaves for standing in left.different], np.float64)[left.which]
        return found

    def training_error(self, learners: Sequence[Any]) -> Floats:
        """Compute every learner's root mean squared error on the analysis rows."""
        found = np.empty(len(learners))
        for (leaf, loss), own in _by_leaf(learners).items():
            left = self._standings(loss).of([learners[i] for i in own])
            if self.certain and leaf.statistic in (None, MEAN):
                found[own] = np.array([self._by_squares(standing) for standing in left.different])[left.which]
            else:
                said = self._numbers(left, RoutedRows(self.tree, self.task, self.rows), leaf)
                found[own] = np.array([training_error(self.task, self.rows, one) for one in said])[left.which]
        return found

    def model(self, learner: Any) -> NumberTreeModel:
        cut = self.standing(learner).cut
        return NumberTreeModel(compact(self._saying(cut, learner.number_leaf)))

    def standing(self, learner: Any) -> PrunedTree:
        """Return the tree that is left for a learner."""
        return self._standings(learner.number_loss).of([learner])[0]

    def members(self, learner: Any) -> tuple[Any, ...]:
        """The learners that one with an open pruning strength (`alpha: path`) stands for on this tree."""
        standings = self._standings(learner.number_loss)
        pruners = learner.pruner.members(standings.base(learner), standings.known(learner))
        return tuple(replace(learner, pruner=pruner) for pruner in pruners)

    @cached_property
    def _statistics(self) -> NodeStatistics:
        return NodeStatistics(self.tree, self.task, self.growing)

    def _standings(self, loss: Loss) -> PrunedTreeCache:
        """Pruned trees by a loss."""
        if loss not in self._pruned:
            evidence = replace(self.evidence, risk=self._statistics.losses(loss))
            self._pruned[loss] = PrunedTreeCache(self.tree, evidence)
        return self._pruned[loss]

    def _saying(self, cut: PrunedView, leaf: Leaf) -> PrunedView:
        """A cut tree whose leaves say a statistic."""
        return cut if leaf.statistic in (None, MEAN) else replace(cut, prediction=self._statistics.answers(leaf))

    def _predicted(self, learners: Sequence[object], sent: RoutedRows) -> Floats:
        """Number per learner and row."""
        found = np.empty((len(learners), len(sent.rows)))
        for (leaf, loss), own in _by_leaf(learners).items():
            left = self._standings(loss).of([learners[i] for i in own])
            found[own] = self._numbers(left, sent, leaf)[left.which]
        return found

    def _numbers(self, left: PrunedTrees, sent: RoutedRows, leaf: Leaf) -> Floats:
        """Number per row under each of the trees that are left; divided rows go down each of them, to the last bit as alone."""
        found, routed = np.empty((len(left.different), len(sent.rows))), sent.down(self.tree)
        other = None if leaf.statistic in (None, MEAN) else self._statistics.answers(leaf)
        for own, prediction, end in left.alike() if routed.whole else ():
            found[own] = (prediction if other is None else other).take(end.take(routed.leaf, axis=1))
        for i in left.moved if routed.whole else range(len(left.different)):
            small = compact(self._saying(left.different[i].cut, leaf))
            found[i] = answers(small, sent.down(small.tree))
        return found

    def _by_squares(self, standing: PrunedTree) -> float:
        """Training error of a tree whose nodes answer the mean of the training rows that they count."""
        tree = standing.cut.tree
        assert tree.numbers is not None
        leaves = standing.cut.leaf & (standing.end == np.arange(len(tree)))
        return float(np.sqrt(exact_sum(tree.numbers.squares[leaves]) / self.evidence.total))


def _by_leaf(learners: Sequence[Any]) -> dict[tuple[Leaf, Loss], list[int]]:
    """Positions of learners by what their leaves say, and what prunes them."""
    found: dict[tuple[Leaf, Loss], list[int]] = {}
    for place, learner in enumerate(learners):
        found.setdefault((learner.number_leaf, learner.number_loss), []).append(place)
    return found
