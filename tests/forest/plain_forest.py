"""Grow the trees of a forest in plain Python: the oracle of the compiled grower.

`most_depth` and `least_rows` stop it inside the loop, as a forest that knows nothing of paths would.
"""

from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from math import inf, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Booleans, Floats, Integers
from modelsel.forest.forest_tree import ForestTree, LeafWeights
from modelsel.forest.growth import ALL, BOOTSTRAP, ForestData, ForestGrowth
from modelsel.kernels.forests.forest_layout import AT, COLUMN, LOST, NODE, OTHERS, RIGHT, ROWS, TEST
from modelsel.kernels.layout import EQUALITY, SUBSET, THRESHOLD, TIE

Asked = tuple[Booleans, float, int, bool]  # first branch per code, threshold, code, only with missing values in the second


@dataclass
class PlainSearch:
    """The search on the rows of a tree, each used so many times."""

    ground: ForestData
    growth: ForestGrowth
    used: Floats
    bounds: tuple[float, float] = (-inf, inf)  # of the node that is searched: between them means of branches lie

    @cached_property
    def weight(self) -> Floats:
        return np.asarray(self.used * self.ground.weights)

    def counts(self, rows: NDArray[Any]) -> Floats:
        """Class weights of some rows, or the sum of their numbers and their weight."""
        return np.asarray(self.ground.tally(np.zeros(len(rows), np.int64), rows, self.used[rows], 1)[0])

    def mixed(self, rows: NDArray[np.generic]) -> bool:
        """Rows of more than one class, or with different numbers."""
        return len(np.unique(self.ground.target[rows])) > 1

    def about(self, rows: NDArray[np.generic], middle: float) -> Floats:
        """Class weights of some rows; of numbers the sum of what they are above a middle, and the weight."""
        if self.ground.numbers is None:
            return self.counts(rows)
        weight = self.weight[rows]
        return np.array([(self.used[rows] * self.ground.numbers.v[rows] - np.rint(middle * weight)).sum(), weight.sum()])

    def middle(self, rows: NDArray[np.generic]) -> float:
        """The whole number nearest to the mean."""
        if self.ground.numbers is None or (self.growth.signs and not self._whole):
            return 0.0
        return float(np.rint(self.mean(rows)))

    def mean(self, rows: NDArray[Any]) -> float:
        """The mean that a leaf of these rows would say."""
        whole, weight = self.counts(rows)[:2].tolist()
        return float(whole / weight)

    @cached_property
    def _whole(self) -> bool:
        return bool((self.weight == np.floor(self.weight)).all())

    def _keeps(self, feature: int, one: NDArray[np.generic], other: NDArray[np.generic]) -> bool:
        """Say whether the means of two branches keep to the bounds and to the direction of a feature."""
        means = self.mean(one), self.mean(other)
        within = min(means) >= self.bounds[0] and max(means) <= self.bounds[1]
        return within and self.growth.signs[feature] * (means[1] - means[0]) >= 0

    def bounds_below(self, feature: int, one: NDArray[np.generic], other: NDArray[np.generic]) -> list[tuple[float, float]]:
        """The bounds of both branches: the middle of their means parts them."""
        sign, (low, high) = self.growth.signs[feature] if self.growth.signs else 0, self.bounds
        if not sign:
            return [self.bounds] * 2
        middle = self.mean(one) / 2.0 + self.mean(other) / 2.0
        return [(low, min(high, middle)), (max(low, middle), high)][::sign]

    def goodness(self, rows: NDArray[Any], first: Booleans, second: Booleans) -> float:
        """The worth of a test that divides those of some rows that are known."""
        middle = self.middle(rows)
        left, right = self.about(rows[first], middle), self.about(rows[second], middle)
        if self.ground.numbers is None:
            share = (left.sum() + right.sum()) / self.weight[rows].sum()
            return float(self.growth.criterion.goodness(np.array([left, right]))) * float(share)
        both = self.about(rows[first | second], middle)
        (a, m), (b, n), (c, whole) = left.tolist(), right.tolist(), both.tolist()
        return float(a * a / m + b * b / n - c * c / whole)

    @property
    def tie(self) -> float:
        """Goodness that is no more than equal; sums of numbers are exact."""
        return TIE if self.ground.numbers is None else 0.0

    def best(self, rows: NDArray[Any], key: int) -> tuple[Any, ...] | None:
        """Goodness, feature, first branch per code, branch of missing values, threshold and code; None where there is none."""
        permutation, best, differing = list(range(len(self.ground.ranked.codes))), None, 0
        for looked in range(len(permutation)):
            if looked >= self.growth.features and differing:
                break
            other = looked + below(word(key, looked), len(permutation) - looked)
            permutation[looked], permutation[other] = permutation[other], permutation[looked]
            feature = permutation[looked]
            differing += len(np.unique(self.ground.ranked.codes[feature, rows])) > 1
            for cut in self._cuts(feature, rows, key):
                if best is None or cut[0] > best[0] + self.tie:
                    best = cut
        return best

    def _cuts(self, feature: int, rows: NDArray[np.generic], key: int) -> list[tuple[Any, ...]]:
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
        self,
        feature: int,
        rows: NDArray[np.generic],
        codes: NDArray[Any],
        inside: Booleans,
        threshold: float,
        at: int,
        side: int,
    ) -> tuple[object, ...] | None:
        """Score one cut with missing values on one side; None where a side is too small."""
        known = codes >= 0
        first = known & inside[codes]
        second = known & ~inside[codes]
        if side == 0:
            first |= ~known
        elif side == 1:
            second |= ~known
        if first.sum() < self.growth.min_leaf or second.sum() < self.growth.min_leaf:
            return None
        to = side if side >= 0 else int(self.weight[rows[first]].sum() < self.weight[rows[second]].sum())
        if self.growth.signs:
            goes = second | (~known if to else np.zeros(len(rows), bool))
            if not self._keeps(feature, rows[~goes], rows[goes]):
                return None
        return self.goodness(rows, first, second), feature, inside, to, threshold, at

    def _all(self, feature: int, rows: NDArray[np.generic], present: NDArray[np.generic], apart: bool) -> list[list[Asked]]:
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

    def _subsets(
        self, feature: int, rows: NDArray[np.generic], present: NDArray[np.generic], many: int, apart: bool
    ) -> list[list[Asked]]:
        """List the subsets of levels to be tried: for each class, the levels ordered by its share; else by their means."""
        codes, middle = self.ground.ranked.codes[feature, rows], self.middle(rows)
        tables = np.array([self.about(rows[codes == level], middle) for level in present])
        groups = []
        for c in range(1 if tables.shape[1] == 2 else 0, tables.shape[1]):
            by = tables[:, c] / tables.sum(axis=1) if self.ground.numbers is None else tables[:, 0] / tables[:, 1]
            order = present[np.argsort(by, kind="stable")]
            sizes = range(1, len(order) + (0 if apart else 1))
            groups.append([(np.isin(np.arange(many), order[:k]), nan, -1, k == len(order)) for k in sizes])
        return groups

    def _random(self, feature: int, present: NDArray[np.generic], key: int) -> list[Asked]:
        """Draw one cut at random: a threshold between the extremes, or a random set of levels."""
        many, own = len(self.ground.ranked.values[feature]), word(key ^ OF_CUT, feature)
        if len(present) < 2:
            return []
        if not self.ground.nominal[feature]:
            values = self.ground.ranked.values[feature]
            first, last = values[present[0]], values[present[-1]]
            drawn = first + share(own) * (last - first)
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


