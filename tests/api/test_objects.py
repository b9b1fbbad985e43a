"""Anything that scikit-learn can clone is a candidate: it reads the frame's own columns, and the record says what it is."""

import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier, StackingClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectFromModel
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_predict
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import modelsel
from modelsel.core.errors import ConfigurationError
from tests.api.conftest import QUICK

WORDS = ("good", "bad", "late", "fine", "poor")


class Seen(ClassifierMixin, BaseEstimator):
    """Remembers the types of what it is fitted on and asked about."""

    kinds: list[dict[str, str]] = []

    def __init__(self, threshold: float = 50.0) -> None:
        self.threshold = threshold

    def fit(self, X: Any, y: Any) -> "Seen":
        self.classes_ = np.unique(y)
        Seen.kinds.append({str(name): str(kind) for name, kind in X.dtypes.items()})
        self.big_, self.levels_ = X["big"].max(), list(X["city"].cat.categories)
        return self

    def predict(self, X: Any) -> Any:
        assert X["since"].dt.tz is not None
        return self.classes_[(X["age"].fillna(0).astype(float) > self.threshold).astype(int)]


def notes(rows: int = 90, seed: int = 0) -> pd.DataFrame:
    """Integers beyond 2^53, nullable ones, categories of which one is unused, moments with a zone, text."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "age": pd.array(rng.integers(18, 80, rows), dtype="Int64"),
        "big": rng.integers(2**60, 2**61, rows),
        "city": pd.Categorical(rng.choice(list("abc"), rows), categories=list("zcba")),
        "since": pd.date_range("2020", periods=rows, tz="Europe/Berlin"),
        "note": [" ".join(rng.choice(WORDS, 4)) for _ in range(rows)],
    })  # fmt: skip
    frame.loc[5, "age"] = pd.NA
    frame["y"] = np.where(frame["note"].str.contains("bad"), "bad", "good")
    return frame


def reader() -> Any:
    columns = ColumnTransformer([
        ("city", OneHotEncoder(handle_unknown="ignore"), ["city"]), ("note", TfidfVectorizer(), "note"),
    ])  # fmt: skip
    return Pipeline([("columns", columns), ("clf", LogisticRegression())])


@pytest.mark.slow
def test_an_object_gets_the_frames_own_columns_in_their_types_and_a_pipeline_scores_as_in_grid_search() -> None:
    frame, grid = notes(), {"clf__C": [0.1, 100.0]}
    Seen.kinds.clear()
    space = {"mine": (reader(), grid), "seen": Seen()}
    outcome = modelsel.run(frame, target="y", space=space, final_test=False, split="none", **QUICK)
    assert set(outcome.leaderboard["status"]) == {"ok"}, outcome.failures
    types = frame.drop(columns="y").dtypes
    assert Seen.kinds[0] == {name: str(kind) for name, kind in types.items()}
    folds = StratifiedKFold(3)
    theirs = GridSearchCV(reader(), grid, cv=folds).fit(frame.drop(columns="y"), frame["y"])
    ours = modelsel.SelectionCV({"mine": (reader(), grid)}, cv=folds).fit(frame.drop(columns="y"), frame["y"])
    assert np.allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
    assert ours.best_params_ == theirs.best_params_ == {"clf__C": 100.0}
    assert isinstance(ours.best_estimator_, Pipeline)
    assert ours.best_estimator_.named_steps["clf"].coef_.shape == theirs.best_estimator_.named_steps["clf"].coef_.shape
    assert (ours.predict(frame.drop(columns="y")) == theirs.predict(frame.drop(columns="y"))).all()


@pytest.mark.slow
def test_a_study_of_objects_is_sealed_tested_and_gone_on_with_and_says_that_it_is_not_portable() -> None:
    frame = notes()
    arguments: dict[str, Any] = {"target": "y", "space": {"mine": (reader(), {"clf__C": [1.0, 100.0]})}, **QUICK}
    outcome = modelsel.run(frame, **arguments)
    assert outcome.test.n == outcome.task["test_rows"] == 27
    said = [one for one in outcome.findings if one["code"] == "NOT_PORTABLE"]
    assert "mine" in said[0]["message"]
    assert "exports" in said[0]["message"]
    assert "NOT_PORTABLE" in Path(outcome.folder, "report.html").read_text()
    again = modelsel.run(frame, **arguments)
    assert again.test.replay or again.test.look == 2, "the rows are known again"
    assert again.winner == outcome.winner
    assert not list(Path(outcome.folder).rglob("*.pickle"))
    assert (outcome.model.predict(frame.head(9)) == frame["y"].head(9)).mean() > 0.8
    with pytest.raises(ConfigurationError):
        outcome.export("onnx")


@pytest.mark.slow
def test_a_record_is_never_a_program_and_says_what_is_lost_in_another_process(tmp_path: Path) -> None:
    outcome = modelsel.run(notes(), target="y", space={"mine": reader()}, final_test=False, name="objects", **QUICK)
    code = f"""
        import modelsel
        outcome = modelsel.open_run({outcome.folder!r})
        print(outcome.winner["cv"]["mean"])
        try:
            outcome.model
        except Exception as error:
            print(type(error).__name__, error)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(str(outcome.winner["cv"]["mean"]))
    assert "MSEL-625" in done.stdout or "hand it over" in done.stdout, done.stdout


