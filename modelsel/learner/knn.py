"""k nearest neighbours: the class that the k stored rows nearest to a row vote for; of numbers their mean or a quantile.

A row that stands there twice by its weight is two neighbours; a relative weight is that of its row's one vote.
Numbers are those of `knn_numbers.py`. One search up to the largest k asked for answers every k, vote and prior. Answers depend
on the rows alone: stored rows lie in the order of a digest of their values, class and weight, which settles equal distances.
Sources: Fix & Hodges (1951); Cover & Hart (1967); Aha, Kibler & Albert (1991).
"""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from modelsel.core.spec import one_of, optional_number, optional_word, part, plain, spec_of, whole
from modelsel.core.types import (
    BOTH_TASKS,
    AnyTask,
    ClassTask,
    Codes,
    Description,
    Feature,
    Floats,
    Integers,
    NumberTask,
    Outputs,
    Table,
    Task,
    TaskKind,
)
from modelsel.distance.base import DECIMALS, LEVELS, Distance, FittedDistance, row_digests
from modelsel.distance.search import Neighbours, neighbours
from modelsel.learner.base import BaseLearner, PathModel, chunks
from modelsel.learner.class_prior import Prior, as_prior, prior_of, prior_problems
from modelsel.learner.knn_numbers import (
    NeighbourNumbers,
    NumberModel,
    check_path,
    closeness,
    each_time,
    neighbourhoods,
    running,
    total,
    voices,
)
from modelsel.learner.trees.leaf import MEAN, MEDIAN, QUANTILE

# Votes of ordered neighbours, for every k at once: running sums over the neighbours, read off at each k.
#
#     uniform: w_i        inverse: w_i / d_i        rank: w_i (k + 1 − i)
#
# w_i is the row's weight, d_i its distance and i its rank; a neighbour at distance 0 leaves inverse votes to its like. Votes
# are multiplied by prior / class share, which is 1 for the empirical prior. Equal votes go to the class whose voters are
# nearer in sum, then to the larger prior, then to the first class. Source of the ranked vote: Dudani (1976).

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
            summed = running(np.where(self.labels == cls, each, 0.0))
            own[:] = (running(summed) if twice else summed)[where]
        return sums


def _sum_in_order(each: Floats) -> Floats:
    """Sums over classes, added up in the order in which NumPy adds the numbers of a row."""
    if len(each) < EIGHT:
        return np.asarray(each.sum(axis=0))
    return np.asarray(np.ascontiguousarray(np.moveaxis(each, 0, -1)).sum(axis=-1))


def elect(votes: Floats, farness: Floats, prior: Floats, class_weight: Floats) -> tuple[Codes, Floats]:
    """Predicted classes and class scores from votes (classes × any other axes)."""
    share = class_weight / max(class_weight.sum(), np.finfo(np.float64).tiny)
    over = np.where(share > 0, prior / np.where(share > 0, share, 1.0), 0.0)
    prior, over = (each.reshape(-1, *(1,) * (votes.ndim - 1)) for each in (prior, over))
    weighed = votes * over
    total = _sum_in_order(weighed)
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


COUNTED = 1024  # queries whose votes are counted together: what stays near


def smooth_votes(share: Floats, voters: int, added: float) -> Floats:
    """Laplace's rule for shares of votes (classes × any other axes): (k s_c + l) / (k + l K), l added to each of K classes.

    A share of 0 among k neighbours is no proof that a class is impossible, and ruins a log loss. Which is largest, stays so.

    >>> smooth_votes(np.array([1.0, 0.0]), 3, 1.0).tolist()
    [0.8, 0.2]
    """
    return np.asarray((voters * share + added) / (voters + added * len(share)))


