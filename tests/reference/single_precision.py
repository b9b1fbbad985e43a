"""C4.5's growing as release 8 computes it: every sum, gain and midpoint rounded to single precision.

But for one: before a nominal test, the classes' Σ n log n is added in double precision and rounded at its end. Sums of rows are
kept per level and class; those of a level, of a class and of all are added from these, and the last bit depends on it.

Rules are those of `GainRatio`, `min_leaf_rule: c45`, fractional rows and the collapse (Quinlan 1993, 1996). With `real` set to
double precision, and ties within rounding going to the first, it is an independent twin of the package's own growing.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from modelsel.core.types import Task
from modelsel.tree.node import DIVIDED, LEAF, MULTIWAY, THRESHOLD, DecisionTree

SMALL = 1e-3


@dataclass(eq=False)
class Node:
    counts: np.ndarray
    label: int
    below: list["Node"] = field(default_factory=list)
    feature: int = -1
    cut: float = np.nan


class C45:
    """`real`: np.float32, or np.float64 for the same rules without rounding; `ratio`: False compares gains (option -g).

    `apart`: nearer values are one; 1e-5 in release 8 and J48.
    """

    def __init__(
        self, task: Task, min_leaf: int, real: Any = np.float32, ratio: bool = True, apart: float | None = None
    ) -> None:
        self.task, self.min_leaf, self.real, self.ratio = task, min_leaf, real, ratio
        single = real is np.float32
        self.slack, self.tie = (0.0, 0.0) if single else (1e-9, 1e-12)  # of weights, of gains: rounding decides nothing
        self.apart = (1e-5 if single else 0.0) if apart is None else apart
        self.values = task.values.astype(real)
        self.nominal = [feature.kind == "nominal" for feature in task.features]
        self.classes = len(task.classes)
        self.values_of = [len(f.levels) if f.kind == "nominal" else 0 for f in task.features]

    def grown(self) -> Node:
        rows = np.arange(len(self.task))
        return self.form(rows, np.ones(len(rows), self.real), frozenset(), 0)

    def errors(self, root: Node) -> int:
        return int((self.classified(root, self.values) != self.task.target).sum())

    def classified(self, root: Node, values: np.ndarray) -> np.ndarray:
        """The class of each row."""
        said = np.empty(len(values), np.int64)
        for row, x in enumerate(values):
            scores = np.zeros(self.classes)
            self._fall(root, x, 1.0, scores)
            said[row] = np.argmax(np.round(scores, 6))
        return said

    def _fall(self, node: Node, x: np.ndarray, part: float, scores: np.ndarray) -> None:
        if not node.below:
            n = node.counts.sum()
            if n > 0:
                scores += part * node.counts / n
            else:
                scores[node.label] += part
            return
        value = x[node.feature]
        if np.isnan(value):
            for child in node.below:
                share = child.counts.sum() / node.counts.sum()
                if share > 0:
                    self._fall(child, x, part * share, scores)
        else:
            side = int(value) if np.isnan(node.cut) else int(self._side(node, value))
            self._fall(node.below[side], x, part, scores)

    # Growing

    def form(self, rows: np.ndarray, weight: np.ndarray, used: frozenset[int], parent: int) -> Node:
        counts = self._sums(self.task.target[rows], weight, self.classes)
        label = int(np.argmax(counts)) if counts.sum() > 0 else parent
        node, whole = Node(counts, label), self.real(counts.sum(dtype=self.real))
        if counts[label] == whole or whole < 2 * self.min_leaf - self.slack:
            return node
        best = self._best(rows, weight, used)
        if best is None:
            return node
        node.feature, node.cut = best
        column = self.values[rows, node.feature]
        lost = np.isnan(column)
        if np.isnan(node.cut):
            side, many, used = np.where(lost, -1, column).astype(int), self.values_of[node.feature], used | {node.feature}
        else:
            side, many = np.where(lost, -1, self._side(node, column)), 2
        known = self._sums(side[~lost], weight[~lost], many)
        for branch in range(many):
            share = self.real(known[branch] / self.real(known.sum(dtype=self.real)))
            own = (side == branch) | (lost & (share > 0))
            part = np.where(lost[own], weight[own] * share, weight[own]).astype(self.real)
            node.below.append(self.form(rows[own], part, used, label))
        errors = sum(self._wrong(child) for child in node.below)
        if self._wrong_as_leaf(node) <= errors + SMALL:
            node.below = []
        return node

    def _side(self, node: Node, value: Any) -> Any:
        return np.where(value <= self.real(node.cut), 0, 1)

    def _wrong_as_leaf(self, node: Node) -> float:
        return float(node.counts.sum() - node.counts[node.label])

    def _wrong(self, node: Node) -> float:
        return sum(map(self._wrong, node.below)) if node.below else self._wrong_as_leaf(node)

    def _sums(self, codes: np.ndarray, weight: np.ndarray, many: int) -> np.ndarray:
        """Added one row after the other, each sum rounded."""
        sums = np.zeros(many, self.real)
        np.add.at(sums, codes, weight)
        return sums

    def _info(self, parts: np.ndarray) -> np.ndarray:
        """N log N − Σ n log n along the last axis, each step rounded."""
        total, bits = np.zeros(parts.shape[:-1], self.real), np.zeros(parts.shape[:-1], self.real)
        for c in range(parts.shape[-1]):
            n = parts[..., c]
            bits = (bits + _nlogn(n)).astype(self.real)
            total = (total + n).astype(self.real)
        return (_nlogn(total) - bits).astype(self.real)

    def _best(self, rows: np.ndarray, weight: np.ndarray, used: frozenset[int]) -> tuple[int, float] | None:
        found = []
        for feature in range(len(self.task.features)):
            one = None if feature in used else self._test(feature, rows, weight)
            if one is not None:
                found.append((feature, *one))
        every = 0.3 * len(self.task)
        few = [gain for feature, gain, _, _ in found if self.values_of[feature] < every]
        least = self.real(sum(few, self.real(0)) / len(few)) if few else self.real(-np.inf)
        best, top = None, self.real(-SMALL)
        for feature, gain, information, cut in found:
            worth = gain
            if self.ratio:
                worth = gain / information if gain >= least - SMALL and information > SMALL else self.real(-SMALL)
            if worth > top + self.tie:
                best, top = (feature, cut), worth
        return best

    def _test(self, feature: int, rows: np.ndarray, weight: np.ndarray) -> tuple[Any, Any, float] | None:
        """Gain, split information and cut of a feature's best test."""
        column, real = self.values[rows, feature], self.real
        lost = np.isnan(column)
        whole = real(weight.sum(dtype=real))
        absent = self._sums(np.zeros(lost.sum(), int), weight[lost], 1)[0]
        share, known = real(1 - absent / whole), real(whole - absent)
        target, own, values = self.task.target[rows][~lost], weight[~lost], column[~lost]
        if not len(values):
            return None
        if self.nominal[feature]:
            return self._levels(values.astype(int), self.values_of[feature], target, own, share, known, absent, whole)
        base = real(self._info(self._sums(target, own, self.classes)) / known)
        return self._cut(values, target, own, base, share, known, absent, whole)

    def _levels(self, codes: Any, many: int, target: Any, own: Any, share: Any, known: Any, absent: Any, whole: Any) -> Any:
        real = self.real
        table = self._sums(codes * self.classes + target, own, many * self.classes).reshape(many, -1)
        base = real((_nlogn(known) - _nlogn(table.cumsum(axis=0, dtype=real)[-1]).sum()) / float(known))  # the one long sum
        sizes = table.cumsum(axis=1, dtype=real)[:, -1]
        if (sizes >= self.min_leaf - self.slack).sum() < 2:
            return None
        inside = self._info(table).sum(dtype=real)
        information = real(self._info(np.append(absent, sizes).astype(real)) / whole)
        return real(share * real(base - real(inside / known))), information, np.nan

    def _cut(self, values: Any, target: Any, own: Any, base: Any, share: Any, known: Any, absent: Any, whole: Any) -> Any:
        real = self.real
        order = np.argsort(values, kind="stable")
        values, target, own = values[order], target[order], own[order]
        left = np.cumsum(np.eye(self.classes, dtype=real)[target] * own[:, None], axis=0, dtype=real)
        right = (left[-1] - left).astype(real)
        lows = np.cumsum(own, dtype=real)
        needed = min(max(self.min_leaf, 0.1 * float(known) / self.classes), 25)
        needed = max(needed, self.min_leaf) - self.slack
        ends = np.flatnonzero(values[:-1] < values[1:].astype(np.float64) - self.apart)
        ends = ends[(lows[ends] >= needed) & (real(known) - lows[ends] >= needed)]
        if not len(ends):
            return None
        inside = (self._info(left[ends]) + self._info(right[ends])).astype(real)
        gains = (share * (base - (inside / known).astype(real)).astype(real)).astype(real)
        top = int(np.argmax(gains >= gains.max() - self.tie))
        gain = real(gains[top] - real(np.log2(len(ends)) / float(whole)))
        if gain <= self.tie:
            return None
        at = ends[top]
        information = real(self._info(np.array([absent, lows[at], known - lows[at]], real)) / whole)
        return gain, information, float(real((values[at] + values[at + 1]) / real(2)))


