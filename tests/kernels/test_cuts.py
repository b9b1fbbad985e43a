"""A search for a cut finds the best of all cuts, however many it passes over: against every table written out."""

from typing import Any

import numpy as np
import pytest

from modelsel.core.spec import make
from modelsel.kernels import types
from modelsel.kernels.compiler import function_of
from modelsel.kernels.layout import CODE, CUTS, ENTROPY, GENERAL, GINI, NEXT, SIDE, TIE, VALUE, GrowthLimits, GrowthRules
from modelsel.kernels.splits import threshold
from modelsel.tree.growing.grow import _units
from modelsel.tree.growing.growth import MISSING, bits_for

NAMES = {ENTROPY: "entropy", GINI: "gini"}


class Column:
    """Codes (−1 missing), classes and weights of the rows of a node."""

    def __init__(self, seed: int, rows: int, classes: int, distinct: int, weights: str) -> None:
        rng = np.random.default_rng(seed)
        self.code, self.distinct, self.classes = rng.integers(0, distinct, rows), distinct, classes
        self.y = np.minimum((self.code * classes // distinct + rng.integers(0, classes, rows)) // 2, classes - 1)
        self.code[rng.random(rows) < 0.15] = -1
        self.weight = {"ones": np.ones(rows), "whole": rng.integers(1, 5, rows).astype(float), "real": rng.random(rows) + 0.01}[
            weights
        ]

    def counts(self, rows: Any) -> np.ndarray:
        return np.bincount(self.y[rows], self.weight[rows], self.classes)

    def entries(self, id_bits: int, class_bits: int) -> np.ndarray:
        code = np.where(self.code < 0, self.distinct, self.code)
        order = np.argsort(code, kind="stable")
        return (code[order] << (id_bits + class_bits)) | (self.y[order] << id_bits) | order

    def median(self, rows: Any) -> int:
        share = np.cumsum(np.bincount(self.code[rows], self.weight[rows], self.distinct))
        return int(np.argmax(share >= share[-1] / 2))

    def filled(self, policy: str) -> np.ndarray:
        """Codes with what stands in for the missing ones; those that stay missing are left out of every cut."""
        code, known = self.code.copy(), self.code >= 0
        for c in range(self.classes if policy == "class_mode" else 0):
            own = known & (self.y == c)
            code[~known & (self.y == c)] = self.median(own if own.any() else known)
        if policy == "node_mode":
            code[~known] = self.median(known)
        return code


def searched(column: Column, policy: str, formula: int, weights: str, reached: float) -> np.ndarray:
    criterion, classes, rows = make("criterion", NAMES[formula]), column.classes, len(column.y)
    fused = GENERAL if weights == "real" else formula
    id_bits, class_bits = bits_for(rows), bits_for(classes)
    units, scale = _units(fused, int(column.weight.sum()))
    rules = GrowthRules(
        MISSING.index(policy), 3, fused, formula, 1, 1, 0, 0, 0, int(weights == "ones"), 0, 99, id_bits, class_bits, 0
    )
    found = np.full(8, reached)
    threshold.search(
        column.entries(id_bits, class_bits), column.weight, column.counts(slice(None)), column.distinct, rules,
        GrowthLimits(2.0 - 1e-9, 4.0 - 1e-9, 1.0, scale, float(rows)), units, np.diff(units),
        function_of(criterion.loop, types.goodness.signature),
        np.zeros((6, classes)), np.zeros((3, classes), np.int64), np.zeros(classes + 1, np.int64), found,
    )  # fmt: skip
    return found


def every_cut(column: Column, policy: str, formula: int) -> dict[tuple[int, int, int], float]:
    """Goodness by (code, next code, side of the missing rows) of every admissible cut."""
    code, criterion = column.filled(policy), make("criterion", NAMES[formula])
    present, lost = np.unique(column.code[column.code >= 0]), np.flatnonzero(code < 0)
    cuts = {}
    after = [*present[1:].tolist(), *([column.distinct] if policy == "branch" and len(lost) else [])]  # last: known or missing
    for left, right in zip(present.tolist(), after):
        table = np.array([column.counts((code >= 0) & (code <= left)), column.counts(code > left)])
        for side in range(2 if policy == "branch" and len(lost) else 1):
            own = table.copy()
            if policy == "branch":
                own[side] += column.counts(lost)
            if own.sum(axis=1).min() >= 2.0 - 1e-9:
                cuts[left, right, side] = float(criterion.goodness(own[None])[0])
    return cuts


@pytest.mark.sampled(5)
@pytest.mark.parametrize("weights", ["ones", "whole", "real"])
@pytest.mark.parametrize("formula", [ENTROPY, GINI])
@pytest.mark.parametrize("policy", MISSING)
def test_the_cut_found_is_the_first_of_the_best(policy: str, formula: int, weights: str) -> None:
    for seed in range(40):
        column = Column(seed, 15 + 9 * seed, 2 + seed % 4, (6, 40, 1000)[seed % 3], weights)
        cuts, found = every_cut(column, policy, formula), searched(column, policy, formula, weights, -np.inf)
        best = max(cuts.values())
        assert found[VALUE] == pytest.approx(best, abs=1e-12)
        first = next(cut for cut, value in cuts.items() if value > best - TIE)
        assert tuple(found[[CODE, NEXT]]) == first[:2]
        assert policy != "branch" or found[SIDE] == first[2]
        assert found[CUTS] == len({cut[:2] for cut in cuts})


@pytest.mark.parametrize("formula", [ENTROPY, GINI])
def test_only_what_stays_below_another_feature_is_passed_over(formula: int) -> None:
    for seed in range(40):
        column = Column(seed, 300, 2 + seed % 4, 1000, "real")
        best = max(every_cut(column, "fractional", formula).values())
        lost = column.weight[column.code < 0].sum() / column.weight.sum()
        assert searched(column, "fractional", formula, "real", (best - 1e-9) * (1 - lost))[VALUE] == pytest.approx(best)
        passed = searched(column, "fractional", formula, "real", 2 * best)
        assert passed[CODE] < 0 or passed[VALUE] <= best + TIE


def test_the_closer_bound_lies_above_the_logarithm() -> None:
    x = np.concatenate([np.geomspace(1e-9, 1e9, 10_001), 1 + np.linspace(-1e-2, 1e-2, 1001)])
    gap = (x - 1) * (x + 5) / (4 * x + 2) - np.log(x)
    assert gap.min() > -1e-15
    near = x[10_001:]
    assert np.abs(gap[10_001:]).max() < np.abs(near - 1).max() ** 4 / 4