@dataclass(frozen=True)
class Knn(BaseLearner):
    """The k nearest neighbours. Path parameters: `k`, `vote`, `prior`, `smoothing`, `statistic`, `q`."""

    k: int = whole(5, least=1, help="an odd k spares two classes most ties; large k smooths, small k follows noise")
    distance: Distance = part("distance", "heom")
    normalise: str = one_of(
        "range", "none", "deviation", help="from analysis rows; distances with a scale of their own ignore it"
    )
    vote: str = one_of(*VOTES)
    prior: Prior = plain("empirical", help="empirical, uniform, or a number per class")
    smoothing: float | None = optional_number(
        least=0, help="Laplace l, added to each class: log loss needs it, no class changes"
    )

    statistic: str | None = optional_word(MEAN, MEDIAN, QUANTILE, help="of numbers: what neighbours say (null: mean)")
    q: float | None = optional_number(above=0.0, most=1.0, help="quantile: the share of votes below, less than 1")

    reads: ClassVar[tuple[TaskKind, ...]] = BOTH_TASKS
    unit: ClassVar[str] = "neighbourhoods"
    holds_gil: ClassVar[bool] = False
    draws: ClassVar[bool] = False
    no_training_error: ClassVar[str] = (
        "k-NN would search the neighbours of every analysis row for it, and find each row to be its own nearest"
    )

    @classmethod
    def kernels(cls, task: AnyTask) -> tuple[str, ...]:
        """Return the files of kernels that it uses, which a study compiles before its cells."""
        return ("neighbours", "single") if len(task) >= 500 else ("neighbours",)  # as `distance.search` chooses

    def __post_init__(self) -> None:
        object.__setattr__(self, "prior", as_prior(self.prior))

    def mattering(self, kinds: Set[str], scores: bool = True) -> "Knn":
        """Return the learner with what cannot matter at its default: a scale beside a distance's own, unread smoothing."""
        scaled = replace(self, normalise="range") if self.distance.own_scale else self
        return scaled if scores and self.smoothing else replace(scaled, smoothing=None)

    @property
    def quantile(self) -> float | None:
        """The quantile of neighbours that is said; None where it is their mean."""
        return 0.5 if self.statistic == MEDIAN else self.q if self.statistic == QUANTILE else None

    def fit_key(self) -> dict[str, object]:
        scale = "own" if self.distance.own_scale else self.normalise
        return {"kind": "knn", "distance": spec_of(self.distance), "normalise": scale}

    def problems(self, task: Table | None = None) -> Iterable[str]:
        yield from self.distance.problems(task)
        yield from prior_problems(self.prior, task)
        if isinstance(task, NumberTask) and self.prior != "empirical":
            yield "prior is one of classes, and the target is a number: leave it out"
        if isinstance(task, NumberTask) and self.smoothing is not None:
            yield "smoothing is one of class shares, and the target is a number: leave it out"
        if isinstance(task, ClassTask) and (self.statistic is not None or self.q is not None):
            yield "statistic and q are about numbers, and this target has classes: leave them out"
        if (self.statistic == QUANTILE) != (self.q is not None) or self.q == 1.0:
            yield "q is the share of statistic=quantile: above 0 and below 1, and given just then"

    def refusal(self, task: Task, rows: Integers) -> str | None:
        many = len(rows) if task.repeats is None else int(task.repeats[rows].sum())
        return f"k = {self.k} is more than the {many} analysis rows" if self.k > many else None

    def fit_path(self, task: Task, rows: Integers, rng: np.random.Generator) -> "KnnPath | NeighbourNumbers":
        """Encode the analysis rows and store them in the order of their digests."""
        metric = self.distance.fit(task, rows, self.normalise)
        codes = metric.encode(task.values[rows], task.features)
        weights, repeats = task.row_weights[rows], task.repeats is not None
        facts = np.vstack([codes, task.target[rows], np.ones(len(rows)) if repeats else weights])
        order = np.argsort(row_digests(facts, DECIMALS if metric.rounded else None), kind="stable")
        stored = np.ascontiguousarray(codes[:, order])
        if isinstance(task, NumberTask):
            return NeighbourNumbers(metric, task.features, stored, task.target[rows][order], weights[order], repeats)
        labels = np.asarray(task.target[rows], np.int32)
        return KnnPath(metric, task.features, stored, labels[order], weights[order], task.class_count, repeats)

    def fit(self, task: Task, rows: Integers, rng: np.random.Generator) -> "KnnModel | NumberModel":
        """Fit the path and take this learner's model; too few rows are an error."""
        refused = self.refusal(task, rows)
        if refused:
            raise ValueError(refused)
        return self.fit_path(task, rows, rng).model(self)

    @staticmethod
    def restore(description: Description) -> "KnnModel | NumberModel":
        return _restore(description)


