"""Grow a tree in NumPy: the same answers as the compiled grower by another way, for criteria without a compiled form.

A node is its rows and their weights. Each feature's best test is looked for afresh; a limit that is given as `halt` stops the
growing here, inside the loop, where the compiled grower's full tree is truncated afterwards.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from modelsel.core.types import Codes, Floats, Integers
from modelsel.kernels import stop
from modelsel.kernels.layout import (
    BRANCHES,
    BY_SURROGATES,
    DEPTH,
    FEATURE,
    FIRST,
    LEFT,
    LEVELS,
    MISSING_TO,
    MULTIWAY,
    PARENT,
    RECORD,
    RIGHT,
    SURROGATES,
    TEST,
    THRESHOLD,
    TIE,
)
from modelsel.tree.growing.assemble import GrowerOutput
from modelsel.tree.growing.columns import RankedColumns, WeightedRows
from modelsel.tree.growing.growth import NOMINAL, SLACK, BaseCriterion, GrowthParams
from modelsel.tree.growing.numpy_tests import NodeColumn, Test, best_test, branch_of

# Records: rows on their way, and nodes in the order in which they were made.


# Surrogates of a two-branch test: tests on other features that send the largest share of the weight the same way.
#
#     agreement = weight sent the same way / weight of the rows known in both features
#
# or, with `by_count`, / weight of the rows known in the test's own. A surrogate is kept when it agrees on more than sending all
# those rows to the larger side would. Breiman, Friedman, Olshen and
# Stone 1984, section 5.3.


@dataclass(frozen=True, eq=False)
class SurrogateSplit:
    """A test that stands in for another: x ≤ code for the first child (the second where `flipped`), or a side per level."""

    feature: int
    agreement: float
    code: int = 0
    next: int = 0
    flipped: bool = False
    side: Integers | None = None

    def sides(self, codes: Codes) -> Integers:
        """Child per row, −1 where this feature says nothing."""
        if self.side is not None:
            return np.where(codes >= 0, self.side[np.maximum(codes, 0)], -1)
        return np.where(codes < 0, -1, np.where((codes <= self.code) != self.flipped, 0, 1))

    def record(self, node: int) -> tuple[list[int], float, list[int]]:
        sides = [] if self.side is None else self.side.tolist()
        return [node, self.feature, self.code, self.next, int(self.flipped), -1], self.agreement, sides


def mimics(
    others: Iterable[tuple[int, NodeColumn, bool]], branch: Integers, weight: Floats, by_count: bool = False
) -> list[SurrogateSplit]:
    """The best surrogates, best first; `others`: feature, its column, whether it is cut by thresholds."""
    found = [_mimic(feature, column, cut, branch, weight, by_count) for feature, column, cut in others]
    kept = [mimic for mimic in found if mimic is not None]
    ranked: list[SurrogateSplit] = []
    for mimic in kept:  # insertion, so that equals within rounding keep the order of features
        place = len(ranked)
        while place > 0 and mimic.agreement > ranked[place - 1].agreement + TIE:
            place -= 1
        ranked.insert(place, mimic)
    return ranked[:SURROGATES]


def _mimic(
    feature: int, column: NodeColumn, cut: bool, branch: Integers, weight: Floats, by_count: bool
) -> SurrogateSplit | None:
    """Find a feature's surrogate that agrees with the test more often than its larger branch does."""
    known = column.known & (branch >= 0)
    flat = column.codes[known].astype(np.int64) * 2 + branch[known]
    table: Floats = np.bincount(flat, weight[known], 2 * column.levels).reshape(-1, 2).astype(np.float64)
    whole = float(table.sum())
    mimic = _cut(feature, table, whole, np.unique(column.codes[column.known])) if cut else _sides(feature, table, whole)
    sides = table.sum(axis=0)
    if mimic is not None and by_count:
        sides = np.bincount(branch[branch >= 0], weight[branch >= 0], 2)
        mimic = replace(mimic, agreement=mimic.agreement * whole / float(sides.sum()))
    return mimic if mimic is not None and mimic.agreement > sides.max() / sides.sum() + TIE else None