@pytest.mark.slow
def test_a_class_of_a_script_goes_to_workers_and_is_the_same_candidate_in_every_process(tmp_path: Path) -> None:
    script = """
        import numpy as np, pandas as pd, sys, modelsel
        from sklearn.base import BaseEstimator, ClassifierMixin
        LEAST = 2

        class Majority(ClassifierMixin, BaseEstimator):
            def __init__(self, k=1):
                self.k = k
            def fit(self, X, y):
                self.classes_, counts = np.unique(y, return_counts=True)
                self.best_ = self.classes_[counts.argmax()] if self.k < LEAST else self.classes_[counts.argmin()]
                return self
            def predict(self, X):
                return np.full(len(X), self.best_)

        if __name__ == "__main__":
            frame = pd.DataFrame({"x": np.arange(60.0), "y": ["a", "b", "b"] * 20})
            space, pool = {"own": (Majority(), {"k": [1, 3]})}, {"kind": sys.argv[1], "n_jobs": 2}
            outcome = modelsel.run(frame, target="y", space=space, final_test=False, split="none", pool=pool,
                                   tracking="off", scheme={"kind": "kfold", "folds": 3})
            board = outcome.leaderboard
            print(sorted(zip(board["id"], board["mean"].round(9), board["status"])))
    """
    (tmp_path / "own.py").write_text(textwrap.dedent(script))
    said = [
        subprocess.run([sys.executable, "own.py", pool], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        for pool in ("processes", "threads")
    ]
    assert said[0].splitlines()[-1] == said[1].splitlines()[-1]
    assert said[0].count("'ok'") == 2, said[0]


@pytest.mark.parametrize(
    ("estimator", "said"),
    [
        (make_pipeline(FrozenEstimator(StandardScaler()), SVC()), "is fitted already"),
        (make_pipeline(SelectFromModel(DecisionTreeClassifier(), prefit=True), SVC()), "is fitted already"),
        (make_pipeline(ColumnTransformer([("a", StandardScaler(), ["agee"])]), SVC()), "'agee' that is not there; .* 'age'"),
    ],
)
def test_what_would_leak_or_cannot_read_the_table_is_refused_by_name_before_any_fit(estimator: Any, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        modelsel.plan(notes(), target="y", space={"mine": estimator})
    frame = notes()
    with pytest.raises(ConfigurationError, match=said):
        modelsel.SelectionCV({"mine": estimator}).fit(frame.drop(columns="y"), frame["y"])


class Leaking(TransformerMixin, BaseEstimator):
    """Wants the target where rows are transformed."""

    def fit(self, X: Any, y: Any = None) -> "Leaking":
        return self

    def transform(self, X: Any, y: Any) -> Any:
        return np.column_stack([X, y])


class NotClonable(BaseEstimator):
    def __init__(self, k: int = 1) -> None:
        self.k = [k]


def test_a_step_that_needs_the_target_and_what_cannot_be_cloned_are_refused() -> None:
    X, y = np.eye(6), [0, 1] * 3
    with pytest.raises(ConfigurationError, match=r"leaking \(Leaking\) asks for the target where rows are transformed"):
        modelsel.SelectionCV(make_pipeline(Leaking(), SVC())).fit(X, y)
    with pytest.raises(ConfigurationError, match=r"MSEL-217: Pipeline cannot be cloned: .*NotClonable"):
        modelsel.SelectionCV(make_pipeline(NotClonable(), SVC())).fit(X, y)


@pytest.mark.slow
def test_sparse_matrices_and_lists_of_texts_are_read_as_they_are() -> None:
    texts, y = notes()["note"].tolist(), notes()["y"]
    folds = StratifiedKFold(3)
    piped = make_pipeline(TfidfVectorizer(), LogisticRegression(C=100))
    ours = modelsel.SelectionCV(piped, cv=folds).fit(texts, y)
    assert ours.best_score_ == pytest.approx((cross_val_predict(piped, texts, y, cv=folds) == y).mean(), abs=0.02)
    matrix = sparse.random(60, 40, 0.2, format="coo", random_state=0)
    labels = np.asarray(matrix.sum(axis=1)).ravel() > 4
    found = modelsel.SelectionCV((LogisticRegression(), {"C": [1, 10]}), cv=3).fit(matrix, labels)
    theirs = GridSearchCV(LogisticRegression(), {"C": [1, 10]}, cv=3).fit(matrix.tocsr(), labels)
    assert found.cv_results_["mean_test_score"].tolist() == theirs.cv_results_["mean_test_score"].tolist()
    outcome = modelsel.run((matrix, labels.astype(str)), space={"own": make_pipeline(FunctionTransformer(), SVC())}, **QUICK)
    assert outcome.test.n
    assert set(outcome.leaderboard["status"]) == {"ok"}


@pytest.mark.slow
def test_stacks_unions_and_forests_answer_as_in_grid_search_also_where_fits_are_shared() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 4)), rng.integers(0, 2, 90)
    stack = StackingClassifier(
        [("t", DecisionTreeClassifier(random_state=0)), ("l", LogisticRegression())], LogisticRegression(), cv=3
    )
    union = make_pipeline(FeatureUnion([("a", StandardScaler()), ("b", FunctionTransformer(np.abs))]), LogisticRegression())
    forest = (RandomForestClassifier(random_state=0), {"n_estimators": [3, 7, 20]})
    for entry in ((stack, {"final_estimator__C": [0.1, 1]}), (union, {"logisticregression__C": [0.1, 1]}), forest):
        theirs = GridSearchCV(*entry, cv=3, return_train_score=True).fit(X, y)
        ours = modelsel.SelectionCV(entry, cv=3, return_train_score=True).fit(X, y)
        for name in ("mean_test_score", "mean_train_score"):
            assert np.allclose(ours.cv_results_[name], theirs.cv_results_[name]), (entry, name)
        assert ours.cv_results_["params"] == theirs.cv_results_["params"]


