"""Pruned trees of candidates that share one grown tree: truncated, pruned, with the ends of each node's rows.

Found for many candidates together: truncations are rows of one comparison, ends those of one pass. Candidates that leave the
same tree, with the same classes at its leaves, share one `PrunedTree`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from modelsel.core.types import Codes, Floats, Integers
from modelsel.tree.pruning.truncate import truncations
from modelsel.tree.routing.route import ends
from modelsel.tree.structure.evidence import PruningData, PruningPath
from modelsel.tree.structure.node import DecisionTree, PrunedView

BLOCK = 1 << 17  # ends of nodes looked through at a time


@dataclass(frozen=True, eq=False)
class PrunedTree:
    """A tree that is left: where the rows of each node end, how many leaves there are, costs that rule divided rows."""

    cut: PrunedView
    end: Codes
    leaves: int
    costs: Floats | None
    key: tuple[Any, ...]


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
    _bases: dict[Any, PrunedView] = field(default_factory=dict)
    _prunings: dict[Any, PruningPath] = field(default_factory=dict)
    _asked: tuple[Sequence[Any], PrunedTrees | None] = ((), None)

    def of(self, learners: Sequence[Any]) -> PrunedTrees:
        """The trees that are left for some learners."""
        before, left = self._asked
        if left is None or [*map(id, learners)] != [*map(id, before)]:
            left = self._left(self._cuts(learners), learners)
            self._asked = list(learners), left  # the learners are kept alive, so that no other has their identity
        return left

    def base(self, learner: Any) -> PrunedView:
        """The truncated tree."""
        return self._truncated([learner])[0]

    def known(self, learner: Any) -> PruningData:
        return replace(self.evidence, cost_matrix=learner.cost_matrix) if learner.costs else self.evidence

    def _truncated(self, learners: Sequence[Any]) -> list[PrunedView]:
        """The truncated tree of each; truncations asked for together that come out alike are one."""
        asked = [(learner.limits, learner.costs) for learner in learners]
        fresh: dict[Any, dict[Any, Any]] = {}
        for key, learner in zip(asked, learners, strict=True):
            if key not in self._bases:
                fresh.setdefault(learner.costs, {})[learner.limits] = learner.cost_matrix
        for costs, limits in fresh.items():
            for own, cut in zip(limits, truncations(self.tree, [*limits], next(iter(limits.values()))), strict=True):
                self._bases[own, costs] = cut
        return [self._bases[key] for key in asked]

    def _cuts(self, learners: Sequence[Any]) -> list[PrunedView]:
        """Prune for each learner; learners that share a base tree and a way of pruning share the path."""
        cuts = []
        for base, learner in zip(self._truncated(learners), learners, strict=True):
            sharing = (id(base), learner.costs, learner.pruner.sharing())
            path = self._prunings.get(sharing)
            if path is None:
                path = self._prunings[sharing] = learner.pruner.path(base, self.known(learner))
            cuts.append(path.cut(learner.pruner))
        return cuts

    def _left(self, cuts: Sequence[PrunedView], learners: Sequence[Any]) -> PrunedTrees:
        """Gather the distinct pruned trees, with the ends of each node's rows."""
        places: dict[Any, int] = {}
        known: dict[Any, int] = {}  # by identity, so that a cut is looked at once
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

    def _key(self, cut: PrunedView, costs: Any) -> tuple[Any, ...]:
        """Return the key of a pruned tree: arrays by identity, for as long as a cut that holds them is kept."""
        moved = cut.tree.parent.tobytes() if cut.tree is not self.tree else b""
        return costs, cut.leaf.tobytes(), moved, id(cut.prediction), id(cut.counts)


def _alone(cut: PrunedView) -> tuple[Codes, int]:
    end, leaves = ends(cut.tree, [cut])
    return end[0], int(leaves[0])