def plain_rows(seed: int, number: int, n: int, growth: ForestGrowth) -> tuple[Integers, Booleans | None]:
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


def grow_plainly(
    ground: ForestData, growth: ForestGrowth, number: int, rows: NDArray[np.int32], used: Floats,
    most_depth: int | None = None, least_rows: float = 2,
) -> ForestTree:  # fmt: skip
    """Tree `number`, on distinct rows of the task, each `used` so many times."""
    grower = Grower(PlainSearch(ground, growth, used))
    pending = [(np.asarray(rows), -1, 0, word(ground.seed ^ OF_TREE, number), grower.search.bounds)]
    while pending:
        here, above, depth, key, grower.search.bounds = pending.pop()
        node = grower.node(here, above)
        if len(here) >= least_rows and (most_depth is None or depth < most_depth):
            sides = grower.divide(node, here, key)
            if sides is not None:
                bounds = grower.search.bounds_below(grower.nodes[node][COLUMN], *sides)
                pending += [(sides[k], node, depth + 1, word(key ^ OF_SIDE, k), bounds[k]) for k in (1, 0)]
    return grower.tree()


@dataclass
class Grower:
    search: PlainSearch
    nodes: list[list[int]] = field(default_factory=list)
    tests: list[tuple[int, float, float]] = field(default_factory=list)  # node, threshold, goodness
    counts: list[Floats] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)

    def node(self, rows: NDArray[np.generic], above: int) -> int:
        """Add a node with its rows and class weights; return its index."""
        own = [0] * NODE
        own[COLUMN], own[ROWS] = -1, len(rows)
        if above >= 0 and len(self.nodes) != above + 1:
            self.nodes[above][RIGHT] = len(self.nodes)
        self.nodes.append(own)
        self.counts.append(self.search.counts(rows))
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
        if not self.search.mixed(rows) or len(rows) < 2 * growth.min_leaf:
            return None
        best = self.search.best(rows, key)
        if best is None:
            return None
        goodness, feature, inside, lost_to, threshold, at = best
        if ground.numbers is not None:
            goodness /= float(self.search.weight[rows].sum())
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


# The draws of forests in plain Python (`kernels.forests.draws`).

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


def share(bits: int) -> float:
    """A real number from 0 to 1, 1 not among them."""
    return (bits >> 11) / 2.0**53
