"""One fully grown tree of numbers that answers every stopping limit and every pruner with its strength.

As `path`, of which it takes the pruned trees and the rows that were sent down once; a leaf answers a number.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from modelsel.core.types import Floats, Integers, NumberOutputs, NumberTask, Table
from modelsel.learner.base import training_error
from modelsel.learner.trees.number_model import NumberTreeModel, answers
from modelsel.learner.trees.path import PrunedTree, PrunedTreeCache, PrunedTrees, RoutedRows
from modelsel.tree.growing.whole_target import exact_sum
from modelsel.tree.pruning import compact
from modelsel.tree.structure.evidence import PruningData
from modelsel.tree.structure.node import DecisionTree


@dataclass(eq=False)
class NumberTreePath:
    """The grown tree, what pruners may know, and answers found so far (a path is used by one thread)."""

    tree: DecisionTree
    evidence: PruningData
    task: NumberTask
    rows: Integers
    certain: bool  # every analysis row grew the tree and is predicted by the node that counts it

    def outputs(self, learners: Sequence[Any], table: Table, rows: Integers, scores: bool) -> NumberOutputs:
        """Compute the numbers of every learner; learners with the same pruned tree share them."""
        left = self._standings.of(learners)
        return NumberOutputs(self._numbers(left, RoutedRows(self.tree, table, rows))[left.which])

    def complexity(self, learners: Sequence[Any]) -> Floats:
        left = self._standings.of(learners)
        return np.array([standing.leaves for standing in left.different], np.float64)[left.which]

    def training_error(self, learners: Sequence[Any]) -> Floats:
        """Compute every learner's root mean squared error on the analysis rows."""
        left = self._standings.of(learners)
        if self.certain:
            return np.array([self._by_squares(standing) for standing in left.different])[left.which]
        said = self._numbers(left, RoutedRows(self.tree, self.task, self.rows))
        return np.array([training_error(self.task, self.rows, own) for own in said])[left.which]

    def model(self, learner: Any) -> NumberTreeModel:
        return NumberTreeModel(compact(self.standing(learner).cut))

    def standing(self, learner: Any) -> PrunedTree:
        """Return the tree that is left for a learner."""
        return self._standings.of([learner])[0]

    def members(self, learner: Any) -> tuple[Any, ...]:
        """The learners that one with an open pruning strength (`alpha: path`) stands for on this tree."""
        pruners = learner.pruner.members(self._standings.base(learner), self._standings.known(learner))
        return tuple(replace(learner, pruner=pruner) for pruner in pruners)

    @cached_property
    def _standings(self) -> PrunedTreeCache:
        return PrunedTreeCache(self.tree, self.evidence)

    def _numbers(self, left: PrunedTrees, sent: RoutedRows) -> Floats:
        """Number per row under each of the trees that are left; divided rows go down each of them, to the last bit as alone."""
        found, routed = np.empty((len(left.different), len(sent.rows))), sent.down(self.tree)
        for own, prediction, end in left.alike() if routed.whole else ():
            found[own] = prediction.take(end.take(routed.leaf, axis=1))
        for i in left.moved if routed.whole else range(len(left.different)):
            small = compact(left.different[i].cut)
            found[i] = answers(small, sent.down(small.tree))
        return found

    def _by_squares(self, standing: PrunedTree) -> float:
        """Training error of a tree whose nodes answer the mean of the training rows that they count."""
        tree = standing.cut.tree
        assert tree.numbers is not None
        leaves = standing.cut.leaf & (standing.end == np.arange(len(tree)))
        return float(np.sqrt(exact_sum(tree.numbers.squares[leaves]) / self.evidence.total))
