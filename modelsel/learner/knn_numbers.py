"""k nearest neighbours where the target is a number: a statistic of the k stored rows nearest to a row, weighted as they vote.

    mean        Σ v_i y_i / Σ v_i        uniform: v_i = w_i        inverse: w_i / d_i        rank: w_i (k + 1 − i)
    quantile q  the smallest y_i that has more than the share q of Σ v_i up to it; where it is q exactly, the middle to the next
    median      the quantile ½

One search up to the largest k asked for answers every k, vote and statistic. Sources: Cover (1968); Dudani (1976); of quantiles
Stone (1977), *Consistent nonparametric regression*.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Description, Feature, Floats, Integers, NumberOutputs, Table, positions
from modelsel.distance.base import FittedDistance
from modelsel.distance.search import neighbours
from modelsel.learner.base import FittedModel, chunks

# Running sums over ordered neighbours, and how near each is: what votes and means of neighbours share.


def running(each: Floats) -> Floats:
    """Sums of the first so many rows, a row at a time; the rows are overwritten."""
    for above, own in pairwise(each):
        own += above
    return each


def closeness(distance: Floats) -> Floats:
    """1 / d up to a factor per query: d_1 / d_i, or 1 and 0 where the nearest lies at distance 0."""
    nearest = distance[:1]
    return np.where(nearest > 0, nearest / np.where(distance > 0, distance, 1.0), distance == 0)


def each_time(near: Integers, distance: Floats, times: Floats, most: int) -> tuple[Integers, Floats]:
    """The first `most` neighbours of each query, where a row that stands there twice is two of them.

    >>> each_time(np.array([[3], [5]]), np.array([[0.1], [0.2]]), np.array([[2.0], [9.0]]), 3)[0].ravel().tolist()
    [3, 3, 5]
    """
    upto, place, query = running(times.copy()), np.zeros(near.shape[1], np.int64), np.arange(near.shape[1])
    places = np.empty((most, len(query)), np.int64)
    for step in range(most):
        place += upto[place, query] <= step  # each stands there at least once
        places[step] = place
    return np.take_along_axis(near, places, axis=0), np.take_along_axis(distance, places, axis=0)


NEARLY = 1e-9  # of the weight: what is as much


def voices(weights: Floats, near: Integers, repeats: bool) -> Floats:
    """What each neighbour's vote weighs; one that stands there several times has as many of one."""
    return np.ones(near.shape) if repeats else weights[near]


def total(weights: Floats, repeats: bool) -> int:
    """Rows that there are, each as often as it stands there."""
    return int(weights.sum()) if repeats else len(weights)


class NeighbourSettings(Protocol):
    """Settings of a learner that are read off stored rows: how many neighbours, how each counts, what is said of them."""

    @property
    def k(self) -> int:
        """Neighbours that are asked."""
        ...

    @property
    def vote(self) -> str:
        """How much each counts."""
        ...

    @property
    def statistic(self) -> str | None:
        """The statistic of their numbers that is answered."""
        ...

    @property
    def q(self) -> float | None:
        """The share of the votes below a quantile that is asked for."""
        ...

    @property
    def quantile(self) -> float | None:
        """The share below what is said, ½ of a median; None of a mean."""
        ...


def neighbourhoods(rows: int, learners: Sequence[NeighbourSettings]) -> Floats:
    """Compute n / k, the effective number of parameters: so many neighbourhoods of k rows would not overlap.

    Source: Hastie, Tibshirani & Friedman (2009), The Elements of Statistical Learning, 2.3.2.
    """
    return rows / np.array([learner.k for learner in learners], np.float64)


