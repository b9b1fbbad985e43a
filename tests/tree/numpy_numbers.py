"""Grow a tree of numbers in NumPy: the oracle of the compiled growers, the same answers by another way.

By squared error or Poisson deviance, at a node of weight W a row counts u = v − m·w, v its weighted whole number and m the
node's mean; what a test is worth is

    Σ_b (Σ_b u)² / w_b   over its branches b

whose sums are whole numbers: the order of rows does not matter, and the first of the best tests wins.

Where the answer may only rise (or fall) with a feature, its tests are admissible whose branches' means do; what lies below a
branch is held on its side of the middle of both (Breiman et al. 1984 have no such limits; as in scikit-learn 1.4).
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from modelsel.core.types import Booleans, Floats, Integers, NumberTask
from modelsel.kernels.layout import DIVIDED, EQUALITY, FEATURE, MULTIWAY, SUBSET, TEST, THRESHOLD
from modelsel.tree.growing.columns import columns
from modelsel.tree.growing.grow_numbers import _output, number_tree, whole_rows
from modelsel.tree.growing.growth import POISSON_DEVIANCE, SQUARED_ERROR, BaseCriterion, GrowthParams, NumberLoss
from modelsel.tree.growing.numpy_grower import Grower, Node
from modelsel.tree.growing.numpy_tests import NodeColumn, Test, stand_ins, with_side
from modelsel.tree.growing.whole_target import WeightedWholes, exact_sum
from modelsel.tree.node import DecisionTree


def weighted(of: WeightedWholes, rows: Integers, weight: Floats) -> Integers:
    """v of some rows."""
    if of.integral:
        return of.whole[rows] * weight.astype(np.int64)
    return np.rint(of.whole[rows] * weight * of.parts).astype(np.int64)


def centred(of: WeightedWholes, rows: Integers, weight: Floats) -> Integers:
    """u = v − m·w about the mean m of the rows."""
    v = weighted(of, rows, weight)
    total, size = int(v.sum()), float(weight.sum())
    if of.integral:
        return v - (total // int(size)) * weight.astype(np.int64)
    return v - np.rint((total / size) * weight).astype(np.int64)


def middle(of: WeightedWholes, total: int, size: float) -> float:
    """The mean m that sums are taken about, in parts of q."""
    return float(total // int(size)) if of.integral else total / size


def about_their_mean(of: WeightedWholes, sums: Integers, weight: Floats) -> Integers:
    """Sums of u per code, about the mean of all of them."""
    total, size = int(sums.sum()), float(weight.sum())
    if of.integral:
        return sums - (total // int(size)) * weight.astype(np.int64)
    return sums - np.rint((total / size) * weight).astype(np.int64)


def moments(of: WeightedWholes, rows: Integers, weight: Floats) -> tuple[float, float]:
    """Mean of q, and Σ w (q − mean)²: 0 where all are equal, else summed in 2^-42 of the largest part."""
    if len(rows) == 0:
        return np.nan, 0.0
    own, v = of.whole[rows], weighted(of, rows, weight)
    size = float(weight.sum())
    if own.min() == own.max():
        return float(own[0]), 0.0
    mean = float(int(v.sum())) / size / of.parts
    return mean, exact_sum(weight * np.square(own - mean))


def branch_worth(sums: Integers, weight: Floats, centre: float) -> Floats:
    """The worth of branches: by squared error, or where `centre` (what u is about, counted from 0) is no NaN, by deviance."""
    own: Floats = sums.astype(np.float64)
    if np.isnan(centre):
        return np.asarray(np.square(own) * (1.0 / weight))
    total = np.maximum(own + centre * weight, 0.0)
    return np.asarray(total * np.log(np.where(total > 0, total / weight, 1.0)))


class Held(NamedTuple):
    """Means between which the branches of a node have to lie, and whether the second's has to be larger (1) or smaller (−1)."""

    low: float = -np.inf
    high: float = np.inf
    sign: int = 0

    def of(self, means: Floats) -> Booleans:
        """Which tests keep to it (tests × branches)."""
        within = ((means >= self.low) & (means <= self.high)).all(axis=1)
        return np.asarray(within & (self.sign * (means[:, -1] - means[:, 0]) >= 0)) if self.sign else np.asarray(within)

    def about(self, mean: float) -> "Held":
        """Return these bounds for numbers that are counted from a mean."""
        return Held(self.low - mean, self.high - mean, self.sign)

    def below(self, means: list[float]) -> list["Held"]:
        """The bounds of the nodes below each branch."""
        if not self.sign:
            return [self] * len(means)
        middle = means[0] / 2 + means[1] / 2
        lower, upper = Held(self.low, min(self.high, middle)), Held(max(self.low, middle), self.high)
        return [lower, upper] if self.sign > 0 else [upper, lower]


