"""`modelsel.run(space={"lgbm": (LGBMClassifier(), {...})})`: estimator objects with their grids, several at once."""

from typing import Any

import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import modelsel
from modelsel.core.errors import ConfigurationError
from tests.api.conftest import QUICK
from tests.extras import needs

LEAVES = {"num_leaves": [15, 31]}


@pytest.fixture
def numbers(people: pd.DataFrame) -> pd.DataFrame:
    return people[["age", "member", "left"]].dropna().astype({"member": float})


def ids(outcome: Any) -> dict[str, set[str]]:
    board = outcome.leaderboard
    return {entry: set(rows["id"]) for entry, rows in board.groupby("entry")}


@pytest.mark.slow
def test_several_estimators_and_our_own_stand_in_one_space(people: pd.DataFrame) -> None:
    lightgbm = needs("lightgbm")
    estimator = lightgbm.LGBMClassifier(n_estimators=5, min_child_samples=5)
    space = {"lgbm": (estimator, LEAVES), "tree": DecisionTreeClassifier(max_depth=2), "cart": "cart"}
    outcome = modelsel.run(people, target="left", space=space, final_test=False, **QUICK)
    assert set(outcome.leaderboard["status"]) == {"ok"}
    assert {entry: len(found) for entry, found in ids(outcome).items()} == {"lgbm": 2, "tree": 1, "cart": 1}
    board = outcome.leaderboard.set_index("entry")
    assert sorted(board.loc["lgbm", "params.num_leaves"]) == [15, 31]
    recipe = {"kind": "estimator", "estimator": "lightgbm.LGBMClassifier",
              "params": {"n_estimators": 5, "min_child_samples": 5}}  # fmt: skip
    written = {"lgbm": {"learner": recipe, "sweep": {"params.num_leaves": "choice(15, 31)"}}}
    again = modelsel.run(people, target="left", space=written, final_test=False, **QUICK)
    assert ids(again)["lgbm"] == ids(outcome)["lgbm"], "the recipe is the identity, however it is written"
    other = {"lgbm": (lightgbm.LGBMClassifier(n_estimators=6, min_child_samples=5), LEAVES)}
    assert not ids(modelsel.run(people, target="left", space=other, final_test=False, **QUICK))["lgbm"] & ids(outcome)["lgbm"]


@pytest.mark.slow
def test_a_pipeline_object_gives_the_scores_of_grid_search(numbers: pd.DataFrame) -> None:
    pipeline = make_pipeline(StandardScaler(), SVC())
    grid = {"svc__C": [0.1, 1.0, 10.0], "standardscaler__with_mean": [True, False]}
    folds = StratifiedKFold(3)
    X, y = numbers.drop(columns="left"), numbers["left"]
    theirs = GridSearchCV(pipeline, grid, cv=folds).fit(X, y)
    ours = modelsel.SelectionCV({"svm": (pipeline, grid)}, cv=folds).fit(X, y)
    assert sorted(ours.cv_results_["mean_test_score"]) == pytest.approx(sorted(theirs.cv_results_["mean_test_score"]))
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    outcome = modelsel.run(numbers, target="left", space={"svm": (pipeline, grid)}, final_test=False, **QUICK)
    assert set(outcome.leaderboard["status"]) == {"ok"}
    assert len(outcome.leaderboard) == 6


def test_a_wrong_parameter_is_refused_by_name_before_anything_is_read(people: pd.DataFrame) -> None:
    odd = SVC(kernel=lambda one, other: one @ other.T)
    with pytest.raises(ConfigurationError, match=r"MSEL-217: SVC has no parameter 'gama'; did you mean 'gamma'"):
        modelsel.run(people, target="left", space={"logistic": LogisticRegression(), "svm": (odd, {"gama": [1]})}, **QUICK)
    with pytest.raises(ConfigurationError, match=r"MSEL-207: .*no parameter 'leaves'"):
        modelsel.run(people, target="left", space={"tree": (DecisionTreeClassifier(), {"leaves": [2]})}, **QUICK)
