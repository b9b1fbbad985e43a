"""A search behaves as scikit-learn's estimators do where frames are wanted, and says how time is divided."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import modelsel


@pytest.fixture(scope="module")
def iris() -> tuple[pd.DataFrame, pd.Series]:
    features, target = load_iris(return_X_y=True, as_frame=True)
    return features, target


def test_it_takes_the_frames_of_a_pipeline_that_puts_frames_out(iris: tuple[pd.DataFrame, pd.Series]) -> None:
    features, target = iris
    pipeline = make_pipeline(StandardScaler(), modelsel.SelectionCV(space="majority", cv=3)).set_output(transform="pandas")
    search = pipeline.fit(features, target)[-1]
    assert list(search.best_estimator_.feature_names_in_) == list(features.columns)
    assert len(pipeline.predict(features)) == len(features)


def test_the_time_of_a_shared_fit_is_divided_among_those_that_it_answers(iris: tuple[pd.DataFrame, pd.Series]) -> None:
    space = {"cart": {"learner": "cart", "sweep": {"max_depth": [1, 2, 3]}}}
    search = modelsel.SelectionCV(space=space, cv=3).fit(*iris)
    times = search.cv_results_["mean_fit_time"]
    assert len(np.unique(times)) == 1
    assert times[0] > 0
    assert "divided" in modelsel.SelectionCV.__doc__


def test_an_estimator_of_ones_own_and_a_named_one_stand_side_by_side(iris: tuple[pd.DataFrame, pd.Series]) -> None:
    space = {"logistic": (LogisticRegression(max_iter=500), {"C": [0.1, 1.0]}), "floor": {"learner": "majority"}}
    search = modelsel.SelectionCV(space=space, cv=3, scoring="accuracy").fit(*iris)
    assert search.best_score_ > 0.9
    assert len(search.cv_results_["params"]) == 3
