"""Votes of ordered neighbours, for every k at once: running sums over the neighbours, read off at each k.

    uniform: w_i        inverse: w_i / d_i        rank: w_i (k + 1 − i)

w_i is the row's weight, d_i its distance and i its rank; a neighbour at distance 0 leaves inverse votes to its like. Votes
are multiplied by prior / class share, which is 1 for the empirical prior. Equal votes go to the class whose voters are
nearer in sum, then to the larger prior, then to the first class. Source of the ranked vote: Dudani (1976).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from modelsel.core.types import Codes, Floats

VOTES = ("uniform", "inverse", "rank")
EQUAL = 1e-12  # relative: what summation order may do to equal votes
EIGHT = 8  # numbers of a row from which NumPy does not add them up one after the other


@dataclass(frozen=True, eq=False)
class NeighbourVotes:
    """The neighbours of queries: classes, weights and distances, neighbours × queries, nearest first."""

    labels: Codes
    weights: Floats
    distance: Floats
    class_weight: Floats  # of all stored rows

    def count(self, vote: str, ks: Sequence[int]) -> Floats:
        """Votes, classes × ks × queries."""
        if vote == "inverse":
            return self._sums(self.weights * closeness(self.distance), ks)
        if vote == "rank":
            return self._sums(self.weights, ks, twice=True)
        return self._sums(self.weights, ks)

    def farness(self, ks: Sequence[int]) -> Floats:
        """Sums of the voters' distances, classes × ks × queries."""
        return self._sums(self.weights * self.distance, ks)

    def _sums(self, each: Floats, ks: Sequence[int], twice: bool = False) -> Floats:
        """Running sums per class at each k; `twice` sums the running sums again, which weighs rank i by k + 1 − i."""
        where = np.asarray(ks) - 1
        sums = np.empty((len(self.class_weight), len(ks), each.shape[1]))
        for cls, own in enumerate(sums):
            running = _running(np.where(self.labels == cls, each, 0.0))
            own[:] = (_running(running) if twice else running)[where]
        return sums


def _running(each: Floats) -> Floats:
    """Sums of the first so many rows, a row at a time; the rows are overwritten."""
    for above, own in pairwise(each):
        own += above
    return each


def _added(each: Floats) -> Floats:
    """Sums over classes, added up in the order in which NumPy adds the numbers of a row."""
    if len(each) < EIGHT:
        return np.asarray(each.sum(axis=0))
    return np.asarray(np.ascontiguousarray(np.moveaxis(each, 0, -1)).sum(axis=-1))


def closeness(distance: Floats) -> Floats:
    """1 / d up to a factor per query: d_1 / d_i, or 1 and 0 where the nearest lies at distance 0."""
    nearest = distance[:1]
    return np.where(nearest > 0, nearest / np.where(distance > 0, distance, 1.0), distance == 0)


def elect(votes: Floats, farness: Floats, prior: Floats, class_weight: Floats) -> tuple[Codes, Floats]:
    """Predicted classes and class scores from votes (classes × any other axes)."""
    share = class_weight / max(class_weight.sum(), np.finfo(np.float64).tiny)
    over = np.where(share > 0, prior / np.where(share > 0, share, 1.0), 0.0)
    prior, over = (each.reshape(-1, *(1,) * (votes.ndim - 1)) for each in (prior, over))
    weighed = votes * over
    total = _added(weighed)
    scores = np.where(total > 0, weighed / np.where(total > 0, total, 1.0), prior)
    tied = scores >= scores.max(axis=0) * (1 - EQUAL)
    far = np.where(tied, farness, np.inf)
    tied &= far <= far.min(axis=0) * (1 + EQUAL)
    likely = np.where(tied, prior, -1.0)
    chosen = likely >= likely.max(axis=0) * (1 - EQUAL)
    first = np.zeros(votes.shape[1:], np.int32)
    for cls in range(len(votes) - 1, -1, -1):
        np.copyto(first, cls, where=chosen[cls])
    return first, scores