@dataclass(frozen=True, eq=False)
class KnnPath:
    """Stored rows, encoded, in the order of their digests."""

    metric: FittedDistance
    features: tuple[Feature, ...]
    stored: Floats  # features × rows
    labels: Codes
    weights: Floats
    classes: int
    repeats: bool = False  # weights say how often a row stands there, and so is a neighbour

    @property
    def class_weight(self) -> Floats:
        return np.bincount(self.labels, self.weights, minlength=self.classes).astype(np.float64)

    def neighbours(self, table: Table, rows: Integers, count: int) -> Neighbours:
        """The nearest stored rows of some rows of a table."""
        encoded = self.metric.encode(table.values[rows], self.features)
        return neighbours(self.metric, self.stored, encoded, min(count, self.stored.shape[1]))

    def outputs(self, learners: Sequence[Knn], table: Table, rows: Integers, scores: bool) -> Outputs:
        """Find the largest number of neighbours once, and count each learner's votes among them."""
        predicted = np.empty((len(learners), len(rows)), np.int32)
        shares = np.empty((len(learners), len(rows), self.classes)) if scores else None
        most = max(learner.k for learner in learners)
        for block in chunks(len(rows), most):
            found = self.neighbours(table, rows[block], most)
            for start in range(block.start, block.start + len(found.rows), COUNTED):
                own = slice(start - block.start, start - block.start + COUNTED)
                classes, share = self._vote(learners, Neighbours(found.rows[own], found.distance[own]), most)
                predicted[:, start : start + classes.shape[1]] = classes
                if shares is not None:
                    shares[:, start : start + classes.shape[1]] = np.moveaxis(share, 0, -1)
        return Outputs(predicted, shares)

    def _vote(self, learners: Sequence[Knn], found: Neighbours, most: int) -> tuple[Codes, Floats]:
        """Classes (learners × queries) and scores (classes × learners × queries) by these neighbours."""
        near, distance = np.ascontiguousarray(found.rows.T), np.ascontiguousarray(found.distance.T)
        if self.repeats:
            near, distance = each_time(near, distance, self.weights[near], most)
        voice = voices(self.weights, near, self.repeats)
        ballot = NeighbourVotes(self.labels[near], voice, distance, self.class_weight)
        farness = cache(ballot.farness)
        elected = np.empty((len(learners), near.shape[1]), np.int32)
        scores = np.empty((self.classes, *elected.shape))
        for (vote, prior), members in _groups(learners).items():
            ks = tuple(learners[member].k for member in members)
            odds = prior_of(prior, self.class_weight)
            elected[members], shares = elect(ballot.count(vote, ks), farness(ks), odds, self.class_weight)
            for position, member in enumerate(members):
                added = learners[member].smoothing
                scores[:, member] = smooth_votes(shares[:, position], ks[position], added) if added else shares[:, position]
        return elected, scores

    def complexity(self, learners: Sequence[Knn]) -> Floats:
        return neighbourhoods(total(self.weights, self.repeats), learners)

    def training_error(self, learners: Sequence[Knn]) -> Floats:
        """NaN: a search for every analysis row would cost more than the cell.

        In ten folds it is nine times the work of the assessment rows; and with each row among its own neighbours it says
        little: it is 0 for k = 1 where no two rows are equal.
        """
        return np.full(len(learners), np.nan)

    def model(self, learner: Knn) -> "KnnModel":
        return KnnModel(self, replace(learner, prior=tuple(prior_of(learner.prior, self.class_weight).tolist())))


