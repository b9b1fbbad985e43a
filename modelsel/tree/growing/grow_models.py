"""Grow the tree of M5': at each node the cut that lowers the fifth root of the variance most.

    gain = v^⅕ − (W_l / W) v_l^⅕ − (W_r / W) v_r^⅕,  v: variance of the target, W: weight

Each side keeps more than a fifth of the weight (in whole rows); values nearer than 1e-10 are one; a later column has to win by
1e-6, in the target's own unit. A node is not cut below `LEAST` rows, or where its deviation is under a twentieth of the root's.
Before that a missing value becomes the mean or the most common level, once, and levels of three or more are ordered by the mean
of their rows: k − 1 indicators of being beyond the i-th. Which rows stand where does not matter: they are put in order first.

Quinlan 1992, *Learning with continuous classes*; Wang & Witten 1997; as Weka 3.6.14 has it, which differs from both papers.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from modelsel.core.types import Booleans, Feature, Floats, Integers, NumberTask
from modelsel.tree.growing.whole_target import WholeTarget
from modelsel.tree.structure.node import LEAF, SUBSET, THRESHOLD, DecisionTree, NodeNumbers
from modelsel.tree.structure.node_models import Term

LEAST = 4  # rows below which no node is cut
ROOT = 5  # of the variance
NEAR, BETTER = 1e-10, 1e-6  # values that are one; what a later column has to win by
SMALL_DEVIATION = 0.05  # of the root's


@dataclass(frozen=True, eq=False)
class FittedRows:
    """The rows of a fit in an order of their own, by content: terms × rows, target and weights."""

    terms: tuple[Term, ...]
    values: Floats
    target: Floats
    weight: Floats

    @classmethod
    def of(cls, task: NumberTask, rows: Integers) -> "FittedRows":
        """Gather the rows that have weight (repeats allowed), fill their gaps, and turn levels into numbers."""
        weight = task.row_weights[rows]
        rows, weight = rows[weight > 0], weight[weight > 0]
        values, target = np.asarray(task.values)[rows], task.target[rows]
        order = np.lexsort((weight, *np.nan_to_num(values, nan=np.inf).T[::-1], target))
        values, target, weight = values[order], target[order], weight[order]
        terms = tuple(
            term for place, one in enumerate(task.features) for term in _terms(place, one, values[:, place], target, weight)
        )
        filled = np.array([term.of(values[:, term.feature]) for term in terms]).reshape(len(terms), len(target))
        return cls(terms, filled, target, weight)


def _terms(place: int, feature: Feature, column: Floats, target: Floats, weight: Floats) -> Iterator[Term]:
    """The terms of a feature: itself, or indicators; none of a nominal one with a single level."""
    count = len(feature.levels)
    known = ~np.isnan(column) if feature.kind == "numeric" else column < count
    if feature.kind != "nominal":
        total = weight[known].sum()
        yield Term(place, float(weight[known] @ column[known] / total) if total > 0 else 0.0, ranks=count)
        return
    code, own = column[known].astype(np.int64), weight[known]
    heavy = np.bincount(code, own, count)
    usual = int(np.argmax(heavy)) if count else 0
    if count == 2:
        yield _beyond(place, np.arange(2), 0, usual)
        return
    filled = np.where(known, column, usual).astype(np.int64)
    heavy, sums = np.bincount(filled, weight, count), np.bincount(filled, weight * target, count)
    mean = np.divide(sums, heavy, out=np.full(count, sums.sum() / weight.sum()), where=heavy > 0)
    position = np.empty(count, np.int64)
    position[_quick(mean)] = np.arange(count)
    for step in range(count - 1):
        yield _beyond(place, position, step, usual)


def _quick(of: Floats) -> Integers:
    """Places in ascending order; equal values as Weka's quicksort leaves them (Sedgewick's, by the median of three).

    >>> _quick(np.array([3.0, 1.0, 1.0, 1.0, 1.0])).tolist()
    [2, 3, 4, 1, 0]
    """
    order, waiting = list(range(len(of))), [(0, len(of) - 1)]
    while waiting:
        low, high = waiting.pop()
        middle = (low + high) // 2
        for one, other in ((low, middle), (low, high), (middle, high)) if low < high else ():
            if of[order[one]] > of[order[other]]:
                order[one], order[other] = order[other], order[one]
        if high - low > 2:
            order[middle], order[high - 1] = order[high - 1], order[middle]
            place = _part_by_last(order, of, low, high - 1)
            waiting += [(low, place - 1), (place + 1, high)]
    return np.array(order, np.int64)


def _part_by_last(order: list[int], of: Floats, low: int, last: int) -> int:
    """Part a stretch by its last value, which goes to the place that is returned."""
    pivot, left, right = of[order[last]], low + 1, last - 1
    while True:
        while of[order[left]] < pivot:
            left += 1
        while of[order[right]] > pivot:
            right -= 1
        if left >= right:
            order[left], order[last] = order[last], order[left]
            return left
        order[left], order[right] = order[right], order[left]
        left, right = left + 1, right - 1


def _beyond(place: int, position: Integers, step: int, usual: int) -> Term:
    """1 for levels that stand beyond a place in the order."""
    marks = position > step
    return Term(place, float(marks[usual]), marks)


@dataclass(frozen=True, eq=False)
class GrownModelTree:
    """The tree, the term of each node's test (−1 at leaves), and the fitted rows by their leaf."""

    tree: DecisionTree
    rows: FittedRows
    term: Integers
    first: Integers  # nodes + 1: rows of node i begin at first[i], and end where those of the node after its subtree begin

    @classmethod
    def of(cls, tree: DecisionTree, rows: FittedRows, term: Integers, leaf: Integers) -> "GrownModelTree":
        """Put the rows in the order of their leaves."""
        order = np.argsort(leaf, kind="stable")
        moved = FittedRows(rows.terms, np.ascontiguousarray(rows.values[:, order]), rows.target[order], rows.weight[order])
        return cls(tree, moved, term, np.searchsorted(leaf[order], np.arange(len(tree) + 1)))

    @cached_property
    def used(self) -> Integers:
        """The terms that are tested somewhere."""
        return np.unique(self.term[self.term >= 0])

    def of_node(self, node: int) -> slice:
        """The rows that came by a node."""
        return slice(int(self.first[node]), int(self.first[node + int(self.tree.size[node])]))


