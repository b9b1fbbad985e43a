"""Naive Bayes against a twin that adds up log-probabilities row by row, and what must hold for any counts."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import gaussian_kde, norm

from modelsel.core.types import Description, Feature, positions
from modelsel.learner import likelihood
from modelsel.learner.likelihood import count_levels
from modelsel.learner.naive_bayes import NaiveBayes

NOTHING = np.random.default_rng(0)
learners = st.builds(
    NaiveBayes,
    numeric=st.sampled_from(["gaussian", "kernel"]),
    smoothing=st.sampled_from([0.0, 0.5, 1.0, 3.0]),
    m=st.sampled_from([None, 0.0, 1.0, 4.5]),
    m_prior=st.sampled_from(["marginal", "uniform"]),
    prior=st.sampled_from(["empirical", "uniform", (0.2, 0.3, 0.5)]),
)


class Twin:
    """Naive Bayes of one row at a time, in Python: logarithms of probabilities, written down again."""

    def __init__(self, learner, task, rows):
        self.learner, self.task, self.classes = learner, task, range(len(task.classes))
        self.lost = 1e-12
        self.seen = [(task.values[r], int(task.target[r]), float(task.row_weights[r])) for r in rows]

    def scores(self, row):
        weight = [math.fsum(w for _, c, w in self.seen if c == cls) for cls in self.classes]
        prior = {"empirical": [w / math.fsum(weight) for w in weight], "uniform": [1 / 3] * 3}.get(
            self.learner.prior, list(self.learner.prior)
        )
        joint = [log(p) for p in prior]
        for f, x in enumerate(row):
            if not math.isnan(x):
                factors = self._number(f, x) if self.task.features[f].kind == "numeric" else self._nominal(f, x)
                joint = [p + q for p, q in zip(joint, factors)]
        if max(joint) == -math.inf:
            return prior
        share = [math.exp(p - max(joint)) for p in joint]
        self.lost = max(self.lost, 1e-15 * max(abs(p) for p in joint if p > -math.inf))  # digits that large logarithms cost
        return [p / math.fsum(share) for p in share]

    def _nominal(self, f, x):
        size = len(self.task.features[f].levels)
        if x >= size:
            return [0.0] * 3
        known = [(v[f], c, w) for v, c, w in self.seen if v[f] < size]
        total = math.fsum(w for _, _, w in known)
        factors = []
        for cls in self.classes:
            with_level = math.fsum(w for v, c, w in known if c == cls and v == x)
            of_class = math.fsum(w for _, c, w in known if c == cls)
            overall = math.fsum(w for v, _, w in known if v == x) / total if total else 1 / size
            p = overall if self.learner.m is not None and self.learner.m_prior == "marginal" else 1 / size
            strength = self.learner.smoothing * size if self.learner.m is None else self.learner.m
            factors.append((with_level + strength * p) / (of_class + strength) if of_class + strength else p)
        return [log(p) for p in factors] if any(factors) else [0.0] * 3

    def _number(self, f, x):
        known = [(v[f], c, w) for v, c, w in self.seen if not math.isnan(v[f])]
        _, deviation = moments([(v, w) for v, _, w in known])
        if deviation == 0:
            return [0.0] * 3
        factors = []
        for cls in self.classes:
            own = [(v, w) for v, c, w in known if c == cls]
            if math.fsum(w for _, w in own) <= 1:
                own = [(v, w) for v, _, w in known]
            m, d = moments(own)
            d = d if d > 1e-9 * deviation else 0.01 * deviation
            if self.learner.numeric == "kernel":
                factors.append(self._kernel(x, own, d))
                continue
            factors.append(-0.5 * ((x - m) / d) ** 2 - math.log(d))
        return factors

    def _kernel(self, x, own, deviation):
        total = math.fsum(w for _, w in own)
        h = deviation * total**-0.2
        exponents = [math.log(w / total / h) - 0.5 * ((x - v) / h) ** 2 for v, w in own]
        return max(exponents) + math.log(math.fsum(math.exp(e - max(exponents)) for e in exponents))


def log(p):
    return math.log(p) if p else -math.inf


def moments(pairs):
    total = math.fsum(w for _, w in pairs)
    if total <= 1:
        return 0.0, 0.0
    mean = math.fsum(v * w for v, w in pairs) / total
    return mean, math.sqrt(math.fsum(w * (v - mean) ** 2 for v, w in pairs) / (total - 1))


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(st.data(), st.lists(learners, min_size=1, max_size=6))
def test_one_count_answers_every_smoothing_and_prior_as_counting_alone_would(tied, data, candidates):
    task = data.draw(tied(weighted=data.draw(st.booleans())))
    rows, queries = np.arange(len(task) - 3), positions(task)
    candidates = [learner for learner in candidates if learner.numeric == candidates[0].numeric]
    outputs = candidates[0].fit_path(task, rows, NOTHING).outputs(candidates, task, queries, scores=True)
    for position, learner in enumerate(candidates):
        twin = Twin(learner, task, rows)
        expected = np.array([twin.scores(task.values[q]) for q in queries])
        assert outputs.scores[position] == pytest.approx(expected, abs=twin.lost)
        firsts = [int(np.argmax(np.round(row, 9))) for row in expected]
        assert outputs.predicted[position].tolist() == firsts


@settings(max_examples=60, deadline=None)
@given(st.data(), learners)
def test_a_subset_read_off_the_counts_is_a_fit_on_fewer_columns(tied, data, learner):
    task = data.draw(tied(weighted=True))
    columns = np.array(data.draw(st.permutations(range(len(task.features)))))[: data.draw(st.integers(1, len(task.features)))]
    rows = np.arange(len(task) - 3)
    path = learner.fit_path(task, rows, NOTHING).subset(columns)
    fewer = task.with_features(tuple(task.features[c] for c in columns), task.values[:, columns])
    alone = learner.fit(fewer, rows, NOTHING)
    outputs = path.outputs([learner], task, positions(task), scores=True)
    assert outputs.scores[0] == pytest.approx(alone.scores(fewer), abs=1e-12)
    assert np.array_equal(outputs.predicted[0], alone.predict(fewer))
    assert np.array_equal(path.model(learner).predict(fewer), alone.predict(fewer))
    assert path.complexity([learner]) == learner.fit_path(fewer, rows, NOTHING).complexity([learner])


@settings(max_examples=60, deadline=None)
@given(st.data(), learners)
def test_weights_count_as_repeats(tied, data, learner):
    task = data.draw(tied(weighted=True))
    repeats = np.repeat(positions(task), task.weights.astype(int))
    plain = replace(task.take(repeats), weights=None)
    weighted, repeated = learner.fit(task, positions(task), NOTHING), learner.fit(plain, positions(plain), NOTHING)
    assert weighted.scores(task) == pytest.approx(repeated.scores(task), abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.data(), learners)
def test_a_restored_model_says_the_same(tied, data, learner):
    task = data.draw(tied(weighted=True))
    model = learner.fit(task, positions(task), NOTHING)
    again = NaiveBayes.restore(model.describe())
    assert np.array_equal(model.predict(task), again.predict(task))
    assert np.array_equal(model.scores(task), again.scores(task))


def test_a_level_that_was_never_declared_says_nothing(task_of):
    task = task_of([Feature("f", "nominal", ("a", "b"))], [[0], [0], [1], [1], [1]], [0, 0, 1, 1, 1], classes=("x", "y"))
    unseen = task.with_features(task.features, np.full((5, 1), 2.0))
    model = NaiveBayes().fit(task, positions(task), NOTHING)
    assert model.scores(unseen)[0] == pytest.approx([0.4, 0.6])
    assert model.scores(task)[0] == pytest.approx([0.4 * 3 / 4 / (0.4 * 3 / 4 + 0.6 / 5), 0.6 / 5 / (0.4 * 3 / 4 + 0.6 / 5)])


def test_a_constant_column_and_a_class_of_equal_values_are_defined(task_of):
    values = [[1.0, 5.0], [1.0, 5.0], [1.0, 7.0], [1.0, 8.0]]
    task = task_of([Feature("f", "numeric"), Feature("g", "numeric")], values, [0, 0, 1, 1], classes=("x", "y"))
    scores = NaiveBayes().fit(task, positions(task), NOTHING).scores(task)
    assert np.isfinite(scores).all()
    assert np.argmax(scores, axis=1).tolist() == [0, 0, 1, 1]


def test_a_thousand_levels_and_far_values_stay_finite(task_of):
    rng = np.random.default_rng(3)
    levels = tuple(f"v{i}" for i in range(1000))
    values = np.column_stack([rng.integers(0, 1000, 3000), rng.normal(size=3000) * 1e150])
    task = task_of([Feature("n", "nominal", levels), Feature("x", "numeric")], values, rng.integers(0, 3, 3000))
    outputs = NaiveBayes().fit_path(task, positions(task), NOTHING).outputs([NaiveBayes()], task, positions(task), scores=True)
    assert outputs.scores.sum(axis=2) == pytest.approx(np.ones((1, 3000)))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("counts", np.ones((2, 1))),
        ("mean", np.ones((1, 1))),
        ("levels", [-2]),
        ("class_weight", [1.0, -1.0]),
        ("counts", -np.ones((2, 2))),
    ],
)
def test_a_damaged_description_is_refused(task_of, name, value):
    task = task_of([Feature("f", "nominal", ("a", "b"))], [[0], [1]], [0, 1], classes=("x", "y"))
    description = NaiveBayes().fit(task, positions(task), NOTHING).describe()
    with pytest.raises(ValueError):
        NaiveBayes.restore(Description("naive_bayes", description.facts, {**description.arrays, name: np.asarray(value)}))


def test_a_damaged_fact_is_refused(task_of):
    task = task_of([Feature("f", "nominal", ("a", "b"))], [[0], [1]], [0, 1], classes=("x", "y"))
    description = NaiveBayes().fit(task, positions(task), NOTHING).describe()
    for name, value in [("prior", [1.0]), ("prior", [1.0, -1.0]), ("smoothing", -1.0)]:
        with pytest.raises(ValueError):
            NaiveBayes.restore(Description("naive_bayes", {**description.facts, name: value}, description.arrays))


def test_path_parameters_share_a_growing_and_m_replaces_smoothing():
    assert NaiveBayes(smoothing=3, prior="uniform", m=2).fit_key() == NaiveBayes().fit_key()
    assert NaiveBayes(smoothing=3, m=2).smoothed == NaiveBayes(smoothing=1, m=2).smoothed


def test_kernel_densities_are_those_of_scipy(task_of):
    rng = np.random.default_rng(5)
    target, values = np.repeat([0, 1], [40, 25]), rng.normal(size=(65, 1))
    task = task_of([Feature("x", "numeric")], values, target, classes=("x", "y"))
    density = np.array([gaussian_kde(values[target == cls, 0])(values[:, 0]) for cls in (0, 1)]).T * [40 / 65, 25 / 65]
    scores = NaiveBayes(numeric="kernel").fit(task, positions(task), NOTHING).scores(task)
    assert scores == pytest.approx(density / density.sum(axis=1, keepdims=True), abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_counts_by_difference_are_those_of_counting(tied, data):
    task = data.draw(tied())
    kept = np.flatnonzero(data.draw(st.lists(st.booleans(), min_size=len(task), max_size=len(task))))
    alone = task.take(kept)
    assert np.array_equal(count_levels(task, kept).counts, count_levels(alone, positions(alone)).counts)
    twice = np.concatenate([kept, kept])
    assert np.array_equal(count_levels(task, twice).counts, 2 * count_levels(task, kept).counts)


@settings(max_examples=40, deadline=None)
@given(st.data(), st.lists(learners, min_size=1, max_size=3))
def test_training_error_is_what_predicting_the_analysis_rows_gives(tied, data, some):
    task = data.draw(tied(weighted=True))
    some = [replace(learner, numeric="gaussian") for learner in some]
    columns = np.array(data.draw(st.lists(st.integers(0, len(task.features) - 1), min_size=1, unique=True)))
    path = some[0].fit_path(task, positions(task), NOTHING).subset(columns)
    for learner, found in zip(some, path.training_error(some)):
        wrong = path.outputs([learner], task, positions(task), scores=False).predicted[0] != task.target
        assert found == pytest.approx(task.weights[wrong].sum() / task.weights.sum(), abs=1e-12)


def test_training_error_of_kernel_densities_is_left_open_where_there_are_numbers(task_of):
    numbers = task_of([Feature("x", "numeric")], np.arange(6.0)[:, None], [0, 1, 0, 1, 0, 1])
    levels = task_of([Feature("x", "nominal", ("a", "b"))], np.arange(6.0)[:, None] % 2, [0, 1, 0, 1, 0, 0])
    found = [NaiveBayes(numeric="kernel").fit_path(task, positions(task), NOTHING) for task in (numbers, levels)]
    assert np.isnan(found[0].training_error([NaiveBayes(numeric="kernel")])[0])
    assert found[1].training_error([NaiveBayes(numeric="kernel")])[0] == pytest.approx(1 / 6)


@pytest.mark.parametrize("which", ["kernels", "plain"])
def test_moments_of_kernel_and_twin_are_numpys_of_repeated_rows(task_of, which, code):
    rng = np.random.default_rng(1)
    values, target, times = rng.normal(size=(40, 3)), rng.integers(0, 2, 40), rng.integers(1, 4, 40)
    task = task_of(tuple(Feature(name, "numeric") for name in "abc"), values, target)
    with code(which):
        mean, deviation = likelihood.moments(task, positions(task), times.astype(float), np.arange(3))
    for cls in range(2):
        rows = np.repeat(values[target == cls], times[target == cls], axis=0)
        np.testing.assert_allclose(mean[cls], rows.mean(axis=0))
        np.testing.assert_allclose(deviation[cls], rows.std(axis=0, ddof=1))


def test_gaussians_are_scipys(task_of):
    rng = np.random.default_rng(0)
    task = task_of((Feature("a", "numeric"), Feature("b", "numeric")), rng.normal(size=(30, 2)), rng.integers(0, 2, 30))
    told = count_levels(task, positions(task))
    densities = [norm.logpdf(task.values, *each).sum(axis=1) for each in zip(told.mean, told.deviation, strict=True)]
    expected = np.array(densities) + np.log(2 * np.pi)
    np.testing.assert_allclose(told.gaussian(task, positions(task), np.arange(2)), expected)
