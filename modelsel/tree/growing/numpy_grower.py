"""Grow a tree in NumPy: the same answers as the compiled grower by another way, for criteria without a compiled form.

A node is its rows and their weights. Each feature's best test is looked for afresh; a limit that is given as `halt` stops the
growing here, inside the loop, where the compiled grower's full tree is truncated afterwards.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from modelsel.core.types import Floats, Integers
from modelsel.kernels import stop
from modelsel.kernels.layout import (
    BRANCHES,
    BY_SURROGATES,
    FEATURE,
    FIRST,
    LEFT,
    LEVELS,
    MISSING_TO,
    MULTIWAY,
    RIGHT,
    TEST,
    THRESHOLD,
    TIE,
)
from modelsel.tree.growing.assemble import GrowerOutput
from modelsel.tree.growing.columns import RankedColumns
from modelsel.tree.growing.growth import NOMINAL, SLACK, BaseCriterion, GrowthParams
from modelsel.tree.growing.numpy_record import Node, NodeRecords, SurrogateSplit, divided, mimics
from modelsel.tree.growing.numpy_tests import NodeColumn, Test, best_test, branch_of
from modelsel.tree.growing.rows import WeightedRows

Halt = Callable[[Floats, int, float, Floats], bool]  # class weights, depth, goodness, children's class weights -> stop here?


def grow(
    chosen: WeightedRows, columns: RankedColumns, criterion: BaseCriterion, growth: GrowthParams, halt: Halt | None = None
) -> GrowerOutput:
    """The grown tree as records; raises `stop.Stopped` when the stop flag is set meanwhile."""
    return Grower(chosen, columns, criterion, growth, halt).grown()


@dataclass(frozen=True, eq=False)
class Grower:
    """One growing, step by step."""

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

    def shown(self, node: Node, value: float) -> float:
        """What a test at a node is worth, as people read it."""
        return value

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
        return divided(node, branch, many)

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
