"""`run`, `SelectionCV`, its record, `candidate(id)` and estimators build alike; what lacks a study refuses by name."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, get_scorer
from sklearn.model_selection import StratifiedKFold

import modelsel
from modelsel.core.errors import ConfigurationError

RARE = {"learner": "naive_bayes", "threshold": "path"}
SCHEME = {"kind": "stratified_kfold", "folds": 4}


@pytest.fixture(scope="module")
def rare() -> pd.DataFrame:
    """A table whose second class is rare, so that another measure has another threshold."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=200), "z": rng.normal(size=200)})
    return frame.assign(y=np.where(frame.x + rng.normal(size=200) > 1.2, 1, 0))


ENTRIES = {
    "threshold": RARE,
    "outer threshold": {"learner": "naive_bayes", "threshold": "outer_path"},
    "outer calibrator": {"learner": "naive_bayes", "calibrator": {"kind": "platt", "fold_scores": "outer"}},
    "early stopping": {"learner": "hist_gradient_boosting", "params.max_iter": 12, "early_stopping": 3},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ENTRIES)
@pytest.mark.parametrize("measure", ["error", "f1"])
def test_a_search_builds_what_a_study_builds(
    name: str, measure: str, rare: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    X, y = rare.drop(columns="y"), rare["y"]
    space = {"e": ENTRIES[name]}
    search = modelsel.SelectionCV(space, scheme=SCHEME, measure=measure, seed=3).fit(X, y)
    kept = modelsel.SelectionCV(
        space, scheme=SCHEME, measure=measure, seed=3, record={"tracking": "off", "split": "none", "name": "kept"}
    ).fit(X, y)
    study = modelsel.run(
        data=rare, target="y", space=space, measure=measure, scheme=SCHEME, seed=3, split="none", tracking="off", name="t"
    )
    own, theirs = search.best_estimator_.learner, study.candidate().specification
    assert own == theirs == kept.best_estimator_.learner == kept.outcome_.candidate().specification
    sign, offset = (1.0, 0.0) if measure == "f1" else (-1.0, 1.0)
    assert search.best_score_ == pytest.approx(offset + sign * study.winner["cv"]["mean"], abs=1e-12)
    assert kept.best_score_ == search.best_score_
    wanted = search.best_estimator_.predict_proba(X)
    assert np.array_equal(kept.best_estimator_.predict_proba(X), wanted)
    assert np.array_equal(kept.outcome_.candidate().fit().predict_proba(X), wanted)
    assert np.array_equal(study.candidate().fit().predict(X), search.predict(X))


@pytest.mark.parametrize("scoring", ["accuracy", "f1"])
def test_a_threshold_serves_what_chooses(scoring: str, rare: pd.DataFrame) -> None:
    """No worse on the whole, by what chooses, than the threshold of ½ and than that of the balanced error."""
    X, y = rare.drop(columns="y"), rare["y"]
    space = {
        "path": RARE, "half": "naive_bayes",
        "balanced": {"learner": "naive_bayes", "decision": {"kind": "threshold"}},
    }  # fmt: skip
    found = modelsel.SelectionCV(space, cv=StratifiedKFold(5), scoring=scoring).fit(X, y)
    path, half, balanced = found.cv_results_["mean_test_score"]
    assert path > balanced if scoring == "accuracy" else path > half
    chosen = modelsel.SelectionCV({"a": RARE}, cv=3, scoring=scoring).fit(X, y).best_estimator_
    assert chosen.learner["decision"]["measure"]["kind"] == {"accuracy": "error", "f1": "f1"}[scoring]


def test_what_only_a_study_knows_is_refused_by_name_where_there_is_none(rare: pd.DataFrame) -> None:
    with pytest.raises(ConfigurationError, match="threshold: path serves a study's measure, and there is none here"):
        modelsel.classifier("naive_bayes", threshold="path")
    with pytest.raises(ConfigurationError, match="fold_scores: outer reads the folds of a study, and there is none here"):
        modelsel.classifier("naive_bayes", calibrator={"kind": "platt", "fold_scores": "outer"})
    X, y = rare.drop(columns="y"), rare["y"]
    with pytest.raises(ConfigurationError, match="threshold: path serves"):
        modelsel.SelectionCV({"a": RARE}, scoring=lambda model, X, y: accuracy_score(y, model.predict(X))).fit(X, y)
    ranked = modelsel.SelectionCV({"a": RARE}, cv=3, scoring=get_scorer("roc_auc")).fit(X, y)
    assert ranked.best_estimator_.learner["decision"]["measure"] == {"kind": "balanced_error"}


def test_the_folds_of_a_splitter_teach_as_a_scheme_does(rare: pd.DataFrame) -> None:
    X, y = rare.drop(columns="y"), rare["y"]
    entry = {"a": {"learner": "naive_bayes", "threshold": "outer_path"}}
    found = modelsel.SelectionCV(entry, cv=4).fit(X, y)
    assert found.best_estimator_.learner["decision"]["scheme"] == {"kind": "predefined"}
    overlapping = [(np.arange(100), np.arange(100, 200)), (np.arange(50, 150), np.arange(50))]
    with pytest.raises(ConfigurationError, match="a learner that reads the outer folds cannot tell of these folds"):
        modelsel.SelectionCV(entry, cv=overlapping).fit(X, y)


def test_what_a_plan_refuses_a_search_refuses_in_the_same_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"c": pd.Categorical(rng.integers(0, 400, 900).astype(str)), "x": rng.normal(size=900)})
    y = pd.Series(rng.integers(0, 2, 900), name="y")
    with pytest.raises(ConfigurationError) as searched:
        modelsel.SelectionCV("hist_gradient_boosting", cv=3).fit(frame, y)
    with pytest.raises(ConfigurationError) as planned:
        modelsel.plan(data=frame.assign(y=y), target="y", space="hist_gradient_boosting", split="none")
    assert [(one.code, one.what) for one in searched.value.problems] == [(one.code, one.what) for one in planned.value.problems]


def test_a_scorer_that_fails_on_a_fold_without_a_class_is_told_with_the_class() -> None:
    y = np.array(["a"] * 60 + ["b"] * 60 + ["rare"] * 2)
    X = np.random.default_rng(0).normal(size=(122, 2))
    with pytest.warns(UserWarning, match="least populated"), pytest.raises(ValueError, match="which assesses no row of rare"):
        modelsel.SelectionCV("naive_bayes", cv=3, scoring="neg_log_loss").fit(X, y)
