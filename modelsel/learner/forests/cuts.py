"""Cuts of a forest's trees by learners: the nodes where paths end under their limits, and the answers of these ends."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Protocol

import numpy as np

from modelsel.core.types import Booleans, Feature, Integers
from modelsel.forest.forest_tree import ForestTree, NodeLists
from modelsel.forest.growth import NumberTarget
from modelsel.forest.votes import VoteLists, Words, bits, mark_nodes, mask
from modelsel.kernels.forests.forest_layout import WHOLE
from modelsel.kernels.layout import TIE
from modelsel.learner.trees.leaf import Leaf, leaf_scores
from modelsel.pruner.base import Pruning
from modelsel.pruner.unpruned import Unpruned
from modelsel.tree.cutting import PruningData
from modelsel.tree.growing.growth import Monotone
from modelsel.tree.node import DecisionTree, NodeNumbers, PrunedView
from modelsel.tree.pruning import best_class

NO_CLASSES = np.zeros(0, np.int32)


class ForestSettings(Protocol):
    """Settings of a learner that are read off grown trees: how many, what ends paths and prunes, how leaves vote."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def trees(self) -> int:
        """How many trees vote."""
        ...

    @property
    def max_depth(self) -> int | None:
        """Levels of tests below the root."""
        ...

    @property
    def min_split(self) -> float:
        """Rows below which a node is a leaf."""
        ...

    @property
    def min_gain(self) -> float:
        """Goodness below which a node is a leaf."""
        ...

    @property
    def purity(self) -> float:
        """Share of one class from which a node is a leaf."""
        ...

    @property
    def pruner(self) -> Pruning:
        """The pruner that cuts subtrees off each tree."""
        ...

    @property
    def leaf(self) -> Leaf:
        """The settings of the leaves' votes."""
        ...

    @property
    def vote(self) -> str:
        """Mean of the leaves' shares, or one vote per tree."""
        ...

    @property
    def monotone(self) -> Monotone:
        """Columns with which answers only rise, or fall."""
        ...


@dataclass(frozen=True, eq=False)
class AskedCuts:
    """Distinct cuts, distinct ways of voting, and those of each learner."""

    learners: Sequence[ForestSettings]
    cuts: Mapping[object, int]
    ways: Mapping[object, int]
    pairs: Mapping[tuple[int, int], int]  # (cut, way), as they are counted
    pair: Integers  # per learner
    sizes: Integers  # trees, per learner

    @classmethod
    def of(cls, learners: Sequence[ForestSettings]) -> "AskedCuts":
        """Number the distinct cuts and ways of voting, and find those of each learner."""
        cuts: dict[object, int] = {}
        ways: dict[object, int] = {}
        pairs: dict[tuple[int, int], int] = {}
        which = []
        for learner in learners:
            cut, way = cuts.setdefault(_cut_key(learner), len(cuts)), ways.setdefault(_way_key(learner), len(ways))
            which.append(pairs.setdefault((cut, way), len(pairs)))
        sizes = np.array([learner.trees for learner in learners], np.int64)
        return cls(learners, cuts, ways, pairs, np.array(which, np.int64), sizes)

    @cached_property
    def cut_of(self) -> Integers:
        """The cut of each pair."""
        return np.array([cut for cut, _ in self.pairs], np.int64)

    @cached_property
    def way_of(self) -> Integers:
        """The way of voting of each pair."""
        return np.array([way for _, way in self.pairs], np.int64)

    @cached_property
    def cutting(self) -> tuple[ForestSettings, ...]:
        """One learner of each cut, in their order."""
        found = {self.cuts[_cut_key(learner)]: learner for learner in reversed(self.learners)}
        return tuple(found[place] for place in range(len(self.cuts)))

    @cached_property
    def voting(self) -> tuple[ForestSettings, ...]:
        """One learner of each way of voting, in their order."""
        found = {self.ways[_way_key(learner)]: learner for learner in reversed(self.learners)}
        return tuple(found[place] for place in range(len(self.ways)))


def _cut_key(learner: ForestSettings) -> tuple[object, ...]:
    return learner.max_depth, learner.min_split, learner.min_gain, learner.purity, learner.pruner


def _way_key(learner: ForestSettings) -> tuple[object, ...]:
    return learner.leaf, learner.vote


@dataclass(frozen=True)
class Limit:
    """A setting that ends paths: its value without effect, what it looks at per node, and where that ends a path."""

    setting: str
    idle: object
    seen: Callable[[ForestTree], Any]
    ends: Callable[[Any, Any], Booleans]


LIMITS = (
    Limit("min_split", 0.0, lambda tree: tree.rows, lambda rows, least: rows < least - 1e-9),
    Limit("min_gain", 0.0, lambda tree: tree.goodness, lambda goodness, least: ~(goodness >= least - TIE)),
    Limit("max_depth", None, lambda tree: tree.depth, lambda depth, most: depth >= most),
    Limit("purity", 1.0, lambda tree: tree.counts, lambda counts, most: counts.max(1) >= most * counts.sum(1) - 1e-9),
)


