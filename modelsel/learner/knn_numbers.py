"""k nearest neighbours where the target is a number: the mean of the k stored rows nearest to a row, weighted as they vote.

    ŷ = Σ v_i y_i / Σ v_i        uniform: v_i = w_i        inverse: w_i / d_i        rank: w_i (k + 1 − i)

One search up to the largest k asked for answers every k and vote. Sources: Cover (1968); Dudani (1976).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Description, Feature, Floats, Integers, NumberOutputs, Table, positions
from modelsel.distance.base import FittedDistance
from modelsel.distance.search import neighbours
from modelsel.learner.base import FittedModel
from modelsel.learner.chunks import chunks
from modelsel.learner.running import closeness, running


def neighbourhoods(rows: int, learners: Sequence[Any]) -> Floats:
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

    def outputs(self, learners: Sequence[Any], table: Table, rows: Integers, scores: bool) -> NumberOutputs:
        """Find the largest number of neighbours once, and take each learner's mean among them."""
        said, most = np.empty((len(learners), len(rows))), max(learner.k for learner in learners)
        for block in chunks(len(rows), most):
            encoded = self.metric.encode(table.values[rows[block]], self.features)
            found = neighbours(self.metric, self.stored, encoded, most)
            near, distance = np.ascontiguousarray(found.rows.T), np.ascontiguousarray(found.distance.T)
            for vote in {learner.vote for learner in learners}:
                members = [place for place, learner in enumerate(learners) if learner.vote == vote]
                said[members, block] = self._means(vote, [learners[place].k for place in members], near, distance)
        return NumberOutputs(said)

    def _means(self, vote: str, ks: Sequence[int], near: Integers, distance: Floats) -> Floats:
        """Means at each k, ks × queries, from the neighbours of queries, nearest first."""
        weights, where = self.weights[near], np.asarray(ks) - 1
        if vote == "inverse":
            weights = weights * closeness(distance)
        above, below = running(weights * self.target[near]), running(weights.copy())
        if vote == "rank":
            above, below = running(above), running(below)
        return np.asarray(above[where] / below[where])

    def complexity(self, learners: Sequence[Any]) -> Floats:
        return neighbourhoods(self.stored.shape[1], learners)

    def training_error(self, learners: Sequence[Any]) -> Floats:
        """NaN: see `Knn.no_training_error`."""
        return np.full(len(learners), np.nan)

    def model(self, learner: Any) -> "NumberModel":
        return NumberModel(self, learner)


@dataclass(frozen=True, eq=False)
class NumberModel(FittedModel):
    """The stored rows with one k and vote."""

    path: NeighbourNumbers
    learner: Any

    def predict(self, table: Table) -> Floats:
        said: Floats = self.path.outputs([self.learner], table, positions(table), scores=False).predicted[0]
        return said

    def describe(self) -> Description:
        """Describe the model: stored rows, metric and settings."""
        path, learner = self.path, self.learner
        features = [[feature.name, feature.kind, list(feature.levels)] for feature in path.features]
        facts = {"k": learner.k, "vote": learner.vote, "features": features, "metric": path.metric.facts(), "numbers": True}
        arrays: dict[str, NDArray[Any]] = {"stored": path.stored, "target": path.target, "weights": path.weights}
        return Description("knn", facts, arrays | path.metric.arrays())


def checked(path: NeighbourNumbers, k: int) -> NeighbourNumbers:
    """The path as it was described; ValueError where it is not whole."""
    rows = len(path.target)
    if path.stored.ndim != 2 or path.stored.shape != (len(path.features), rows) or len(path.weights) != rows:
        raise ValueError("knn: the stored rows do not fit the features")
    if not (np.isfinite(path.target).all() and 1 <= k <= rows):
        raise ValueError("knn: k or the numbers of the stored rows are out of range")
    return path
