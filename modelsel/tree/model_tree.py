"""M5': grow a tree of numbers, fit a linear model to every node, prune from below and smooth.

Quinlan 1992, *Learning with continuous classes*; Wang & Witten 1997; as Weka 3.6.14 has it, which differs from both papers.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from modelsel.core.types import Booleans, Codes, Feature, Floats, Integers, NumberTask
from modelsel.tree.growing.whole_target import WholeTarget
from modelsel.tree.node import LEAF, SUBSET, THRESHOLD, DecisionTree, NodeNumbers, Term

# Growing: at each node the cut that lowers the fifth root of the variance most.
#
#     gain = v^⅕ − (W_l / W) v_l^⅕ − (W_r / W) v_r^⅕,  v: variance of the target, W: weight
#
# Each side keeps more than a fifth of the weight (in whole rows); values nearer than 1e-10 are one; a later column has to win
# by 1e-6, in a unit in which the root's deviation is 1 to 2, so that none is preferred for the target's own. A node is not cut
# below `LEAST` rows, or where its deviation is under a twentieth of the root's. Before that a missing value becomes the mean or
# the most common level, once, and levels of three or more are ordered by the mean of their rows: k − 1 indicators of being
# beyond the i-th. Which rows stand where does not matter: they are put in order first.


LEAST = 4  # rows below which no node is cut
ROOT = 5  # of the variance
NEAR, BETTER = 1e-10, 1e-6  # values that are one; what a later column has to win by
SMALL_DEVIATION = 0.05  # of the root's
LOST = 1e-13  # of the sum of squares: a variance below it is what summing leaves, of which a fifth root would make 1/400


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
    known = ~np.isnan(column) if feature.is_number else column < count
    if feature.has_order:
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
    deviation = float(np.sqrt(_variance(q, own.weight)[2]))
    records, bound = _Records(), SMALL_DEVIATION * deviation
    unit = 2.0 ** math.floor(math.log2(deviation)) if deviation > 0 else 1.0
    in_own = (unit / whole.scale) ** (2.0 / ROOT)  # a gain in the target's unit
    order = np.array([np.lexsort((q, column)) for column in own.values], np.int64).reshape(len(own.terms), len(q))
    waiting = [(-1, np.arange(len(q)), order)]
    inside = np.zeros(len(q), bool)
    while waiting:
        above, here, order = waiting.pop()
        node = len(records.parent)
        weight, mean, variance = _variance(q[here], own.weight[here])
        cut = None
        if weight >= LEAST and np.sqrt(variance) >= bound and variance > 0:
            cut = _best(own, q, mean, order, unit)
        records.parent.append(above)
        records.moments.append((weight, float(whole.value(np.array(mean))), variance * weight / whole.scale**2))
        records.term.append(-1 if cut is None else cut[0])
        records.threshold.append(np.nan if cut is None else cut[1])
        records.gain.append(np.nan if cut is None else cut[2] * in_own)
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


def _best(rows: FittedRows, q: Floats, mean: float, order: Integers, unit: float) -> tuple[int, float, float] | None:
    """The column, the threshold and the gain of the best cut, in a unit of q; None where there is none."""
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
    below = _root(w, s, t, unit)
    above = _root(total - w, sums[:, -1:] - s, squares[:, -1:] - t, unit)
    whole = _root(total, sums[:, -1:], squares[:, -1:], unit)
    gain = np.where(open_[:, span], whole - w / total * below - (total - w) / total * above, -np.inf)
    at = np.argmax(gain, axis=1)
    best, found = -np.inf, -1
    for column, worth in enumerate(gain[np.arange(len(gain)), at].tolist()):
        if worth > best + BETTER:
            best, found = worth, column
    here = span.start + at[found]
    return found, float((values[found, here] + values[found, here + 1]) * 0.5), best


def _root(weight: Floats, sums: Floats, squares: Floats, unit: float) -> Floats:
    """Fifth roots of variances, in a unit of q."""
    both = weight * squares
    spread = np.abs(both - sums * sums)
    variance = np.where(spread > LOST * both, spread, 0.0) / (weight * weight)
    return np.asarray(np.power(variance / unit**2, 1.0 / ROOT))


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


# Models of the nodes, pruning and smoothing: all from sums of products that add upwards.
#
# At a node the target is regressed on the columns that are tested below it, so that a leaf that was never cut is constant.
# Ridge 1e-8 on columns of mean 0 and deviation 1; a column whose standardised coefficient is above 1.5 is dropped, the largest
# first; then the smallest goes while Akaike's criterion falls, SSE / SSE_full · (n − p) + 2 p, p coefficients with the
# constant. A subtree becomes its node's model where RMSE · (n + 2 v) / (n − v) is no larger (10 RMSE where n ≤ v): v counts
# what a model estimates, and the tests of a subtree. Smoothing by k rows: ŷ ← (n ŷ + k ŷ_above) / (n + k) from the leaf to the
# root. Sums of two children join without loss: Chan, Golub & LeVeque 1983.


RIDGE, COLLINEAR = 1e-8, 1.5
PRICE, HOPELESS = 2.0, 10.0  # of a parameter in pruning; what multiplies an error where rows are no more than parameters
NOTHING = 1e-5  # of the root's deviation: an error below it is none
CLOSE = 1e-6  # of the squares: what a fit leaves below it is summed row by row


@dataclass(frozen=True, eq=False)
class FittedModels:
    """A model per node over the terms tested somewhere, under one smallest size: where grown paths end, and pruned ones."""

    intercept: Floats
    coefficients: Floats  # nodes × used terms
    closed: Booleans
    pruned: Booleans

    def smooth(self, parent: Codes, weight: Floats, rows: float) -> tuple[Floats, Floats]:
        """Intercepts and coefficients as a leaf of each node would answer them, drawn by so many rows towards those above."""
        raw = np.column_stack([self.intercept, self.coefficients])
        kept, added = np.ones(len(raw)), np.zeros_like(raw)
        for node in range(1, len(raw)):
            above = parent[node]
            share = kept[above] / (weight[node] + rows)
            kept[node] = weight[node] * share
            added[node] = rows * share * raw[above] + added[above]
        found = kept[:, None] * raw + added
        return found[:, 0].copy(), np.ascontiguousarray(found[:, 1:])


@dataclass(frozen=True, eq=False)
class _Sums:
    """Weight, means and centred sums of products of terms (and the target, last) over some rows."""

    weight: float
    mean: Floats
    products: Floats

    @classmethod
    def of(cls, values: Floats, weight: Floats) -> "_Sums":
        """Sum the rows of a leaf about their mean."""
        total = float(weight.sum())
        mean = values @ weight / total
        centred = values - mean[:, None]
        return cls(total, mean, (centred * weight) @ centred.T)

    def join(self, other: "_Sums") -> "_Sums":
        """The sums of both together, about the mean of both."""
        total = self.weight + other.weight
        apart = other.mean - self.mean
        mean = self.mean + apart * (other.weight / total)
        return _Sums(
            total, mean, self.products + other.products + apart[:, None] * (apart * (self.weight * other.weight / total))
        )


def fit_models(grown: GrownModelTree, min_split: float, linear: bool) -> FittedModels:
    """Fit every node's model and prune from below; without `linear` a model is the mean of its rows."""
    tree, rows = grown.tree, grown.rows
    assert tree.numbers is not None
    used = grown.used
    place = np.searchsorted(used, grown.term)
    values = np.vstack([rows.values[used], rows.target])
    closed = tree.terminal | (tree.weight < min_split)
    below, count = np.zeros((len(tree), len(used)), bool), len(tree)
    intercept, coefficients = tree.numbers.mean.copy(), np.zeros((count, len(used)))
    squares, parameters, pruned = np.zeros(count), np.ones(count), closed.copy()
    sums: dict[int, _Sums] = {}
    nothing = NOTHING * np.sqrt(tree.numbers.squares[0] / tree.weight[0])
    hidden = _below_closed(tree.parent, closed)
    for node in range(count - 1, -1, -1):
        if hidden[node]:
            continue
        own = grown.of_node(node)
        if closed[node]:
            sums[node] = _Sums.of(values[:, own], rows.weight[own])
            intercept[node], squares[node] = sums[node].mean[-1], max(float(sums[node].products[-1, -1]), 0.0)
            continue
        left, right = (int(child) for child in tree.children(node))
        sums[node] = sums.pop(left).join(sums.pop(right))
        below[node] = below[left] | below[right]
        below[node, place[node]] = True
        asked = np.flatnonzero(below[node]) if linear else np.empty(0, np.int64)
        intercept[node], coefficients[node], error = _model(sums[node], asked, values[:, own], rows.weight[own])
        n, estimated = sums[node].weight, float(np.count_nonzero(coefficients[node]) + 1)
        under, tests = squares[left] + squares[right], parameters[left] + parameters[right] + 1
        alone = np.sqrt(error / n) * _factor(n, estimated)
        pruned[node] = alone <= np.sqrt(under / n) * _factor(n, tests) or alone < nothing
        squares[node], parameters[node] = (error, estimated) if pruned[node] else (under, tests)
    return FittedModels(intercept, coefficients, closed, pruned)