@dataclass
class _Records:
    """What is known of each node, in preorder."""

    parent: list[int] = field(default_factory=list)
    term: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    gain: list[float] = field(default_factory=list)
    moments: list[tuple[float, float, float]] = field(default_factory=list)


def grow_models(task: NumberTask, rows: Integers) -> GrownModelTree:
    """Grow on some rows of a task, down to `LEAST` rows; larger limits are read off."""
    own = FittedRows.of(task, rows)
    whole = WholeTarget.of(own.target, float(own.weight.sum()))
    q, leaf = whole.whole.astype(np.float64), np.empty(len(own.target), np.int64)
    records, bound = _Records(), SMALL_DEVIATION * np.sqrt(_variance(q, own.weight)[2])
    order = np.array([np.lexsort((q, column)) for column in own.values], np.int64).reshape(len(own.terms), len(q))
    waiting = [(-1, np.arange(len(q)), order)]
    inside = np.zeros(len(q), bool)
    while waiting:
        above, here, order = waiting.pop()
        node = len(records.parent)
        weight, mean, variance = _variance(q[here], own.weight[here])
        cut = None
        if weight >= LEAST and np.sqrt(variance) >= bound and variance > 0:
            cut = _best(own, q, mean, order, whole.scale)
        records.parent.append(above)
        records.moments.append((weight, float(whole.value(np.array(mean))), variance * weight / whole.scale**2))
        records.term.append(-1 if cut is None else cut[0])
        records.threshold.append(np.nan if cut is None else cut[1])
        records.gain.append(np.nan if cut is None else cut[2])
        if cut is None:
            leaf[here] = node
            continue
        inside[here] = own.values[cut[0], here] <= cut[1]
        below, left = inside[order], inside[here]
        waiting.append((node, here[~left], order[~below].reshape(len(order), -1)))
        waiting.append((node, here[left], order[below].reshape(len(order), -1)))
    return GrownModelTree.of(_tree(task.features, own.terms, records), own, np.array(records.term), leaf)


