"""The problem that an optimal tree solves: the tests that it may make, and what its leaves cost."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Booleans, Codes, Feature, Floats, Integers
from modelsel.kernels.compiler import load
from modelsel.kernels.layout import EQUALITY, SUBSET, THRESHOLD

# Tests that an optimal tree may make, as chains of nested sides: of a chain, rows of rank ≤ c go left, for any c.
#
# Numbers are cut between any two values that are present, names by one level against the rest, or grouped: any levels against
# the others, 2^(L−1) − 1 tests of L levels. The groups that leave out the last level fall into chains in which each stands
# once: a level is a bracket, open where it is not in the group; those that have no partner join the group from left to right.
# Source: Greene & Kleitman (1976), symmetric chains.


GROUPED = "subset"
MOST_LEVELS = 8  # that are grouped: 127 tests in 35 chains


class TestChain(NamedTuple):
    """A chain of nested tests. `missing`: the side of missing values, None: the heavier; `usual`: what they are taken for."""

    feature: int
    test: int
    ranks: Integers
    level: float = np.nan  # EQUALITY
    missing: int | None = None
    usual: float = np.nan
    groups: Integers | None = None  # SUBSET: the rank of each level, then of missing values; −1: no row has it


class ChainPolicy(NamedTuple):
    """How missing values are treated (impute, level, branch), and whether levels are grouped."""

    missing: str
    grouped: bool = False


def nested_groups(levels: int) -> list[list[int]]:
    """Chains of groups of levels in which every division in two stands once: the rank of each level per chain.

    >>> nested_groups(3)
    [[1, 2, 3], [1, 0, 1]]
    """
    chains: dict[tuple[tuple[int, int], ...], list[int]] = {}
    for group in range(1 << (levels - 1)):
        opened: list[int] = []
        pairs: list[tuple[int, int]] = []
        for level in range(levels - 1):
            if not group >> level & 1:
                opened.append(level)
            elif opened:
                pairs.append((opened.pop(), level))
        taken = {level for pair in pairs for level in pair}
        free = [level for level in range(levels - 1) if level not in taken]
        ranks = [len(free) + 1] * levels
        for place, level in enumerate(free):
            ranks[level] = place + 1
        for _, level in pairs:
            ranks[level] = 0
        chains[tuple(sorted(pairs))] = ranks
    return list(chains.values())


def chains(at: int, feature: Feature, values: Floats, weights: Floats, policy: ChainPolicy) -> Iterator[TestChain]:
    """Yield the chains of a feature."""
    absent, some = np.isnan(values), bool(np.isnan(values).any())
    nominal = not feature.has_order
    usual = usual_value(values[~absent], weights[~absent], nominal) if policy.missing != "branch" else np.nan
    if nominal and policy.grouped:
        imputed = policy.missing == "impute"
        yield from _groups(at, feature, np.where(absent, usual, values) if imputed else values, usual if imputed else np.nan)
        return
    if policy.missing == "level" and some:
        groups = np.append(np.zeros(len(feature.levels), np.int64), 1) if nominal else None
        yield TestChain(at, SUBSET if nominal else THRESHOLD, absent.astype(np.int64), missing=1, groups=groups)
    if nominal:
        yield from _levels(at, values, absent, usual, policy.missing)
    elif policy.missing == "branch" and some:
        known, ranks = np.unique(values[~absent], return_inverse=True)
        for side, place, shift in ((0, 0, 1), (1, len(known), 0)):
            chain = np.full(len(values), place, np.int64)
            chain[~absent] = ranks + shift
            yield TestChain(at, THRESHOLD, chain, missing=side)
    else:
        filled = np.where(absent, usual, values)
        yield TestChain(at, THRESHOLD, np.unique(filled, return_inverse=True)[1].astype(np.int64), usual=usual)


def _levels(at: int, values: Floats, absent: Booleans, usual: float, missing: str) -> Iterator[TestChain]:
    """Each level against the rest."""
    some = bool(absent.any())
    filled = np.where(absent, usual, values) if missing == "impute" else values
    levels = np.unique(filled[~np.isnan(filled)])
    for level in levels[: 1 if len(levels) == 2 and (missing == "impute" or not some) else None]:
        others = (filled != level).astype(np.int64)
        if missing == "branch" and some:
            yield TestChain(at, EQUALITY, others * ~absent, level, 0)
        taken = usual if missing == "impute" else np.nan
        yield TestChain(at, EQUALITY, others, level, 1 if some else None, taken)


def _groups(at: int, feature: Feature, values: Floats, usual: float) -> Iterator[TestChain]:
    """Levels in groups, missing values as a level of their own where they are left."""
    places = np.where(np.isnan(values), len(feature.levels), values).astype(np.int64)
    there = np.unique(places)
    if len(there) < 2:
        return
    for chain in nested_groups(len(there)):
        groups = np.full(len(feature.levels) + 1, -1, np.int64)
        groups[there] = chain
        yield TestChain(at, SUBSET, groups[places], usual=usual, groups=groups)


def usual_value(known: Floats, weights: Floats, nominal: bool) -> float:
    """The lower weighted median of numbers, the heaviest level of names (ties: the first); NaN where nothing is known."""
    values, which = np.unique(known, return_inverse=True)
    if not len(values):
        return np.nan
    weight = np.bincount(which, weights)
    return float(values[weight.argmax()] if nominal else values[np.searchsorted(weight.cumsum(), weight.sum() / 2 - 1e-12)])


# What the leaves of optimal trees cost, by sums that are exact, so that the order of rows does not matter.
#
#     classes   Σ w_i c(y_i, said) − Σ w_i min_k c(y_i, k)    errors where there is no matrix c
#     numbers   Σ w_i (y_i − mean)² = Σ w_i y_i² − (Σ w_i y_i)² / Σ w_i
#
# Weights are scaled to whole numbers (exact where they are whole), costs to multiples of their common step; weighted numbers
# and their squares, about the middle of the range, to multiples of powers of two, the sums of which floats hold.


SMALL, LARGE, HUGE = 1 << 15, 1 << 30, 1 << 40  # sums up to which kernels count in 16, 32 and 64 bits
STEP = 0.001  # of costs
SLACK = 1e-10  # of the squared error of one leaf: trees whose errors differ by less are as good

Costs = NDArray[Any]  # whole numbers or real ones


class Grid(NamedTuple):
    """Rows by the rank of each column, positions × lanes; ranks, columns × rows; least weight of either side of a test."""

    order: Integers
    ranks: Integers
    least: int


class LeafCosts(Protocol):
    """The costs of leaves, as a search asks for them of the rows that it divides."""

    @property
    def weights(self) -> Integers:
        """Whole weights of rows."""
        ...

    @property
    def name(self) -> str:
        """The name of the cost."""
        ...

    @property
    def scale(self) -> float:
        """The factor that makes weights whole."""
        ...

    def sums(self, ranks: Integers, rows: Integers) -> Costs:
        """Sums by rank that costs are computed from: ranks × parts."""
        ...

    def of(self, sums: Costs) -> Costs:
        """Costs of leaves, from such sums."""
        ...

    def ties(self, sums: Floats) -> Floats:
        """The number that decides between tests of equal costs, the less the better."""
        ...

    def shares(self, costs: Costs) -> Floats:
        """Costs per weight, as people read them."""
        ...

    def prices(self, costs: Costs) -> Floats:
        """Costs in the unit of the price of a leaf."""
        ...

    def search(self, depth: int, grid: Grid, work: Integers, found: tuple[Costs, Costs, Integers]) -> None:
        """Search trees of two levels and more: least costs, bounds, tests per number of leaves into `found`."""
        ...


def whole_weights(weights: Floats, most: float) -> tuple[Integers, float]:
    """Weights as whole numbers, and what they are multiplied by: exact where they are whole or equal, else `most` in sum."""
    if (weights == np.round(weights)).all() and weights.sum() <= most:
        scale = 1.0 / float(np.gcd.reduce(weights.astype(np.int64)))
    elif (weights == weights[0]).all():
        scale = 1.0 / float(weights[0])
    else:
        scale = most / float(weights.sum())
    return np.asarray(np.rint(weights * scale), np.int64), scale


def steps_of(costs: Floats) -> tuple[Integers, float]:
    """Compute the savings of labels beside the dearest of each class, classes × labels, as multiples of a step; and the step.

    >>> steps_of(np.array([[0.0, 2.0], [5.0, 0.0]]))[0].tolist(), steps_of(1 - np.eye(2))[1]
    ([[2, 0], [0, 5]], 1.0)
    """
    saved = np.rint((costs.max(axis=1, keepdims=True) - costs) / STEP).astype(np.int64)
    common = max(int(np.gcd.reduce(saved, axis=None)), 1)
    return saved // common, common * STEP


class WholeWeights:
    """Rows whose weights are counted as whole numbers, up to a sum of `most`."""

    drawn: Floats  # weights

    @property
    def most(self) -> int:
        return HUGE

    @cached_property
    def _whole(self) -> tuple[Integers, float]:
        return whole_weights(self.drawn, self.most)

    @property
    def weights(self) -> Integers:
        return self._whole[0]

    @property
    def scale(self) -> float:
        """The factor that makes weights whole."""
        return self._whole[1]


@dataclass(eq=False)
class ClassCosts(WholeWeights):
    """Errors of classes, or what they cost by a matrix (true × said)."""

    target: Codes
    drawn: Floats  # weights
    classes: int
    matrix: Floats | None = None

    @cached_property
    def _gains(self) -> tuple[Integers, float]:
        return (np.eye(self.classes, dtype=np.int64), 1.0) if self.matrix is None else steps_of(self.matrix)

    @property
    def most(self) -> int:
        return LARGE // max(1, int(self._gains[0].max()))

    @property
    def name(self) -> str:
        return "training errors" if self.matrix is None else "costs per training row"

    @cached_property
    def labels(self) -> Integers:
        """The class of each row."""
        return self.target.astype(np.int64)

    def sums(self, ranks: Integers, rows: Integers) -> Integers:
        """Weights of classes, ranks × classes."""
        flat = np.bincount(ranks * self.classes + self.labels[rows], self.weights[rows], (ranks.max() + 1) * self.classes)
        return flat.astype(np.int64).reshape(-1, self.classes)

    def of(self, sums: Costs) -> Costs:
        gains = self._gains[0]
        return np.asarray(sums @ gains.max(axis=1) - (sums @ gains).max(axis=-1))

    def ties(self, sums: Floats) -> Floats:
        """Log loss of leaves."""
        share = sums / sums.sum(axis=-1, keepdims=True)
        return np.asarray(-(sums * np.log(np.where(sums > 0, share, 1.0))).sum(axis=-1))

    def shares(self, costs: Costs) -> Floats:
        """Per weight, with what rows cost at least."""
        shares: Floats = costs / self.weights.sum()
        if self.matrix is None:
            return shares
        return shares * self._gains[1] + float(self.weights @ self.matrix.min(axis=1)[self.labels] / self.weights.sum())

    def prices(self, costs: Costs) -> Floats:
        return self.shares(costs)

    def search(self, depth: int, grid: Grid, work: Integers, found: tuple[Costs, Costs, Integers]) -> None:
        """By whole numbers of 16 bits, where all costs fit, or 32."""
        kernel = load("optimal")
        gains = np.ascontiguousarray(self._gains[0])
        most = int(self.weights.sum()) * max(1, int(gains.max()))
        solve = kernel.small if max(most, len(self.labels)) < SMALL else kernel.large
        solve(depth, grid.order, grid.ranks, self.labels, self.weights, gains, grid.least, work, *found)


@dataclass(eq=False)
class SquaredErrors(WholeWeights):
    """Squared errors of numbers, about the mean of each leaf."""

    target: Floats
    drawn: Floats  # weights

    @property
    def name(self) -> str:
        return "mean squared training error"

    @cached_property
    def middle(self) -> float:
        """Of the range of the numbers, which the order of rows does not move."""
        return float(self.target.min() / 2 + self.target.max() / 2)

    @cached_property
    def _exponents(self) -> tuple[int, int]:
        """Powers of two by which weighted numbers and their weighted squares become whole, with sums below 2⁵²."""
        off, weight = float(np.abs(self.target - self.middle).max()), float(self.weights.sum())
        if off == 0:
            return 0, 0
        room = [52 - math.frexp(weight)[1] - power * math.frexp(off)[1] for power in (1, 2)]
        return room[0], room[1] - room[1] % 2

    @cached_property
    def parts(self) -> Floats:
        """Per row the weighted number, its weighted square, its weight; all sums of them are exact."""
        numbers, squares = self._exponents
        off, weight = self.target - self.middle, self.weights.astype(np.float64)
        value = np.ldexp(np.rint(np.ldexp(weight * off, numbers)), squares // 2 - numbers)
        return np.column_stack([value, np.rint(np.ldexp(weight * np.square(off), squares)), weight])

    @cached_property
    def alone(self) -> float:
        """Cost of one leaf for all."""
        return float(self.of(self.parts.sum(axis=0)))

    def sums(self, ranks: Integers, rows: Integers) -> Floats:
        """Sums by rank: weighted numbers, their squares, weights."""
        return np.column_stack([np.bincount(ranks, part, ranks.max() + 1) for part in self.parts[rows].T])

    def of(self, sums: Costs) -> Costs:
        value, square, weight = sums[..., 0], sums[..., 1], sums[..., 2]
        return np.maximum(0.0, square - value * value / np.maximum(weight, 1.0))

    def ties(self, sums: Floats) -> Floats:
        """Nothing but the cost."""
        return np.zeros(sums.shape[:-1])

    def mean(self, rows: Integers) -> float:
        """Mean of some rows."""
        return math.fsum(self.drawn[rows] * self.target[rows]) / math.fsum(self.drawn[rows])

    def squares(self, rows: Integers) -> float:
        """Squared deviations of some rows from their mean."""
        return math.fsum(self.drawn[rows] * np.square(self.target[rows] - self.mean(rows)))

    def shares(self, costs: Costs) -> Floats:
        return np.asarray(np.ldexp(costs / self.weights.sum(), -self._exponents[1]))

    def prices(self, costs: Costs) -> Floats:
        """As shares of what one leaf costs."""
        return np.asarray(costs / (self.alone or 1.0))

    def search(self, depth: int, grid: Grid, work: Integers, found: tuple[Costs, Costs, Integers]) -> None:
        """By real numbers of 64 bits."""
        value, square, weight = (np.ascontiguousarray(part) for part in self.parts.T)
        load("optimal_numbers").numbers(
            depth, grid.order, grid.ranks, value, square, weight, grid.least, SLACK * self.alone, work, *found
        )