def _below_closed(parent: Codes, closed: Booleans) -> Booleans:
    """Mask the nodes below a closed one."""
    hidden = np.zeros(len(parent), bool)
    for node in range(1, len(parent)):
        hidden[node] = hidden[parent[node]] or closed[parent[node]]
    return hidden


def _factor(n: float, parameters: float) -> float:
    """What an error on the training rows is multiplied by."""
    return HOPELESS if n <= parameters else (n + PRICE * parameters) / (n - parameters)


def _model(sums: _Sums, asked: Integers, values: Floats, weight: Floats) -> tuple[float, Floats, float]:
    """Intercept, coefficients over all terms, and the sum of squares that they leave."""
    found = np.zeros(len(sums.mean) - 1)
    scatter, n = np.maximum(np.diag(sums.products), 0.0), sums.weight
    deviation = np.sqrt(scatter / (n - 1))
    asked = asked[deviation[asked] > 0]
    problem = _Regression(sums, deviation, values, weight)
    solved = problem.solve(asked)
    while len(asked) and np.abs(solved).max() > COLLINEAR * deviation[-1]:
        asked = _without(asked, int(np.abs(solved).argmax()))
        solved = problem.solve(asked)
    full = error = problem.squares(asked, solved)
    freedom, best = n - len(asked) - 1, (n - len(asked) - 1) + 2.0 * (len(asked) + 1)
    while len(asked) and full > 0:
        fewer = _without(asked, int(np.abs(solved).argmin()))
        again = problem.solve(fewer)
        left = problem.squares(fewer, again)
        akaike = left / full * freedom + 2.0 * (len(fewer) + 1)
        if not akaike < best:
            break
        asked, solved, error, best = fewer, again, left, akaike
    found[asked] = solved / deviation[asked]
    return float(sums.mean[-1] - found @ sums.mean[:-1]), found, error


