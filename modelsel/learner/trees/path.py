"""One fully grown tree that answers every stopping limit, every pruner and its strength, and every leaf score.

Rows are routed once, to the leaf of the grown tree. A candidate is then a set of marked nodes: a map from each node to the
leaf where its rows end, and predictions are looked up through it, for many candidates at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from modelsel.core.types import Codes, Floats, Integers, Outputs, Table, Task
from modelsel.learner.trees.leaf import Leaf, leaf_scores
from modelsel.learner.trees.model import TreeModel, predicted
from modelsel.learner.trees.pruned_trees import PrunedTree, PrunedTreeCache, PrunedTrees
from modelsel.statistics.auc import multiclass_auc
from modelsel.tree.pruning.compact import compact
from modelsel.tree.routing.route import route
from modelsel.tree.routing.routed import Routed
from modelsel.tree.softening.soft import soft_route
from modelsel.tree.softening.widths import Widths
from modelsel.tree.structure.cutting import errors_as_leaf
from modelsel.tree.structure.evidence import PruningData
from modelsel.tree.structure.node import DecisionTree, PrunedView


@dataclass(frozen=True, eq=False)
class RoutedRows:
    """Rows of a table, sent once down the grown tree, and down others when these are asked for."""

    tree: DecisionTree
    table: Table
    rows: Integers

    @cached_property
    def _whole(self) -> Routed:
        return route(self.tree, self.table, self.rows)

    def down(self, tree: DecisionTree) -> Routed:
        return self._whole if tree is self.tree else route(tree, self.table, self.rows)


@dataclass(eq=False)
class TreePath:
    """The grown tree, what pruners may know, and answers found so far (a path is used by one thread)."""

    tree: DecisionTree
    evidence: PruningData
    task: Task
    rows: Integers
    certain: bool = True  # every analysis row is predicted by the node that counts it
    judging: Integers | None = None  # analysis rows that neither grew the tree nor may soften it
    _wrong: dict[int, tuple[Codes, Floats]] = field(default_factory=dict)  # training weight misclassified, per prediction
    _scores: dict[Any, tuple[PrunedView, Floats]] = field(default_factory=dict)  # a cut in a key by identity is kept alive
    _soft: dict[Any, tuple[PrunedView, PrunedView, Widths | None]] = field(default_factory=dict)

    def outputs(self, learners: Sequence[Any], table: Table, rows: Integers, scores: bool) -> Outputs:
        """Compute classes and scores of every learner; learners with the same pruned tree share them."""
        left, sent = self._standings.of(learners), RoutedRows(self.tree, table, rows)
        classes = self._classes(left, sent)[left.which]
        shares = np.empty((len(learners), len(rows), len(self.tree.classes))) if scores else None
        for i, learner in enumerate(learners):
            if not learner.hard:
                classes[i], of_rows = self._softly(learner, left[i], sent, scores)
            elif shares is not None:
                of_rows = sent.down(left[i].cut.tree).per_row(self._node_scores(left[i], learner.leaf))
            if shares is not None:
                shares[i] = of_rows
        return Outputs(classes, shares)

    def complexity(self, learners: Sequence[Any]) -> Floats:
        left = self._standings.of(learners)
        return np.array([standing.leaves for standing in left.different], np.float64)[left.which]

    def training_error(self, learners: Sequence[Any]) -> Floats:
        """Compute every learner's weighted error on the rows that grew the tree."""
        left = self._standings.of(learners)
        errors = self._errors(left)[left.which]
        for i, learner in enumerate(learners):
            if not learner.hard:
                errors[i] = self._share_wrong(self._softly(learner, left[i], self._trained, scores=False)[0])
        return errors

    def held_back(self, learners: Sequence[Any]) -> Floats:
        """AUC on the rows that a pruner holds back to judge by; NaN where it holds none back, or only of one class."""
        if self.judging is None:
            return np.full(len(learners), np.nan)
        scores = self.outputs(learners, self.task, self.judging, scores=True).scores
        assert scores is not None
        return multiclass_auc(self.task.target[self.judging], scores, self.task.row_weights[self.judging])

    def model(self, learner: Any) -> TreeModel:
        cut, widths = self._softened(learner, self.standing(learner))
        return TreeModel(cut, leaf_scores(cut, learner.leaf), learner.cost_matrix, widths)

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

    @cached_property
    def _trained(self) -> RoutedRows:
        return RoutedRows(self.tree, self.task, self.rows)

    def _classes(self, left: PrunedTrees, sent: RoutedRows) -> Codes:
        """Class per row under each of the trees that are left."""
        classes, routed = np.empty((len(left.different), len(sent.rows)), np.int32), sent.down(self.tree)
        for own, prediction, end in left.alike() if routed.whole else ():
            classes[own] = prediction.take(end.take(routed.leaf, axis=1))
        for i in left.moved if routed.whole else range(len(left.different)):
            standing = left.different[i]
            classes[i] = predicted(standing.cut, sent.down(standing.cut.tree), standing.costs, standing.end)
        return classes

    def _errors(self, left: PrunedTrees) -> Floats:
        """Training error of each of the trees that are left: by counts, where the node that counts a row predicts it."""
        errors, nodes = np.empty(len(left.different)), np.arange(len(self.tree), dtype=np.int32)
        for own, prediction, end in left.alike() if self.certain else ():
            leaves = np.array([left.different[i].cut.leaf for i in own]) & (end == nodes)
            errors[own] = np.where(leaves, self._misclassified(prediction), 0.0).sum(axis=1) / self._total
        for i in left.moved if self.certain else range(len(left.different)):
            standing = left.different[i]
            if self.certain and self._all_grew:
                errors[i] = self._by_counts(standing)
                continue
            routed = self._trained.down(standing.cut.tree)
            errors[i] = self._share_wrong(predicted(standing.cut, routed, standing.costs, standing.end))
        return errors

    @property
    def _all_grew(self) -> bool:
        """Say whether no row was held back that a tree of other nodes would have to be asked about."""
        return self.evidence.pruning_counts is None or self.judging is not None

    def _by_counts(self, standing: PrunedTree) -> float:
        """Training error of a tree whose nodes count the training rows themselves."""
        cut = standing.cut
        leaves = cut.leaf & (standing.end == np.arange(len(cut.leaf)))
        return float(errors_as_leaf(cut.tree.counts, cut.prediction, None)[leaves].sum() / self._total)

    def _softened(self, learner: Any, standing: PrunedTree) -> tuple[PrunedView, Widths | None]:
        """The tree that is left, without the rest, and the widths of its thresholds."""
        asked = (standing.key, learner.softener)
        if asked not in self._soft:
            small = compact(standing.cut)
            widths = None if learner.hard else learner.softener.widths(small, self.task, self.rows)
            self._soft[asked] = standing.cut, small, widths
        return self._soft[asked][1:]

    def _softly(self, learner: Any, standing: PrunedTree, sent: RoutedRows, scores: bool) -> tuple[Codes, Floats | None]:
        """Classes and scores of rows that ramps divide among leaves."""
        cut, widths = self._softened(learner, standing)
        assert widths is not None
        routed = soft_route(cut.tree, widths, sent.table, sent.rows)
        classes = predicted(cut, routed, learner.cost_matrix)
        return classes, routed.per_row(leaf_scores(cut, learner.leaf)) if scores else None

    def _node_scores(self, standing: PrunedTree, leaf: Leaf) -> Floats:
        """Class scores of the leaf where each node's rows end."""
        asked = (standing.key, leaf)
        if asked not in self._scores:
            self._scores[asked] = standing.cut, leaf_scores(standing.cut, leaf)[standing.end]
        return self._scores[asked][1]

    @cached_property
    def _counts(self) -> Floats:
        """Class weights of the analysis rows per node, held back ones included but for those that judge."""
        held_back = self.evidence.pruning_counts if self.judging is None else None
        return self.tree.counts if held_back is None else self.tree.counts + held_back

    @cached_property
    def _total(self) -> float:
        return float(self._counts[0].sum())

    def _misclassified(self, prediction: Codes) -> Floats:
        """Training weight that each node misclassifies when it predicts these classes."""
        if id(prediction) not in self._wrong:
            self._wrong[id(prediction)] = prediction, errors_as_leaf(self._counts, prediction, None)
        return self._wrong[id(prediction)][1]

    def _share_wrong(self, classes: Codes) -> float:
        weight = self.task.row_weights[self.rows]
        return float(weight[classes != self.task.target[self.rows]].sum() / weight.sum())
