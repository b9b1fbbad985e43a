"""The cuts of a node and the best of them in plain Python: the oracle of `kernels.forests.search`."""

from dataclasses import dataclass
from itertools import pairwise
from math import inf, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Booleans, Floats
from modelsel.forest.growth import ForestData, ForestGrowth
from modelsel.forest.plain_draws import OF_CUT, below, share, word
from modelsel.kernels.layout import EQUALITY, TIE

Asked = tuple[Booleans, float, int, bool]  # first branch per code, threshold, code, only with missing values in the second


@dataclass
class PlainSearch:
    """The search on the rows of a tree with their weights."""

    ground: ForestData
    growth: ForestGrowth
    weight: Floats

    def classes(self, rows: NDArray[Any]) -> Floats:
        """Class weights of some rows."""
        weights = np.bincount(self.ground.task.target[rows], self.weight[rows], len(self.ground.task.classes))
        return np.asarray(weights, np.float64)

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
        """List the subsets of levels to be tried: for each class, the levels ordered by its share."""
        codes = self.ground.ranked.codes[feature, rows]
        tables = np.array([self.classes(rows[codes == level]) for level in present])
        groups = []
        for c in range(1 if tables.shape[1] == 2 else 0, tables.shape[1]):
            order = present[np.argsort(tables[:, c] / tables.sum(axis=1), kind="stable")]
            sizes = range(1, len(order) + (0 if apart else 1))
            groups.append([(np.isin(np.arange(many), order[:k]), nan, -1, k == len(order)) for k in sizes])
        return groups

    def _random(self, feature: int, present: NDArray[Any], key: int) -> list[Asked]:
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