@lru_cache(maxsize=16)
def _masks(bounds: tuple[object, ...]) -> tuple[tuple[object, Words], ...]:
    """Distinct bounds, and the cuts that have each as bits of words."""
    cuts: dict[object, list[int]] = {}
    for cut, bound in enumerate(bounds):
        cuts.setdefault(bound, []).append(cut)
    return tuple((bound, mask(own, -(-len(bounds) // 64))) for bound, own in cuts.items())


def stops(cutting: Sequence[ForestSettings], grown: "GrownTree") -> Words:
    """Nodes × words: a bit per learner whose limits or pruner end a path there."""
    tree = grown.tree
    words = np.zeros((len(tree), -(-len(cutting) // 64)), np.uint64)
    words[tree.terminal] = ~np.uint64(0)
    for limit in LIMITS:
        masks = [one for one in _masks(tuple(getattr(learner, limit.setting) for learner in cutting)) if one[0] != limit.idle]
        seen = limit.seen(tree) if masks else None
        for bound, own in masks:
            words |= np.where(limit.ends(seen, bound)[:, None], own, np.uint64(0))
    for cut, learner in enumerate(cutting):
        if not isinstance(learner.pruner, Unpruned):
            mark_nodes(words, cut, _prune(learner, grown.whole, np.ascontiguousarray(bits(words, len(cutting))[:, cut])))
    return words


def _prune(learner: ForestSettings, whole: DecisionTree, leaf: Booleans) -> Booleans:
    """Mark the leaves that a pruner leaves of a tree."""
    said = best_class(whole.counts, None) if whole.numbers is None else whole.numbers.mean
    cut = PrunedView(whole, leaf, said, whole.counts)
    path = learner.pruner.path(cut, PruningData(total=float(whole.weight[0])))
    pruned: Booleans = path.cut(learner.pruner).leaf
    return pruned


@dataclass(frozen=True, eq=False)
class GrownTree:
    """A tree of a forest, and the same as a decision tree where somebody asks for it."""

    tree: ForestTree
    features: tuple[Feature, ...]
    classes: tuple[str, ...]
    numbers: NumberTarget | None = None

    @cached_property
    def whole(self) -> DecisionTree:
        """Of numbers means alone are known, which say what a pruner may spare."""
        if self.numbers is None:
            return self.tree.tree(self.features, self.classes)
        mean = self.numbers.means(self.tree.counts)
        return self.tree.tree(self.features, (), NodeNumbers(mean, np.full(len(mean), np.nan)))


def _shares(lists: NodeLists, complementary: bool) -> Integers:
    """Shares in whole numbers; of two classes those that sum to 1 to the last bit, so that none falls where its votes rise."""
    shares = lists.shares()
    if complementary:
        both = lists.start[lists.end - lists.start == 2]
        shares[both] = WHOLE - shares[both + 1]
    return shares


def vote_lists(grown: GrownTree, learner: ForestSettings) -> VoteLists:
    """Votes of each node if it is a leaf, in whole numbers."""
    if _plain(grown, learner):
        return _votes_of(grown.tree.lists, grown, learner)
    whole = grown.whole
    if learner.vote == "majority":
        scores = np.zeros_like(whole.counts)
        scores[np.arange(len(scores)), best_class(whole.counts, None)] = 1.0
    else:
        scores = leaf_scores(PrunedView(whole, whole.terminal, NO_CLASSES, whole.counts), learner.leaf)
    lists = NodeLists.from_dense(np.floor(scores * WHOLE))
    return VoteLists(lists.start, lists.end, lists.classes, lists.weights.astype(np.int64))


def end_votes(grown: GrownTree, learner: ForestSettings, ends: Booleans) -> VoteLists:
    """Votes of the nodes where paths end; those of the tree's own leaves are asked for without the other nodes'."""
    own = grown.tree.leaf_lists if _plain(grown, learner) and np.array_equal(ends, grown.tree.terminal) else None
    return vote_lists(grown, learner).of_nodes(np.flatnonzero(ends)) if own is None else _votes_of(own, grown, learner)


def _plain(grown: GrownTree, learner: ForestSettings) -> bool:
    """Say whether leaves vote with their own means or shares."""
    return grown.numbers is not None or (learner.vote == "mean" and learner.leaf.score == "frequency")


def _votes_of(lists: NodeLists, grown: GrownTree, learner: ForestSettings) -> VoteLists:
    """Means or shares of nodes as votes."""
    if grown.numbers is None:
        return VoteLists(lists.start, lists.end, lists.classes, _shares(lists, learner.monotone is not None))
    votes = grown.numbers.votes(lists.dense(grown.tree.classes))
    place = np.arange(len(votes) + 1, dtype=np.int32)
    return VoteLists(place[:-1], place[1:], np.zeros(len(votes), np.int32), votes)
