"""One fully grown tree that answers every stopping limit, every pruner and its strength, and every leaf score.

Rows are routed once, to the leaf of the grown tree. A candidate is then a set of marked nodes: a map from each node to the
leaf where its rows end, and predictions are looked up through it, for many candidates at once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from modelsel.core.types import ClassTask, Codes, Floats, Integers, NumberTask, Outputs, Table
from modelsel.learner.trees.leaf import Leaf, leaf_scores
from modelsel.learner.trees.model import TreeModel, predict_classes
from modelsel.pruner.base import Pruning
from modelsel.statistics.auc import multiclass_auc
from modelsel.tree.cutting import PruningData, PruningPath, errors_as_leaf
from modelsel.tree.growing.columns import release
from modelsel.tree.node import DecisionTree, PrunedView
from modelsel.tree.pruning import StoppingLimits, compact, truncate, truncations
from modelsel.tree.routing import Routed, ends, route
from modelsel.tree.softening import Softener, Widths, soft_route


class TreeSettings(Protocol):
    """Settings of a learner that are read off a grown tree: what truncates, prunes and softens it, and what its leaves say."""

    @property
    def limits(self) -> StoppingLimits:
        """The limits that end paths."""
        ...

    @property
    def pruner(self) -> Pruning:
        """The pruner that cuts subtrees off."""
        ...

    @property
    def softener(self) -> Softener:
        """The softener that widens thresholds to ramps."""
        ...

    @property
    def hard(self) -> bool:
        """Thresholds are steps, not ramps."""
        ...

    @property
    def leaf(self) -> Leaf:
        """The settings of the leaves' class scores."""
        ...

    @property
    def costs(self) -> tuple[tuple[float, ...], ...]:
        """Cost per true class (row) and predicted class; none where errors are counted."""
        ...

    @property
    def cost_matrix(self) -> Floats | None:
        """The costs as an array."""
        ...


# Pruned trees of candidates that share one grown tree: truncated, pruned, with the ends of each node's rows.
#
# Found for many candidates together: truncations are rows of one comparison, ends those of one pass. Candidates that leave the
# same tree, with the same classes at its leaves, share one `PrunedTree`.

BLOCK = 1 << 17  # ends of nodes looked through at a time


def forget_columns(table: Table) -> None:
    """Drop the ranked columns of a table on which no tree will be grown any more."""
    release(table)


@dataclass(frozen=True, eq=False)
class PrunedTree:
    """A tree that is left: where the rows of each node end, how many leaves there are, costs that rule divided rows."""

    cut: PrunedView
    end: Codes
    leaves: int
    costs: Floats | None
    key: tuple[object, ...]


