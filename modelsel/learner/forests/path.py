"""One grown forest that answers every number of trees, limit, pruning strength, leaf score and vote.

Trees are grown when they are first asked for; tree t is the same in a forest of any size. A row is sent down each tree once;
where it ends under each candidate's limits is looked up, and votes are added in whole numbers (2⁴⁰ for a share of 1), so that
no order of trees, rows or threads changes a bit.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Booleans, Codes, Floats, Integers, Outputs, Table
from modelsel.forest.forest_tree import ForestTree, reached
from modelsel.forest.grow import drawn_rows, grow_tree
from modelsel.forest.growth import ForestData, ForestGrowth
from modelsel.forest.votes import Ballots, Coder, elected, leaves_of
from modelsel.kernels.forests.forest_layout import WHOLE
from modelsel.kernels.layout import TIE
from modelsel.learner.forests.model import ForestModel
from modelsel.learner.forests.out_of_bag import OutOfBagPath
from modelsel.learner.trees.leaf import leaf_scores
from modelsel.tree.pruning.truncate import best_class
from modelsel.tree.routing.route import ends
from modelsel.tree.structure.evidence import PruningData
from modelsel.tree.structure.node import DecisionTree, PrunedView

ROOM = 1 << 23  # votes held at a time


@dataclass(frozen=True, eq=False)
class _Cuts:
    """What some learners leave of the trees: distinct cuts, distinct ways of voting, and those of each learner."""

    learners: Sequence[Any]
    cuts: Mapping[Any, int]
    ways: Mapping[Any, int]
    pairs: Mapping[tuple[int, int], int]  # (cut, way), as they are counted
    pair: Integers  # per learner
    sizes: Integers  # trees, per learner

    @classmethod
    def of(cls, learners: Sequence[Any]) -> "_Cuts":
        cuts: dict[Any, int] = {}
        ways: dict[Any, int] = {}
        pairs: dict[tuple[int, int], int] = {}
        which = []
        for learner in learners:
            cut, way = cuts.setdefault(_cut_key(learner), len(cuts)), ways.setdefault(_way_key(learner), len(ways))
            which.append(pairs.setdefault((cut, way), len(pairs)))
        sizes = np.array([learner.trees for learner in learners], np.int64)
        return cls(learners, cuts, ways, pairs, np.array(which, np.int64), sizes)

    def first_of(self, keys: Mapping[Any, int], key: Any) -> Iterator[Any]:
        """One learner of each cut or way, in their order."""
        found = {keys[key(learner)]: learner for learner in reversed(self.learners)}
        return (found[place] for place in range(len(keys)))


def _cut_key(learner: Any) -> tuple[Any, ...]:
    return learner.max_depth, learner.min_split, learner.min_gain, learner.purity, learner.pruner


def _way_key(learner: Any) -> tuple[Any, ...]:
    return learner.leaf, learner.vote


@dataclass(eq=False)
class ForestPath:
    """The forest as far as it was grown (a path is used by one thread)."""

    ground: ForestData
    growth: ForestGrowth
    _trees: list[ForestTree] = field(default_factory=list)

    def trees(self, count: int) -> list[ForestTree]:
        """The first trees of the forest."""
        while len(self._trees) < count:
            number = len(self._trees)
            self._trees.append(self._filled(grow_tree(self.ground, self.growth, number), number))
        return self._trees[:count]

    def outputs(self, learners: Sequence[Any], table: Table, rows: Integers, scores: bool) -> Outputs:
        asked, classes = _Cuts.of(learners), len(self.ground.task.classes)
        predicted = np.empty((len(learners), len(rows)), np.int32)
        shares = np.empty((len(learners), len(rows), classes)) if scores else None
        trees = self.trees(int(asked.sizes.max()))
        coder = Coder.of(trees, table, self.ground.ranked if table is self.ground.task else None)
        ballots = [self._ballots(coder.translated(tree), asked) for tree in trees]
        step = max(1, ROOM // (len(asked.pairs) * classes))
        for start in range(0, len(rows), step):
            block = slice(start, start + step)
            self._count(asked, ballots, coder, rows[block], predicted[:, block], None if shares is None else shares[:, block])
        return Outputs(predicted, shares)

    def out_of_bag(self, learners: Sequence[Any]) -> tuple[Outputs, Integers]:
        """What each learner says of the analysis rows by the trees that have not seen them, and per row by how many trees."""
        asked, classes, rows = _Cuts.of(learners), len(self.ground.task.classes), self.ground.rows
        trees = self.trees(int(asked.sizes.max()))
        coder = Coder.of(trees, self.ground.task, self.ground.ranked)
        ballots = [self._ballots(tree, asked) for tree in trees]
        seen = self.drawn(len(trees))
        predicted, shares = np.empty((len(learners), len(rows)), np.int32), np.empty((len(learners), len(rows), classes))
        step = max(1, ROOM // (len(asked.pairs) * classes))
        for start in range(0, len(rows), step):
            block = slice(start, start + step)
            self._count(asked, ballots, coder, rows[block], predicted[:, block], shares[:, block], seen[:, block])
        everyone = np.bincount(self.ground.task.target[rows], self.ground.task.row_weights[rows], classes)
        for place, size in enumerate(asked.sizes):  # rows that every tree has drawn
            never = seen[:size].all(axis=0)
            predicted[place, never], shares[place, never] = everyone.argmax(), everyone / everyone.sum()
        return Outputs(predicted, shares), np.asarray((~seen).sum(axis=0))

    def out_of_bag_path(self) -> OutOfBagPath:
        """The same forest, which judges its own rows by the trees that have not drawn them."""
        return OutOfBagPath(self)

    def drawn(self, trees: int) -> Booleans:
        """Trees × rows: which tree has drawn which row."""
        return np.array([drawn_rows(self.ground, self.growth, number)[0] > 0 for number in range(trees)])

    def complexity(self, learners: Sequence[Any]) -> Floats:
        asked = _Cuts.of(learners)
        leaves = np.array([self._cut_leaves(tree, asked) for tree in self.trees(int(asked.sizes.max()))])
        so_far = np.cumsum(leaves, axis=0)
        cut_of = np.array([cut for cut, _ in asked.pairs], np.int64)
        return np.asarray(so_far[asked.sizes - 1, cut_of[asked.pair]], np.float64)

    def training_error(self, learners: Sequence[Any]) -> Floats:
        """NaN: see `Forest.no_training_error`."""
        return np.full(len(learners), np.nan)

    def model(self, learner: Any) -> ForestModel:
        task, trees = self.ground.task, []
        for grown in self.trees(learner.trees):
            whole = grown.tree(task.features, task.classes)
            leaf = self._leaf(learner, grown, whole)
            small = grown.cut(leaf)
            trees.append((small, _node_shares(whole, leaf, learner)[reached(grown, leaf)]))
        return ForestModel.of(task.features, len(task.classes), trees)

    def _filled(self, tree: ForestTree, number: int) -> ForestTree:
        """Honest rows fill the leaves: their class weights stand at the nodes, the nearest ancestor's where none came by."""
        times, honest = drawn_rows(self.ground, self.growth, number)
        if honest is None:
            return tree
        task = self.ground.task
        weight = np.bincount(self.ground.rows, np.where(honest, times, 0), len(task)) * self.ground.weights
        rows = np.flatnonzero(weight > 0)
        leaf = leaves_of(tree, Coder.of([tree], task, self.ground.ranked).codes(rows), self.ground.ranked.levels)
        counts = np.zeros_like(tree.counts)
        np.add.at(counts, (leaf, task.target[rows]), weight[rows])
        for node in range(len(tree) - 1, 0, -1):
            counts[tree.parent[node]] += counts[node]
        if not counts[0].any():
            return tree
        for node in range(1, len(tree)):
            if not counts[node].any():
                counts[node] = counts[tree.parent[node]]
        return replace(tree, counts=counts)

    def _ballots(self, tree: ForestTree, asked: _Cuts) -> Ballots:
        whole = tree.tree(self.ground.task.features, self.ground.task.classes)
        leaf = np.array([self._leaf(learner, tree, whole) for learner in asked.first_of(asked.cuts, _cut_key)])
        end, _ = ends(whole, [PrunedView(whole, marks, _NO_CLASSES, whole.counts) for marks in leaf])
        ways = [_node_shares(whole, whole.terminal, learner) for learner in asked.first_of(asked.ways, _way_key)]
        pairs = np.array(list(asked.pairs), np.int64)
        return Ballots.of(tree, end[pairs[:, 0]], pairs[:, 1], ways)

    def _cut_leaves(self, tree: ForestTree, asked: _Cuts) -> Integers:
        whole = tree.tree(self.ground.task.features, self.ground.task.classes)
        leaf = [self._leaf(learner, tree, whole) for learner in asked.first_of(asked.cuts, _cut_key)]
        counts: Integers = ends(whole, [PrunedView(whole, marks, _NO_CLASSES, whole.counts) for marks in leaf])[1]
        return counts

    def _leaf(self, learner: Any, tree: ForestTree, whole: DecisionTree) -> Booleans:
        """Where paths end under a learner's limits and pruner."""
        leaf = tree.terminal | (tree.rows < learner.min_split - 1e-9) | ~(tree.goodness >= learner.min_gain - TIE)
        if learner.max_depth is not None:
            leaf |= tree.depth >= learner.max_depth
        if learner.purity < 1.0:
            leaf |= whole.purest >= learner.purity * whole.weight - 1e-9
        cut = PrunedView(whole, leaf, best_class(whole.counts, None), whole.counts)
        path = learner.pruner.path(cut, PruningData(total=float(whole.weight[0])))
        pruned: Booleans = path.cut(learner.pruner).leaf
        return pruned

    def _count(
        self, asked: _Cuts, ballots: Sequence[Ballots], coder: Coder, rows: Integers, predicted: Codes, shares: Floats | None,
        seen: NDArray[np.bool_] | None = None,
    ) -> None:  # fmt: skip
        """Add the trees' votes one after the other; at each size that is asked for, note what the forest says."""
        codes = coder.codes(rows)
        votes = np.zeros((len(rows), len(asked.pairs), len(self.ground.task.classes)), np.int64)
        wanted = set(asked.sizes.tolist())
        for number, ballot in enumerate(ballots):
            ballot.add(codes, coder.levels, None if seen is None else seen[number], votes)
            if number + 1 in wanted:
                own = np.flatnonzero(asked.sizes == number + 1)
                predicted[own] = elected(votes)[asked.pair[own]]
                if shares is not None:
                    total = votes.sum(axis=2, keepdims=True)
                    share = np.divide(votes, total, out=np.full(votes.shape, 1.0 / votes.shape[2]), where=total > 0)
                    shares[own] = share.transpose(1, 0, 2)[asked.pair[own]]


_NO_CLASSES = np.zeros(0, np.int32)


def _node_shares(tree: DecisionTree, leaf: Booleans, learner: Any) -> Integers:
    """Votes of each node if it is a leaf, in whole numbers."""
    labels = best_class(tree.counts, None)
    scores = leaf_scores(PrunedView(tree, leaf, labels, tree.counts), learner.leaf)
    if learner.vote == "majority":
        scores = np.zeros_like(scores)
        scores[np.arange(len(scores)), labels] = 1.0
    votes: Integers = np.floor(scores * WHOLE).astype(np.int64)
    return votes
