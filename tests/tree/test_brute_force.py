"""Every test there can be, at the root and below it, for each criterion, kind of test and policy for missing values.

Goodness is written out from its definition, rows are divided one by one; nothing of the search is shared with the package.
"""

import math
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from modelsel.core.spec import make
from modelsel.core.types import Task, positions
from modelsel.tree.growing.grow import grow
from modelsel.tree.growing.growth import MISSING, NOMINAL, GrowthParams
from modelsel.tree.node import EQUALITY, LEAF, MULTIWAY, SUBSET, THRESHOLD, DecisionTree
from tests.contract.plain_tree import step
from tests.tree.test_grow import CRITERIA, drawn_task, valid

TINY = 1e-6


def impurity_decrease(impurity: Any, table: np.ndarray) -> float:
    total = table.sum()
    return impurity(table.sum(axis=0)) - sum(row.sum() / total * impurity(row) for row in table if row.sum() > 0)


def entropy(counts: np.ndarray) -> float:
    p = counts[counts > 0] / counts.sum()
    return float(-(p * np.log2(p)).sum())


def gini(counts: np.ndarray) -> float:
    return float(1 - ((counts / counts.sum()) ** 2).sum())


def error_rate(counts: np.ndarray) -> float:
    return float(1 - counts.max() / counts.sum())


def dkm_impurity(counts: np.ndarray) -> float:
    return float(2 * math.sqrt(counts[0] * counts[1]) / counts.sum())


def hellinger_of_two(table: np.ndarray) -> float:
    plus, minus = table.sum(axis=0)
    if plus <= 0 or minus <= 0:
        return 0.0
    return math.sqrt(sum((math.sqrt(row[0] / plus) - math.sqrt(row[1] / minus)) ** 2 for row in table))


def each_class(goodness: Any, table: np.ndarray) -> float:
    """One class against the others, weighted by its share."""
    total = 0.0
    for c in range(table.shape[1]):
        others = [k for k in range(table.shape[1]) if k != c]
        total += table[:, c].sum() / table.sum() * goodness(np.column_stack([table[:, c], table[:, others].sum(axis=1)]))
    return total


def chi_square(table: np.ndarray) -> float:
    own = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    return 0.0 if 1 in own.shape else -math.log(chi2_contingency(own, correction=False).pvalue)


def twoing(table: np.ndarray) -> float:
    left, right = table.sum(axis=1)
    return float(left * right / table.sum() ** 2 / 4 * np.abs(table[0] / left - table[1] / right).sum() ** 2)


def symmetric_uncertainty(table: np.ndarray) -> float:
    known = entropy(table.sum(axis=1)) + entropy(table.sum(axis=0))
    return 2 * impurity_decrease(entropy, table) / known if known > 1e-12 else 0.0


def gain(table: np.ndarray) -> float:
    return impurity_decrease(entropy, table)


GOODNESS = {
    "entropy": gain, "gain_ratio": gain, "tan_schlimmer": gain, "nunez": gain, "chi_square": chi_square, "twoing": twoing,
    "gini": lambda table: impurity_decrease(gini, table),
    "misclassification": lambda table: impurity_decrease(error_rate, table),
    "symmetric_uncertainty": symmetric_uncertainty,
    "hellinger": lambda table: each_class(hellinger_of_two, table),
    "dkm": lambda table: each_class(lambda two: impurity_decrease(dkm_impurity, two), table),
}  # fmt: skip