@dataclass(frozen=True, eq=False)
class NeighbourNumbers:
    """Stored rows, encoded, in the order of their digests."""

    metric: FittedDistance
    features: tuple[Feature, ...]
    stored: Floats  # features × rows
    target: Floats
    weights: Floats
    repeats: bool = False  # weights say how often a row stands there, and so is a neighbour

    @property
    def total(self) -> int:
        """Rows that there are, each as often as it stands there."""
        return total(self.weights, self.repeats)

    def outputs(self, learners: Sequence[NeighbourSettings], table: Table, rows: Integers, scores: bool) -> NumberOutputs:
        """Find the largest number of neighbours once, and take each learner's statistic of its own."""
        said, most = np.empty((len(learners), len(rows))), max(learner.k for learner in learners)
        for block in chunks(len(rows), most):
            encoded = self.metric.encode(table.values[rows[block]], self.features)
            found = neighbours(self.metric, self.stored, encoded, min(most, self.stored.shape[1]))
            near, distance = np.ascontiguousarray(found.rows.T), np.ascontiguousarray(found.distance.T)
            if self.repeats:
                near, distance = each_time(near, distance, self.weights[near], most)
            for (vote, q), members in _alike(learners).items():
                ks = [learners[place].k for place in members]
                said[members, block] = (
                    self._means(vote, ks, near, distance) if q is None else self._quantiles(vote, q, ks, near, distance)
                )
        return NumberOutputs(said)

    def _means(self, vote: str, ks: Sequence[int], near: Integers, distance: Floats) -> Floats:
        """Means at each k, ks × queries, from the neighbours of queries, nearest first."""
        weights, where = voices(self.weights, near, self.repeats), np.asarray(ks) - 1
        if vote == "inverse":
            weights = weights * closeness(distance)
        above, below = running(weights * self.target[near]), running(weights.copy())
        if vote == "rank":
            above, below = running(above), running(below)
        return np.asarray(above[where] / below[where])

    def _quantiles(self, vote: str, q: float, ks: Sequence[int], near: Integers, distance: Floats) -> Floats:
        """Quantiles at each k, ks × queries."""
        weights, target = voices(self.weights, near, self.repeats), self.target[near]
        if vote == "inverse":
            weights = weights * closeness(distance)
        found = np.empty((len(ks), near.shape[1]))
        for place, k in enumerate(ks):
            ranks = np.arange(k, 0, -1.0)[:, None] if vote == "rank" else 1.0
            found[place] = weighted_quantiles(target[:k], weights[:k] * ranks, q)
        return found

    def complexity(self, learners: Sequence[NeighbourSettings]) -> Floats:
        return neighbourhoods(self.total, learners)

    def training_error(self, learners: Sequence[NeighbourSettings]) -> Floats:
        """NaN: see `Knn.no_training_error`."""
        return np.full(len(learners), np.nan)

    def model(self, learner: NeighbourSettings) -> "NumberModel":
        return NumberModel(self, learner)


def _alike(learners: Sequence[NeighbourSettings]) -> dict[tuple[str, float | None], list[int]]:
    """Positions of learners by their vote and quantile (None: mean)."""
    groups: dict[tuple[str, float | None], list[int]] = {}
    for place, learner in enumerate(learners):
        groups.setdefault((learner.vote, learner.quantile), []).append(place)
    return groups


def weighted_quantiles(values: Floats, weights: Floats, q: float) -> Floats:
    """Quantiles of each column; a value without weight is none.

    >>> weighted_quantiles(np.array([[4.0], [1.0], [2.0]]), np.array([[2.0], [1.0], [1.0]]), 0.5).tolist()
    [3.0]
    """
    order = np.argsort(values, axis=0, kind="stable")
    ordered = np.take_along_axis(values, order, axis=0)
    so_far = np.cumsum(np.take_along_axis(weights, order, axis=0), axis=0)
    slack = NEARLY * so_far[-1]
    first = (so_far < q * so_far[-1] - slack).sum(axis=0)
    following = np.minimum((so_far <= q * so_far[-1] + slack).sum(axis=0), len(values) - 1)
    columns = np.arange(values.shape[1])
    return np.asarray(ordered[first, columns] / 2 + ordered[np.maximum(first, following), columns] / 2)


@dataclass(frozen=True, eq=False)
class NumberModel(FittedModel):
    """The stored rows with one k, vote and statistic."""

    path: NeighbourNumbers
    learner: NeighbourSettings

    def predict(self, table: Table) -> Floats:
        said: Floats = self.path.outputs([self.learner], table, positions(table), scores=False).predicted[0]
        return said

    def describe(self) -> Description:
        """Describe the model: stored rows, metric and settings."""
        path, learner = self.path, self.learner
        features = [[feature.name, feature.kind, list(feature.levels)] for feature in path.features]
        facts = {"k": learner.k, "vote": learner.vote, "features": features, "metric": path.metric.facts(), "numbers": True}
        facts |= {"statistic": learner.statistic, "q": learner.q} | ({"repeats": True} if path.repeats else {})
        arrays: dict[str, NDArray[np.generic]] = {"stored": path.stored, "target": path.target, "weights": path.weights}
        return Description("knn", facts, arrays | path.metric.arrays())


def check_path(path: NeighbourNumbers, k: int) -> NeighbourNumbers:
    """The path as it was described; ValueError where it is not whole."""
    rows = len(path.target)
    if path.stored.ndim != 2 or path.stored.shape != (len(path.features), rows) or len(path.weights) != rows:
        raise ValueError("knn: the stored rows do not fit the features")
    if not (np.isfinite(path.target).all() and 1 <= k <= path.total):
        raise ValueError("knn: k or the numbers of the stored rows are out of range")
    return path
