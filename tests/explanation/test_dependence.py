"""Partial dependence is scikit-learn's, grid and courses of rows; levels, missing values and weights are as they should be."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.inspection import partial_dependence
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor

from modelsel.core.spec import make
from modelsel.core.types import Candidate
from modelsel.explanation.importance import FittedEstimator, dependence, grid_of, scores_along
from modelsel.runner.final_fit import fit


@pytest.mark.parametrize(("table", "column"), [("cancer", 3), ("wine", 0), ("iris", 2)])
def test_grid_and_courses_equal_scikit_learns(tables, table, column):
    task = tables[table]
    candidate = Candidate(make("learner", "sklearn", estimator="GaussianNB"))
    fitted = FittedEstimator(fit(candidate, task, 0), task)
    grid = grid_of(task.values[:, column])
    said = scores_along(fitted, task.values, column, grid)
    theirs = GaussianNB().fit(task.values, task.target)
    found = partial_dependence(theirs, task.values, [column], kind="both", grid_resolution=20, response_method="predict_proba")
    np.testing.assert_allclose(grid, found["grid_values"][0])
    classes = [1] if len(task.classes) == 2 else range(len(task.classes))
    for at, k in enumerate(classes):
        np.testing.assert_allclose(said[:, :, k], found["individual"][at], atol=1e-10)
        np.testing.assert_allclose(said[:, :, k].mean(axis=0), found["average"][at], atol=1e-10)


@pytest.mark.parametrize(
    ("name", "params", "theirs"),
    [
        ("linear_model.Ridge", {"alpha": 2.0}, Ridge),
        ("neighbors.KNeighborsRegressor", {"n_neighbors": 7}, KNeighborsRegressor),
        ("ensemble.HistGradientBoostingRegressor", {"max_iter": 20, "random_state": 0}, HistGradientBoostingRegressor),
    ],
)
def test_courses_of_numbers_equal_scikit_learns(diabetes, name, params, theirs):
    candidate = Candidate(make("learner", "estimator", estimator=f"sklearn.{name}", params=params))
    fitted = FittedEstimator(fit(candidate, diabetes, 0), diabetes)
    other = theirs(**params).fit(diabetes.values, diabetes.target)
    for column in (2, 8):
        grid = grid_of(diabetes.values[:, column])
        said = scores_along(fitted, diabetes.values, column, grid)
        found = partial_dependence(other, diabetes.values, [column], kind="both", grid_resolution=20, method="brute")
        np.testing.assert_allclose(grid, found["grid_values"][0])
        np.testing.assert_allclose(said[:, :, 0], found["individual"][0], rtol=1e-10)
        np.testing.assert_allclose(said[:, :, 0].mean(axis=0), found["average"][0], rtol=1e-10)


def test_numbers_of_any_size_keep_their_digits_and_have_no_class(diabetes):
    small = replace(diabetes, target=diabetes.target * 1e-9, weights=np.linspace(0.5, 2, len(diabetes)))
    final = fit(Candidate(make("learner", "tree", criterion=make("criterion", "variance"), max_depth=3)), small, 0)
    (one,) = dependence(final, small, ["bmi"], 0)
    assert "class" not in one["lines"]
    assert {len(point) for point in one["mean"]} == {1}
    changed = small.values.copy()
    changed[:, 2] = one["grid"][4]
    by_hand = np.average(final.predict(replace(small, values=np.asfortranarray(changed))), weights=small.weights)
    assert one["mean"][4][0] == pytest.approx(by_hand, rel=1e-6)
    assert np.ptp([point[0] for point in one["mean"]]) > 0


def test_levels_missing_values_and_weights(mixed):
    weighted = replace(mixed, weights=np.linspace(0.5, 2, len(mixed)))
    final = fit(Candidate(make("learner", "tree", max_depth=3)), weighted, 0)
    age, job = dependence(final, weighted, ["age", "job"], 0)
    assert job["levels"] == ["a", "b", "c", "d"]
    assert len(age["grid"]) == 20
    assert not np.isnan(age["grid"]).any()
    changed = weighted.values.copy()
    changed[:, 1] = 2
    by_hand = np.average(final.scores(replace(weighted, values=np.asfortranarray(changed))), axis=0, weights=weighted.weights)
    assert job["mean"][2] == pytest.approx(by_hand.tolist(), abs=1e-6)
    assert len(age["lines"]["scores"]) == 30
    assert age["lines"]["class"] == "yes"


def test_a_column_that_is_nearly_constant_and_one_without_values():
    values = np.append(np.zeros(990), np.arange(1, 41))
    grid = grid_of(values)
    assert len(grid) == 20
    assert (grid[0], grid[-1]) == (0, 40)
    assert len(grid_of(np.full(5, np.nan))) == 0
