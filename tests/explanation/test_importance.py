"""Permutation importance is scikit-learn's, on the models and rows of the folds; noise is worth nothing."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.inspection import permutation_importance
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from modelsel.core.fingerprint import generator
from modelsel.core.spec import make
from modelsel.core.types import Candidate, Feature, Task
from modelsel.explanation.explain import association, cramers_v, together
from modelsel.explanation.importance import (
    FoldImportance,
    ImportanceRequest,
    fold_importance,
    summary,
    with_noise,
)
from modelsel.statistics.paired import corrected_t

CASES = [
    ("cancer", "DecisionTreeClassifier", {"random_state": 0, "max_depth": 4}, "error", "accuracy", DecisionTreeClassifier),
    ("wine", "GaussianNB", {}, "log_loss", "neg_log_loss", GaussianNB),
    ("iris", "KNeighborsClassifier", {"n_neighbors": 3}, "error", "accuracy", KNeighborsClassifier),
]


def by_estimator(name, params):
    return Candidate(make("learner", "sklearn", estimator=name, params=params), entry="one")


@pytest.mark.parametrize(("table", "name", "params", "measure", "scoring", "estimator"), CASES)
def test_it_equals_scikit_learns_on_a_model_fitted_on_the_folds_rows(
    tables, folded, table, name, params, measure, scoring, estimator
):
    task = tables[table]
    fold = folded(task).folds[1]
    floor = {"floor": float(np.finfo(float).eps)} if measure == "log_loss" else {}  # scikit-learn's
    asked = ImportanceRequest(make("measure", measure, **floor), 4, 3, noise=False)
    found = fold_importance(by_estimator(name, params), task, fold, asked)
    fitted = estimator(**params).fit(task.values[fold.analysis], task.target[fold.analysis])
    state = int(generator(4, fold.fingerprint, "importance").integers(2**31 - 1))
    rows = fold.assessment
    expected = permutation_importance(
        fitted, task.values[rows], task.target[rows], scoring=scoring, n_repeats=3, random_state=state
    )  # fmt: skip
    assert np.abs(found.columns).max() > 0.01
    np.testing.assert_allclose(found.columns, expected.importances, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("measure", "scoring"),
    [("mse", "neg_mean_squared_error"), ("mae", "neg_mean_absolute_error"), ("r2", "r2"),
     ("median_absolute_error", "neg_median_absolute_error")],
)  # fmt: skip
@pytest.mark.parametrize("weighted", [False, True])
def test_of_numbers_it_equals_scikit_learns(diabetes, folded, measure, scoring, weighted):
    weights = np.linspace(0.5, 2, len(diabetes)) if weighted else None
    task = replace(diabetes, weights=weights)
    fold = folded(task).folds[1]
    candidate = Candidate(
        make("learner", "estimator", estimator="sklearn.linear_model.Ridge", params={"alpha": 2.0}), entry="one"
    )
    asked = ImportanceRequest(make("measure", measure), 4, 3, noise=False)
    found = fold_importance(candidate, task, fold, asked)
    seen, rows = fold.analysis, fold.assessment
    given = {} if weights is None else {"sample_weight": weights[seen]}
    fitted = Ridge(alpha=2.0).fit(task.values[seen], task.target[seen], **given)
    state = int(generator(4, fold.fingerprint, "importance").integers(2**31 - 1))
    expected = permutation_importance(
        fitted, task.values[rows], task.target[rows], scoring=scoring, n_repeats=3, random_state=state,
        sample_weight=None if weights is None else weights[rows],
    )  # fmt: skip
    assert np.abs(expected.importances).max() > 0.01
    np.testing.assert_allclose(found.columns, expected.importances, rtol=1e-9, atol=1e-9)


def test_of_numbers_noise_is_worth_nothing_and_copies_matter_together(folded):
    """A tree reads either of two copies, and a column of noise is no better than a useless one."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=300)
    values = np.column_stack([x, x + rng.normal(0, 1e-3, 300), rng.normal(size=300)])
    features = tuple(Feature(name, "numeric") for name in ("x", "copy", "other"))
    task = Task(name="copies", features=features, values=np.asfortranarray(values), rows=np.arange(300),
                target=1000 * x + 100 * rng.normal(size=300))  # fmt: skip
    asked = ImportanceRequest(make("measure", "mae"), 0, 3, together(task, 0.7))
    candidate = Candidate(make("learner", "knn", k=5), entry="knn")
    told = summary([fold_importance(candidate, task, fold, asked) for fold in folded(task, 3).folds], task, asked, 0.5)
    lines = {line["column"]: line for line in told["columns"]}
    assert told["together"][0]["columns"] == ["x", "copy"]
    assert told["together"][0]["mean"] > 1.2 * max(lines["x"]["mean"], lines["copy"]["mean"])
    assert lines["x"]["above_noise"]
    assert not lines["other"]["above_noise"]
    assert abs(told["noise"]["mean"]) < 0.1 * lines["x"]["mean"]


def test_a_column_of_noise_is_worth_nothing_and_what_decides_is_worth_more(mixed, folded):
    folds = folded(mixed, 5)
    asked = ImportanceRequest(make("measure", "error"), 0, 5)
    candidate = Candidate(make("learner", "tree", max_depth=4, min_leaf=10), entry="tree")
    found = [fold_importance(candidate, mixed, fold, asked) for fold in folds.folds]
    told = summary(found, mixed, asked, 1 / 4)
    lines = {line["column"]: line for line in told["columns"]}
    assert told["columns"][0]["column"] == "age"
    assert lines["age"]["above_noise"]
    assert not lines["sex"]["above_noise"]
    assert abs(told["noise"]["mean"]) < 0.03 < lines["age"]["mean"]


