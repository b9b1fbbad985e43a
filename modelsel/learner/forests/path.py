"""One grown forest that answers every number of trees, limit, pruning strength, leaf score and vote.

Trees are grown when they are first asked for; tree t is the same in a forest of any size. A row is sent down each tree once;
where it ends under each candidate's limits is looked up, and votes are added in whole numbers (2⁴⁰ for a share of 1), so that
no order of trees, rows or threads changes a bit.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Booleans, Codes, Floats, Integers, Outputs, Table
from modelsel.forest.forest_tree import ForestTree, LeafWeights, NodeLists
from modelsel.forest.grid import Pairs, TreeVotes, bits, first_stops
from modelsel.forest.grow import drawn_rows, grow_tree
from modelsel.forest.growth import ForestData, ForestGrowth
from modelsel.forest.votes import Coder, Walked, leaves_of
from modelsel.learner.forests.cuts import AskedCuts, GrownTree, stops, vote_lists
from modelsel.learner.forests.model import CutTree, ForestModel

# A grown forest that judges its own rows, each by the trees that have not drawn it (`scheme=out_of_bag`).


@dataclass(frozen=True, eq=False)
class OutOfBagPath:
    """Out-of-bag predictions for the training rows."""

    path: Any  # ForestPath

    def outputs(self, learners: Sequence[object], table: Table, rows: Integers, scores: bool) -> Outputs:
        """Answer by the trees that have not drawn a row; by all of them for a row without weight."""
        own: Integers = self.path.ground.rows
        said, _ = self.path.out_of_bag(learners)
        if len(own) == len(rows):
            return Outputs(said.predicted, said.scores)
        known = np.isin(rows, own)
        place, others = np.searchsorted(own, rows[known]), self.path.outputs(learners, table, rows[~known], True)
        predicted = np.empty((len(learners), len(rows)), np.int32)
        shares = np.empty((*predicted.shape, said.scores.shape[2]))
        predicted[:, known], predicted[:, ~known] = said.predicted[:, place], others.predicted
        shares[:, known], shares[:, ~known] = said.scores[:, place], others.scores
        return Outputs(predicted, shares)

    def complexity(self, learners: Sequence[object]) -> Floats:
        found: Floats = self.path.complexity(learners)
        return found

    def never_judged(self, learners: Sequence[Any]) -> Floats:
        """Rows that every tree has drawn, per learner."""
        drawn = self.path.drawn(max(learner.trees for learner in learners))
        return np.array([drawn[: learner.trees].all(axis=0).sum() for learner in learners], np.float64)

    def model(self, learner: object) -> Any:
        return self.path.model(learner)


ROOM = 1 << 21  # votes held at a time


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

    def outputs(self, learners: Sequence[object], table: Table, rows: Integers, scores: bool) -> Outputs:
        """Compute classes and scores of every learner, block of rows by block."""
        asked, classes = AskedCuts.of(learners), len(self.ground.task.classes)
        predicted = np.empty((len(learners), len(rows)), np.int32)
        shares = np.empty((len(learners), len(rows), classes)) if scores else None
        trees = self.trees(int(asked.sizes.max()))
        coder = Coder.of(trees, table, self.ground.ranked if table is self.ground.task else None)
        voters = [(coder.translated(tree), self._votes(tree, asked)) for tree in trees]
        pairs = Pairs.of(asked.cut_of, asked.way_of, voters[0][1])
        for block in _blocks(len(rows), len(asked.pairs) * classes):
            self._count(
                asked, pairs, voters, coder, rows[block], predicted[:, block], None if shares is None else shares[:, block]
            )
        return Outputs(predicted, shares)

    def out_of_bag(self, learners: Sequence[object]) -> tuple[Outputs, Integers]:
        """Return each learner's answers for the analysis rows by the trees that have not seen them.

        Beside them, per row, the number of these trees.
        """
        asked, classes, rows = AskedCuts.of(learners), len(self.ground.task.classes), self.ground.rows
        trees = self.trees(int(asked.sizes.max()))
        coder = Coder.of(trees, self.ground.task, self.ground.ranked)
        voters = [(tree, self._votes(tree, asked)) for tree in trees]
        seen = self.drawn(len(trees))
        predicted, shares = np.empty((len(learners), len(rows)), np.int32), np.empty((len(learners), len(rows), classes))
        pairs = Pairs.of(asked.cut_of, asked.way_of, voters[0][1])
        for block in _blocks(len(rows), len(asked.pairs) * classes):
            self._count(asked, pairs, voters, coder, rows[block], predicted[:, block], shares[:, block], seen[:, block])
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

    def complexity(self, learners: Sequence[object]) -> Floats:
        """Count the leaves of each learner's trees."""
        asked = AskedCuts.of(learners)
        leaves = np.array([self._cut_leaves(tree, asked) for tree in self.trees(int(asked.sizes.max()))])
        so_far = np.cumsum(leaves, axis=0)
        return np.asarray(so_far[asked.sizes - 1, asked.cut_of[asked.pair]], np.float64)

    def training_error(self, learners: Sequence[object]) -> Floats:
        """NaN: see `Forest.no_training_error`."""
        return np.full(len(learners), np.nan)

    def model(self, learner: Any) -> ForestModel:
        """Make the model of one learner: its trees, cut back."""
        trees = []
        for tree in self.trees(learner.trees):
            grown = self._grown(tree)
            leaf = bits(stops([learner], grown), 1)[:, 0]
            kept = tree.reached(leaf)
            nodes, thresholds = tree.cut(leaf, kept)
            trees.append(
                CutTree(nodes, thresholds, tree.marks, vote_lists(grown, learner).of_nodes(np.flatnonzero(kept & leaf)))
            )
        return ForestModel.of(self.ground.task.features, len(self.ground.task.classes), trees)

    def _grown(self, tree: ForestTree) -> GrownTree:
        return GrownTree(tree, self.ground.task.features, self.ground.task.classes)

    def _filled(self, tree: ForestTree, number: int) -> ForestTree:
        """Honest rows fill the leaves: their class weights stand at the nodes, the nearest ancestor's where none came by."""
        times, honest = drawn_rows(self.ground, self.growth, number)
        if honest is None:
            return tree
        task = self.ground.task
        weight = np.bincount(self.ground.rows, np.where(honest, times, 0), len(task)) * self.ground.weights
        rows = np.flatnonzero(weight > 0)
        leaf = leaves_of(tree, Coder.of([tree], task, self.ground.ranked).codes(rows), self.ground.ranked.levels)
        place = np.full(len(tree), -1)
        place[tree.terminal] = np.arange(tree.terminal.sum())
        counts = np.zeros((int(tree.terminal.sum()), tree.classes))
        np.add.at(counts, (place[leaf], task.target[rows]), weight[rows])
        if not counts.any():
            return tree
        lists = NodeLists.from_dense(counts)
        first = np.r_[lists.start, len(lists.classes)].astype(np.int32)
        return replace(tree, leaves=LeafWeights(first, lists.classes, lists.weights))

    def _votes(self, tree: ForestTree, asked: AskedCuts) -> TreeVotes:
        """Prepare the votes of a tree under all cuts that are asked for."""
        grown = self._grown(tree)
        return TreeVotes.of(
            tree.nodes, stops(asked.cutting, grown), [vote_lists(grown, learner) for learner in asked.voting], tree.classes
        )

    def _cut_leaves(self, tree: ForestTree, asked: AskedCuts) -> Integers:
        marks = bits(first_stops(tree.parent, stops(asked.cutting, self._grown(tree))), len(asked.cutting))
        return np.asarray(marks.sum(axis=0))

    def _count(
        self, asked: AskedCuts, pairs: Pairs, voters: Sequence[tuple[Walked, TreeVotes]], coder: Coder, rows: Integers,
        predicted: Codes, shares: Floats | None, seen: NDArray[np.bool_] | None = None,
    ) -> None:  # fmt: skip
        """Add the trees' votes one after the other; at each size that is asked for, note what the forest says."""
        codes = coder.codes(rows)
        votes = np.zeros((len(rows), len(asked.pairs) * len(self.ground.task.classes)), np.int64)
        room = pairs.room(len(self.ground.task.classes), [own for _, own in voters], len(rows))
        wanted = set(asked.sizes.tolist())
        for number, (tree, own) in enumerate(voters):
            pairs.add(own, leaves_of(tree, codes, coder.levels), None if seen is None else seen[number], room, votes)
            if number + 1 in wanted:
                at = np.flatnonzero(asked.sizes == number + 1)
                predicted[at] = pairs.elected(votes)[asked.pair[at]]
                if shares is not None:
                    whole = pairs.whole(votes)
                    total = whole.sum(axis=2, keepdims=True)
                    share = np.divide(whole, total, out=np.full(whole.shape, 1.0 / whole.shape[2]), where=total > 0)
                    shares[at] = share.transpose(1, 0, 2)[asked.pair[at]]


def _blocks(rows: int, numbers: int) -> Iterator[slice]:
    """Rows whose votes are held at a time."""
    step = max(1, ROOM // numbers)
    return (slice(start, start + step) for start in range(0, rows, step))
