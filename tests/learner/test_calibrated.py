"""A calibrator behind a learner: scikit-learn's answers on the same inner folds, no row in its own curve, a whole study."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from packaging.version import parse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import modelsel
from modelsel.config.build import build
from modelsel.core.errors import ConfigurationError
from modelsel.core.spec import make
from modelsel.core.types import Candidate, Description, Feature, Task, positions
from modelsel.learner.calibrated import Calibrated
from modelsel.learner.inner import inner_folds
from modelsel.planning.make import make as planned
from modelsel.scheme.stratified_kfold import StratifiedKfold

TABLES = {"iris": load_iris, "wine": load_wine, "breast_cancer": load_breast_cancer}
METHODS = {"platt": "sigmoid", "isotonic": "isotonic", "temperature": "temperature"}
SPACE = {"bayes": {"learner": "naive_bayes", "sweep": {"calibrator": "choice(none, platt, isotonic, beta, temperature)"}}}
STUDY: dict[str, Any] = {
    "tracking": "off", "pool": "sequential", "scheme": {"kind": "stratified_kfold", "folds": 3}, "final_test": False,
    "measure": "brier",
}  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def task_of(name: str, **more: Any) -> Task:
    table = TABLES[name]()
    features = tuple(Feature(f"x{column}", "numeric") for column in range(table.data.shape[1]))
    return Task(
        name=name, features=features, values=np.asfortranarray(table.data), rows=np.arange(len(table.target)),
        classes=tuple(map(str, range(len(table.target_names)))), target=table.target.astype(np.int32), **more,
    )  # fmt: skip


def pairs(task: Task, folds: int, seed: int) -> list[tuple[np.ndarray, np.ndarray]]:
    return inner_folds(task, positions(task), folds, np.random.default_rng(seed))


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("kind", METHODS)
@pytest.mark.parametrize("base", ["bayes", "tree", "margin"])
def test_it_is_calibrated_classifier_cv_on_the_same_folds(table: str, kind: str, base: str) -> None:
    if kind == "temperature" and parse(sklearn.__version__) < parse("1.8"):
        pytest.skip("scikit-learn has it from version 1.8 on")
    if kind == "temperature" and base == "margin":
        pytest.skip("temperature reads probabilities")
    task = task_of(table)
    name, estimator, params = {
        "bayes": ("sklearn.naive_bayes.GaussianNB", GaussianNB(), {}),
        "margin": ("sklearn.linear_model.RidgeClassifier", RidgeClassifier(), {}),
        "tree": (
            "sklearn.tree.DecisionTreeClassifier",
            DecisionTreeClassifier(max_depth=3, min_samples_leaf=5, random_state=0),
            {"max_depth": 3, "min_samples_leaf": 5, "random_state": 0},
        ),
    }[base]
    learner, steps = build({"kind": "estimator", "estimator": name, "params": params, "calibrator": kind})
    assert steps == ()
    model = learner.fit(task, positions(task), np.random.default_rng(7))
    theirs = CalibratedClassifierCV(estimator, method=METHODS[kind], cv=pairs(task, 5, 7), ensemble=False)
    theirs.fit(task.values, task.target)
    np.testing.assert_allclose(model.scores(task), theirs.predict_proba(task.values), atol=1e-5)
    assert (model.predict(task) == theirs.predict(task.values)).mean() > 0.99  # all but ties


def test_the_curve_is_learnt_from_rows_that_the_inner_fits_did_not_see() -> None:
    """A learner that knows its rows by heart is sure of them, and only the held-out rows say how often it errs."""
    rng = np.random.default_rng(0)
    task = Task(
        name="noise", features=(Feature("x", "numeric"),), values=rng.random((300, 1)), rows=np.arange(300),
        classes=("a", "b"), target=rng.integers(2, size=300).astype(np.int32),
    )  # fmt: skip
    heart = make("learner", "tree")
    assert heart.fit(task, positions(task), rng).scores(task).max(axis=1).min() == 1.0
    model = Calibrated(heart).fit(task, positions(task), rng)
    assert model.scores(task).max() < 0.65


@pytest.mark.slow
def test_steps_that_read_labels_are_fitted_inside_the_inner_folds() -> None:
    """Twenty of 2,000 columns of noise, chosen by the labels: scores look sure unless the choice is made anew in each fold."""
    rng = np.random.default_rng(1)
    task = Task(
        name="noise", features=tuple(Feature(f"x{i}", "numeric") for i in range(2000)), values=rng.normal(size=(80, 2000)),
        rows=np.arange(80), classes=("a", "b"), target=np.arange(80).astype(np.int32) % 2,
    )  # fmt: skip
    chosen = make("preparer", "select_top", n=20)
    model = Calibrated(make("learner", "naive_bayes"), (chosen,)).fit(task, positions(task), rng)
    assert np.abs(model.scores(task)[:, 1] - 0.5).max() < 0.25


@pytest.mark.parametrize("grouped", [False, True])
def test_no_row_and_no_group_is_on_both_sides_of_an_inner_fold(grouped: bool) -> None:
    groups = np.arange(150) // 5 if grouped else None
    task = task_of("iris", groups=groups)
    rows = np.random.default_rng(0).integers(150, size=200)  # a bootstrap's analysis part, with repeats
    of = rows if groups is None else groups[rows]
    parts = inner_folds(task, rows, 5, np.random.default_rng(1))
    assert sorted(np.concatenate([held for _, held in parts]).tolist()) == list(range(200))
    for seen, held in parts:
        assert not set(of[seen]) & set(of[held])
        assert len(seen) + len(held) == 200


def test_one_fit_answers_all_as_each_alone_and_after_reading_back() -> None:
    task = task_of("iris")
    rows = np.arange(0, 150, 2)
    depths = [make("learner", "tree", max_depth=depth) for depth in (1, 2, 3)]
    learners = [Calibrated(base, (), make("calibrator", kind)) for base in depths for kind in ("platt", "isotonic", "beta")]
    assert len({json.dumps(learner.fit_key()) for learner in learners}) == 1
    path = learners[0].fit_path(task, rows, np.random.default_rng(3))
    together = path.outputs(learners, task, positions(task), True)
    for place, learner in enumerate(learners):
        model = learner.fit(task, rows, np.random.default_rng(3))
        np.testing.assert_allclose(model.scores(task), together.scores[place], atol=1e-12)
        np.testing.assert_array_equal(model.predict(task), together.predicted[place])
        said = model.describe()
        again = Calibrated.restore(Description("calibrated", json.loads(json.dumps(dict(said.facts))), said.arrays))
        np.testing.assert_array_equal(again.scores(task), model.scores(task))


@pytest.mark.slow
def test_a_study_over_calibrators_from_the_sweep_to_the_model() -> None:
    outcome = modelsel.run("dataset=breast_cancer", space=SPACE, **STUDY)
    board = outcome.leaderboard
    assert set(board["calibrator"].fillna("none")) == {"none", "platt", "isotonic", "beta", "temperature"}
    by = board.set_index(board["calibrator"].fillna("none"))["mean"]
    assert by["beta"] < by["none"]  # naive Bayes is too sure
    assert outcome.fits == {"needed": 3 * (1 + 6) + 1, "naive": 3 * (1 + 4 * 6) + 1}
    X = load_breast_cancer(as_frame=True).data
    scores = outcome.model.predict_proba(X[:30])
    refitted = outcome.candidate().fit().predict_proba(X[:30])
    np.testing.assert_allclose(refitted, scores, atol=1e-12)
    assert outcome.candidate().specification["calibrator"]["folds"] == 5


@pytest.mark.slow
def test_workers_and_an_interruption_change_nothing() -> None:
    first = modelsel.run("dataset=wine", space=SPACE, **STUDY)
    again = modelsel.run("dataset=wine", space=SPACE, **STUDY)
    fresh = modelsel.run("dataset=wine", space=SPACE, **{**STUDY, "pool": {"kind": "threads", "n_jobs": 2}}, name="other")
    assert again.winner == first.winner == fresh.winner
    assert first.leaderboard.equals(fresh.leaderboard)


def test_a_candidate_without_calibrator_is_the_same_candidate_as_before() -> None:
    plain = build("naive_bayes")
    assert build({"kind": "naive_bayes", "calibrator": "none"}) == plain
    assert Candidate(*plain).spec == Candidate(*build({"kind": "naive_bayes", "calibrator": None})).spec


@pytest.mark.slow
def test_steps_of_a_calibrated_candidate_are_on_record_and_read_back() -> None:
    space = {"bayes": {"learner": "naive_bayes", "preparer": "discretise_mdl", "calibrator": "isotonic"}}
    outcome = modelsel.run("dataset=iris", space=space, **STUDY)
    row = outcome.leaderboard.iloc[0]
    won = outcome.candidate()
    assert (row["learner"], outcome.winner["parameters"]["preparer"]) == ("naive_bayes", "discretise_mdl")
    X = pd.DataFrame(load_iris().data, columns=list(outcome.model.feature_names_in_))
    np.testing.assert_allclose(outcome.model.predict_proba(X), won.fit().predict_proba(X), atol=1e-12)


def test_open_families_are_refused_and_too_few_rows_skipped() -> None:
    space = {"cart": {"learner": "cart", "pruner": {"kind": "cost_complexity", "alpha": "path"}, "calibrator": "platt"}}
    with pytest.raises(ConfigurationError, match="in place of alpha: path"):
        modelsel.run("dataset=iris", space=space, **STUDY)
    assert "rows (or groups)" in str(Calibrated(make("learner", "majority")).refusal(task_of("iris"), np.arange(3)))


def test_the_plan_counts_the_inner_fits() -> None:
    task = task_of("iris")
    folds = StratifiedKfold(folds=10).instantiate(task, 0)
    tree = make("learner", "tree")
    many = [Candidate(tree), *(Candidate(Calibrated(tree, (), make("calibrator", kind))) for kind in ("platt", "beta"))]
    plan = planned(many, task, folds)
    assert plan.needed == 10 * (1 + 6) + 1  # both calibrators read the scores of the same inner fits
    assert plan.inner == 50
    assert plan.naive == 10 * (1 + 6 + 6) + 1
