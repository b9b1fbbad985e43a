"""k-NN against a plain twin that searches afresh for every k, and properties on data full of ties."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modelsel.core.spec import kind_of, make
from modelsel.core.types import Description, Feature, Task, positions
from modelsel.distance.base import row_digests
from modelsel.learner.knn import VOTES, Knn, KnnModel, elect

NOTHING = np.random.default_rng(0)


knns = st.builds(
    Knn,
    k=st.integers(1, 8),
    distance=st.sampled_from(["euclidean", "manhattan", "chebyshev", "minkowski", "heom", "hvdm", "gower", "overlap"]).map(
        lambda kind: make("distance", kind)
    ),
    normalise=st.sampled_from(["none", "range", "deviation"]),
    vote=st.sampled_from(["uniform", "inverse", "rank"]),
    prior=st.sampled_from(["empirical", "uniform", (0.2, 0.3, 0.5)]),
    smoothing=st.sampled_from([None, 0.5, 2.0]),
)


def is_scaled(learner) -> bool:
    """Does its distance promise that units do not matter? Overlap asks whether numbers are equal, and scales none."""
    return kind_of(learner.distance) != "overlap" and (learner.normalise != "none" or learner.distance.own_scale)


class Twin:
    """k-NN of one query at a time, in Python: scales, differences, digests and votes written down again."""

    def __init__(self, learner, task, rows):
        self.learner, self.task, self.rows = learner, task, rows
        self.kind = kind_of(learner.distance)
        self.stored = task.values[rows]
        self.weight = task.row_weights[rows]
        self.scales = [self._scale(f) for f in range(len(task.features))]
        encoded = np.array([[self._place(f, x) for f, x in enumerate(row)] for row in self.stored])
        facts = np.vstack([encoded.T, task.target[rows], self.weight])
        exact = (learner.normalise == "none" and not learner.distance.own_scale) or self.kind == "overlap"
        self.digest = row_digests(facts, None if exact else 9)

    def _scale(self, f):
        """(centre, divisor or 0, what a missing value counts)."""
        if self.task.features[f].kind == "nominal" or self.kind == "overlap":
            return 0.0, 1.0, 1.0
        pairs = [(x, w) for x, w in zip(self.stored[:, f], self.weight) if not math.isnan(x)]
        own = {"heom": "range", "gower": "range", "hvdm": "four deviations"}
        how = own.get(self.kind, self.learner.normalise)
        low, high = (min(x for x, _ in pairs), max(x for x, _ in pairs)) if pairs else (0.0, 0.0)
        if how == "none":
            return 0.0, 1.0, high - low
        if how == "range":
            return low, high - low, 1.0
        total = sum(w for _, w in pairs)
        mean = sum(w * x for x, w in pairs) / total if pairs else 0.0
        deviation = math.sqrt(sum(w * (x - mean) ** 2 for x, w in pairs) / total) if pairs else 0.0
        if how == "four deviations":
            return mean, 4 * deviation, 1.0
        return mean, deviation, (high - low) / deviation if deviation else 0.0

    def _place(self, f, x):
        centre, divisor, _ = self.scales[f]
        return x if math.isnan(x) else ((x - centre) / divisor if divisor else 0.0)

    def _difference(self, f, x, y):
        _, divisor, missing = self.scales[f]
        if math.isnan(x) or math.isnan(y):
            return None if self.kind == "gower" else missing
        if self.task.features[f].kind == "nominal" and self.kind == "hvdm":
            classes = range(len(self.task.classes))
            return math.sqrt(math.fsum((self._share(f, x, c) - self._share(f, y, c)) ** 2 for c in classes))
        if self.task.features[f].kind == "nominal" or self.kind == "overlap":
            return float(x != y)
        return abs(x - y) / divisor if divisor else 0.0

    def _share(self, f, level, cls):
        """P(class | level) among the stored rows."""
        there = self.stored[:, f] == level
        of_class = there & (self.task.target[self.rows] == cls)
        return self.weight[of_class].sum() / self.weight[there].sum() if there.any() else 0.0

    def distance(self, x, y):
        terms = [self._difference(f, a, b) for f, (a, b) in enumerate(zip(x, y))]
        terms = [term for term in terms if term is not None]
        if self.kind in ("manhattan", "overlap"):
            return math.fsum(terms)
        if self.kind == "chebyshev":
            return max(terms)
        if self.kind == "gower":
            return math.fsum(terms) / len(terms) if terms else 1.0
        if self.kind == "minkowski":
            return math.fsum(t**3 for t in terms) ** (1 / 3)
        return math.sqrt(math.fsum(t * t for t in terms))

    def answer(self, query):
        """(class, scores) of one row of values."""
        learner, classes = self.learner, range(len(self.task.classes))
        target = self.task.target[self.rows]
        far_off = [self.distance(query, row) for row in self.stored]
        order = sorted((round(d, 11), int(self.digest[i]), i) for i, d in enumerate(far_off))
        near = [(far_off[i], target[i], self.weight[i]) for _, _, i in order[: learner.k]]
        votes, far = dict.fromkeys(classes, 0.0), dict.fromkeys(classes, 0.0)
        for rank, (d, cls, weight) in enumerate(near, start=1):
            far[cls] += weight * d
            if learner.vote == "uniform":
                votes[cls] += weight
            elif learner.vote == "rank":
                votes[cls] += weight * (learner.k + 1 - rank)
            elif near[0][0] == 0:
                votes[cls] += weight * (d == 0)
            else:
                votes[cls] += weight / d
        share = {c: math.fsum(self.weight[target == c]) / math.fsum(self.weight) for c in classes}
        prior = {"empirical": share, "uniform": dict.fromkeys(classes, 1 / 3)}.get(
            learner.prior, dict(enumerate(learner.prior)) if isinstance(learner.prior, tuple) else {}
        )
        votes = {c: votes[c] * prior[c] / share[c] if share[c] else 0.0 for c in classes}
        total = math.fsum(votes.values())
        scores = [votes[c] / total for c in classes] if total else [prior[c] for c in classes]
        best = max(classes, key=lambda c: (round(scores[c], 10), -round(far[c], 9), round(prior[c], 10), -c))
        added = learner.smoothing or 0.0
        return best, [(learner.k * score + added) / (learner.k + added * len(scores)) for score in scores]


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(st.data(), st.lists(knns, min_size=1, max_size=6))
def test_one_search_answers_every_k_vote_and_prior_as_a_plain_search_would(tied, data, learners):
    task = data.draw(tied(weighted=True))
    rows = np.arange(0, len(task) - 3)
    queries = positions(task)

    for growing in {str(learner.fit_key()) for learner in learners}:
        group = [learner for learner in learners if str(learner.fit_key()) == growing and learner.k <= len(rows)]
        if not group:
            continue
        outputs = group[0].fit_path(task, rows, NOTHING).outputs(group, task, queries, scores=True)
        for position, learner in enumerate(group):
            twin = Twin(learner, task, rows)
            expected = [twin.answer(task.values[query]) for query in queries]
            assert outputs.scores[position] == pytest.approx(np.array([s for _, s in expected]), abs=1e-12)
            assert outputs.predicted[position].tolist() == [c for c, _ in expected]


@settings(max_examples=60, deadline=None)
@given(st.data(), knns, st.randoms(use_true_random=False))
def test_answers_do_not_depend_on_row_order(tied, data, learner, random):
    task = data.draw(tied())
    rows = positions(task)
    shuffled = rows.copy()
    random.shuffle(shuffled)
    here, there = (learner.fit(task, order, NOTHING) for order in (rows, shuffled))
    assert np.array_equal(here.predict(task), there.predict(task))
    assert np.array_equal(here.scores(task), there.scores(task))
    moved = learner.fit(task.take(shuffled), rows, NOTHING)
    assert np.array_equal(moved.predict(task), here.predict(task))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.data(), knns.filter(is_scaled), st.sampled_from([3.0, 0.1, 1e6]), st.floats(-5, 5))
def test_normalised_distances_know_no_units(tied, data, learner, factor, shift):
    task = data.draw(tied())
    change = [f.kind == "numeric" for f in task.features]
    other = task.with_features(task.features, np.where(change, task.values * factor + shift, task.values))
    rows = np.arange(len(task) - 3)
    if learner.k > len(rows):
        return
    here, there = learner.fit(task, rows, NOTHING), learner.fit(other, rows, NOTHING)
    assert np.array_equal(here.predict(task), there.predict(other))
    assert here.scores(task) == pytest.approx(there.scores(other), abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.data(), knns)
def test_a_restored_model_says_the_same(tied, data, learner):
    task = data.draw(tied(weighted=True))
    model = learner.fit(task, positions(task), NOTHING)
    again = Knn.restore(model.describe())
    assert np.array_equal(model.predict(task), again.predict(task))
    assert model.scores(task) == pytest.approx(again.scores(task), abs=1e-15)


def small_of(task_of) -> tuple[Task, KnnModel]:
    task = task_of((Feature("f", "numeric"),), [[0.0], [1.0], [2.0], [np.nan]], [0, 1, 1, 2])
    return task, Knn(k=3, distance=make("distance", "euclidean")).fit(task, positions(task), NOTHING)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("labels", [0, 1, 9, 2]),
        ("labels", [0, 1, 3, 2]),
        ("labels", [0, 1]),
        ("weights", [1.0]),
        ("stored", [[1.0]]),
        ("kinds", [7]),
    ],
)
def test_a_damaged_description_is_refused(task_of, name, value):
    description = small_of(task_of)[1].describe()
    with pytest.raises(ValueError):
        Knn.restore(Description("knn", description.facts, {**description.arrays, name: np.array(value)}))


@pytest.mark.parametrize(
    ("name", "value"), [("k", 0), ("k", 5), ("classes", 2), ("prior", [1.0]), ("vote", "loud"), ("smoothing", -1)]
)
def test_a_damaged_fact_is_refused(task_of, name, value):
    description = small_of(task_of)[1].describe()
    with pytest.raises(ValueError):
        Knn.restore(Description("knn", {**description.facts, name: value}, description.arrays))


def test_more_neighbours_than_rows_are_refused_with_the_numbers(task_of):
    task, _ = small_of(task_of)
    assert Knn(k=5).refusal(task, positions(task)) == "k = 5 is more than the 4 analysis rows"
    with pytest.raises(ValueError, match="4 analysis rows"):
        Knn(k=5).fit(task, positions(task), NOTHING)


def test_path_parameters_share_a_growing_and_an_own_scale_ignores_normalise():
    assert Knn(k=1, vote="rank", prior="uniform").fit_key() == Knn(k=9).fit_key()
    assert Knn(normalise="none").fit_key() == Knn(normalise="deviation").fit_key()
    plain, scaled = (Knn(distance=make("distance", "euclidean"), normalise=n) for n in ("none", "range"))
    assert plain.fit_key() != scaled.fit_key()


def test_a_prior_that_does_not_fit_is_named(task_of):
    task, _ = small_of(task_of)
    assert list(Knn(prior="flat").problems()) == [
        "prior is 'flat': use empirical, laplace, uniform, or a list with one number per class"
    ]
    assert list(Knn(prior=(1.0, 2.0)).problems(task)) == ["prior has 2 numbers for 3 classes (x, y, z)"]
    assert list(Knn(prior=(1.0, -2.0)).problems())
    assert not list(Knn(prior=[1, 2, 3]).problems(task))


def test_equal_votes_go_to_the_nearer_class(task_of):
    task = task_of((Feature("f", "numeric"),), [[0.0], [3.0], [4.0], [10.0]], [0, 1, 0, 1])
    query = task.with_features(task.features, np.full((4, 1), 3.4))
    learner = Knn(k=2, distance=make("distance", "euclidean"), normalise="none")
    assert learner.fit(task, positions(task), NOTHING).predict(query)[0] == 1  # 3 is nearer than 4


def test_rows_asked_in_parts_get_the_same_answers(task_of, monkeypatch):
    rng = np.random.default_rng(2)
    task = task_of([Feature("f", "numeric")], rng.integers(0, 9, (60, 1)), rng.integers(0, 3, 60))
    path, learners = Knn().fit_path(task, positions(task), NOTHING), [Knn(k=k, vote=v) for k in (1, 7) for v in VOTES]
    at_once = path.outputs(learners, task, positions(task), scores=True)
    monkeypatch.setattr("modelsel.learner.base.CELLS", 50)
    monkeypatch.setattr("modelsel.learner.knn.COUNTED", 3)
    in_parts = path.outputs(learners, task, positions(task), scores=True)
    assert np.array_equal(at_once.predicted, in_parts.predicted)
    assert np.array_equal(at_once.scores, in_parts.scores)


@pytest.mark.parametrize("classes", [2, 3, 7, 8, 9, 20])
def test_shares_are_added_up_as_numpy_adds_a_row(classes):
    votes = np.random.default_rng(classes).random((classes, 5, 7))
    prior = np.full(classes, 1 / classes)
    _, shares = elect(votes, np.zeros_like(votes), prior, np.ones(classes))
    by_row = np.ascontiguousarray(np.moveaxis(votes * (prior / (1 / classes))[:, None, None], 0, -1))
    np.testing.assert_array_equal(np.moveaxis(shares, 0, -1), by_row / by_row.sum(axis=-1, keepdims=True))


def test_complexity_is_how_many_neighbourhoods_would_not_overlap(task_of):
    path = small_of(task_of)[1].path
    learners = [Knn(k=1), Knn(k=2), Knn(k=4)]
    assert path.complexity(learners).tolist() == [4.0, 2.0, 1.0]


def test_equal_votes_of_rows_at_the_very_place_go_to_the_likelier_class() -> None:
    prior = np.array([0.3, 0.7])
    first, scores = elect(np.array([[0.5], [0.5]]), np.zeros((2, 1)), prior, prior)
    assert (first.tolist(), scores.ravel().tolist()) == ([1], [0.5, 0.5])
