"""One grown forest that answers every number of trees, limit, pruning strength, leaf score and vote.

Trees are grown when they are first asked for; tree t is the same in a forest of any size. A row is sent down each tree once;
where it ends under each candidate's limits is looked up, and votes are added in whole numbers (2⁴⁰ for a share of 1), so that
no order of trees, rows or threads changes a bit. What each learner says of a row (a class and shares, or a number)
is noted as votes are added up.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Booleans, ClassOutputs, Codes, Floats, Integers, NumberOutputs, Outputs, Table
from modelsel.forest.forest_tree import ForestTree, LeafWeights, NodeLists
from modelsel.forest.grow import drawn_rows, grow_tree
from modelsel.forest.growth import ForestData, ForestGrowth, NumberBallot
from modelsel.forest.votes import Coder, Pairs, TreeVotes, Walked, bits, first_stops, leaves_of
from modelsel.learner.forests.cuts import AskedCuts, ForestSettings, GrownTree, end_votes, stops, vote_lists
from modelsel.learner.forests.model import CutTree, ForestModel, KeptRows, NumberForestModel, QuantileForestModel
from modelsel.learner.trees.leaf import Leaf


class Answers(Protocol):
    """Room for what each learner says of each row."""

    def block(self, rows: slice) -> "Answers":
        """Return the part of some rows."""
        ...

    def note(self, at: Integers, which: Integers, pairs: Pairs, votes: Integers, voters: int | Integers) -> None:
        """Note what learners `at` say, who count the pairs `which`, once so many trees have voted (per row, out of bag)."""
        ...

    def none_voted(self, place: int, rows: Booleans, ground: ForestData) -> None:
        """Note what a learner says of rows for which no tree has voted: what all rows say."""
        ...

    def outputs(self) -> Outputs:
        """Return all of it."""
        ...


def answers(ground: ForestData, learners: int, rows: int, scores: bool) -> Answers:
    """Make the room, of scores where they are asked for."""
    if ground.numbers is not None:
        return NumberAnswers(np.empty((learners, rows)), ground.numbers.ballot)
    return ClassAnswers(np.empty((learners, rows), np.int32), np.empty((learners, rows, ground.width)) if scores else None)


@dataclass(frozen=True, eq=False)
class ClassAnswers:
    """Learners × rows, and × classes."""

    predicted: Codes
    shares: Floats | None

    def block(self, rows: slice) -> "ClassAnswers":
        return ClassAnswers(self.predicted[:, rows], None if self.shares is None else self.shares[:, rows])

    def note(self, at: Integers, which: Integers, pairs: Pairs, votes: Integers, voters: int | Integers) -> None:
        """Elect a class; shares are those of the votes."""
        self.predicted[at] = pairs.elect(votes)[which]
        if self.shares is not None:
            whole = pairs.whole(votes)
            total = whole.sum(axis=2, keepdims=True)
            share = np.divide(whole, total, out=np.full(whole.shape, 1.0 / whole.shape[2]), where=total > 0)
            self.shares[at] = share.transpose(1, 0, 2)[which]

    def none_voted(self, place: int, rows: Booleans, ground: ForestData) -> None:
        """Note the class of most weight among all rows, and their shares."""
        everyone = np.bincount(ground.task.target[ground.rows], ground.task.row_weights[ground.rows], ground.width)
        self.predicted[place, rows] = everyone.argmax()
        if self.shares is not None:
            self.shares[place, rows] = everyone / everyone.sum()

    def outputs(self) -> ClassOutputs:
        return ClassOutputs(self.predicted, self.shares)


@dataclass(frozen=True, eq=False)
class NumberAnswers:
    """Learners × rows."""

    predicted: Floats
    ballot: NumberBallot

    def block(self, rows: slice) -> "NumberAnswers":
        return NumberAnswers(self.predicted[:, rows], self.ballot)

    def note(self, at: Integers, which: Integers, pairs: Pairs, votes: Integers, voters: int | Integers) -> None:
        """Take the mean of the votes; one without voters is noted afterwards."""
        with np.errstate(invalid="ignore"):
            self.predicted[at] = self.ballot.read(pairs.whole(votes)[:, :, 0].T, voters)[which]

    def none_voted(self, place: int, rows: Booleans, ground: ForestData) -> None:
        """Note the mean of all rows."""
        assert ground.numbers is not None
        own = ground.rows
        self.predicted[place, rows] = ground.numbers.means(ground.tally(np.zeros_like(own), own, np.ones_like(own), 1))[0]

    def outputs(self) -> NumberOutputs:
        return NumberOutputs(self.predicted)


# A grown forest that judges its own rows, each by the trees that have not drawn it (`scheme=out_of_bag`).


@dataclass(frozen=True, eq=False)
class OutOfBagPath:
    """Out-of-bag predictions for the training rows."""

    path: "ForestPath"

    def outputs(self, learners: Sequence[ForestSettings], table: Table, rows: Integers, scores: bool) -> Outputs:
        """Answer by the trees that have not drawn a row; by all of them for a row without weight."""
        own: Integers = self.path.ground.rows
        said: Outputs = self.path.out_of_bag(learners)[0]
        if len(own) == len(rows):
            return said
        known = np.isin(rows, own)
        place, others = np.searchsorted(own, rows[known]), self.path.outputs(learners, table, rows[~known], True)
        whole = [_put_together(known, one[:, place], other) for one, other in (
            (said.predicted, others.predicted), *(() if said.scores is None else ((said.scores, others.scores),))
        )]  # fmt: skip
        return type(said)(*whole)

    def complexity(self, learners: Sequence[ForestSettings]) -> Floats:
        found: Floats = self.path.complexity(learners)
        return found

    def never_judged(self, learners: Sequence[ForestSettings]) -> Floats:
        """Rows that every tree has drawn, per learner."""
        drawn = self.path.drawn(max(learner.trees for learner in learners))
        return np.array([drawn[: learner.trees].all(axis=0).sum() for learner in learners], np.float64)

    def model(self, learner: ForestSettings) -> ForestModel | NumberForestModel | QuantileForestModel:
        return self.path.model(learner)


def _put_together(known: Booleans, one: NDArray[np.generic], other: NDArray[np.generic]) -> NDArray[Any]:
    """Put answers for the rows that are known and for the others in the places of their rows."""
    whole = np.empty((len(one), len(known), *one.shape[2:]), one.dtype)
    whole[:, known], whole[:, ~known] = one, other
    return whole


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
            self._trees.append(self._fill_leaves(grow_tree(self.ground, self.growth, number), number))
        return self._trees[:count]

    def outputs(self, learners: Sequence[ForestSettings], table: Table, rows: Integers, scores: bool) -> Outputs:
        """Compute what every learner says, block of rows by block; quantiles by the models of their forests."""
        by_rows = [self.ground.numbers is not None and learner.leaf.quantile is not None for learner in learners]
        if any(by_rows):
            return self._with_quantiles(learners, by_rows, table, rows)
        asked, said = AskedCuts.of(learners), answers(self.ground, len(learners), len(rows), scores)
        trees = self.trees(int(asked.sizes.max()))
        coder = Coder.of(trees, table, self.ground.ranked if table is self.ground.task else None)
        voters = [(coder.translate(tree), self._votes(tree, asked)) for tree in trees]
        pairs = Pairs.of(asked.cut_of, asked.way_of, voters[0][1])
        for block in _blocks(len(rows), len(asked.pairs) * self._width):
            self._count(asked, pairs, voters, coder, rows[block], said.block(block))
        return said.outputs()

    def _with_quantiles(
        self, learners: Sequence[ForestSettings], by_rows: Sequence[bool], table: Table, rows: Integers
    ) -> NumberOutputs:
        """The same where some of them say quantiles, of which those of one forest are answered together."""
        found, forests = np.empty((len(learners), len(rows))), dict[ForestSettings, list[int]]()
        for place in np.flatnonzero(by_rows).tolist():
            forests.setdefault(replace(learners[place], leaf=Leaf()), []).append(place)
        for own in forests.values():
            model = self.model(learners[own[0]])
            assert isinstance(model, QuantileForestModel)
            shares = [share for place in own if (share := learners[place].leaf.quantile) is not None]
            found[own] = model.quantiles(table, rows, shares).T
        others = np.flatnonzero(~np.array(by_rows))
        if len(others):
            found[others] = self.outputs([learners[place] for place in others.tolist()], table, rows, False).predicted
        return NumberOutputs(found)

    def out_of_bag(self, learners: Sequence[ForestSettings]) -> tuple[Outputs, Integers]:
        """Return each learner's answers for the analysis rows by the trees that have not seen them.

        Beside them, per row, the number of these trees.
        """
        asked, rows = AskedCuts.of(learners), self.ground.rows
        trees = self.trees(int(asked.sizes.max()))
        coder = Coder.of(trees, self.ground.task, self.ground.ranked)
        voters = [(tree, self._votes(tree, asked)) for tree in trees]
        seen = self.drawn(len(trees))
        said = answers(self.ground, len(learners), len(rows), scores=True)
        pairs = Pairs.of(asked.cut_of, asked.way_of, voters[0][1])
        for block in _blocks(len(rows), len(asked.pairs) * self._width):
            self._count(asked, pairs, voters, coder, rows[block], said.block(block), seen[:, block])
        for place, size in enumerate(asked.sizes):  # rows that every tree has drawn
            said.none_voted(place, np.asarray(seen[:size].all(axis=0)), self.ground)
        return said.outputs(), np.asarray((~seen).sum(axis=0))

    def out_of_bag_path(self) -> OutOfBagPath:
        """The path that judges the forest's own rows by the trees that have not drawn them."""
        return OutOfBagPath(self)

    def drawn(self, trees: int) -> Booleans:
        """Trees × rows: which tree has drawn which row."""
        return np.array([drawn_rows(self.ground, self.growth, number)[0] > 0 for number in range(trees)])

    def complexity(self, learners: Sequence[ForestSettings]) -> Floats:
        """Count the leaves of each learner's trees."""
        asked = AskedCuts.of(learners)
        leaves = np.array([self._cut_leaves(tree, asked) for tree in self.trees(int(asked.sizes.max()))])
        so_far = np.cumsum(leaves, axis=0)
        return np.asarray(so_far[asked.sizes - 1, asked.cut_of[asked.pair]], np.float64)

    def training_error(self, learners: Sequence[ForestSettings]) -> Floats:
        """NaN: see `Forest.no_training_error`."""
        return np.full(len(learners), np.nan)

    @property
    def _width(self) -> int:
        """Votes that a tree has per row: one for each class, or one number."""
        return self.ground.width if self.ground.numbers is None else 1

    def model(self, learner: ForestSettings) -> ForestModel | NumberForestModel | QuantileForestModel:
        """Make the model of one learner: its trees, cut back."""
        trees = []
        for tree in self.trees(learner.trees):
            grown = self._as_grown_tree(tree)
            leaf = bits(stops([learner], grown), 1)[:, 0]
            kept = tree.find_reached(leaf)
            nodes, thresholds = tree.cut(leaf, kept)
            trees.append(CutTree(nodes, thresholds, tree.marks, end_votes(grown, learner, kept & leaf)))
        model = ForestModel.of(self.ground.task.features, self._width, trees)
        if self.ground.numbers is None:
            return model
        means = NumberForestModel(model, self.ground.numbers.ballot)
        if learner.leaf.quantile is None:
            return means
        return QuantileForestModel(means, KeptRows.of(model, self.ground, self.growth), learner.leaf.quantile)

    def _as_grown_tree(self, tree: ForestTree) -> GrownTree:
        return GrownTree(tree, self.ground.task.features, self.ground.task.class_names, self.ground.numbers)

    def _fill_leaves(self, tree: ForestTree, number: int) -> ForestTree:
        """Honest rows fill the leaves: their class weights stand at the nodes, the nearest ancestor's where none came by."""
        times, honest = drawn_rows(self.ground, self.growth, number)
        if honest is None:
            return tree
        task = self.ground.task
        used = np.bincount(self.ground.rows, np.where(honest, times, 0), len(task))
        rows = np.flatnonzero(used > 0)
        leaf = leaves_of(tree, Coder.of([tree], task, self.ground.ranked).codes(rows), self.ground.ranked.levels)
        place = np.full(len(tree), -1)
        place[tree.terminal] = np.arange(tree.terminal.sum())
        counts = self.ground.tally(place[leaf], rows, used[rows], int(tree.terminal.sum()))
        if not counts.any():
            return tree
        lists = NodeLists.from_dense(counts)
        first = np.r_[lists.start, len(lists.classes)].astype(np.int32)
        return replace(tree, leaves=LeafWeights(first, lists.classes, lists.weights))

    def _votes(self, tree: ForestTree, asked: AskedCuts) -> TreeVotes:
        """Prepare the votes of a tree under all cuts that are asked for."""
        grown = self._as_grown_tree(tree)
        return TreeVotes.of(
            tree.nodes, stops(asked.cutting, grown), [vote_lists(grown, learner) for learner in asked.voting], self._width
        )

    def _cut_leaves(self, tree: ForestTree, asked: AskedCuts) -> Integers:
        marks = bits(first_stops(tree.parent, stops(asked.cutting, self._as_grown_tree(tree))), len(asked.cutting))
        return np.asarray(marks.sum(axis=0))

    def _count(
        self, asked: AskedCuts, pairs: Pairs, voters: Sequence[tuple[Walked, TreeVotes]], coder: Coder, rows: Integers,
        said: Answers, seen: NDArray[np.bool_] | None = None,
    ) -> None:  # fmt: skip
        """Add the trees' votes one after the other; at each size that is asked for, note what the forest says."""
        codes = coder.codes(rows)
        votes = np.zeros((len(rows), len(asked.pairs) * self._width), np.int64)
        room = pairs.room(self._width, [own for _, own in voters], len(rows))
        wanted = set(asked.sizes.tolist())
        for number, (tree, own) in enumerate(voters):
            pairs.add(own, leaves_of(tree, codes, coder.levels), None if seen is None else seen[number], room, votes)
            if number + 1 in wanted:
                at = np.flatnonzero(asked.sizes == number + 1)
                voted = number + 1 if seen is None else (~seen[: number + 1]).sum(axis=0)
                said.note(at, asked.pair[at], pairs, votes, voted)


def _blocks(rows: int, numbers: int) -> Iterator[slice]:
    """Rows whose votes are held at a time."""
    step = max(1, ROOM // numbers)
    return (slice(start, start + step) for start in range(0, rows, step))