class OneLevel(C45):
    """A level against the rest, as J48 has it (option -B): the level of largest ratio; `by_ratio=False`: of largest gain."""

    def __init__(self, task: Task, min_leaf: int, by_ratio: bool = True, apart: float = 1e-5) -> None:
        super().__init__(task, min_leaf, np.float64, apart=apart)
        self.by_ratio = by_ratio

    def _side(self, node: Node, value: Any) -> Any:
        return np.where(value == node.cut, 0, 1) if self.nominal[node.feature] else super()._side(node, value)

    def _levels(self, codes: Any, many: int, *rest: Any) -> Any:
        best, top = None, -np.inf
        for level in range(many):
            one = super()._levels(np.where(codes == level, 0, 1), 2, *rest)
            worth = -np.inf if one is None else one[0] / one[1] if self.by_ratio else one[0]
            if worth > top + 1e-6:
                best, top = (*one[:2], float(level)), worth
        return best


def _nlogn(n: np.ndarray) -> np.ndarray:
    n = np.asarray(n, np.float64)
    return n * np.log2(n, out=np.zeros_like(n), where=n > 0)


def nodes(node: Node) -> int:
    return 1 + sum(map(nodes, node.below))


def leaves(node: Node) -> int:
    return sum(map(leaves, node.below)) if node.below else 1


