"""One grown forest that answers every number of trees, limit, pruning strength, leaf score and vote.

Trees are grown when they are first asked for; tree t is the same in a forest of any size. A row is sent down each tree once;
where it ends under each candidate's limits is looked up, and votes are added in whole numbers (2⁴⁰ for a share of 1), so that
no order of trees, rows or threads changes a bit.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Booleans, Codes, Floats, Integers, Outputs, Table
from modelsel.forest.forest_tree import ForestTree, reached
from modelsel.forest.grow import drawn_rows, grow_tree
from modelsel.forest.growth import ForestData, ForestGrowth
from modelsel.forest.votes import Ballots, Coder, elected, leaves_of
from modelsel.learner.forests.cuts import NO_CLASSES, AskedCuts, leaf_marks, node_shares
from modelsel.learner.forests.model import ForestModel
from modelsel.learner.forests.out_of_bag import OutOfBagPath
from modelsel.tree.routing.route import ends
from modelsel.tree.structure.node import PrunedView

ROOM = 1 << 20  # votes held at a time


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
        asked, classes = AskedCuts.of(learners), len(self.ground.task.classes)
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
        """Return each learner's answers for the analysis rows by the trees that have not seen them.

        Beside them, per row, the number of these trees.
        """
        asked, classes, rows = AskedCuts.of(learners), len(self.ground.task.classes), self.ground.rows
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
        asked = AskedCuts.of(learners)
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
            leaf = leaf_marks(learner, grown, whole)
            small = grown.cut(leaf)
            trees.append((small, node_shares(whole, leaf, learner)[reached(grown, leaf)]))
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

    def _ballots(self, tree: ForestTree, asked: AskedCuts) -> Ballots:
        whole = tree.tree(self.ground.task.features, self.ground.task.classes)
        leaf = np.array([leaf_marks(learner, tree, whole) for learner in asked.cutting])
        end, _ = ends(whole, [PrunedView(whole, marks, NO_CLASSES, whole.counts) for marks in leaf])
        ways = [node_shares(whole, whole.terminal, learner) for learner in asked.voting]
        pairs = np.array(list(asked.pairs), np.int64)
        return Ballots.of(tree, end[pairs[:, 0]], pairs[:, 1], ways)

    def _cut_leaves(self, tree: ForestTree, asked: AskedCuts) -> Integers:
        whole = tree.tree(self.ground.task.features, self.ground.task.classes)
        leaf = [leaf_marks(learner, tree, whole) for learner in asked.cutting]
        counts: Integers = ends(whole, [PrunedView(whole, marks, NO_CLASSES, whole.counts) for marks in leaf])[1]
        return counts

    def _count(
        self, asked: AskedCuts, ballots: Sequence[Ballots], coder: Coder, rows: Integers, predicted: Codes,
        shares: Floats | None, seen: NDArray[np.bool_] | None = None,
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
