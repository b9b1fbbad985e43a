"""The grower in plain Python: the oracle of the compiled one, and its place holder where nothing can be compiled.

`most_depth` and `least_rows` stop it inside the loop, as a forest that knows nothing of paths would.
"""

from dataclasses import dataclass, field
from math import nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Booleans, Floats, Integers
from modelsel.forest.forest_tree import ForestTree, LeafWeights
from modelsel.forest.growth import ALL, BOOTSTRAP, ForestData, ForestGrowth
from modelsel.forest.plain_cuts import PlainSearch
from modelsel.forest.plain_draws import OF_HONEST, OF_ROWS, OF_SIDE, OF_TREE, below, share, word
from modelsel.kernels.forests.forest_layout import AT, COLUMN, LOST, NODE, OTHERS, RIGHT, ROWS, TEST
from modelsel.kernels.layout import SUBSET, THRESHOLD


def rows_of(seed: int, number: int, n: int, growth: ForestGrowth) -> tuple[Integers, Booleans | None]:
    """`grow.drawn_rows`."""
    times, root = np.zeros(n, np.int64), word(seed ^ OF_TREE, number)
    if growth.how == BOOTSTRAP:
        for i in range(n):
            times[below(word(root ^ OF_ROWS, i), n)] += 1
    elif growth.how == ALL:
        times[:] = 1
    else:
        places = list(range(n))
        for i in range(growth.size):
            other = i + below(word(root ^ OF_ROWS, i), n - i)
            places[i], places[other] = places[other], places[i]
            times[places[i]] = 1
    if not growth.honest:
        return times, None
    return times, np.array([share(word(root ^ OF_HONEST, i)) < growth.honest for i in range(n)])


def grow(
    ground: ForestData, growth: ForestGrowth, number: int, rows: NDArray[np.int32], weight: Floats,
    most_depth: int | None = None, least_rows: float = 2,
) -> ForestTree:  # fmt: skip
    """Tree `number`, on distinct rows of the task with their weights."""
    grower = _Grower(PlainSearch(ground, growth, weight))
    pending = [(np.asarray(rows), -1, 0, word(ground.seed ^ OF_TREE, number))]
    while pending:
        here, above, depth, key = pending.pop()
        node = grower.node(here, above)
        if len(here) >= least_rows and (most_depth is None or depth < most_depth):
            sides = grower.divide(node, here, key)
            if sides is not None:
                pending += [
                    (sides[1], node, depth + 1, word(key ^ OF_SIDE, 1)),
                    (sides[0], node, depth + 1, word(key ^ OF_SIDE, 0)),
                ]
    return grower.tree()


@dataclass
class _Grower:
    search: PlainSearch
    nodes: list[list[int]] = field(default_factory=list)
    tests: list[tuple[int, float, float]] = field(default_factory=list)  # node, threshold, goodness
    counts: list[Floats] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)

    def node(self, rows: NDArray[Any], above: int) -> int:
        """Add a node with its rows and class weights; return its index."""
        own = [0] * NODE
        own[COLUMN], own[ROWS] = -1, len(rows)
        if above >= 0 and len(self.nodes) != above + 1:
            self.nodes[above][RIGHT] = len(self.nodes)
        self.nodes.append(own)
        self.counts.append(self.search.classes(rows))
        return len(self.nodes) - 1

    def tree(self) -> ForestTree:
        """Put the grown nodes together as a tree."""
        tests = np.array(self.tests).reshape(-1, 3)
        divided = set(tests[:, 0].astype(int).tolist())
        leaves = np.array([own for node, own in enumerate(self.counts) if node not in divided])
        leaf, classes = np.nonzero(leaves)
        first = np.r_[0, np.cumsum(np.bincount(leaf, minlength=len(leaves)))].astype(np.int32)
        return ForestTree(
            np.array(self.nodes, np.int32), tests[:, 1].copy(), tests[:, 2].copy(),
            LeafWeights(first, classes.astype(np.int32), leaves[leaf, classes]), np.array(self.marks, np.uint8),
            leaves.shape[1],
        )  # fmt: skip

    def divide(self, node: int, rows: NDArray[Any], key: int) -> tuple[NDArray[Any], NDArray[Any]] | None:
        """Write the node's test and give the rows of its branches; None where it has none."""
        ground, growth = self.search.ground, self.search.growth
        if (self.counts[node] > 0).sum() < 2 or len(rows) < 2 * growth.min_leaf:
            return None
        best = self.search.best(rows, key)
        if best is None:
            return None
        goodness, feature, inside, lost_to, threshold, at = best
        codes = ground.ranked.codes[feature]
        second = np.where(codes[rows] < 0, lost_to == 1, ~inside[codes[rows]])
        left, right = rows[~second], rows[second]
        others = int(self.search.weight[left].sum() < self.search.weight[right].sum())
        own, test = self.nodes[node], growth.nominal if ground.nominal[feature] else THRESHOLD
        own[TEST], own[COLUMN] = test + LOST * lost_to + OTHERS * others, feature
        own[AT] = at
        if test == THRESHOLD:
            own[AT] = int(np.searchsorted(ground.ranked.values[feature], threshold, "right")) - 1
        elif test == SUBSET:
            own[AT] = len(self.marks)
            occurs = np.isin(np.arange(len(inside)), codes[rows])
            self.marks += [int(mark) if there else 1 - others for mark, there in zip(inside, occurs)]
        self.tests.append((node, threshold if test == THRESHOLD else nan, goodness))
        return left, right