FREE = Held()


@dataclass(frozen=True, eq=False)
class Branches:
    """Sums of u and of weights of the branches of some tests (tests × 2), and what the tests are."""

    sums: Integers
    weight: Floats
    centre: float
    held: Held = FREE

    def best(self, needed: float) -> tuple[int, float] | None:
        """The first of the best admissible tests, and what it is worth."""
        lightest = self.weight.min(axis=1)
        fit = np.flatnonzero((lightest >= needed) & (lightest > 0))
        if self.held != FREE:
            fit = fit[self.held.of(self.sums[fit] / self.weight[fit])]
        if len(fit) == 0:
            return None
        worth = branch_worth(self.sums[fit], self.weight[fit], self.centre)
        value = worth[:, 0] + worth[:, 1]
        first = int(np.argmax(value))
        return int(fit[first]), float(value[first])


@dataclass(frozen=True, eq=False)
class Totals:
    """Sums of u and of weights per code, of a feature at a node; those of the missing values beside them."""

    sums: Integers
    weight: Floats
    present: Integers
    lost_sum: int
    lost_weight: float
    rest: float  # what a test of one branch would be worth: the mean is a whole number
    centre: float
    held: Held


@dataclass(frozen=True, eq=False)
class NumberGrower(Grower):
    """The growing of one tree; `chosen.task` has one class, so that tables of classes are weights."""

    wholes: WeightedWholes = field(kw_only=True)
    loss: NumberLoss = SQUARED_ERROR
    moments: list[tuple[float, float]] = field(default_factory=list)  # mean and Σ w (q − mean)² per node, as they are made
    signs: tuple[int, ...] = ()  # per feature: the answer may only rise (1) or fall (−1) with it; none: anything goes
    held: dict[int, Held] = field(default_factory=dict)  # per node, where there are signs

    def _worth_a_look(self, node: Node) -> bool:
        growth = self.growth
        deep = growth.max_depth is not None and node.depth >= growth.max_depth
        return not deep and self.moments[node.number][1] > 0 and float(node.weight.sum()) >= growth.room

    def contenders(self, node: Node) -> list[tuple[int, Test, float]]:
        """Features in order, each with its best test and what it is worth."""
        u, found = centred(self.wholes, node.rows, node.weight), []
        v, size = int(weighted(self.wholes, node.rows, node.weight).sum()), float(node.weight.sum())
        centre = (
            middle(self.wholes, v, size) + self.wholes.target.zero * self.wholes.parts
            if self.loss == POISSON_DEVIANCE
            else np.nan
        )
        for feature in sorted(node.features):
            column, kind = self._column(node, feature), self._kind(feature)
            held = self.held.get(node.number, FREE)._replace(sign=self.signs[feature] if self.signs else 0)
            own = held if held == FREE else self._in_parts(held).about(middle(self.wholes, v, size))
            test = self._best(column, kind, u, centre, own)
            if test is not None:
                found.append((feature, test, test.value - test.information))
        return found

    def _in_parts(self, held: Held) -> Held:
        return Held(held.low * self.wholes.parts, held.high * self.wholes.parts, held.sign)

    def split(self, node: Node) -> list[Node]:
        """Make the best test; what its branches say is held between the means that it may lie between."""
        children = super().split(node)
        if self.signs and children:
            record, own = self.record.nodes[node.number], self.held.get(node.number, FREE)
            sign = self.signs[record[FEATURE]] if record[TEST] == THRESHOLD else 0
            means = [self.moments[child.number][0] for child in children]
            for child, held in zip(children, own._replace(sign=sign).below(means), strict=True):
                mean, squares = self.moments[child.number]
                self.held[child.number] = held._replace(sign=0)
                self.moments[child.number] = float(np.clip(mean, held.low, held.high)), squares
        return children

    def _contest(self, node: Node) -> tuple[int, Test, float] | None:
        best: tuple[int, Test, float] | None = None
        for rival in self.contenders(node):
            test, other = rival[1], None if best is None else best[1]
            if other is None or test.value - other.value > test.information - other.information:
                best = rival
        return best

    def _parts(self, node: Node, branch: Integers, many: int) -> list[tuple[Integers, Floats]]:
        parts = super()._parts(node, branch, many)
        own = [(rows, self.wholes.rounded(weight)) for rows, weight in parts]
        return [(rows[weight > 0], weight[weight > 0]) for rows, weight in own]

    def _counts(self, rows: Integers, weight: Floats) -> Floats:
        self.moments.append(moments(self.wholes, rows, weight))
        return super()._counts(rows, weight)

    def _best(self, column: NodeColumn, kind: int, u: Integers, centre: float, held: Held) -> Test | None:
        """The best test of a feature; what stands in for a missing value has been filled in."""
        if not column.known.any():
            return None
        totals = self._totals(column, kind, u, centre, held)
        search = {THRESHOLD: self._cut, EQUALITY: self._level, MULTIWAY: self._levels, SUBSET: self._set}[kind]
        test = search(totals)
        return None if test is None else with_side(replace(test, information=totals.rest), column, kind, self.growth)

    def _totals(self, column: NodeColumn, kind: int, u: Integers, centre: float, held: Held) -> Totals:
        """Sums per code; where missing values take no part, about the mean of those that do."""
        codes = column.codes.astype(np.int64)
        fill = stand_ins(column, kind, self.growth)
        if fill is not None:
            codes = np.where(column.known, codes, fill[-1])
        known = codes >= 0
        weight = np.bincount(codes[known], column.weight[known], column.levels).astype(np.float64)
        sums = np.zeros(column.levels, np.int64)
        np.add.at(sums, codes[known], u[known])
        lost_sum, lost_weight = int(u[~known].sum()), float(column.weight[~known].sum())
        if self.growth.missing == "branch":
            rest, size = float(sums.sum() + lost_sum), float(weight.sum()) + lost_weight
        else:
            mean = middle(self.wholes, int(sums.sum()), float(weight.sum()))
            centre, held = centre + mean, held.about(mean)
            sums = about_their_mean(self.wholes, sums, weight)
            rest, size = float(sums.sum()), float(weight.sum())
        alone = float(branch_worth(np.array([rest]), np.array([size]), centre)[0])
        return Totals(sums, weight, np.flatnonzero(weight > 0), lost_sum, lost_weight, alone, centre, held)

    def _either(self, sums: Integers, weight: Floats, totals: Totals) -> Branches:
        """Tests of two branches from the sums of the first, each with the missing values left and with them right."""
        sides = np.stack([sums, totals.sums.sum() - sums], axis=1)
        weights = np.stack([weight, totals.weight.sum() - weight], axis=1)
        if self._joins(totals):
            sides, weights = np.repeat(sides, 2, axis=0), np.repeat(weights, 2, axis=0)
            for side in range(2):
                sides[side::2, side] += totals.lost_sum
                weights[side::2, side] += totals.lost_weight
        return Branches(sides, weights, totals.centre, totals.held)

    def _joins(self, totals: Totals) -> bool:
        return self.growth.missing == "branch" and totals.lost_weight > 0

    def _cut(self, totals: Totals) -> Test | None:
        """Find the best set of levels against the others, in the order of their means."""
        present, joins = totals.present, self._joins(totals)
        ends = len(present) if joins else len(present) - 1  # the last parts known values from missing ones
        if ends < 1:
            return None
        tests = self._either(np.cumsum(totals.sums[present])[:ends], np.cumsum(totals.weight[present])[:ends], totals)
        found = tests.best(self.growth.least)
        if found is None:
            return None
        index, twice = found[0], 2 if joins else 1
        code, after = present[index // twice], np.append(present, len(totals.sums))[index // twice + 1]
        return Test(THRESHOLD, found[1], 0.0, int(code), int(after), to=index % 2 if twice == 2 else DIVIDED)

    def _level(self, totals: Totals) -> Test | None:
        """Find the best level against all others."""
        present = totals.present
        if len(present) + self._joins(totals) < 2:
            return None
        found = self._either(totals.sums[present], totals.weight[present], totals).best(self.growth.least)
        if found is None:
            return None
        index, twice = found[0], 2 if self._joins(totals) else 1
        return Test(EQUALITY, found[1], 0.0, int(present[index // twice]), to=index % 2 if twice == 2 else DIVIDED)

    def _levels(self, totals: Totals) -> Test | None:
        """Judge the test with a branch per level."""
        sums, weight = totals.sums[totals.present], totals.weight[totals.present]
        joins = self._joins(totals)
        if joins:
            sums, weight = np.append(sums, totals.lost_sum), np.append(weight, totals.lost_weight)
        if (weight >= self.growth.least).sum() < 2 or not totals.held.of((sums / weight)[None])[0]:
            return None
        worth = 0.0
        for part in branch_worth(sums, weight, totals.centre).tolist():
            worth += part
        return Test(MULTIWAY, worth, 0.0, to=len(totals.sums) if joins else DIVIDED)

    def _set(self, totals: Totals) -> Test | None:
        """Levels in the order of their means: one of the prefixes is the best set (Fisher 1958); missing is a level."""
        names, sums, weight = totals.present, totals.sums[totals.present], totals.weight[totals.present]
        if self._joins(totals):
            names, sums = np.append(names, len(totals.sums)), np.append(sums, totals.lost_sum)
            weight = np.append(weight, totals.lost_weight)
        if len(names) < 2:
            return None
        order = np.argsort(sums.astype(np.float64) / weight, kind="stable")
        left, own = np.cumsum(sums[order])[:-1], np.cumsum(weight[order])[:-1]
        tests = Branches(
            np.stack([left, sums.sum() - left], axis=1), np.stack([own, weight.sum() - own], axis=1), totals.centre,
            totals.held,
        )  # fmt: skip
        found = tests.best(self.growth.least)
        if found is None:
            return None
        chosen = np.zeros(len(names), bool)
        chosen[order[: found[0] + 1]] = True
        inside = np.zeros(len(totals.sums) + 1, bool)
        inside[names[chosen if chosen[0] else ~chosen]] = True  # the first level is always inside
        return Test(SUBSET, found[1], 0.0, inside=inside)


# By the loss of a quantile: rows are added to sets, where the compiled grower takes them out.
#
#     loss(S) = min_a Σ_S w (τ (y − a)⁺ + (1 − τ) (a − y)⁺),   a: smallest y of S that has, with what is below, the share τ of w
#
# Rows of a node are numbered in the order of their targets. What a test is worth is −Σ_b loss of its branches b.


@dataclass(frozen=True)
class RowsInOrder:
    """Rows of a node in the order of their targets: u = w·y about the node's mean, y about it, and weights w."""

    u: list[int]
    value: list[float]
    weight: list[float]
    q: float
    whole: bool  # all of them are whole numbers


@dataclass
class GrowingSet:
    """A set of such rows, to which others are added, and its quantile."""

    rows: RowsInOrder
    places: list[int] = field(default_factory=list)
    total: int = 0
    size: float = 0.0
    at: int = -1  # position of the quantile among the places
    sum_to: int = 0
    up_to: float = 0.0

    def add(self, numbers: Iterable[int]) -> "GrowingSet":
        """Take in rows by their numbers."""
        for number in numbers:
            place, u, weight = bisect_left(self.places, number), self.rows.u[number], self.rows.weight[number]
            self.places.insert(place, number)
            self.total += u
            self.size += weight
            if place <= self.at:
                self.at += 1
                self.sum_to += u
                self.up_to += weight
        return self

    def _settle(self) -> None:
        """Move to the quantile."""
        u, weight, needed = self.rows.u, self.rows.weight, self.rows.q * self.size
        while self.up_to < needed:
            self.at += 1
            self.up_to += weight[self.places[self.at]]
            self.sum_to += u[self.places[self.at]]
        while self.up_to - weight[self.places[self.at]] >= needed:
            self.up_to -= weight[self.places[self.at]]
            self.sum_to -= u[self.places[self.at]]
            self.at -= 1

    @property
    def quantile(self) -> float:
        self._settle()
        return self.rows.value[self.places[self.at]]

    @property
    def loss(self) -> float:
        """0 of no rows."""
        if self.size == 0.0:
            return 0.0
        value, q = self.quantile, self.rows.q
        if self.rows.whole:
            at = int(value)
            above = float((self.total - self.sum_to) - at * int(self.size - self.up_to))
            return q * above + (1.0 - q) * float(at * int(self.up_to) - self.sum_to)
        above = float(self.total - self.sum_to) - value * (self.size - self.up_to)
        return q * above + (1.0 - q) * (value * self.up_to - float(self.sum_to))


@dataclass(frozen=True)
class TwoBranches:
    """A test of two branches: what it leaves, their weights, and where missing values go."""

    loss: float
    least: float
    index: int
    to: int = DIVIDED


@dataclass(frozen=True)
class Groups:
    """Rows of a feature's codes in order, and those without a value: `joins` if they are tried in either branch."""

    rows: RowsInOrder
    codes: list[int]
    groups: list[list[int]]
    lost: list[int]
    joins: bool

    @property
    def everything(self) -> float:
        """Loss of all rows that take part."""
        known = [number for group in self.groups for number in group]
        return GrowingSet(self.rows).add(known + self.lost if self.joins else known).loss

    def prefixes(self, groups: Sequence[list[int]]) -> Iterator[TwoBranches]:
        """The tests of the first groups against the others."""
        ends = self._ends(groups), self._ends(groups[::-1])
        for k in range(1, len(groups) + self.joins):  # the last parts known values from missing ones
            yield from self._pairs(k - 1, *(tuple(side[j] for side in ends[i]) for i, j in ((0, k), (1, len(groups) - k))))

    def levels(self) -> Iterator[TwoBranches]:
        """The tests of a group against all others."""
        for k, group in enumerate(self.groups):
            others = [number for j, other in enumerate(self.groups) for number in other if j != k]
            yield from self._pairs(k, *(tuple(side[1] for side in self._ends([one])) for one in (group, others)))

    def _ends(self, groups: Sequence[list[int]]) -> tuple[list[tuple[float, float]], ...]:
        """Losses and weights of none, one, two ... groups: alone, and where missing values join with these as well."""
        return tuple(list(_sums(GrowingSet(self.rows).add(start), groups)) for start in ((), self.lost)[: 1 + self.joins])

    def _pairs(
        self, index: int, left: Sequence[tuple[float, float]], right: Sequence[tuple[float, float]]
    ) -> Iterator[TwoBranches]:
        """A test with missing values left, then right; or without them."""
        if not self.joins:
            yield _pair(left[0], right[0], index, DIVIDED)
            return
        yield _pair(left[1], right[0], index, 0)
        yield _pair(left[0], right[1], index, 1)


def _sums(own: GrowingSet, groups: Sequence[list[int]]) -> Iterator[tuple[float, float]]:
    """Loss and weight of a set, and again after each group that is added to it."""
    yield own.loss, own.size
    for group in groups:
        own.add(group)
        yield own.loss, own.size


def _pair(left: tuple[float, float], right: tuple[float, float], index: int, to: int) -> TwoBranches:
    return TwoBranches(left[0] + right[0], min(left[1], right[1]), index, to)


@dataclass(frozen=True, eq=False)
class QuantileGrower(NumberGrower):
    """The growing of one tree by the loss of a quantile."""

    def contenders(self, node: Node) -> list[tuple[int, Test, float]]:
        """Features in order, each with its best test and what it is worth."""
        wholes, found = self.wholes, []
        order = np.lexsort((node.weight, wholes.whole[node.rows]))
        rows, weight = node.rows[order], node.weight[order]
        mean = middle(wholes, int(weighted(wholes, rows, weight).sum()), float(weight.sum()))
        own = RowsInOrder(
            centred(wholes, rows, weight).tolist(), (wholes.whole[rows] * wholes.parts - mean).tolist(), weight.tolist(),
            self.loss.quantile, wholes.integral,
        )  # fmt: skip
        for feature in sorted(node.features):
            column, kind = self._column(node, feature), self._kind(feature)
            test = self._best_by_loss(column, kind, order, own) if column.known.any() else None
            if test is not None:
                found.append((feature, test, test.value - test.information))
        return found

    def _best_by_loss(self, column: NodeColumn, kind: int, order: Integers, rows: RowsInOrder) -> Test | None:
        """The best test of a feature."""
        groups = self._groups(column, kind, order, rows)
        search = {THRESHOLD: self._cut_of, EQUALITY: self._level_of, MULTIWAY: self._branches_of, SUBSET: self._set_of}[kind]
        test = search(groups, column.levels)
        return None if test is None else with_side(replace(test, information=-groups.everything), column, kind, self.growth)

    def _groups(self, column: NodeColumn, kind: int, order: Integers, rows: RowsInOrder) -> Groups:
        """Rows of a node by the code that they have in a column, in order of the codes."""
        codes, fill = column.codes.astype(np.int64), stand_ins(column, kind, self.growth)
        if fill is not None:
            codes = np.where(column.known, codes, fill[-1])
        codes = codes[order]
        present, lost = np.unique(codes[codes >= 0]).tolist(), np.flatnonzero(codes < 0).tolist()
        groups = [np.flatnonzero(codes == code).tolist() for code in present]
        return Groups(rows, present, groups, lost, self.growth.missing == "branch" and bool(lost))

    def _first(self, pairs: Iterable[TwoBranches]) -> TwoBranches | None:
        """The first of the admissible tests that leave least."""
        fit = [pair for pair in pairs if pair.least >= self.growth.least and pair.least > 0]
        return min(fit, key=lambda pair: pair.loss, default=None)

    def _cut_of(self, of: Groups, levels: int) -> Test | None:
        """The best cut between neighbouring codes."""
        found = self._first(of.prefixes(of.groups))
        if found is None:
            return None
        return Test(THRESHOLD, -found.loss, 0.0, of.codes[found.index], [*of.codes, levels][found.index + 1], to=found.to)

    def _level_of(self, of: Groups, levels: int) -> Test | None:
        found = self._first(of.levels())
        return None if found is None else Test(EQUALITY, -found.loss, 0.0, of.codes[found.index], to=found.to)

    def _pieces(self, of: Groups, levels: int) -> tuple[list[int], list[list[int]]]:
        """Levels and their rows; missing values are a level more where they join."""
        return ([*of.codes, levels], [*of.groups, of.lost]) if of.joins else (of.codes, of.groups)

    def _branches_of(self, of: Groups, levels: int) -> Test | None:
        """The test with a branch for each level."""
        _, groups = self._pieces(of, levels)
        sets = [GrowingSet(of.rows).add(group) for group in groups]
        if sum(each.size >= self.growth.least for each in sets) < 2:
            return None
        worth = 0.0
        for each in sets:
            worth -= each.loss
        return Test(MULTIWAY, worth, 0.0, to=levels if of.joins else DIVIDED)

    def _set_of(self, of: Groups, levels: int) -> Test | None:
        """Levels in the order of their quantiles: the best of the prefixes."""
        names, groups = self._pieces(of, levels)
        if len(names) < 2:
            return None
        order = np.argsort([GrowingSet(of.rows).add(group).quantile for group in groups], kind="stable")
        alone = replace(of, joins=False)
        found = self._first(alone.prefixes([groups[k] for k in order]))
        if found is None:
            return None
        chosen = np.zeros(len(names), bool)
        chosen[order[: found.index + 1]] = True
        inside = np.zeros(levels + 1, bool)
        inside[np.array(names)[chosen if chosen[0] else ~chosen]] = True  # the first level is always inside
        return Test(SUBSET, -found.loss, 0.0, inside=inside)


def grow_in_numpy(
    task: NumberTask, rows: Integers, growth: GrowthParams, loss: NumberLoss = SQUARED_ERROR, signs: tuple[int, ...] = ()
) -> DecisionTree:
    """`grow_numbers`, by another way."""
    ranked = columns(task)
    chosen, wholes = whole_rows(task, rows, growth, ranked)
    kind = QuantileGrower if loss.by_quantile else NumberGrower
    grower = kind(chosen, ranked, BaseCriterion(), growth, None, wholes=wholes, loss=loss, signs=signs)
    found = grower.grown()
    mean, squares = np.array(grower.moments).T
    own = _output(found.nodes, found.goodness, found.counts[:, 0], mean, squares, wholes, loss)
    return number_tree(found._replace(goodness=own.goodness, counts=own.counts), chosen, ranked, growth)
