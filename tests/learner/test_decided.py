"""An operating point behind a learner: scikit-learn's on the same inner folds, chosen by rows that do not judge it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification
from sklearn.metrics import make_scorer
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import modelsel
from modelsel.cli.dispatch import main
from modelsel.config.build import build
from modelsel.core.errors import ConfigurationError
from modelsel.core.spec import make
from modelsel.core.types import Candidate, Description, Feature, Outputs, Task, positions
from modelsel.decision.base import best_threshold
from modelsel.learner.decided import Decided
from modelsel.learner.inner import inner_folds
from modelsel.planning.make import make as planned
from modelsel.scheme.stratified_kfold import StratifiedKfold

COSTS = ((0.0, 1.0), (5.0, 0.0))
STUDY: dict[str, Any] = {
    "tracking": "off", "pool": "sequential", "scheme": {"kind": "stratified_kfold", "folds": 3}, "final_test": False,
}  # fmt: skip
TABLES = ("breast_cancer", "iris", "wine", "made")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def task_of(name: str, **more: Any) -> Task:
    """Two classes: of three the second against the others."""
    if name == "made":
        X, y = make_classification(600, 8, weights=[0.85], flip_y=0.2, random_state=0)
    else:
        X, y = {"breast_cancer": load_breast_cancer, "iris": load_iris, "wine": load_wine}[name](return_X_y=True)
        y = (y == 1).astype(int)
    features = tuple(Feature(f"x{column}", "numeric") for column in range(X.shape[1]))
    return Task(
        name=name, features=features, values=np.asfortranarray(X), rows=np.arange(len(y)), classes=("a", "b"),
        target=y.astype(np.int32), **more,
    )  # fmt: skip


def cost(truth: np.ndarray, predicted: np.ndarray) -> float:
    return float(np.asarray(COSTS)[truth, predicted].mean())


@pytest.mark.slow
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("base", ["bayes", "tree"])
@pytest.mark.parametrize("serves", ["balanced_error", "f1", "costs"])
def test_it_is_tuned_threshold_classifier_cv_on_the_same_folds(table: str, base: str, serves: str) -> None:
    task = task_of(table)
    name, estimator, params = {
        "bayes": ("sklearn.naive_bayes.GaussianNB", GaussianNB(), {}),
        "tree": (
            "sklearn.tree.DecisionTreeClassifier",
            DecisionTreeClassifier(max_depth=4, min_samples_leaf=5, random_state=0),
            {"max_depth": 4, "min_samples_leaf": 5, "random_state": 0},
        ),
    }[base]
    decision: dict[str, Any] = {"kind": "threshold", "measure": serves}
    scoring: Any = {"balanced_error": "balanced_accuracy", "f1": "f1"}.get(serves)
    if serves == "costs":
        decision, scoring = {"kind": "costs", "costs": COSTS}, make_scorer(cost, greater_is_better=False)
    if serves == "f1":
        decision["measure"] = {"kind": "f1", "positive": 1}
    learner, _ = build({"kind": "estimator", "estimator": name, "params": params, "decision": decision})
    model = learner.fit(task, positions(task), np.random.default_rng(7))
    folds = inner_folds(task, positions(task), 5, np.random.default_rng(7))
    theirs = TunedThresholdClassifierCV(estimator, scoring=scoring, cv=folds, refit=True).fit(task.values, task.target)
    assert model.learnt[0] == pytest.approx(theirs.best_threshold_, abs=1e-9)
    np.testing.assert_array_equal(model.predict(task), theirs.predict(task.values))


def test_a_fold_that_says_nothing_is_left_out() -> None:
    same = (np.full((4, 2), 0.5), np.array([0, 1, 0, 1], np.int32), np.ones(4))
    some = (np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 1], np.int32), np.ones(2))
    error = make("measure", "error")
    assert best_threshold([same, same], error, 10) == 0.5
    assert best_threshold([same, some], error, 10) == best_threshold([some], error, 10)


def test_the_point_is_judged_on_rows_that_did_not_choose_it() -> None:
    """Scores of noise: the best threshold looks better than chance on the rows that chose it, and is not on others."""
    rng = np.random.default_rng(0)
    chose, judged = [], []
    for _ in range(30):
        truth = np.arange(60).astype(np.int32) % 2
        scores = rng.random((2, 60))
        both = [np.column_stack([1 - one, one]) for one in scores]
        error = make("measure", "error")
        at = best_threshold([(both[0], truth, np.ones(60))], error, 100)
        for one, found in ((both[0], chose), (both[1], judged)):
            said = Outputs((one[:, 1] >= at).astype(np.int32)[None])
            found.append(float(error.score(truth, said, None, 2)[0]))
    assert np.mean(chose) < 0.44
    assert np.mean(judged) == pytest.approx(0.5, abs=0.04)


def test_of_more_classes_the_class_of_least_expected_cost_is_taken_without_inner_fits() -> None:
    costs = ((0, 1, 1), (1, 0, 1), (20, 20, 0))
    task = Task(**{**vars(task_of("iris")), "classes": ("a", "b", "c"), "target": load_iris().target.astype(np.int32)})
    learner, _ = build({"kind": "naive_bayes", "decision": {"kind": "costs", "costs": costs}})
    assert learner.fits == 1
    model = learner.fit(task, positions(task), np.random.default_rng(0))
    scores = model.scores(task)
    np.testing.assert_array_equal(model.predict(task), np.argmin(scores @ np.array(costs, float), axis=1))
    assert (model.predict(task) == 2).sum() > (scores.argmax(axis=1) == 2).sum()


def test_one_fit_answers_all_as_each_alone_and_after_reading_back() -> None:
    task = task_of("breast_cancer")
    rows = np.arange(0, 400, 2)
    depths = [make("learner", "tree", max_depth=depth) for depth in (1, 3)]
    decisions = [make("decision", "threshold"), make("decision", "costs", costs=COSTS)]
    learners = [Decided(base, (), decision) for base in depths for decision in decisions]
    assert len({json.dumps(learner.fit_key()) for learner in learners}) == 1
    path = learners[0].fit_path(task, rows, np.random.default_rng(3))
    together = path.outputs(learners, task, positions(task), True)
    for place, learner in enumerate(learners):
        model = learner.fit(task, rows, np.random.default_rng(3))
        np.testing.assert_array_equal(model.predict(task), together.predicted[place])
        np.testing.assert_allclose(model.scores(task), together.scores[place], atol=1e-12)
        said = model.describe()
        again = Decided.restore(Description("decided", json.loads(json.dumps(dict(said.facts))), said.arrays))
        np.testing.assert_array_equal(again.predict(task), model.predict(task))


@pytest.mark.slow
def test_a_threshold_is_written_short_and_serves_the_studys_measure() -> None:
    space = {
        "bayes": {
            "learner": "naive_bayes",
            "sweep": {"threshold": "choice(none, path, 0.3)", "calibrator": "choice(none, platt)"},
        },
        "costs": {"learner": "naive_bayes", "decision": {"costs": [[0, 1], [5, 0]]}},
    }
    outcome = modelsel.run("dataset=breast_cancer", "measure=f1", space=space, **STUDY)
    board = outcome.leaderboard
    assert len(board) == 7
    assert set(board["decision"].dropna()) == {"none", "threshold"}
    path = board[(board["decision"] == "threshold") & board["decision.at"].isna()]
    assert set(path["decision.measure"]) == {"f1"}
    fits = 1 + 1 + 6 + 6 + 6 + 36  # plain, 0.3, path and costs together; platt, 0.3 of it, path of it
    assert outcome.fits["needed"] == 3 * fits + 1
    for candidate in (outcome.candidate(one) for one in board["id"]):
        assert Candidate(*build(candidate.specification)).id == candidate.id


@pytest.mark.slow
def test_the_final_model_carries_the_point_and_predict_overrides_it(capsys: pytest.CaptureFixture[str]) -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    frame = X.iloc[:, :5].assign(sick=np.where(y == 0, "yes", "no"))
    space = {"bayes": {"learner": "naive_bayes", "decision": {"kind": "costs", "costs": [[0, 1], [30, 0]]}}}
    outcome = modelsel.run(
        frame, target="sick", space=space, measure={"kind": "cost_matrix", "costs": [[0, 1], [30, 0]]}, **STUDY
    )
    frame.drop(columns="sick").to_csv("new.csv", index=False)
    said = _predicted(capsys, outcome.folder)
    assert said["prediction"].tolist() == outcome.model.predict(X.iloc[:, :5]).tolist()
    assert ((said["score_yes"] < 0.5) & (said["prediction"] == "yes")).any()  # missing the sick costs thirty times as much
    other = _predicted(capsys, outcome.folder, "--threshold", "0.9")
    assert (other["prediction"] == np.where(other["score_yes"] >= 0.9, "yes", "no")).all()
    assert main(["predict", outcome.folder, "new.csv", "--threshold", "1.5"]) == 2
    assert "MSEL-264" in capsys.readouterr().err


def _predicted(capsys: pytest.CaptureFixture[str], folder: str, *more: str) -> pd.DataFrame:
    capsys.readouterr()
    assert main(["predict", folder, "new.csv", "-o", "out.csv", *more]) == 0
    return pd.read_csv("out.csv")


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ({"threshold": "path"}, "a threshold is for two classes"),
        ({"decision": {"kind": "costs", "costs": [[0, 1], [1, 0]]}}, "must be square"),
        ({"decision": {"kind": "threshold", "measure": "log_loss"}}, "name one of classes"),
    ],
)
def test_what_cannot_be_is_refused_before_any_fit(said: dict[str, Any], what: str) -> None:
    with pytest.raises(ConfigurationError, match=what):
        modelsel.run("dataset=iris", space={"bayes": {"learner": "naive_bayes", **said}}, **STUDY)


def test_the_plan_counts_inner_fits_also_of_a_calibrator_in_between() -> None:
    task = task_of("made")
    folds = StratifiedKfold(folds=10).instantiate(task, 0)
    spec = {"kind": "naive_bayes", "calibrator": "platt", "decision": {"kind": "threshold"}}
    plan = planned([Candidate(*build(spec)), Candidate(*build("naive_bayes"))], task, folds)
    assert plan.needed == 10 * (6 * 6 + 1) + 1
    assert plan.inner == 10 * 35