def test_intervals_are_the_corrected_resampled_t_of_the_folds():
    rng = np.random.default_rng(0)
    drawn = rng.normal(0.1, 0.05, (5, 2, 4))
    found = [FoldImportance(one, np.zeros((0, 4)), None) for one in drawn]
    task = Task(name="t", features=(Feature("a", "numeric"), Feature("b", "numeric")), values=np.zeros((3, 2), order="F"),
                rows=np.arange(3), classes=("x", "y"), target=np.zeros(3, np.int32))  # fmt: skip
    told = summary(found, task, ImportanceRequest(make("measure", "error"), 0, 4, noise=False), 0.25)
    means = drawn[:, 0].mean(axis=1)
    line = next(line for line in told["columns"] if line["column"] == "a")
    by_hand = corrected_t(means, 0.25)
    assert line["mean"] == pytest.approx(means.mean())
    assert (line["low"], line["high"]) == pytest.approx((float(by_hand.low), float(by_hand.high)))
    assert told["noise"] is None


def test_two_copies_of_a_column_hide_each_other_and_matter_together(folded):
    """A forest that may read either of two copies loses little by one and everything by both."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=300)
    values = np.column_stack([x, x + rng.normal(0, 1e-3, 300), rng.normal(size=300)])
    features = tuple(Feature(name, "numeric") for name in ("x", "copy", "other"))
    task = Task(name="copies", features=features, values=np.asfortranarray(values), rows=np.arange(300), classes=("n", "y"),
                target=(x > 0).astype(np.int32))  # fmt: skip
    groups = together(task, 0.7)
    assert groups == ((0, 1),)
    asked = ImportanceRequest(make("measure", "error"), 0, 3, groups, noise=False)
    candidate = by_estimator("KNeighborsClassifier", {"n_neighbors": 5})
    found = [fold_importance(candidate, task, fold, asked) for fold in folded(task, 3).folds]
    told = summary(found, task, asked, 0.5)
    both, alone = told["together"][0]["mean"], max(line["mean"] for line in told["columns"])
    assert both > 0.3
    assert both > 1.5 * alone


def test_noise_is_a_new_column_and_the_others_stay(mixed, tables):
    noisy = with_noise(tables["iris"], np.random.default_rng(0))
    assert np.array_equal(noisy.values[:, :-1], tables["iris"].values)
    assert noisy.features[-1] == Feature("noise", "numeric")
    nominal = mixed.with_features(mixed.features[1:], mixed.values[:, 1:])
    again = with_noise(with_noise(nominal, np.random.default_rng(0)), np.random.default_rng(1))
    assert [one.name for one in again.features] == ["job", "sex", "noise", "noise_"]
    assert again.features[2].levels == mixed.features[1].levels
    assert sorted(again.values[:, 2]) == sorted(mixed.values[:, 1])


def test_the_fold_models_are_those_of_the_cells(tables, folded):
    """Importance is that of the model whose predictions the selection judged."""
    from modelsel.core.fingerprint import generator as drawn
    from modelsel.runner.evaluation.preprocessing import rows_digest
    from modelsel.runner.final_fit import fit

    task = tables["wine"]
    fold = folded(task).folds[0]
    candidate = Candidate(make("learner", "forest", trees=5), entry="forest")
    rng = drawn(0, rows_digest(task, fold.analysis), _growing(candidate))
    cell = candidate.learner.fit_path(task, fold.analysis, rng).outputs([candidate.learner], task, fold.assessment, True)
    again = fit(candidate, task, 0, fold.analysis)
    assert np.array_equal(again.scores(task.take(fold.assessment)), cell.scores[0])


def _growing(candidate):
    from modelsel.planning.make import fit_digest

    return fit_digest(candidate)


def test_associations_are_scipys(tables):
    from scipy.stats import spearmanr
    from scipy.stats.contingency import association as scipys

    task = tables["wine"]
    expected = np.abs(spearmanr(task.values).statistic)
    np.testing.assert_allclose(association(task), expected, atol=1e-12)
    rng = np.random.default_rng(2)
    one, other = rng.integers(0, 3, 200), rng.integers(0, 4, 200)
    other[:100] = one[:100]
    counts = np.zeros((3, 4), int)
    np.add.at(counts, (one, other), 1)
    assert cramers_v(one.astype(float), other.astype(float)) == pytest.approx(scipys(counts, method="cramer"))


def test_shuffled_rows_of_two_measures_and_weights_are_weighed(tables, folded):
    """Weights of rows count: with all weight on the first rows only their errors do."""
    task = tables["iris"]
    fold = folded(task).folds[0]
    weighted = replace(task, weights=np.where(np.arange(len(task)) < 75, 2.0, 0.5))
    asked = ImportanceRequest(make("measure", "error"), 0, 2, noise=False)
    found = fold_importance(by_estimator("GaussianNB", {}), weighted, fold, asked)
    seen = fold.analysis
    fitted = GaussianNB().fit(task.values[seen], task.target[seen], sample_weight=weighted.weights[seen])
    state = int(generator(0, fold.fingerprint, "importance").integers(2**31 - 1))
    rows = fold.assessment
    expected = permutation_importance(fitted, task.values[rows], task.target[rows], scoring="accuracy", n_repeats=2,
                                      random_state=state, sample_weight=weighted.weights[rows])  # fmt: skip
    np.testing.assert_allclose(found.columns, expected.importances, atol=1e-12)