@dataclass(frozen=True, eq=False)
class KnnModel(PathModel):
    """The stored rows with one k, vote and prior."""

    path: KnnPath
    learner: Knn

    def describe(self) -> Description:
        """Describe the model: stored rows, metric and settings."""
        path, learner = self.path, self.learner
        features = [[feature.name, feature.kind, list(feature.levels)] for feature in path.features]
        facts = {"k": learner.k, "vote": learner.vote, "prior": list(learner.prior)}
        facts |= {"smoothing": learner.smoothing} if learner.smoothing is not None else {}
        facts |= {"classes": path.classes, "features": features, "metric": path.metric.facts()}
        facts |= {"repeats": True} if path.repeats else {}
        arrays: dict[str, NDArray[np.generic]] = {
            "stored": path.stored,
            "labels": path.labels,
            "weights": path.weights,
        }
        return Description("knn", facts, arrays | path.metric.arrays())


def _groups(learners: Sequence[Knn]) -> dict[tuple[str, Prior], list[int]]:
    """Group learners by vote and prior; values are their positions."""
    groups: dict[tuple[str, Prior], list[int]] = {}
    for position, learner in enumerate(learners):
        groups.setdefault((learner.vote, learner.prior), []).append(position)
    return groups


def _restore(description: Description) -> KnnModel | NumberModel:
    """Check a description and rebuild the model."""
    facts, arrays = description.facts, description.arrays
    features = tuple(Feature(name, kind, tuple(levels)) for name, kind, levels in facts["features"])
    stored = np.ascontiguousarray(arrays["stored"], np.float64)
    if facts.get("numbers"):
        return _of_numbers(description, features, stored)
    labels, weights = np.asarray(arrays["labels"], np.int32), np.asarray(arrays["weights"], np.float64)
    metric, classes, k = FittedDistance.restore(facts["metric"], arrays), int(facts["classes"]), int(facts["k"])
    if stored.ndim != 2 or stored.shape != (len(features), len(labels)) or len(metric.kinds) != len(features):
        raise ValueError("knn: the stored rows do not fit the features")
    _check_tables(metric, stored)
    if len(weights) != len(labels) or not ((labels >= 0) & (labels < classes)).all():
        raise ValueError("knn: labels or weights of the stored rows are out of range")
    smoothing = facts.get("smoothing")
    repeats = bool(facts.get("repeats"))
    if not 1 <= k <= total(weights, repeats) or len(facts["prior"]) != classes:
        raise ValueError("knn: k or prior is out of range")
    if facts["vote"] not in VOTES or not (smoothing or 0) >= 0:
        raise ValueError("knn: vote or smoothing is out of range")
    learner = Knn(k=k, vote=str(facts["vote"]), prior=tuple(facts["prior"]), smoothing=smoothing)
    return KnnModel(KnnPath(metric, features, stored, labels, weights, classes, repeats), learner)


def _of_numbers(description: Description, features: tuple[Feature, ...], stored: Floats) -> NumberModel:
    """Rebuild a model of numbers."""
    facts, arrays = description.facts, description.arrays
    metric, k, vote = FittedDistance.restore(facts["metric"], arrays), int(facts["k"]), str(facts["vote"])
    target, weights = (np.asarray(arrays[name], np.float64) for name in ("target", "weights"))
    path = check_path(NeighbourNumbers(metric, features, stored, target, weights, bool(facts.get("repeats"))), k)
    _check_tables(metric, stored)
    statistic, q = facts.get("statistic"), facts.get("q")
    learner = Knn(k=k, vote=vote, statistic=statistic, q=q)
    if (
        vote not in VOTES
        or statistic not in (None, MEAN, MEDIAN, QUANTILE)
        or any("q is" in said for said in learner.problems())
    ):
        raise ValueError("knn: vote or statistic is out of range")
    return NumberModel(path, learner)


def _check_tables(metric: FittedDistance, stored: Floats) -> None:
    """Check that codes which look up a table lie inside it."""
    for f in np.flatnonzero(metric.kinds == LEVELS):
        codes = stored[f][~np.isnan(stored[f])]
        if not np.isin(codes, np.arange(metric.sizes[f])).all():
            raise ValueError("knn: a stored level is out of range")
