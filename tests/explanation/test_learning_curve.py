"""A learning curve is what fitting on each share by hand gives; shares are nested, in proportion, and made in one way."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_squared_error, r2_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from modelsel.core.fingerprint import generator
from modelsel.core.spec import make
from modelsel.core.types import Candidate
from modelsel.explanation.learning_curve import SHARES, learning_curve, order_for_shares
from modelsel.runner.execution.executors import Pool
from modelsel.runner.journal import Journal
from modelsel.runner.run import run
from modelsel.statistics.paired import corrected_t

CASES = [
    ("cancer", "GaussianNB", {}, GaussianNB),
    ("wine", "DecisionTreeClassifier", {"random_state": 0, "max_depth": 3}, DecisionTreeClassifier),
    ("iris", "KNeighborsClassifier", {"n_neighbors": 3}, KNeighborsClassifier),
]


def curve_of(candidates, task, folds, folder, seed=0, measure="error"):
    with Journal(folder / "journal") as journal:

        def compute(plan, task, resampling):
            return run(plan, task, resampling, make("measure", measure), Pool("sequential"), journal, seed=seed)

        return learning_curve(candidates, task, folds, seed, compute)


@pytest.mark.parametrize(("table", "name", "params", "estimator"), CASES)
def test_it_equals_scikit_learns_models_fitted_on_each_share(tables, folded, tmp_path, table, name, params, estimator):
    task, seed = tables[table], 3
    folds = folded(task, 4)
    candidate = Candidate(make("learner", "sklearn", estimator=name, params=params), entry="one")
    found = curve_of([candidate], task, folds, tmp_path, seed)
    assert found["shares"] == [0.125, 0.25, 0.5, 0.75, 1.0]
    for at, share in enumerate(found["shares"]):
        errors = []
        for fold in folds.folds:
            order = order_for_shares(task, fold.analysis, generator(seed, fold.fingerprint, "curve"))
            rows = np.sort(order[: round(share * len(order))])
            fitted = estimator(**params).fit(task.values[rows], task.target[rows])
            errors.append(np.mean(fitted.predict(task.values[fold.assessment]) != task.target[fold.assessment]))
        ratio = np.mean([len(fold.assessment) / round(share * len(fold.analysis)) for fold in folds.folds])
        expected = corrected_t(errors, float(ratio))
        point = found["candidates"][0]["points"][at]
        assert point["mean"] == pytest.approx(np.mean(errors))
        assert (point["low"], point["high"]) == pytest.approx((float(expected.low), float(expected.high)))


def test_shares_are_nested_and_have_the_classes_in_proportion(tables):
    task = tables["wine"]
    rows = np.arange(len(task))
    order = order_for_shares(task, rows, np.random.default_rng(0))
    assert sorted(order) == rows.tolist()
    whole = np.bincount(task.target) / len(task)
    for share in SHARES:
        own = order[: round(share * len(order))]
        assert np.abs(np.bincount(task.target[own], minlength=3) - whole * len(own)).max() <= 1.01


@pytest.mark.parametrize("measure", ["mse", "r2"])
def test_of_numbers_it_equals_scikit_learns_models_fitted_on_each_share(diabetes, folded, tmp_path, measure):
    folds, theirs = folded(diabetes, 4), {"mse": mean_squared_error, "r2": r2_score}[measure]
    candidate = Candidate(
        make("learner", "estimator", estimator="sklearn.linear_model.Ridge", params={"alpha": 0.1}), entry="one"
    )
    found = curve_of([candidate], diabetes, folds, tmp_path, 3, measure)["candidates"][0]
    means = []
    for at, share in enumerate(SHARES[::-1]):
        scores = []
        for fold in folds.folds:
            order = order_for_shares(diabetes, fold.analysis, generator(3, fold.fingerprint, "curve"))
            rows = np.sort(order[: round(share * len(order))])
            fitted = Ridge(alpha=0.1).fit(diabetes.values[rows], diabetes.target[rows])
            scores.append(theirs(diabetes.target[fold.assessment], fitted.predict(diabetes.values[fold.assessment])))
        ratio = np.mean([len(fold.assessment) / round(share * len(fold.analysis)) for fold in folds.folds])
        expected, point = corrected_t(scores, float(ratio)), found["points"][at]
        assert point["mean"] == pytest.approx(np.mean(scores))
        assert (point["low"], point["high"]) == pytest.approx((float(expected.low), float(expected.high)))
        means.append(np.mean(scores))
    assert found["doubling"]["mean"] == pytest.approx(means[-1] - means[2])


def test_of_numbers_shares_have_the_tenths_in_proportion_and_read_no_other_row(diabetes):
    rows = np.arange(0, len(diabetes), 2)
    order = order_for_shares(diabetes, rows, np.random.default_rng(0))
    assert sorted(order) == rows.tolist()
    edges = np.quantile(diabetes.target[rows], np.arange(1, 10) / 10)
    whole = np.bincount(np.searchsorted(edges, diabetes.target[rows]))
    for share in SHARES:
        own = order[: round(share * len(order))]
        drawn = np.bincount(np.searchsorted(edges, diabetes.target[own]), minlength=10)
        assert np.abs(drawn - whole * len(own) / len(rows)).max() <= 2
    others = np.where(np.isin(np.arange(len(diabetes)), rows), diabetes.target, 1e6)
    assert np.array_equal(order_for_shares(replace(diabetes, target=others), rows, np.random.default_rng(0)), order)


def test_groups_stay_whole_and_time_keeps_the_latest(tables):
    task = tables["iris"]
    grouped = replace(task, groups=np.arange(150) % 30)
    order = order_for_shares(grouped, np.arange(150), np.random.default_rng(0))
    assert len(np.unique(grouped.groups[order[:50]])) == 10
    timed = replace(task, times=np.arange(150.0))
    assert set(order_for_shares(timed, np.arange(150), np.random.default_rng(0))[:40]) == set(range(110, 150))


def test_a_share_too_small_for_a_candidate_has_no_point(tables, folded, tmp_path):
    task = tables["iris"]
    found = curve_of([Candidate(make("learner", "knn", k=40), entry="knn")], task, folded(task, 3), tmp_path)
    points = found["candidates"][0]["points"]
    assert points[0] == {"mean": None, "low": None, "high": None}
    assert points[-1]["mean"] is not None