def _variance(q: Floats, weight: Floats) -> tuple[float, float, float]:
    """Weight, mean and variance; 0 where all are equal."""
    total = float(weight.sum())
    mean = float(weight @ q) / total
    return total, mean, 0.0 if q.min() == q.max() else float(weight @ np.square(q - mean)) / total


def _best(rows: FittedRows, q: Floats, mean: float, order: Integers, scale: float) -> tuple[int, float, float] | None:
    """The column, the threshold and the gain of the best cut; None where there is none."""
    n = order.shape[1]
    centred, weight = q - np.rint(mean), rows.weight
    left = np.cumsum(weight[order], axis=1)
    total = left[:, -1:]
    least = max(1.0, np.floor(float(total[0, 0]) / 5.0))
    values = np.take_along_axis(rows.values, order, axis=1)
    sums, squares = (np.cumsum((weight * centred**power)[order], axis=1) for power in (1, 2))
    inner = slice(0, n - 1)
    open_ = (np.diff(values, axis=1) >= NEAR) & (left[:, inner] > least) & (total - left[:, inner] > least)
    place = np.flatnonzero(open_.any(axis=0))
    if len(place) == 0:
        return None
    span = slice(place[0], place[-1] + 1)
    w, s, t = left[:, span], sums[:, span], squares[:, span]
    below = _root(w, s, t, scale)
    above = _root(total - w, sums[:, -1:] - s, squares[:, -1:] - t, scale)
    whole = _root(total, sums[:, -1:], squares[:, -1:], scale)
    gain = np.where(open_[:, span], whole - w / total * below - (total - w) / total * above, -np.inf)
    at = np.argmax(gain, axis=1)
    best, found = -np.inf, -1
    for column, worth in enumerate(gain[np.arange(len(gain)), at].tolist()):
        if worth > best + BETTER:
            best, found = worth, column
    here = span.start + at[found]
    return found, float((values[found, here] + values[found, here + 1]) * 0.5), best


def _root(weight: Floats, sums: Floats, squares: Floats, scale: float) -> Floats:
    """Fifth roots of variances, in the target's unit."""
    variance = np.abs(weight * squares - sums * sums) / (weight * weight)
    return np.asarray(np.power(variance / scale**2, 1.0 / ROOT))


def _tree(features: tuple[Feature, ...], terms: tuple[Term, ...], records: _Records) -> DecisionTree:
    """The tree in terms of the features that people know: indicators as sets of levels."""
    parent, term = np.array(records.parent, np.int32), np.array(records.term)
    inner, threshold = term >= 0, np.array(records.threshold)
    test, subset, to = np.full(len(term), LEAF, np.int8), dict[int, Booleans](), np.full(len(term), -1, np.int32)
    for node in np.flatnonzero(inner).tolist():
        one = terms[term[node]]
        test[node], to[node] = THRESHOLD if one.levels is None else SUBSET, int(one.fill > threshold[node])
        if one.levels is not None:
            subset[node], threshold[node] = ~one.levels, np.nan
    weight, mean, squares = np.array(records.moments).T
    above = parent[1:]
    return DecisionTree(
        features=features, classes=(), parent=parent, test=test,
        feature=np.array([terms[one].feature if one >= 0 else -1 for one in term], np.int32), threshold=threshold,
        first=np.append(0, np.cumsum(np.bincount(above, minlength=len(parent)))).astype(np.int32),
        child=(1 + np.argsort(above, kind="stable")).astype(np.int32), counts=weight[:, None].copy(),
        goodness=np.array(records.gain), subset=subset, missing_to=to, numbers=NodeNumbers(mean.copy(), squares.copy()),
    )  # fmt: skip
