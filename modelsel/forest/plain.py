"""The grower in plain Python: the oracle of the compiled one, and its place holder where nothing can be compiled.

`most_depth` and `least_rows` stop it inside the loop, as a forest that knows nothing of paths would.
"""

from dataclasses import dataclass, field
from itertools import pairwise
from math import inf, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Booleans, Floats, Integers
from modelsel.forest.forest_tree import ForestTree
from modelsel.forest.growth import ALL, BOOTSTRAP, ForestData, ForestGrowth
from modelsel.kernels.forests.forest_layout import AT, COLUMN, DEPTH, LOST, NODE, OTHERS, PARENT, RIGHT, ROWS, SIDES, TEST
from modelsel.kernels.layout import EQUALITY, SUBSET, THRESHOLD, TIE

Asked = tuple[Booleans, float, int, bool]  # first branch per code, threshold, code, only with missing values in the second

MASK = (1 << 64) - 1
GAMMA, FIRST, SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
OF_ROWS, OF_HONEST, OF_CUT, OF_SIDE, OF_TREE = (
    0xA0761D6478BD642F, 0xE7037ED1A0B428DB, 0x8EBC6AF09C88C6E3, 0x589965CC75374CC3, 0x1D8E4E27C47D124F,
)  # fmt: skip


def word(key: int, counter: int) -> int:
    """Word `counter` of a key (`kernels.forests.draws`).

    >>> hex(word(0, 0))  # SplitMix64 with seed 0
    '0xe220a8397b1dcdaf'
    """
    x = (key + (counter + 1) * GAMMA) & MASK
    x = ((x ^ (x >> 30)) * FIRST) & MASK
    x = ((x ^ (x >> 27)) * SECOND) & MASK
    return x ^ (x >> 31)


def below(bits: int, m: int) -> int:
    """A whole number from 0 to m − 1."""
    return ((bits >> 32) * m) >> 32


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
    return times, np.array([_share(word(root ^ OF_HONEST, i)) < growth.honest for i in range(n)])