def _cut(feature: int, table: Floats, whole: float, met: Codes) -> SurrogateSplit | None:
    """The cut lies between a value known to both features and the next of all values `met` at the node."""
    present = np.flatnonzero(table.sum(axis=1) > 0)
    if len(present) < 2:
        return None
    left = np.cumsum(table[present], axis=0)[:-1]
    straight = left[:, 0] + table.sum(axis=0)[1] - left[:, 1]
    agreed = np.stack([straight, whole - straight], axis=1).ravel()
    best = int(np.argmax(agreed >= agreed.max() - TIE * whole))
    code = int(present[best // 2])
    after = int(met[np.searchsorted(met, code) + 1])
    return SurrogateSplit(feature, float(agreed[best]) / whole, code, after, best % 2 == 1)


def _sides(feature: int, table: Floats, whole: float) -> SurrogateSplit | None:
    """Send each level to the side of its larger weight."""
    present = table.sum(axis=1) > 0
    if not present.any():
        return None
    side = np.where(present, np.where(table[:, 0] >= table[:, 1] - TIE * whole, 0, 1), -1)
    return SurrogateSplit(feature, float(table.max(axis=1).sum()) / whole, side=side)


@dataclass(frozen=True, eq=False)
class Node:
    """Rows on their way down, and the features still worth a look."""

    number: int
    rows: Integers
    weight: Floats
    depth: int
    features: frozenset[int]


@dataclass(eq=False)
class NodeRecords:
    """Records of the nodes made so far, in the order in which they were made."""

    nodes: list[list[int]] = field(default_factory=list)
    goodness: list[float] = field(default_factory=list)
    counts: list[Floats] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)
    mimics: list[tuple[int, SurrogateSplit]] = field(default_factory=list)

    def add(self, parent: int, depth: int, counts: Floats) -> int:
        """Add a node; return its number."""
        row = [0] * RECORD
        row[PARENT], row[DEPTH] = parent, depth
        self.nodes.append(row)
        self.goodness.append(np.nan)
        self.counts.append(counts)
        return len(self.nodes) - 1

    def grown(self) -> GrowerOutput:
        """Return the grown nodes as arrays."""
        return GrowerOutput(
            np.array(self.nodes, np.int64),
            np.array(self.goodness),
            np.array(self.counts),
            np.array(self.marks, np.uint8),
            *flat([mimic.record(node) for node, mimic in self.mimics]),
        )


def divide(node: Node, branch: Integers, many: int) -> list[tuple[Integers, Floats]]:
    """Rows and weights of the children; rows without a branch are divided among all by the share of the known ones."""
    lost = branch < 0
    known = np.bincount(branch[~lost], node.weight[~lost], many)
    share = known / known.sum()
    parts = []
    for each in range(many):
        own = (branch == each) | (lost & (share[each] > 0))
        parts.append((node.rows[own], np.where(lost[own], node.weight[own] * share[each], node.weight[own])))
    return parts


def flat(records: list[tuple[list[int], float, list[int]]]) -> tuple[Integers, Floats, Integers]:
    """Surrogates as arrays: records, agreements, sides of levels one after the other."""
    sides: list[int] = []
    for record, _, own in records:
        record[-1] = len(sides) if own else -1
        sides.extend(own)
    rows = np.array([record for record, _, _ in records], np.int64).reshape(-1, 6)
    return rows, np.array([agreement for _, agreement, _ in records], np.float64), np.array(sides, np.int64)


Halt = Callable[[Floats, int, float, Floats], bool]  # class weights, depth, goodness, children's class weights -> stop here?


def grow(
    chosen: WeightedRows, columns: RankedColumns, criterion: BaseCriterion, growth: GrowthParams, halt: Halt | None = None
) -> GrowerOutput:
    """The grown tree as records; raises `stop.Stopped` when the stop flag is set meanwhile."""
    return Grower(chosen, columns, criterion, growth, halt).grown()


@dataclass(frozen=True, eq=False)
class Grower:
    """The growing of one tree, step by step."""

    chosen: WeightedRows
    columns: RankedColumns
    criterion: BaseCriterion
    growth: GrowthParams
    halt: Halt | None
    record: NodeRecords = field(default_factory=NodeRecords)

    def grown(self) -> GrowerOutput:
        """Grow until nothing is left to split."""
        stack = [self.root()]
        while stack:
            if stop.FLAG[0]:
                raise stop.Stopped
            stack.extend(reversed(self.split(stack.pop())))
        return self.record.grown()

    def root(self) -> Node:
        """Write down the node of all rows, where growing begins."""
        every = frozenset(range(len(self.columns.values)))
        self.record.add(-1, 0, self._counts(self.chosen.rows, self.chosen.weight))
        return Node(0, self.chosen.rows, self.chosen.weight, 0, every)

    def split(self, node: Node) -> list[Node]:
        """Make the best test, if any, and return the children."""
        if not self._worth_a_look(node):
            return []
        best = self._contest(node)
        if best is None:
            return []
        feature, test, value = best
        branch = self._branch(node, feature, test)
        found = self._mimics(node, feature, branch) if self.growth.missing == "surrogate" else []
        many = self._branches(node, feature, test)
        test, branch = self._send_missing(node, test, branch, found, many)
        parts = self._parts(node, branch, many)
        counts = [self._counts(rows, weight) for rows, weight in parts]
        if self.halt is not None and self.halt(self.record.counts[node.number], node.depth, value, np.array(counts)):
            return []
        self._write(node, feature, test, value, counts)
        self.record.mimics.extend((node.number, mimic) for mimic in found)
        left = node.features - {feature} if test.kind == MULTIWAY else node.features
        return [
            Node(self.record.add(node.number, node.depth + 1, own), rows, weight, node.depth + 1, left)
            for (rows, weight), own in zip(parts, counts)
        ]

    def _worth_a_look(self, node: Node) -> bool:
        """Say whether a node may be tested: large enough, impure and not too deep."""
        counts, growth = self.record.counts[node.number], self.growth
        deep = growth.max_depth is not None and node.depth >= growth.max_depth
        return not deep and bool((counts > 0).sum() > 1) and float(counts.sum()) >= growth.room

    def contenders(self, node: Node) -> list[tuple[int, Test, float]]:
        """Features in order, each with its best test and the value by which features compete; those ruled out are left out."""
        total = float(node.weight.sum())
        rivals = {}
        for feature in sorted(node.features):
            column = self._column(node, feature)
            test = best_test(column, self._kind(feature), self.criterion, self.growth)
            if test is not None:
                rivals[feature] = test, self._gain(test, column, total)
        if self.criterion.penalty:
            rivals = {f: (test, gain) for f, (test, gain) in rivals.items() if test.kind != THRESHOLD or gain > TIE}
        least = self._average(rivals) - 1e-3 if self.criterion.average else -np.inf
        return [
            (feature, test, self._value(feature, test, gain))
            for feature, (test, gain) in rivals.items()
            if not self.criterion.ratio or (gain >= least and test.information > TIE)
        ]

    def _contest(self, node: Node) -> tuple[int, Test, float] | None:
        """The feature that wins, its test and value."""
        best = None
        for feature, test, value in self.contenders(node):
            if best is None or value > best[2] + TIE:
                best = feature, test, value
        return best

    def _value(self, feature: int, test: Test, gain: float) -> float:
        value = gain / test.information if self.criterion.ratio else gain
        return float(self.criterion.worth(np.array(value), np.array(self.chosen.task.features[feature].cost)))

    def _gain(self, test: Test, column: NodeColumn, total: float) -> float:
        """Goodness over all rows, and less the price of a numeric cut."""
        share = float(column.weight[column.known].sum()) / total if self.growth.missing in ("fractional", "surrogate") else 1.0
        price = np.log2(test.cuts) / total if self.criterion.penalty and test.kind == THRESHOLD else 0.0
        return test.value * share - price

    def _average(self, rivals: dict[int, tuple[Test, float]]) -> float:
        """Mean gain of the features with few values; no bound where there are none."""
        few = 0.3 * len(self.chosen.rows)
        gains = [gain for f, (test, gain) in rivals.items() if test.kind == THRESHOLD or len(self.columns.values[f]) < few]
        return float(np.mean(gains)) if gains else -np.inf

    def _kind(self, feature: int) -> int:
        return THRESHOLD if self.columns.slot[feature] >= 0 else NOMINAL[self.growth.nominal]

    def _column(self, node: Node, feature: int) -> NodeColumn:
        task = self.chosen.task
        codes = self.columns.codes[feature, node.rows]
        return NodeColumn(codes, task.target[node.rows], node.weight, len(self.columns.values[feature]), len(task.classes))

    def _branch(self, node: Node, feature: int, test: Test) -> Integers:
        """Child per row, −1 where the value is missing and nothing stands in for it."""
        column = self._column(node, feature)
        codes = column.codes.astype(np.int64)
        if test.fill is not None:
            codes = np.where(column.known, codes, test.fill[column.target])
        return np.where(codes >= 0, branch_of(test, np.maximum(codes, 0)), -1)

    def _branches(self, node: Node, feature: int, test: Test) -> int:
        """Count the branches of a test."""
        if test.kind != MULTIWAY:
            return 2
        own_branch = self.growth.missing == "branch" and not self._column(node, feature).known.all()
        return len(self.columns.values[feature]) + own_branch

    def _mimics(self, node: Node, feature: int, branch: Integers) -> list[SurrogateSplit]:
        others = [(f, self._column(node, f), self.columns.slot[f] >= 0) for f in sorted(node.features) if f != feature]
        return mimics(others, branch, node.weight, self.growth.by_count)

    def _send_missing(
        self, node: Node, test: Test, branch: Integers, found: list[SurrogateSplit], many: int
    ) -> tuple[Test, Integers]:
        """Missing rows join the branch that the policy names; under `fractional` they stay −1."""
        lost = branch < 0
        largest = _first_largest(np.bincount(branch[~lost], node.weight[~lost], many).astype(np.float64))
        if self.growth.missing == "branch":
            test = test if lost.any() else replace(test, to=largest)
            return test, np.where(lost, test.to, branch)
        if self.growth.missing == "surrogate":
            for mimic in found:
                side = mimic.sides(self._column(node, mimic.feature).codes)
                branch = np.where((branch < 0) & (side >= 0), side, branch)
            return replace(test, to=BY_SURROGATES - largest), np.where(branch < 0, largest, branch)
        return test, branch

    def _parts(self, node: Node, branch: Integers, many: int) -> list[tuple[Integers, Floats]]:
        """Rows and weights of the children."""
        return divide(node, branch, many)

    def _counts(self, rows: Integers, weight: Floats) -> Floats:
        task = self.chosen.task
        return np.asarray(np.bincount(task.target[rows], weight, len(task.classes)), np.float64)

    def _write(self, node: Node, feature: int, test: Test, value: float, counts: list[Floats]) -> None:
        """Write a chosen test into the node's record."""
        row, record = self.record.nodes[node.number], self.record
        row[TEST], row[FEATURE], row[FIRST], row[BRANCHES] = test.kind, feature, len(record.nodes), len(counts)
        row[LEFT], row[RIGHT], row[MISSING_TO], row[LEVELS] = test.code, test.next, test.to, len(record.marks)
        record.goodness[node.number] = value
        if test.inside is not None:
            column = self._column(node, feature)
            largest = _first_largest(np.array([own.sum() for own in counts]))
            marks = np.full(column.levels, largest == 0)  # a level that does not occur here goes with the larger side
            present = column.codes[column.known]
            marks[present] = test.inside[present]
            record.marks.extend(marks.astype(int).tolist())


def _first_largest(weight: Floats) -> int:
    return int(np.argmax(weight >= weight.max() - SLACK))