class Node:
    """Rows with their weights at one node, and every admissible test of them."""

    def __init__(self, task: Task, rows: list[int], weight: list[float], growth: GrowthParams) -> None:
        self.task, self.rows, self.weight, self.growth = task, rows, weight, growth
        self.whole = sum(weight)

    def tables(self, feature: int) -> list[tuple[np.ndarray, float]]:
        """The table of each test, and the weight of rows that are divided: one more outcome for split information."""
        column = [self.task.values[row, feature] for row in self.rows]
        lost = [i for i, x in enumerate(column) if math.isnan(x)]
        present = sorted({x for x in column if not math.isnan(x)})
        policy = self.growth.missing
        if not present:
            return []
        filled: list[Any] = list(column)
        for i in lost:
            filled[i] = self.stand_in(feature, i) if policy.endswith("_mode") else None
        joins = bool(lost) and policy == "branch"
        divided = sum(self.weight[i] for i in lost) if policy == "fractional" else 0.0
        tables = [self.counted(filled, sides) for sides in self.divisions(feature, present, set(filled) - {None}, joins)]
        return [(table, divided) for table in tables if self.admissible(feature, table)]

    def admissible(self, feature: int, table: np.ndarray) -> bool:
        enough = (table.sum(axis=1) >= TINY / 2).sum()
        return bool(enough >= 2 if self.kind(feature) == "multiway" else enough == len(table))

    def kind(self, feature: int) -> str:
        return self.growth.nominal if self.task.features[feature].kind == "nominal" else "threshold"

    def divisions(self, feature: int, present: list[float], met: set[float], joins: bool) -> Iterator[list[set[Any]]]:
        """Each test as the sets of values of its branches; None is a missing value that joins a branch."""
        kind, lost = self.kind(feature), {None} if joins else set()
        if kind == "multiway":
            yield [{x} for x in present] + ([lost] if joins else [])
        elif kind == "subset":
            values = [*present, *lost]
            for size in range(1, len(values)):
                for chosen in combinations(values, size):
                    yield [set(chosen), set(values) - set(chosen)]
        else:
            if joins and (kind == "threshold" or len(present) == 1):
                yield [met, lost]  # known values from missing ones
            if len(present) < 2:
                return
            firsts = [{x} for x in present] if kind == "equality" else [{y for y in met if y <= x} for x in present[:-1]]
            for first in firsts:
                rest = met - first
                yield from [[first | lost, rest], [first, rest | lost]] if joins else [[first, rest]]

    def counted(self, values: list[Any], sides: list[set[Any]]) -> np.ndarray:
        table = np.zeros((len(sides), len(self.task.classes)))
        for row, x, weight in zip(self.rows, values, self.weight, strict=True):
            for side, members in enumerate(sides):
                if x in members:
                    table[side, self.task.target[row]] += weight
        return table

    def stand_in(self, feature: int, i: int) -> float:
        """Most common value or lower median, at the node or, growing by class_mode, among rows of the same class."""
        known = [(self.task.values[r, feature], w, self.task.target[r]) for r, w in zip(self.rows, self.weight, strict=True)]
        known = [each for each in known if not math.isnan(each[0])]
        own = [each for each in known if each[2] == self.task.target[self.rows[i]]]
        if self.growth.missing == "class_mode" and sum(each[1] for each in own) > 0:
            known = own
        sums = {x: sum(w for y, w, _ in known if y == x) for x in sorted({each[0] for each in known})}
        if self.kind(feature) != "threshold":
            return next(x for x in sums if sums[x] > max(sums.values()) - 1e-9)
        half, total = sum(sums.values()) / 2, 0.0
        for x, weight in sums.items():
            total += weight
            if total >= half - 1e-12:
                return x
        raise AssertionError

    def share(self, feature: int) -> float:
        known = sum(w for r, w in zip(self.rows, self.weight, strict=True) if not math.isnan(self.task.values[r, feature]))
        return known / self.whole if self.growth.missing in ("fractional", "surrogate") else 1.0

    def best(self, kind: str, features: list[int]) -> tuple[float, float] | None:
        """Least and largest goodness that the best test may have (they differ where cuts of equal gain have other ratios)."""
        found = {f: [(GOODNESS[kind](table), table, lost) for table, lost in self.tables(f)] for f in features}
        found = {f: tests for f, tests in found.items() if tests}
        if kind == "gain_ratio":
            return self.best_ratio(found)
        values = [max(value for value, _, _ in tests) * self.share(f) for f, tests in found.items()]
        costs = [self.task.features[f].cost for f in found]
        if kind == "tan_schlimmer":
            values = [value**2 / cost for value, cost in zip(values, costs, strict=True)]
        if kind == "nunez":
            values = [(2**value - 1) / (cost + 1) ** 0.5 for value, cost in zip(values, costs, strict=True)]
        return (max(values), max(values)) if values else None

    def best_ratio(self, found: dict[int, list[tuple[float, np.ndarray, float]]]) -> tuple[float, float] | None:
        """Quinlan 1993 and 1996: cuts by gain, a price for them, features of average gain by ratio."""
        gains, ratios = {}, {}
        for f, tests in found.items():
            top, price = max(value for value, _, _ in tests), 0.0
            if self.kind(f) == "threshold":
                cuts = math.ceil(len(tests) / (2 if self.growth.missing == "branch" and self.lost(f) else 1))
                price = math.log2(cuts) / self.whole
            own = top * self.share(f) - price
            if self.kind(f) == "threshold" and own <= 1e-12:
                continue
            gains[f] = own
            bits = [entropy(np.append(table.sum(axis=1), lost)) for value, table, lost in tests if value >= top - 1e-12]
            ratios[f] = [own / each for each in bits if each > 1e-12]
        few = [g for f, g in gains.items() if self.kind(f) == "threshold" or len(self.task.features[f].levels) < 0.3 * self.all]
        least = sum(few) / len(few) - 1e-3 if few else -math.inf
        running = [ratios[f] for f, g in gains.items() if g >= least and ratios[f]]
        return (max(map(min, running)), max(map(max, running))) if running else None

    all = 0  # rows of the whole tree

    def lost(self, feature: int) -> bool:
        return any(math.isnan(self.task.values[row, feature]) for row in self.rows)

    def sent(self, tree: DecisionTree, node: int) -> list["Node"]:
        """The rows by the test that stands at a node of the tree, one after the other."""
        feature, many = int(tree.feature[node]), len(tree.children(node))
        parts: list[tuple[list[int], list[float]]] = [([], []) for _ in range(many)]
        divided = []
        for i, row in enumerate(self.rows):
            values = self.task.values[row].copy()
            if math.isnan(values[feature]) and self.growth.missing == "class_mode":
                values[feature] = self.stand_in(feature, i)
            side = step(tree, node, values, 0)
            if side is None:
                divided.append(i)
                continue
            parts[side][0].append(row)
            parts[side][1].append(self.weight[i])
        known = [sum(weight) for _, weight in parts]
        for i in divided:
            for (rows, weight), own in zip(parts, known, strict=True):
                if own > 0:
                    rows.append(self.rows[i])
                    weight.append(self.weight[i] * own / sum(known))
        return [Node(self.task, *part, self.growth) for part in parts]