def grow(
    ground: ForestData, growth: ForestGrowth, number: int, rows: NDArray[np.int32], weight: Floats,
    most_depth: int | None = None, least_rows: float = 2,
) -> ForestTree:  # fmt: skip
    """Tree `number`, on distinct rows of the task with their weights."""
    grower = _Grower(ground, growth, weight)
    pending = [(np.asarray(rows), -1, 0, word(ground.seed ^ OF_TREE, number))]
    while pending:
        here, above, depth, key = pending.pop()
        node = grower.node(here, above, depth)
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
    ground: ForestData
    growth: ForestGrowth
    weight: Floats
    nodes: list[list[int]] = field(default_factory=list)
    thresholds: list[float] = field(default_factory=list)
    goodness: list[float] = field(default_factory=list)
    counts: list[Floats] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)

    def node(self, rows: NDArray[Any], above: int, depth: int) -> int:
        own = [0] * NODE
        own[COLUMN], own[ROWS], own[DEPTH], own[PARENT] = -1, len(rows), depth, above
        if above >= 0 and len(self.nodes) != above + 1:
            self.nodes[above][RIGHT] = len(self.nodes)
        self.nodes.append(own)
        self.thresholds.append(nan)
        self.goodness.append(nan)
        self.counts.append(self.classes(rows))
        return len(self.nodes) - 1

    def tree(self) -> ForestTree:
        return ForestTree(
            np.array(self.nodes, np.int32), np.array(self.thresholds), np.array(self.goodness), np.array(self.counts),
            np.array(self.marks, np.uint8),
        )  # fmt: skip

    def classes(self, rows: NDArray[Any]) -> Floats:
        weights = np.bincount(self.ground.task.target[rows], self.weight[rows], len(self.ground.task.classes))
        return weights.astype(np.float64)

    def divide(self, node: int, rows: NDArray[Any], key: int) -> tuple[NDArray[Any], NDArray[Any]] | None:
        """Write the node's test and give the rows of its branches; None where it has none."""
        if (self.counts[node] > 0).sum() < 2 or len(rows) < 2 * self.growth.min_leaf:
            return None
        best = self._search(rows, key)
        if best is None:
            return None
        goodness, feature, inside, lost_to, threshold, at = best
        codes = self.ground.ranked.codes[feature]
        second = np.where(codes[rows] < 0, lost_to == 1, ~inside[codes[rows]])
        left, right = rows[~second], rows[second]
        others = int(self.weight[left].sum() < self.weight[right].sum())
        own, test = self.nodes[node], self.growth.nominal if self.ground.nominal[feature] else THRESHOLD
        own[TEST], own[COLUMN], own[SIDES] = test, feature, LOST * lost_to + OTHERS * others
        own[AT] = at
        if test == THRESHOLD:
            values = self.ground.ranked.values[feature]
            own[AT] = int(np.searchsorted(values, threshold, "right")) - 1
            self.thresholds[node] = threshold
        elif test == SUBSET:
            own[AT] = len(self.marks)
            occurs = np.isin(np.arange(len(inside)), codes[rows])
            self.marks += [int(mark) if there else 1 - others for mark, there in zip(inside, occurs)]
        self.goodness[node] = goodness
        return left, right

    def _search(self, rows: NDArray[Any], key: int) -> tuple[Any, ...] | None:
        permutation, best, differing = list(range(len(self.ground.ranked.codes))), None, 0
        for looked in range(len(permutation)):
            if looked >= self.growth.features and differing:
                break
            other = looked + below(word(key, looked), len(permutation) - looked)
            permutation[looked], permutation[other] = permutation[other], permutation[looked]
            feature = permutation[looked]
            differing += len(np.unique(self.ground.ranked.codes[feature, rows])) > 1
            for cut in self._cuts(feature, rows, key):
                if best is None or cut[0] > best[0] + TIE:
                    best = cut
        return best

    def _cuts(self, feature: int, rows: NDArray[Any], key: int) -> list[tuple[Any, ...]]:
        """List all admissible cuts of a feature in the order in which they are tried."""
        codes = self.ground.ranked.codes[feature, rows]
        present = np.unique(codes[codes >= 0])
        lost = codes < 0
        if len(present) == 0 or len(present) + lost.any() < 2:
            return []
        apart = self.growth.apart or not lost.any()
        groups = [self._random(feature, present, key)] if self.growth.random else self._all(feature, rows, present, apart)
        found = []
        for asked in groups:
            for side in (-1,) if apart else (0, 1):
                for inside, threshold, at, only in asked:
                    cut = None if only and side != 1 else self._judged(feature, rows, codes, inside, threshold, at, side)
                    found += [] if cut is None else [cut]
        return found

    def _judged(
        self, feature: int, rows: NDArray[Any], codes: NDArray[Any], inside: Booleans, threshold: float, at: int, side: int
    ) -> tuple[Any, ...] | None:
        known = codes >= 0
        first = known & inside[codes]
        second = known & ~inside[codes]
        if side == 0:
            first |= ~known
        elif side == 1:
            second |= ~known
        if first.sum() < self.growth.min_leaf or second.sum() < self.growth.min_leaf:
            return None
        left, right = self.classes(rows[first]), self.classes(rows[second])
        goodness = float(self.growth.criterion.goodness(np.array([left, right])))
        goodness *= (left.sum() + right.sum()) / self.weight[rows].sum()
        to = side if side >= 0 else int(left.sum() < right.sum())
        return goodness, feature, inside, to, threshold, at

    def _all(self, feature: int, rows: NDArray[Any], present: NDArray[Any], apart: bool) -> list[list[Asked]]:
        """The cuts of a feature in groups: each is tried with missing values in the first branch, then in the second."""
        many = len(self.ground.ranked.values[feature])
        if not self.ground.nominal[feature]:
            values = self.ground.ranked.values[feature]
            cuts = [
                (np.arange(many) <= low, _between(values[low], values[high]), int(low), False)
                for low, high in pairwise(present)
            ]
            return [cuts if apart else [*cuts, (np.ones(many, bool), inf, int(present[-1]), True)]]
        if self.growth.nominal == EQUALITY:
            return [[(np.arange(many) == level, nan, int(level), False) for level in present]]
        return self._subsets(feature, rows, present, many, apart)

    def _subsets(self, feature: int, rows: NDArray[Any], present: NDArray[Any], many: int, apart: bool) -> list[list[Asked]]:
        codes = self.ground.ranked.codes[feature, rows]
        tables = np.array([self.classes(rows[codes == level]) for level in present])
        groups = []
        for c in range(1 if tables.shape[1] == 2 else 0, tables.shape[1]):
            order = present[np.argsort(tables[:, c] / tables.sum(axis=1), kind="stable")]
            sizes = range(1, len(order) + (0 if apart else 1))
            groups.append([(np.isin(np.arange(many), order[:k]), nan, -1, k == len(order)) for k in sizes])
        return groups

    def _random(self, feature: int, present: NDArray[Any], key: int) -> list[Asked]:
        many, own = len(self.ground.ranked.values[feature]), word(key ^ OF_CUT, feature)
        if len(present) < 2:
            return []
        if not self.ground.nominal[feature]:
            values = self.ground.ranked.values[feature]
            first, last = values[present[0]], values[present[-1]]
            drawn = first + _share(own) * (last - first)
            low = min(int(np.searchsorted(values, drawn, "right")) - 1, int(present[-1]) - 1)
            return [(np.arange(many) <= low, drawn if first <= drawn < last else values[low], low, False)]
        chosen = below(own, len(present))
        inside = np.zeros(many, bool)
        for k, level in enumerate(present):
            other = self.growth.nominal != EQUALITY and k != (chosen + 1) % len(present) and word(own, int(level)) >> 63
            inside[level] = k == chosen or bool(other)
        return [(inside, nan, int(present[chosen]), False)]


def _between(low: float, high: float) -> float:
    middle = low / 2.0 + high / 2.0
    return float(middle if low <= middle < high else low)


def _share(bits: int) -> float:
    return (bits >> 11) / 2.0**53
