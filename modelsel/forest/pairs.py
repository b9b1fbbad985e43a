"""Pairs of a cut and a way of voting, and the votes of rows under each: only what differs from one pair to another is summed.

Pairs hang together in a spanning tree of least change, found on leaves of the first tree: each but the first has another one as
its base, and for most rows and trees both end at the same node.
"""

from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Booleans, Codes, Integers
from modelsel.forest.grid import TreeVotes
from modelsel.kernels.compiler import load

SAMPLE = 64  # leaves on which bases are found
NOBODY = np.zeros(0, np.uint8)


@dataclass(frozen=True, eq=False)
class Pairs:
    """The pairs in order of how often they differ from their bases, those that do first: what is written lies together."""

    cut: Integers
    way: Integers
    base: Integers  # −1: none
    order: Integers  # bases before those that need them
    place: Integers  # of each pair as it was asked for

    @classmethod
    def of(cls, cut: Integers, way: Integers, tree: TreeVotes) -> "Pairs":
        """Order the pairs by Prim's algorithm: each pair gets the base from which it differs least."""
        leaves = tree.leaves[:: max(1, -(-len(tree.leaves) // SAMPLE))]
        stands = np.array([tree.stands(int(leaf), int(cut.max()) + 1)[cut] for leaf in leaves]).T
        votes = (tree.lists.end - tree.lists.start)[way[:, None] * len(tree) + stands]
        least, base = votes.sum(axis=1).astype(np.float64), np.full(len(cut), -1, np.int64)
        order, changes = [], np.zeros(len(cut))
        waiting = np.ones(len(cut), bool)
        for _ in cut:
            k = int(np.where(waiting, least, np.inf).argmin())
            order.append(k)
            waiting[k], changes[k] = False, (stands[k] != stands[base[k]]).sum() if base[k] >= 0 else len(leaves)
            apart = ((stands != stands[k]) * (votes + votes[k])).sum(axis=1)
            better = waiting & (apart < least) & (way == way[k])
            least[better], base[better] = apart[better], k
        first = np.argsort(-changes, kind="stable")
        place = np.argsort(first)
        own = base[first]
        return cls(cut[first], way[first], np.where(own >= 0, place[own], -1), place[order], place)

    def room(self, classes: int, trees: list[TreeVotes], rows: int) -> Integers:
        """Make the room that the kernel writes to while votes of some rows are added."""
        widest = max(len(tree) for tree in trees)
        return np.zeros(64 * trees[0].stops.shape[1] + len(self.cut) * (1 + classes) + widest + rows, np.int64)

    def add(self, tree: TreeVotes, leaf: Codes, left_out: Booleans | None, room: Integers, votes: Integers) -> None:
        """Add what a tree says of rows in its leaves to their votes (rows × pairs and classes), less what their base has."""
        kernel, lists, way = load("forest_grid"), tree.lists, self.way * len(tree)
        skipped = NOBODY if left_out is None else left_out.astype(np.uint8)
        if kernel is not None:
            kernel.add(
                leaf, skipped, tree.parent, tree.stops, self.cut, self.base, way, lists.start, lists.end, lists.classes,
                lists.shares, tree.row_of, tree.dense, room, votes,
            )  # fmt: skip
            return
        wide = votes.shape[1] // len(way)
        for row in np.flatnonzero(skipped == 0) if len(skipped) else range(len(leaf)):
            stands = tree.stands(int(leaf[row]), int(self.cut.max()) + 1)[self.cut]
            for k, base in enumerate(self.base.tolist()):
                for pair, sign in ((k, 1), (base, -1)):
                    if pair >= 0:
                        own = slice(lists.start[way[pair] + stands[pair]], lists.end[way[pair] + stands[pair]])
                        votes[row, k * wide + lists.classes[own]] += sign * lists.shares[own]

    def whole(self, votes: Integers) -> Integers:
        """The votes themselves, rows × pairs as they were asked for × classes."""
        found = votes.reshape(len(votes), len(self.cut), -1).copy()
        for k in self.order.tolist():
            if self.base[k] >= 0:
                found[:, k] += found[:, self.base[k]]
        return found[:, self.place]

    def elected(self, votes: Integers) -> Codes:
        """The class of most votes per pair and row, the first where they are equal."""
        kernel, found = load("forest_grid"), np.empty((len(self.cut), len(votes)), np.int32)
        if kernel is None:
            return np.asarray(self.whole(votes).argmax(axis=2).T.astype(np.int32))
        kernel.elect(votes, self.order, self.base, np.empty(votes.shape[1], np.int64), found)
        return found[self.place]