@pytest.mark.sampled(19)
@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize("kind", CRITERIA)
@settings(max_examples=3, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))
@given(seed=st.integers(0, 2**32 - 1))
def test_no_test_is_better_than_the_one_made(kind: str, missing: str, seed: int) -> None:
    task = drawn_task(np.random.default_rng(seed), rows=20, levels=5)
    for nominal in NOMINAL:
        growth = GrowthParams(missing, nominal, min_leaf=TINY)
        if valid(kind, growth):
            tree = grow(task, positions(task), make("criterion", kind), growth)
            root = Node(task, positions(task).tolist(), task.row_weights.tolist(), growth)
            Node.all = len(task)
            follow(tree, 0, root, kind, list(range(len(task.features))))


def follow(tree: DecisionTree, at: int, node: Node, kind: str, features: list[int], depth: int = 0) -> None:
    """Check a node and those below it, down to depth 2."""
    counts = np.zeros(len(tree.classes))
    np.add.at(counts, node.task.target[node.rows], node.weight)
    np.testing.assert_allclose(tree.counts[at], counts, atol=1e-9)
    best = node.best(kind, features) if (counts > 0).sum() > 1 and counts.sum() >= 2 * TINY else None
    if tree.test[at] == LEAF:
        assert best is None
        return
    assert best is not None
    assert best[0] - 1e-9 <= tree.goodness[at] <= best[1] + 1e-9
    feature = int(tree.feature[at])
    assert feature in features
    kinds = {"threshold": THRESHOLD, "equality": EQUALITY, "multiway": MULTIWAY, "subset": SUBSET}
    assert tree.test[at] == kinds[node.kind(feature)]
    left = [f for f in features if f != feature] if tree.test[at] == MULTIWAY else features
    for child, below in zip(tree.children(at), node.sent(tree, at), strict=True):
        if depth < 2:
            follow(tree, int(child), below, kind, left, depth + 1)