@dataclass(frozen=True, eq=False)
class PrunedTrees:
    """Distinct pruned trees; `which[i]` is the one of candidate i."""

    tree: DecisionTree
    different: Sequence[PrunedTree]
    which: Integers
    grown: Integers  # those whose nodes are the grown tree's …
    end: Codes  # … and where these end, a row each

    def __getitem__(self, position: int) -> PrunedTree:
        """The tree that a candidate leaves."""
        own: PrunedTree = self.different[self.which[position]]
        return own

    @property
    def moved(self) -> Iterator[int]:
        """List the trees whose nodes are others than the grown tree's."""
        return (i for i, standing in enumerate(self.different) if standing.cut.tree is not self.tree)

    def alike(self) -> Iterator[tuple[Integers, Codes, Codes]]:
        """Some at a time of those on the grown tree whose nodes predict the same: which, predictions, ends."""
        predictions = {id(self.different[i].cut.prediction): self.different[i].cut.prediction for i in self.grown}
        owner = np.array([id(self.different[i].cut.prediction) for i in self.grown], np.int64)
        size = max(1, BLOCK // len(self.tree))
        for identity, prediction in predictions.items():
            rows = np.flatnonzero(owner == identity)
            for some in np.split(rows, range(size, len(rows), size)):
                yield self.grown[some], prediction, self.end[some]


@dataclass(eq=False)
class PrunedTreeCache:
    """Answers about one grown tree, and those of the question before (used by one thread)."""

    tree: DecisionTree
    evidence: PruningData
    _bases: dict[object, PrunedView] = field(default_factory=dict)
    _prunings: dict[object, PruningPath] = field(default_factory=dict)
    _asked: tuple[Sequence[TreeSettings], PrunedTrees | None] = ((), None)

    def of(self, learners: Sequence[TreeSettings]) -> PrunedTrees:
        """The trees that are left for some learners."""
        before, left = self._asked
        if left is None or [*map(id, learners)] != [*map(id, before)]:
            left = self._distinct_pruned(self._cuts(learners), learners)
            self._asked = list(learners), left  # the learners are kept alive, so that no other has their identity
        return left

    def base(self, learner: TreeSettings) -> PrunedView:
        """The truncated tree."""
        return self._truncate_all([learner])[0]

    def evidence_for(self, learner: TreeSettings) -> PruningData:
        return replace(self.evidence, cost_matrix=learner.cost_matrix) if learner.costs else self.evidence

    def _truncate_all(self, learners: Sequence[TreeSettings]) -> list[PrunedView]:
        """The truncated tree of each; truncations asked for together that come out alike are one."""
        asked = [(learner.limits, learner.costs) for learner in learners]
        fresh: dict[object, dict[StoppingLimits, Floats | None]] = {}
        for key, learner in zip(asked, learners, strict=True):
            if key not in self._bases:
                fresh.setdefault(learner.costs, {})[learner.limits] = learner.cost_matrix
        for costs, limits in fresh.items():
            for own, cut in zip(limits, truncations(self.tree, [*limits], next(iter(limits.values()))), strict=True):
                self._bases[own, costs] = cut
        return [self._bases[key] for key in asked]

    def _cuts(self, learners: Sequence[TreeSettings]) -> list[PrunedView]:
        """Prune for each learner; learners that share a base tree and a way of pruning share the path."""
        cuts = []
        for base, learner in zip(self._truncate_all(learners), learners, strict=True):
            sharing = (id(base), learner.costs, learner.pruner.sharing())
            path = self._prunings.get(sharing)
            if path is None:
                path = self._prunings[sharing] = learner.pruner.path(base, self.evidence_for(learner))
            cuts.append(path.cut(learner.pruner))
        return cuts

    def _distinct_pruned(self, cuts: Sequence[PrunedView], learners: Sequence[TreeSettings]) -> PrunedTrees:
        """Gather the distinct pruned trees, with the ends of each node's rows."""
        places: dict[tuple[object, ...], int] = {}
        known: dict[object, int] = {}  # by identity, so that a cut is looked at once
        which = []
        for cut, learner in zip(cuts, learners, strict=True):
            asked = id(cut), learner.costs
            if asked not in known:
                known[asked] = places.setdefault(self._key(cut, learner.costs), len(places))
            which.append(known[asked])
        first = {place: (cut, learner.cost_matrix) for place, cut, learner in zip(which, cuts, learners, strict=True)}
        grown = [place for place, (cut, _) in first.items() if cut.tree is self.tree]
        end, leaves = ends(self.tree, [first[place][0] for place in grown])
        ended = dict(zip(grown, zip(end, leaves.tolist(), strict=True), strict=True))
        different = []
        for key, place in places.items():
            cut, costs = first[place]
            own, count = ended[place] if place in ended else _alone(cut)
            different.append(PrunedTree(cut, own, count, costs, key))
        return PrunedTrees(self.tree, different, np.array(which, np.int64), np.array(grown, np.int64), end)

    def _key(self, cut: PrunedView, costs: object) -> tuple[object, ...]:
        """Return the key of a pruned tree: arrays by identity, for as long as a cut that holds them is kept."""
        moved = cut.tree.parent.tobytes() if cut.tree is not self.tree else b""
        return costs, cut.leaf.tobytes(), moved, id(cut.prediction), id(cut.counts)


def _alone(cut: PrunedView) -> tuple[Codes, int]:
    end, leaves = ends(cut.tree, [cut])
    return end[0], int(leaves[0])


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
    task: ClassTask
    rows: Integers
    certain: bool = True  # every analysis row is predicted by the node that counts it
    judging: Integers | None = None  # analysis rows that neither grew the tree nor may soften it
    _wrong: dict[int, tuple[Codes, Floats]] = field(default_factory=dict)  # training weight misclassified, per prediction
    _scores: dict[object, tuple[PrunedView, Floats]] = field(default_factory=dict)  # a cut in a key by identity is kept alive
    _soft: dict[object, tuple[PrunedView, PrunedView, Widths | None]] = field(default_factory=dict)

    def outputs(self, learners: Sequence[TreeSettings], table: Table, rows: Integers, scores: bool) -> Outputs:
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

    def complexity(self, learners: Sequence[TreeSettings]) -> Floats:
        left = self._standings.of(learners)
        return np.array([standing.leaves for standing in left.different], np.float64)[left.which]

    def training_error(self, learners: Sequence[TreeSettings]) -> Floats:
        """Compute every learner's weighted error on the rows that grew the tree."""
        left = self._standings.of(learners)
        errors = self._errors(left)[left.which]
        for i, learner in enumerate(learners):
            if not learner.hard:
                errors[i] = self._share_wrong(self._softly(learner, left[i], self._trained, scores=False)[0])
        return errors

    def held_back(self, learners: Sequence[TreeSettings]) -> Floats:
        """AUC on the rows that a pruner holds back to judge by; NaN where it holds none back, or only of one class."""
        if self.judging is None:
            return np.full(len(learners), np.nan)
        scores = self.outputs(learners, self.task, self.judging, scores=True).scores
        assert scores is not None
        return multiclass_auc(self.task.target[self.judging], scores, self.task.row_weights[self.judging])

    def model(self, learner: TreeSettings) -> TreeModel:
        cut, widths = self._soften(learner, self.standing(learner))
        return TreeModel(cut, leaf_scores(cut, learner.leaf), learner.cost_matrix, widths)

    def standing(self, learner: TreeSettings) -> PrunedTree:
        """Return the tree that is left for a learner."""
        return self._standings.of([learner])[0]

    def members(self, learner: Any) -> tuple[TreeSettings, ...]:
        """The learners that one with an open pruning strength (`alpha: path`) stands for on this tree."""
        pruners = learner.pruner.members(self._standings.base(learner), self._standings.evidence_for(learner))
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
            classes[i] = predict_classes(standing.cut, sent.down(standing.cut.tree), standing.costs, standing.end)
        return classes

    def _errors(self, left: PrunedTrees) -> Floats:
        """Training error of each of the trees that are left: by counts, where the node that counts a row predicts it."""
        errors, nodes = np.empty(len(left.different)), np.arange(len(self.tree), dtype=np.int32)
        for own, prediction, end in left.alike() if self.certain else ():
            leaves = np.array([left.different[i].cut.leaf for i in own]) & (end == nodes)
            errors[own] = np.where(leaves, self._errors_of_nodes(prediction), 0.0).sum(axis=1) / self._total
        for i in left.moved if self.certain else range(len(left.different)):
            standing = left.different[i]
            if self.certain and self._all_grew:
                errors[i] = self._by_counts(standing)
                continue
            routed = self._trained.down(standing.cut.tree)
            errors[i] = self._share_wrong(predict_classes(standing.cut, routed, standing.costs, standing.end))
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

    def _soften(self, learner: TreeSettings, standing: PrunedTree) -> tuple[PrunedView, Widths | None]:
        """The tree that is left, without the rest, and the widths of its thresholds."""
        asked = (standing.key, learner.softener)
        if asked not in self._soft:
            small = compact(standing.cut)
            widths = None if learner.hard else learner.softener.widths(small, self.task, self.rows)
            self._soft[asked] = standing.cut, small, widths
        return self._soft[asked][1:]

    def _softly(
        self, learner: TreeSettings, standing: PrunedTree, sent: RoutedRows, scores: bool
    ) -> tuple[Codes, Floats | None]:
        """Classes and scores of rows that ramps divide among leaves."""
        cut, widths = self._soften(learner, standing)
        assert widths is not None
        routed = soft_route(cut.tree, widths, sent.table, sent.rows)
        classes = predict_classes(cut, routed, learner.cost_matrix)
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

    def _errors_of_nodes(self, prediction: Codes) -> Floats:
        """Training weight that each node misclassifies when it predicts these classes."""
        if id(prediction) not in self._wrong:
            self._wrong[id(prediction)] = prediction, errors_as_leaf(self._counts, prediction, None)
        return self._wrong[id(prediction)][1]

    def _share_wrong(self, classes: Codes) -> float:
        weight = self.task.row_weights[self.rows]
        return float(weight[classes != self.task.target[self.rows]].sum() / weight.sum())


def critical_strengths(path: Any, learner: Any) -> tuple[float, ...]:
    """The strengths at which a pruner of weakest links cuts more of a grown tree off (of classes or of numbers)."""
    base = truncate(path.tree, learner.limits, learner.cost_matrix)
    return tuple(learner.pruner.path(base, replace(path.evidence, cost_matrix=learner.cost_matrix)).steps())


# Rows that prune what others have grown: a stratified share, drawn by row, so that repeats of a row stay together.


def held_back(
    task: ClassTask | NumberTask, rows: Integers, share: float | None, rng: np.random.Generator
) -> tuple[Integers, Integers | None]:
    """Growing rows and pruning rows (None without a share). Each class (numbers are one) gives its share."""
    if share is None:
        return rows, None
    distinct = np.flatnonzero(np.bincount(rows, minlength=len(task)))
    chosen = np.zeros(len(task), bool)
    for label in range(task.class_count) if isinstance(task, ClassTask) else (None,):
        own = distinct if label is None else distinct[task.target[distinct] == label]
        take = min(round(share * len(own)), len(own) - 1)
        if take > 0:
            chosen[rng.permutation(own)[:take]] = True
    return rows[~chosen[rows]], rows[chosen[rows]]