def _without(places: Integers, at: int) -> Integers:
    """All terms but one."""
    return np.concatenate((places[:at], places[at + 1 :]))


@dataclass(frozen=True, eq=False)
class _Regression:
    """The normal equations of a node, in columns of deviation 1."""

    sums: _Sums
    deviation: Floats
    values: Floats
    weight: Floats

    def solve(self, columns: Integers) -> Floats:
        """Coefficients per deviation of the columns."""
        scale, products = self.deviation[columns], self.sums.products
        scatter = products[columns[:, None], columns] / (scale[:, None] * scale)
        scatter.flat[:: len(columns) + 1] += RIDGE
        return np.asarray(np.linalg.solve(scatter, products[columns, -1] / scale)) if len(columns) else scale

    def squares(self, columns: Integers, solved: Floats) -> float:
        """The squares that coefficients leave; where these are next to nothing, from the rows."""
        factors, products = solved / self.deviation[columns], self.sums.products
        found = products[-1, -1] - factors @ (2 * products[columns, -1] - products[columns[:, None], columns] @ factors)
        if found > CLOSE * products[-1, -1]:
            return float(found)
        mean = self.sums.mean
        off = self.values[-1] - mean[-1] - factors @ (self.values[columns] - mean[columns, None])
        return float(self.weight @ np.square(off))
