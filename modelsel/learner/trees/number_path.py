"""One fully grown tree of numbers that answers every stopping limit and every pruner with its strength.

As `path`, of which it takes the pruned trees and the rows that were sent down once; a leaf answers a number, by whatever
statistic a learner asks for. Trees are pruned by the loss of that statistic: for each loss there is a sequence of its own.

    mean, m_estimate    Σ w (y − a)²                    a = Σ w y / W, (Σ w y + m·p) / (W + m); p: mean of the root or parent
    median              Σ w |y − a|                     a: half of the weight is below
    quantile q          Σ w (q − [y < a]) (y − a)       a: the share q of the weight is below

A quantile is the smallest y whose share of the weight, with what is below, exceeds q; where it is q exactly, the middle between
this y and the next (NumPy's `averaged_inverted_cdf`; for q = ½ the median). Breiman, Friedman, Olshen and Stone 1984, ch. 8;
Koenker & Bassett 1978; m-estimate: Cestnik 1990.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from modelsel.core.types import Floats, Integers, NumberOutputs, NumberTask, Table
from modelsel.learner.base import training_error
from modelsel.learner.trees.leaf import DEVIANCE, M_ESTIMATE, MEAN, MEDIAN, Leaf, Loss
from modelsel.learner.trees.model import NumberTreeModel, answers
from modelsel.learner.trees.path import PrunedTree, PrunedTreeCache, PrunedTrees, RoutedRows, TreeSettings
from modelsel.tree.cutting import PruningData
from modelsel.tree.growing.whole_target import exact_sum
from modelsel.tree.node import DecisionTree, PrunedView
from modelsel.tree.pruning import compact
from modelsel.tree.routing import route

NEARLY = 1e-9  # of the weight of a node: what is as much


@dataclass(eq=False)
class NodeStatistics:
    """Statistics of the nodes of a grown tree over the rows that grew it (a path is used by one thread)."""

    tree: DecisionTree
    task: NumberTask
    rows: Integers

    def answers(self, leaf: Leaf) -> Floats:
        """Per node, what it says as a leaf."""
        numbers = self.tree.numbers
        assert numbers is not None
        if leaf.quantile is not None:
            return self._quantiles(leaf.quantile)[0]
        if leaf.statistic != M_ESTIMATE:
            return numbers.mean
        above = np.maximum(self.tree.parent, 0) if leaf.prior == "parent" else np.zeros(len(self.tree), np.int64)
        weight = self.tree.weight
        return np.asarray((weight * numbers.mean + leaf.m * numbers.mean[above]) / (weight + leaf.m))

    def losses(self, loss: Loss) -> Floats | None:
        """Per node, what it costs as a leaf; None for squared error, which the tree knows itself."""
        name, quantile = loss
        if quantile is None:
            return self.tree.deviance_spared if name == DEVIANCE else None
        return self._quantiles(quantile)[1] * (2.0 if name == MEDIAN else 1.0)

    @cached_property
    def _known(self) -> dict[float, tuple[Floats, Floats]]:
        return {}

    def _quantiles(self, q: float) -> tuple[Floats, Floats]:
        """A quantile per node and its pinball loss, depth by depth from below; where no row arrives the mean, at no cost."""
        if q not in self._known:
            assert self.tree.numbers is not None
            y, weight, at = self._arrived
            found, cost, depth = self.tree.numbers.mean.copy(), np.zeros(len(self.tree)), self.tree.depth
            for level in range(int(depth.max()), -1, -1):
                here = np.flatnonzero(depth[at] == level)
                own = here[np.argsort(at[here], kind="stable")]
                if len(own):
                    nodes, first = np.unique(at[own], return_index=True)
                    found[nodes], cost[nodes] = _of_segments(y[own], weight[own], first, q)
                at = np.where(depth[at] == level, self.tree.parent[at], at)
            self._known[q] = found, cost
        return self._known[q]

    @cached_property
    def _arrived(self) -> tuple[Floats, Floats, Integers]:
        """Numbers of the rows in ascending order, their weights, and their leaves; a divided row stands in several."""
        sent = route(self.tree, self.task, self.rows)
        y, weight = self.task.target[self.rows][sent.owner], self.task.row_weights[self.rows][sent.owner] * sent.part
        order = np.lexsort((weight, y))
        order = order[weight[order] > 0]
        return y[order], weight[order], sent.leaf[order].astype(np.int64)


def _of_segments(y: Floats, weight: Floats, first: Integers, q: float) -> tuple[Floats, Floats]:
    """Quantiles and pinball losses of stretches of ascending numbers, which begin at `first`.

    >>> [each.tolist() for each in _of_segments(np.array([1.0, 2.0, 4.0, 7.0]), np.ones(4), np.array([0, 2]), 0.5)]
    [[1.5, 5.5], [0.5, 1.5]]
    """
    so_far = np.cumsum(weight)
    last = np.r_[first[1:], len(y)] - 1
    before = np.r_[0.0, so_far][first]
    total = so_far[last] - before
    asked = before + q * total
    place = np.clip(np.searchsorted(so_far, asked - NEARLY * total), first, last)
    exactly = np.abs(so_far[place] - asked) <= NEARLY * total
    found = np.where(exactly, y[place] / 2 + y[np.minimum(place + 1, last)] / 2, y[place])
    off = y - np.repeat(found, last - first + 1)
    return found, np.add.reduceat(weight * np.where(off > 0, q * off, (q - 1) * off), first)


class NumberTreeSettings(TreeSettings, Protocol):
    """The settings of a learner that are read off a grown tree of numbers."""

    @property
    def number_leaf(self) -> Leaf:
        """The statistic of leaves, named or by default."""
        ...

    @property
    def number_loss(self) -> Loss:
        """The loss that prunes."""
        ...


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

    def outputs(self, learners: Sequence[NumberTreeSettings], table: Table, rows: Integers, scores: bool) -> NumberOutputs:
        """Compute the numbers of every learner; learners with the same pruned tree and statistic share them."""
        return NumberOutputs(self._predict(learners, RoutedRows(self.tree, table, rows)))

    def complexity(self, learners: Sequence[NumberTreeSettings]) -> Floats:
        """Count the leaves that are left for every learner."""
        found = np.empty(len(learners))
        for (_, loss), own in _by_leaf(learners).items():
            left = self._standings(loss).of([learners[i] for i in own])
            found[own] = np.array([standing.leaves for standing in left.different], np.float64)[left.which]
        return found

    def training_error(self, learners: Sequence[NumberTreeSettings]) -> Floats:
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

    def model(self, learner: NumberTreeSettings) -> NumberTreeModel:
        cut = self.standing(learner).cut
        return NumberTreeModel(compact(self._saying(cut, learner.number_leaf)))

    def standing(self, learner: NumberTreeSettings) -> PrunedTree:
        """Return the tree that is left for a learner."""
        return self._standings(learner.number_loss).of([learner])[0]

    def members(self, learner: Any) -> tuple[NumberTreeSettings, ...]:
        """The learners that one with an open pruning strength (`alpha: path`) stands for on this tree."""
        standings = self._standings(learner.number_loss)
        pruners = learner.pruner.members(standings.base(learner), standings.evidence_for(learner))
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

    def _predict(self, learners: Sequence[NumberTreeSettings], sent: RoutedRows) -> Floats:
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


def _by_leaf(learners: Sequence[NumberTreeSettings]) -> dict[tuple[Leaf, Loss], list[int]]:
    """Positions of learners by what their leaves say, and what prunes them."""
    found: dict[tuple[Leaf, Loss], list[int]] = {}
    for place, learner in enumerate(learners):
        found.setdefault((learner.number_leaf, learner.number_loss), []).append(place)
    return found
