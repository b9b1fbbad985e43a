"""Cuts of a forest's trees by learners: the nodes where paths end under their limits, and the answers of these ends."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from modelsel.core.types import Booleans, Integers
from modelsel.forest.forest_tree import ForestTree
from modelsel.kernels.forests.forest_layout import WHOLE
from modelsel.kernels.layout import TIE
from modelsel.learner.trees.leaf import leaf_scores
from modelsel.pruner.unpruned import Unpruned
from modelsel.tree.pruning.truncate import best_class
from modelsel.tree.structure.evidence import PruningData
from modelsel.tree.structure.node import DecisionTree, PrunedView

NO_CLASSES = np.zeros(0, np.int32)


@dataclass(frozen=True, eq=False)
class AskedCuts:
    """Distinct cuts, distinct ways of voting, and those of each learner."""

    learners: Sequence[Any]
    cuts: Mapping[Any, int]
    ways: Mapping[Any, int]
    pairs: Mapping[tuple[int, int], int]  # (cut, way), as they are counted
    pair: Integers  # per learner
    sizes: Integers  # trees, per learner

    @classmethod
    def of(cls, learners: Sequence[Any]) -> "AskedCuts":
        cuts: dict[Any, int] = {}
        ways: dict[Any, int] = {}
        pairs: dict[tuple[int, int], int] = {}
        which = []
        for learner in learners:
            cut, way = cuts.setdefault(_cut_key(learner), len(cuts)), ways.setdefault(_way_key(learner), len(ways))
            which.append(pairs.setdefault((cut, way), len(pairs)))
        sizes = np.array([learner.trees for learner in learners], np.int64)
        return cls(learners, cuts, ways, pairs, np.array(which, np.int64), sizes)

    @cached_property
    def cutting(self) -> tuple[Any, ...]:
        """One learner of each cut, in their order."""
        found = {self.cuts[_cut_key(learner)]: learner for learner in reversed(self.learners)}
        return tuple(found[place] for place in range(len(self.cuts)))

    @cached_property
    def voting(self) -> tuple[Any, ...]:
        """One learner of each way of voting, in their order."""
        found = {self.ways[_way_key(learner)]: learner for learner in reversed(self.learners)}
        return tuple(found[place] for place in range(len(self.ways)))


def _cut_key(learner: Any) -> tuple[Any, ...]:
    return learner.max_depth, learner.min_split, learner.min_gain, learner.purity, learner.pruner


def _way_key(learner: Any) -> tuple[Any, ...]:
    return learner.leaf, learner.vote


def leaf_marks(learner: Any, tree: ForestTree, whole: DecisionTree) -> Booleans:
    """Mask the nodes where paths end under a learner's limits and pruner."""
    leaf: Booleans = tree.terminal | (tree.rows < learner.min_split - 1e-9)
    if learner.min_gain > 0.0:
        leaf |= ~(tree.goodness >= learner.min_gain - TIE)
    if learner.max_depth is not None:
        leaf |= tree.depth >= learner.max_depth
    if learner.purity < 1.0:
        leaf |= whole.purest >= learner.purity * whole.weight - 1e-9
    if isinstance(learner.pruner, Unpruned):
        return leaf
    cut = PrunedView(whole, leaf, best_class(whole.counts, None), whole.counts)
    path = learner.pruner.path(cut, PruningData(total=float(whole.weight[0])))
    pruned: Booleans = path.cut(learner.pruner).leaf
    return pruned


def node_shares(tree: DecisionTree, leaf: Booleans, learner: Any) -> Integers:
    """Votes of each node if it is a leaf, in whole numbers."""
    labels = best_class(tree.counts, None)
    scores = leaf_scores(PrunedView(tree, leaf, labels, tree.counts), learner.leaf)
    if learner.vote == "majority":
        scores = np.zeros_like(scores)
        scores[np.arange(len(scores)), labels] = 1.0
    votes: Integers = np.floor(scores * WHOLE).astype(np.int64)
    return votes
