"""Models for the nodes of a grown model tree, its pruning and its smoothing: all from sums of products that add upwards.

At a node the target is regressed on the columns that are tested below it, so that a leaf that was never cut is constant. Ridge
1e-8 on columns of mean 0 and deviation 1; a column whose standardised coefficient is above 1.5 is dropped, the largest first;
then the smallest goes while Akaike's criterion falls, SSE / SSE_full · (n − p) + 2 p, p coefficients with the constant.
A subtree becomes its node's model where RMSE · (n + 2 v) / (n − v) is no larger (10 RMSE where n ≤ v): v counts what a model
estimates, and the tests of a subtree. Smoothing by k rows: ŷ ← (n ŷ + k ŷ_above) / (n + k) from the leaf to the root.

Quinlan 1992; Wang & Witten 1997; as Weka 3.6.14 has it. Sums of two children join without loss: Chan, Golub & LeVeque 1983.
"""

from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Booleans, Codes, Floats, Integers
from modelsel.tree.growing.grow_models import GrownModelTree

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

    def smoothed(self, parent: Codes, weight: Floats, rows: float) -> tuple[Floats, Floats]:
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
    """All but one of them."""
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
        """What coefficients leave of the squares; where that is next to nothing, from the rows."""
        factors, products = solved / self.deviation[columns], self.sums.products
        found = products[-1, -1] - factors @ (2 * products[columns, -1] - products[columns[:, None], columns] @ factors)
        if found > CLOSE * products[-1, -1]:
            return float(found)
        mean = self.sums.mean
        off = self.values[-1] - mean[-1] - factors @ (self.values[columns] - mean[columns, None])
        return float(self.weight @ np.square(off))
