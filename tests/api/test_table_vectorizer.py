"""skrub's TableVectorizer in a pipeline: as it is on the frame's own columns, fitted once per fold for all who share it."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline

import modelsel
from modelsel import SelectionCV
from tests.extras import needs

skrub = needs("skrub")
FOLDS = StratifiedKFold(3)


def rows() -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(0)
    wanted = rng.integers(0, 2, 120)
    frame = pd.DataFrame({
        "size": rng.normal(wanted, 1), "colour": np.array(["red", "green", "blue"])[rng.integers(0, 3, 120)],
        "since": pd.date_range("2024-01-01", periods=120), "whole": rng.integers(0, 9, 120),
    })  # fmt: skip
    return frame, pd.Series(np.where(wanted, "yes", "no"), name="wanted")


@pytest.mark.slow
def test_it_says_what_grid_search_says_and_is_fitted_once_per_fold(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = rows()
    vectorizer = skrub.TableVectorizer(high_cardinality=skrub.StringEncoder(random_state=0))  # a step that draws is not shared
    program, grid = make_pipeline(vectorizer, LogisticRegression(max_iter=1000)), {"logisticregression__C": [0.1, 1, 10]}
    theirs = GridSearchCV(program, grid, cv=FOLDS, refit=False).fit(X, y)
    fits: list[int] = []
    own = skrub.TableVectorizer.fit_transform
    monkeypatch.setattr(skrub.TableVectorizer, "fit_transform", lambda self, X, y=None: fits.append(len(X)) or own(self, X, y))
    ours = SelectionCV((program, grid), cv=FOLDS, refit=False).fit(X, y)
    assert fits == [80, 80, 80]
    for fold in range(3):
        assert ours.cv_results_[f"split{fold}_test_score"].tolist() == theirs.cv_results_[f"split{fold}_test_score"].tolist()


@pytest.mark.slow
def test_a_study_of_it_predicts_new_rows(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    X, y = rows()
    program = make_pipeline(skrub.TableVectorizer(), LogisticRegression(max_iter=1000))
    outcome = modelsel.run(
        X.assign(wanted=y), target="wanted", space={"mine": program}, scheme={"kind": "kfold", "folds": 3}, tracking="off",
        pool="sequential", final_test=False,
    )  # fmt: skip
    assert set(outcome.leaderboard["status"]) == {"ok"}
    assert set(outcome.model.predict(X.head(20))) <= {"yes", "no"}
