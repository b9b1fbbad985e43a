"""Cuts worked out by hand, by scikit-learn, and by trying all."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modelsel.config.build import build as learner
from modelsel.core.spec import make
from modelsel.core.types import Description, Feature, positions
from modelsel.preparer.binning import Distinct, mdl_cuts
from modelsel.preparer.discretise_frequency import DiscretiseFrequency, frequency_cuts
from modelsel.preparer.discretise_mdl import DiscretiseMdl
from modelsel.preparer.discretise_one_rule import DiscretiseOneRule
from modelsel.preparer.discretise_width import DiscretiseWidth, equal_cuts
from modelsel.preparer.transform import _is_missing
from modelsel.statistics.information import entropy

NOTHING = np.random.default_rng(0)


def fitted(preparer, task):
    return preparer.fit(task, positions(task), NOTHING)


def test_equal_widths_are_those_of_scikit_learn(task_of):
    from sklearn.preprocessing import KBinsDiscretizer

    values = np.random.default_rng(0).normal(size=(200, 1))
    task = task_of([Feature("f", "numeric")], values, np.zeros(200))
    ours = fitted(DiscretiseWidth(bins=7), task).apply(task).values
    theirs = KBinsDiscretizer(7, encode="ordinal", strategy="uniform").fit_transform(values)
    assert np.array_equal(ours, theirs)


def test_a_value_at_a_cut_falls_below_it_and_values_outside_into_the_ends(task_of):
    task = task_of([Feature("f", "numeric")], [[0.0], [4.0]], [0, 1])
    step = fitted(DiscretiseWidth(bins=4), task)
    asked = task_of([Feature("f", "numeric")], [[1.0], [1.5], [-9.0], [99.0], [np.nan]], [0] * 5)
    after = step.apply(asked)
    assert after.values[:4, 0].tolist() == [0, 1, 0, 3]
    assert np.isnan(after.values[4, 0])
    assert after.features[0] == Feature("f", "nominal", ("≤ 1", "1 … 2", "2 … 3", "> 3"))


def iris_task():
    return make("dataset", "sklearn_bundled", which="iris").read()


WEKA = {  # Weka 3.6.14, `weka.classifiers.rules.OneR -B 6` on one column of iris (in scikit-learn's order) at a time
    "sepal length (cm)": [5.45, 6.25],
    "sepal width (cm)": [2.75, 2.85, 2.95, 3.05],
    "petal length (cm)": [2.45, 4.85],
    "petal width (cm)": [0.8, 1.75],
}


@pytest.mark.parametrize("name", WEKA)
def test_the_intervals_of_one_rule_are_those_of_weka(name):
    iris = iris_task()
    column = [feature.name for feature in iris.features].index(name)
    assert fitted(DiscretiseOneRule(), iris).cuts[column].tolist() == pytest.approx(WEKA[name])


def test_one_rule_behind_its_intervals_is_right_on_iris_as_often_as_in_holtes_paper():
    """93.5 per cent, the mean of 25 random splits with two thirds to learn from (Holte 1993, table 3); without intervals 61."""
    iris, (tree, _), right = iris_task(), learner("one_rule", {}), []
    for seed in range(25):
        order = np.random.default_rng(seed).permutation(len(iris))
        known, new = iris.take(order[:100]), iris.take(order[100:])
        step = fitted(DiscretiseOneRule(), known)
        model = tree.fit(step.apply(known), positions(known), NOTHING)
        right.append((model.predict(step.apply(new)) == new.target).mean())
    assert np.mean(right) == pytest.approx(0.935, abs=3 * np.std(right) / 5)
    assert np.mean(right) > 0.92


@given(st.permutations(range(30)))
def test_one_rule_reads_no_order_of_rows(task_of, order):
    rng = np.random.default_rng(0)
    values, classes = rng.integers(0, 9, 30).astype(float), rng.integers(0, 2, 30)
    first = fitted(DiscretiseOneRule(bucket=3), task_of([Feature("f", "numeric")], values[:, None], classes))
    again = fitted(DiscretiseOneRule(bucket=3), task_of([Feature("f", "numeric")], values[order, None], classes[order]))
    assert first.cuts[0].tolist() == again.cuts[0].tolist()


@pytest.mark.parametrize("preparer", [DiscretiseWidth(), DiscretiseFrequency(), DiscretiseMdl(), DiscretiseOneRule()])
@pytest.mark.parametrize("column", [[3.0, 3.0, 3.0], [np.nan, np.nan, np.nan], [np.nan, 1.0, 1.0]])
def test_a_column_without_spread_becomes_one_interval(task_of, preparer, column):
    task = task_of([Feature("f", "numeric")], np.array([column]).T, [0, 1, 1])
    after = fitted(preparer, task).apply(task)
    assert after.features[0].levels == ("all",)
    assert np.array_equal(after.values[:, 0], np.where(np.isnan(column), np.nan, 0.0), equal_nan=True)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 12), min_size=2, max_size=60), st.integers(1, 9))
def test_equal_frequencies_are_as_equal_as_ties_allow(values, bins):
    values = np.array(values, float)
    found, counts = np.unique(values, return_counts=True)
    cuts = frequency_cuts(Distinct(found, counts[:, None].astype(float)), bins)
    below = np.cumsum(counts)[:-1]
    for i in range(1, bins):
        if len(found) > 1:
            nearest = np.abs(below - len(values) * i / bins).min()
            reached = min(abs((values <= cut).sum() - len(values) * i / bins) for cut in cuts)
            assert reached == nearest
    assert len(cuts) <= max(0, bins - 1)
    assert not np.isin(cuts, found).any()


def brute_force(values, classes):
    """Fayyad and Irani's recursion with every boundary tried, rows handled one by one."""
    n, distinct = len(values), sorted(set(values))
    counts = lambda rows: np.bincount(rows, minlength=4)  # noqa: E731
    best = None
    for low, high in itertools.pairwise(distinct):
        left = [c for v, c in zip(values, classes) if v <= low]
        right = [c for v, c in zip(values, classes) if v >= high]
        gain = entropy(counts(classes)) - (len(left) * entropy(counts(left)) + len(right) * entropy(counts(right))) / n
        if best is None or gain > best[0] + 1e-12:
            best = gain, (low + high) / 2, left, right
    if best is None:
        return []
    gain, cut, left, right = best
    k, k1, k2 = len(set(classes)), len(set(left)), len(set(right))
    apart = np.log2(3**k - 2) - (k * entropy(counts(classes)) - k1 * entropy(counts(left)) - k2 * entropy(counts(right)))
    if gain <= (np.log2(n - 1) + apart) / n:
        return []
    below = [(v, c) for v, c in zip(values, classes) if v < cut]
    above = [(v, c) for v, c in zip(values, classes) if v > cut]
    return sorted([*brute_force(*zip(*below)), cut, *brute_force(*zip(*above))])


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(5, 80), st.integers(2, 4))
def test_mdl_cuts_are_those_of_trying_every_boundary(seed, n, classes):
    rng = np.random.default_rng(seed)
    target = rng.integers(0, classes, n)
    values = np.round(rng.normal(3.0 * target, 1.0), 1)
    found, place = np.unique(values, return_inverse=True)
    weights = np.zeros((len(found), classes))
    np.add.at(weights, (place, target), 1.0)
    assert mdl_cuts(Distinct(found, weights)).tolist() == pytest.approx(brute_force(tuple(values), tuple(target)))


