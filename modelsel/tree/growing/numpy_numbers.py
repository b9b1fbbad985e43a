"""Grow a tree by squared error or Poisson deviance in NumPy: the same answers as the compiled growers by another way.

At a node of weight W a row counts u = v − m·w, v its weighted whole number and m the node's mean; what a test is worth is

    Σ_b (Σ_b u)² / w_b   over its branches b

whose sums are whole numbers: the order of rows does not matter, and the first of the best tests wins.

Where the answer may only rise (or fall) with a feature, its tests are admissible whose branches' means do; what lies below a
branch is held on its side of the middle of both (Breiman et al. 1984 have no such limits; as in scikit-learn 1.4).
"""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from modelsel.core.types import Booleans, Floats, Integers
from modelsel.kernels.layout import DIVIDED, EQUALITY, FEATURE, MULTIWAY, SUBSET, TEST, THRESHOLD
from modelsel.tree.growing.growth import POISSON_DEVIANCE, SQUARED_ERROR, NumberLoss
from modelsel.tree.growing.numpy_grower import Grower
from modelsel.tree.growing.numpy_record import Node
from modelsel.tree.growing.numpy_tests import NodeColumn, Test, stand_ins, with_side
from modelsel.tree.growing.whole_target import WeightedWholes


def branch_worth(sums: Integers, weight: Floats, centre: float) -> Floats:
    """What branches are worth: by squared error, or where `centre` (what u is about, counted from 0) is no NaN, by deviance."""
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
        """What holds for what lies below each branch."""
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
        fit = np.flatnonzero(self.weight.min(axis=1) >= needed)
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
    """One growing; `chosen.task` has one class, so that tables of classes are weights."""

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
        u, found = self.wholes.centred(node.rows, node.weight), []
        v, size = int(self.wholes.weighted(node.rows, node.weight).sum()), float(node.weight.sum())
        centre = (
            self.wholes.mean(v, size) + self.wholes.target.zero * self.wholes.parts if self.loss == POISSON_DEVIANCE else np.nan
        )
        for feature in sorted(node.features):
            column, kind = self._column(node, feature), self._kind(feature)
            held = self.held.get(node.number, FREE)._replace(sign=self.signs[feature] if self.signs else 0)
            own = held if held == FREE else self._in_parts(held).about(self.wholes.mean(v, size))
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

    def shown(self, node: Node, value: float) -> float:
        """The decrease of the mean loss at the node, in the target's unit or its squares."""
        return float(self.wholes.goodness(np.array(value), node.weight.sum(), self.loss))

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
        self.moments.append(self.wholes.moments(rows, weight))
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
            mean = self.wholes.mean(int(sums.sum()), float(weight.sum()))
            centre, held = centre + mean, held.about(mean)
            sums = self.wholes.about_their_mean(sums, weight)
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
        present = totals.present
        if len(present) < 2:
            return None
        tests = self._either(np.cumsum(totals.sums[present])[:-1], np.cumsum(totals.weight[present])[:-1], totals)
        found = tests.best(self.growth.least)
        if found is None:
            return None
        index, twice = found[0], 2 if self._joins(totals) else 1
        code, after = present[index // twice], present[index // twice + 1]
        return Test(THRESHOLD, found[1], 0.0, int(code), int(after), to=index % 2 if twice == 2 else DIVIDED)

    def _level(self, totals: Totals) -> Test | None:
        """Find the best level against all others."""
        present = totals.present
        if len(present) < 2:
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
