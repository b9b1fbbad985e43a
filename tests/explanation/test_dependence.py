"""Partial dependence is scikit-learn's, grid and courses of rows; levels, missing values and weights are as they should be."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.inspection import partial_dependence
from sklearn.naive_bayes import GaussianNB

from modelsel.core.spec import make
from modelsel.core.types import Candidate
from modelsel.explanation.adapter import FittedEstimator
from modelsel.explanation.dependence import dependence, grid_of, scores_along
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