def test_one_feature_and_all_of_them_are_two_candidates() -> None:
    X, y = np.random.default_rng(0).normal(size=(30, 3)), [0, 1] * 15
    found = modelsel.SelectionCV((DecisionTreeClassifier(random_state=0), {"max_features": [1, 1.0]}), cv=3).fit(X, y)
    assert [type(one["max_features"]) for one in found.cv_results_["params"]] == [int, float]


def test_estimators_in_a_grid_and_none_as_a_step_are_named_as_they_were_given() -> None:
    piped = Pipeline([("scale", StandardScaler()), ("clf", SVC())])
    grid = {"scale": [StandardScaler(), "passthrough"], "clf": [SVC(), LogisticRegression()]}
    found = modelsel.SelectionCV((piped, grid), cv=3).fit(np.random.default_rng(0).normal(size=(30, 3)), [0, 1] * 15)
    assert len(found.cv_results_["params"]) == 4
    assert {type(one["clf"]).__name__ for one in found.cv_results_["params"]} == {"SVC", "LogisticRegression"}


def test_a_random_state_that_is_none_follows_the_seed_and_not_the_workers() -> None:
    X, y = np.random.default_rng(0).normal(size=(60, 4)), [0, 1] * 30
    entry = {"f": (make_pipeline(StandardScaler(), RandomForestClassifier(4)), {"randomforestclassifier__max_depth": [1, 3]})}
    one, many, other = (
        modelsel.SelectionCV(entry, cv=3, n_jobs=jobs, seed=seed).fit(X, y).cv_results_["mean_test_score"].tolist()
        for jobs, seed in ((1, 0), (3, 0), (1, 1))
    )
    assert one == many
    assert one != other


def test_several_scores_and_error_score_for_the_packages_own_learners_too() -> None:
    X, y = np.random.default_rng(0).normal(size=(60, 3)), [0, 1] * 30
    both = {"mine": (LogisticRegression(), {"C": [0.1, 1]}), "cart": {"learner": "cart", "sweep": {"max_depth": [1, 2]}}}
    found = modelsel.SelectionCV(both, cv=3, scoring=["accuracy", "roc_auc"], refit="roc_auc", return_train_score=True).fit(
        X, y
    )
    assert {"mean_test_accuracy", "rank_test_roc_auc", "split2_train_roc_auc"} <= set(found.cv_results_)
    assert np.isfinite(found.cv_results_["mean_train_accuracy"]).all()
    assert found.best_score_ == found.cv_results_["mean_test_roc_auc"].max()
    alone = modelsel.SelectionCV({"cart": both["cart"]}, cv=3, scoring="roc_auc").fit(X, y)
    assert found.cv_results_["mean_test_roc_auc"][2:].tolist() == alone.cv_results_["mean_test_score"].tolist()
    with pytest.raises(ConfigurationError, match="refit must be set to a scorer key"):
        modelsel.SelectionCV(both, scoring=["accuracy", "roc_auc"]).fit(X, y)
