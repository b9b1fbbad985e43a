"""Grow a tree by the loss of a quantile without a kernel: rows are added to sets, where the compiled grower takes them out.

    loss(S) = min_a Σ_S w (τ (y − a)⁺ + (1 − τ) (a − y)⁺),   a: smallest y of S that has, with what is below, the share τ of w

Rows of a node are numbered in the order of their targets. What a test is worth is −Σ_b loss of its branches b.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from modelsel.core.types import Integers
from modelsel.kernels.layout import DIVIDED, EQUALITY, MULTIWAY, SUBSET, THRESHOLD
from modelsel.tree.growing.columns import RankedColumns
from modelsel.tree.growing.growth import BaseCriterion, GrowthParams, NumberLoss
from modelsel.tree.growing.numpy_numbers import NumberGrower
from modelsel.tree.growing.numpy_record import Node
from modelsel.tree.growing.numpy_tests import NodeColumn, Test, stand_ins, with_side
from modelsel.tree.growing.rows import WeightedRows
from modelsel.tree.growing.whole_target import WeightedWholes


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
        for k in range(1, len(groups)):
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
    """One growing by the loss of a quantile."""

    def contenders(self, node: Node) -> list[tuple[int, Test, float]]:
        """Features in order, each with its best test and what it is worth."""
        wholes, found = self.wholes, []
        order = np.lexsort((node.weight, wholes.whole[node.rows]))
        rows, weight = node.rows[order], node.weight[order]
        mean = wholes.mean(int(wholes.weighted(rows, weight).sum()), float(weight.sum()))
        own = RowsInOrder(
            wholes.centred(rows, weight).tolist(), (wholes.whole[rows] * wholes.parts - mean).tolist(), weight.tolist(),
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
        fit = [pair for pair in pairs if pair.least >= self.growth.least]
        return min(fit, key=lambda pair: pair.loss, default=None)

    def _cut_of(self, of: Groups, levels: int) -> Test | None:
        """The best cut between neighbouring codes."""
        found = self._first(of.prefixes(of.groups)) if len(of.groups) > 1 else None
        if found is None:
            return None
        return Test(THRESHOLD, -found.loss, 0.0, of.codes[found.index], of.codes[found.index + 1], to=found.to)

    def _level_of(self, of: Groups, levels: int) -> Test | None:
        found = self._first(of.levels()) if len(of.groups) > 1 else None
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


def number_grower(
    chosen: WeightedRows, ranked: RankedColumns, growth: GrowthParams, wholes: WeightedWholes, loss: NumberLoss,
    signs: tuple[int, ...] = (),
) -> NumberGrower:  # fmt: skip
    """The grower of a loss, before its first step."""
    grower = QuantileGrower if loss.by_quantile else NumberGrower
    return grower(chosen, ranked, BaseCriterion(), growth, None, wholes=wholes, loss=loss, signs=signs)