def test_hundreds_of_classes_do_not_overflow():
    weights = np.kron(np.eye(600), np.ones((3, 1)))
    assert len(mdl_cuts(Distinct(np.arange(1800.0), weights))) >= 0


@pytest.mark.parametrize(
    ("facts", "cuts"),
    [({"becomes": "numeric", "columns": [True]}, [1.0]), ({"becomes": "nominal", "columns": [True]}, [2.0, 1.0])],
)
def test_a_damaged_description_is_refused(facts, cuts):
    with pytest.raises(ValueError):
        DiscretiseMdl.restore(Description("discretise_mdl", facts, {"cuts_0": np.array(cuts)}))


def test_nominal_features_are_left_as_they_are(task_of):
    task = task_of([Feature("f", "nominal", ("a", "b"))], [[0.0], [1.0]], [0, 1])
    assert list(DiscretiseMdl().problems(task)) == []
    after = DiscretiseMdl().fit(task, positions(task), np.random.default_rng(0)).apply(task)
    assert after.features == task.features
    assert np.array_equal(after.values, task.values)


def test_equal_widths_have_no_cut_at_an_end_where_there_is_no_number_between() -> None:
    assert equal_cuts(1.0, float(np.nextafter(1.0, 2.0)), 4).size == 0
    assert equal_cuts(1.0, 1.0, 4).size == 0
    assert equal_cuts(0.0, 3.0, 3).tolist() == [1.0, 2.0]


def test_nothing_and_no_number_are_missing_and_a_text_is_not() -> None:
    assert [_is_missing(value) for value in (None, float("nan"), 0.0, "nan", "")] == [True, True, False, False, False]