def as_tree(root: Node, twin: C45, slack: float = 0.0) -> DecisionTree:
    """The twin's tree in the package's arrays, so that the package can prune it.

    Thresholds are the largest values of the training rows up to the midpoint; `slack`: or so much above it.
    """
    task, flat, parents, waiting = twin.task, [], [], [(root, -1)]
    while waiting:
        node, parent = waiting.pop()
        waiting.extend((child, len(flat)) for child in reversed(node.below))
        flat.append(node)
        parents.append(parent)
    above = np.array(parents, np.int32)
    branches = np.array([len(node.below) for node in flat])
    cuts = [bool(n.below) and not twin.nominal[n.feature] for n in flat]
    seen = [task.values[:, n.feature][task.values[:, n.feature] <= n.cut + slack] for n in flat]
    return DecisionTree(
        features=task.features,
        classes=task.classes,
        parent=above,
        test=np.where(branches == 0, LEAF, np.where(cuts, THRESHOLD, MULTIWAY)).astype(np.int8),
        feature=np.array([n.feature if n.below else -1 for n in flat], np.int32),
        threshold=np.array([below.max() if cut else np.nan for cut, below in zip(cuts, seen, strict=True)]),
        first=np.append(0, np.cumsum(branches)).astype(np.int32),
        child=(1 + np.argsort(above[1:], kind="stable")).astype(np.int32),
        counts=np.array([n.counts for n in flat], float),
        goodness=np.where(branches == 0, np.nan, 1.0),
        subset={},
        missing_to=np.full(len(flat), DIVIDED, np.int32),
    )
