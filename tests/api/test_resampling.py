"""Resampling inside folds, by imbalanced-learn's pipelines: analysis rows alone are drawn again, and nothing leaks."""

import logging
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

import modelsel
from modelsel import SelectionCV
from tests.extras import needs

imblearn = needs("imblearn")
LOG = logging.getLogger("resampled")
FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)


class Recorded(imblearn.over_sampling.RandomOverSampler):  # type: ignore[misc,name-defined]
    """Says which rows it draws from; the first column is the row's number."""

    def fit_resample(self, X: Any, y: Any, **params: Any) -> Any:
        rows = np.asarray(X)[:, 0].astype(int)
        LOG.info("%s", " ".join(map(str, rows)))
        return super().fit_resample(X, y, **params)


def noise(rows: int = 300) -> tuple[np.ndarray, np.ndarray]:
    """One row of six is of the rare class, whatever its features say; the first column is the row's number."""
    rng = np.random.default_rng(0)
    return np.column_stack([np.arange(rows), rng.normal(size=(rows, 3))]), rng.permutation(np.arange(rows) % 6 == 0).astype(int)


def program(sampler: Any) -> Any:
    features = ColumnTransformer([("x", StandardScaler(), [1, 2, 3])])
    return imblearn.pipeline.make_pipeline(sampler, features, KNeighborsClassifier(1))


def test_the_sampler_sees_the_analysis_rows_of_each_fold_and_no_others(caplog: pytest.LogCaptureFixture) -> None:
    X, y = noise()
    caplog.set_level(logging.INFO, "resampled")
    grid = {"kneighborsclassifier__n_neighbors": [1, 3]}
    twice = sorted(tuple(analysis.tolist()) for analysis, _ in FOLDS.split(X, y) for _ in range(2))
    SelectionCV((program(Recorded(random_state=0)), grid), cv=FOLDS, refit=False).fit(X, y)
    seen = sorted(tuple(map(int, one.getMessage().split())) for one in caplog.records if one.name == "resampled")
    assert seen == twice


def test_drawing_again_before_the_folds_looks_like_skill_and_inside_them_it_is_chance() -> None:
    """Copies of a rare row on both sides are found by its nearest neighbour: the score of pure noise is high."""
    X, y = noise()
    again, labels = imblearn.over_sampling.RandomOverSampler(random_state=0).fit_resample(X, y)
    leaking = SelectionCV((KNeighborsClassifier(1), {}), cv=FOLDS, scoring="balanced_accuracy", refit=False)
    inside = SelectionCV(
        (program(imblearn.over_sampling.RandomOverSampler()), {}), cv=FOLDS, scoring="balanced_accuracy", refit=False
    )
    assert leaking.fit(again[:, 1:], labels).best_score_ > 0.8
    assert abs(inside.fit(X, y).best_score_ - 0.5) < 0.08


def test_a_study_seals_rows_that_are_never_drawn_again(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    caplog.set_level(logging.INFO, "resampled")
    X, y = noise()
    frame = pd.DataFrame(X, columns=["number", "a", "b", "c"]).assign(rare=np.where(y == 1, "yes", "no"))
    columns = ColumnTransformer([("x", StandardScaler(), ["a", "b", "c"])])
    pipeline = imblearn.pipeline.make_pipeline(Recorded(random_state=0), columns, KNeighborsClassifier(1))
    outcome = modelsel.run(
        frame, target="rare", space={"mine": pipeline}, scheme={"kind": "kfold", "folds": 3}, measure="balanced_error",
        tracking="off", pool="sequential",
    )  # fmt: skip
    drawn = [set(map(int, one.getMessage().split())) for one in caplog.records if one.name == "resampled"]
    assert set(outcome.leaderboard["status"]) == {"ok"}
    development = max(drawn, key=len)
    assert len(development) == 210, "the final fit draws from all rows that are not sealed, and 90 of 300 are"
    assert all(rows <= development for rows in drawn)
    assert sorted(map(len, drawn))[:3] == sorted(2 * len(development) // 3 for _ in range(3))
