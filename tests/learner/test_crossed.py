"""Calibrators and thresholds taught by the other outer folds: loops written here and scikit-learn say the same; refusals."""

import importlib.metadata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import TunedThresholdClassifierCV
from sklearn.naive_bayes import GaussianNB

import modelsel
from modelsel.config.build import BuildContext, Builder, build
from modelsel.config.folders import Folders
from modelsel.core.errors import ConfigurationError
from modelsel.core.spec import snake, whole
from modelsel.core.types import Feature, Task, positions
from modelsel.learner import inner
from modelsel.planning.make import make as planned
from modelsel.scheme.base import BaseScheme
from modelsel.scheme.stratified_kfold import StratifiedKfold

TABLES = {"iris": load_iris, "wine": load_wine, "breast_cancer": load_breast_cancer}
SCHEME = {"kind": "stratified_kfold", "folds": 4, "seed": 3}
BAYES = {"kind": "estimator", "estimator": "sklearn.naive_bayes.GaussianNB"}
STUDY: dict[str, Any] = {"tracking": "off", "pool": "sequential", "scheme": SCHEME, "final_test": False}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def task_of(name: str) -> Task:
    """Two classes: of three the second against the others."""
    X, y = TABLES[name](return_X_y=True)
    features = tuple(Feature(f"x{column}", "numeric") for column in range(X.shape[1]))
    return Task(
        name=name, features=features, values=np.asfortranarray(X), rows=np.arange(len(y)), classes=("a", "b"),
        target=(y == 1).astype(np.int32),
    )  # fmt: skip


def taught_by_others(task: Task, k: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Scores and labels of every fold but k, each by scikit-learn's model of all rows outside that fold: a plain loop."""
    found = []
    for fold in StratifiedKfold(folds=4, seed=3).instantiate(task, 99).folds:
        if fold.index != k:
            model = GaussianNB().fit(task.values[fold.analysis], task.target[fold.analysis])
            found.append((model.predict_proba(task.values[fold.assessment])[:, 1], task.target[fold.assessment]))
    return found


def threshold(held: list[tuple[np.ndarray, np.ndarray]]) -> float:
    """The best of 100 common thresholds by the mean over folds of balanced accuracy, written out."""
    curves = []
    for score, truth in held:
        at = np.linspace(score.min(), score.max(), 100)
        curves.append((at, np.array([balanced_accuracy_score(truth, score >= one) for one in at])))
    asked = np.linspace(min(at[0] for at, _ in curves), max(at[-1] for at, _ in curves), 100)
    return float(asked[np.argmax(np.mean([np.interp(asked, at, score) for at, score in curves], axis=0))])


@pytest.mark.parametrize("table", TABLES)
def test_the_curve_of_a_fold_is_learnt_from_the_scores_of_the_other_folds(table: str) -> None:
    task = task_of(table)
    learner, _ = build({**BAYES, "calibrator": {"kind": "isotonic", "fold_scores": "outer", "scheme": SCHEME}})
    folds = StratifiedKfold(folds=4, seed=3).instantiate(task, 99).folds
    for k in (0, 3):
        held = taught_by_others(task, k)
        curve = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip")
        curve.fit(np.concatenate([score for score, _ in held]), np.concatenate([truth for _, truth in held]))
        alone = GaussianNB().fit(task.values[folds[k].analysis], task.target[folds[k].analysis])
        asked = task.take(folds[k].assessment)
        ours = learner.fit(task, folds[k].analysis, np.random.default_rng(0)).scores(asked)[:, 1]
        np.testing.assert_allclose(ours, curve.predict(alone.predict_proba(asked.values)[:, 1]), atol=1e-9)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("kind", ["isotonic", "platt"])
def test_the_final_curve_is_calibrated_classifier_cv_s_on_the_outer_folds(table: str, kind: str) -> None:
    task = task_of(table)
    learner, _ = build({**BAYES, "calibrator": {"kind": kind, "fold_scores": "outer", "scheme": SCHEME}})
    splits = [(fold.analysis, fold.assessment) for fold in StratifiedKfold(folds=4, seed=3).instantiate(task, 0).folds]
    method = {"platt": "sigmoid", "isotonic": "isotonic"}[kind]
    theirs = CalibratedClassifierCV(GaussianNB(), method=method, cv=splits, ensemble=False).fit(task.values, task.target)
    ours = learner.fit(task, positions(task), np.random.default_rng(0))
    np.testing.assert_allclose(ours.scores(task), theirs.predict_proba(task.values), atol=1e-4 if kind == "platt" else 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("table", TABLES)
def test_the_threshold_of_a_fold_is_chosen_by_the_other_folds_and_the_final_one_by_all(table: str) -> None:
    task = task_of(table)
    learner, _ = build({**BAYES, "decision": {"kind": "threshold", "fold_scores": "outer", "scheme": SCHEME}})
    folds = StratifiedKfold(folds=4, seed=3).instantiate(task, 99).folds
    for k in range(4):
        model = learner.fit(task, folds[k].analysis, np.random.default_rng(0))
        assert model.learnt[0] == pytest.approx(threshold(taught_by_others(task, k)), abs=1e-12)
    splits = [(fold.analysis, fold.assessment) for fold in folds]
    tuned = TunedThresholdClassifierCV(GaussianNB(), scoring="balanced_accuracy", cv=splits, refit=True)
    theirs = tuned.fit(task.values, task.target).best_threshold_
    assert learner.fit(task, positions(task), np.random.default_rng(0)).learnt[0] == pytest.approx(theirs, abs=1e-12)


def frame_of(name: str = "breast_cancer") -> pd.DataFrame:
    task = task_of(name)
    return pd.DataFrame(task.values, columns=[f.name for f in task.features]).assign(target=task.target)


@pytest.mark.slow
def test_a_study_puts_its_own_folds_there_says_so_and_its_model_goes_on() -> None:
    sweep = {"calibrator": [{"kind": "platt"}, {"kind": "platt", "fold_scores": "outer"}]}
    space = {"bayes": {"learner": "naive_bayes", "sweep": sweep}, "cut": {"learner": "naive_bayes", "threshold": "outer_path"}}
    found = modelsel.run(frame_of(), target="target", space=space, measure="brier", **STUDY)
    own = found.tables()["parameters"].query("parameter == 'calibrator.scheme' or parameter == 'decision.scheme'")
    assert own["value"].tolist() == ["stratified_kfold", "stratified_kfold"]
    text = (Path(found.folder) / "candidates.csv").read_text("utf-8")
    assert "calibrator.scheme.seed" in text.splitlines()[0]
    for name in own["id"]:
        candidate = found.candidate(name)
        assert candidate.fit().predict_proba(frame_of().drop(columns="target")).min() >= 0
    assert len(modelsel.open_run(found.folder).model.predict(frame_of())) == 569


@pytest.mark.slow
def test_scores_do_not_hang_on_workers_or_on_what_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    space = {
        "tree": {"learner": "cart", "sweep": {"max_depth": [2, 4], "calibrator": [{"kind": "beta", "fold_scores": "outer"}]}}
    }
    first = modelsel.run(frame_of(), target="target", space=space, measure="brier", **STUDY).leaderboard
    monkeypatch.setattr(inner, "SCORES", inner.RememberedScores(0))
    many = {**STUDY, "pool": {"kind": "threads", "n_jobs": 3}}
    for run in Path("runs").iterdir():
        run.rename(run.with_name(f".{run.name}"))  # no cell is found again
    second = modelsel.run(frame_of(), target="target", space=space, measure="brier", **many).leaderboard
    pd.testing.assert_frame_equal(first, second)


def test_outer_folds_are_fewer_fits_and_planned_as_such() -> None:
    task = task_of("iris")
    folds = StratifiedKfold(folds=4, seed=3).instantiate(task, 0)
    from modelsel.core.types import Candidate

    def needed(**calibrator: Any) -> int:
        learner, steps = build({"kind": "naive_bayes", "calibrator": {"kind": "platt", **calibrator}})
        return planned([Candidate(learner, steps)], task, folds).needed

    assert needed(fold_scores="outer", scheme=SCHEME) == 2 * 4 + 1
    assert needed() == 6 * 4 + 1


@pytest.mark.parametrize(
    "scheme", ["kfold", "leave_one_out", "holdout", {"kind": "repeated_kfold", "folds": 3, "repeats": 2, "stratify": False}]
)
def test_calibrators_on_outer_folds_are_refused_where_classes_are_not_in_proportion(scheme: Any) -> None:
    space = {"bayes": {"learner": "naive_bayes", "calibrator": {"kind": "platt", "fold_scores": "outer"}}}
    with pytest.raises(ConfigurationError, match="fold_scores: outer with scheme=") as refused:
        modelsel.run(frame_of("iris"), target="target", space=space, **{**STUDY, "scheme": scheme})
    assert "use stratified_kfold, or fold_scores: inner" in str(refused.value)
    assert not Path("runs").exists()


@pytest.mark.parametrize("scheme", ["leave_one_out", "holdout", "bootstrap"])
def test_thresholds_on_outer_folds_need_every_row_once_and_several_at_a_time(scheme: str) -> None:
    space = {"bayes": {"learner": "naive_bayes", "threshold": "outer_path"}}
    with pytest.raises(ConfigurationError, match="must assess every row once, several at a time"):
        modelsel.run(frame_of("iris"), target="target", space=space, **{**STUDY, "scheme": scheme})


def test_repeats_use_the_folds_of_their_own_repeat() -> None:
    task = task_of("wine")
    scheme = {"kind": "repeated_kfold", "folds": 3, "repeats": 2, "seed": 1}
    learner, _ = build({**BAYES, "decision": {"kind": "threshold", "fold_scores": "outer", "scheme": scheme}})
    resampling = learner.decision.scheme.instantiate(task, 0)
    own = resampling.folds[4]
    others = inner.teaching(resampling, own.analysis, len(task))
    assert [fold.index for fold in others] == [3, 5]
    assert [fold.index for fold in inner.teaching(resampling, positions(task), len(task))] == [0, 1, 2]
    assert learner.refusal(task, own.analysis) is None
    assert "these are others" in learner.refusal(task, own.analysis[1:])


def test_without_a_study_and_behind_inner_folds_it_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="reads the folds of a study, and there is none here"):
        build({"kind": "naive_bayes", "calibrator": {"kind": "platt", "fold_scores": "outer"}})
    outer = {"kind": "platt", "fold_scores": "outer", "scheme": SCHEME}
    with pytest.raises(ConfigurationError, match="behind a decision on inner folds"):
        build({"kind": "naive_bayes", "calibrator": outer, "threshold": "path"})
    both, _ = build({"kind": "naive_bayes", "calibrator": outer, "decision": {"kind": "threshold", "scheme": SCHEME}})
    task = task_of("iris")
    assert 0 < both.fit(task, positions(task), np.random.default_rng(0)).learnt[0] < 1


@dataclass(frozen=True)
class Dealt(BaseScheme):
    """A plug-in's: it draws, and has no seed of its own."""

    folds: int = whole(4, least=2)

    def pairs(self, task: Task, rng: np.random.Generator) -> Iterator[tuple[Any, Any]]:
        number = rng.permutation(len(task)) % self.folds
        for fold in range(self.folds):
            yield number != fold, number == fold


@dataclass(frozen=True)
class DealtBySeed(Dealt):
    """With one."""

    seed: int | None = whole(None, least=0)


class Entry:
    def __init__(self, kind: type) -> None:
        self.name, self.kind = snake(kind.__name__), kind

    def load(self) -> type:
        return self.kind


@pytest.fixture
def plugged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are there as an installed package has them."""
    found = {"modelsel.scheme": [Entry(Dealt), Entry(DealtBySeed)]}
    real = importlib.metadata.entry_points
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **asked: found.get(asked.get("group")) or real(**asked))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("scheme", ["dealt", "dealt_by_seed", {"kind": "dealt_by_seed", "seed": 11}])
def test_a_scheme_of_a_plug_in_teaches_whether_or_not_it_has_a_seed(plugged: None, scheme: Any) -> None:
    space = {"bayes": {"learner": "naive_bayes", "threshold": "outer_path"}}
    more = {**STUDY, "scheme": scheme, "seed": 7, "plugins": ["dealt", "dealt_by_seed"]}
    found = modelsel.run(frame_of("iris"), target="target", space=space, measure="balanced_error", **more)
    assert found.candidates["ok"] == 1
    text = (Path(found.folder) / "candidates.csv").read_text("utf-8")
    assert ("decision.scheme_seed" in text) == (scheme == "dealt")
    assert len(found.model.predict(frame_of("iris"))) == 150
    assert len(found.candidate().fit().predict(frame_of("iris").drop(columns="target"))) == 150


def test_a_scheme_without_a_seed_draws_what_it_draws_in_the_study() -> None:
    task = task_of("iris")
    builder = Builder(Folders.of(), context=BuildContext(scheme=Dealt(), seed=7))
    learner, _ = builder.part("learner", {**BAYES, "decision": {"kind": "threshold", "fold_scores": "outer"}}, "learner")
    for fold in Dealt().instantiate(task, 7).folds:
        assert learner.refusal(task, fold.analysis) is None
    assert "these are others" in str(learner.refusal(task, Dealt().instantiate(task, 8).folds[0].analysis))
    assert [one.tolist() for one in (fold.analysis for fold in DealtBySeed(seed=7).instantiate(task, 0).folds)] == [
        one.tolist() for one in (fold.analysis for fold in DealtBySeed().instantiate(task, 7).folds)
    ]


def test_inner_folds_have_the_ids_that_they_had() -> None:
    from modelsel.core.types import Candidate

    learner, steps = build({"kind": "naive_bayes", "calibrator": "platt"})
    assert "scheme" not in learner.specification()["calibrator"]
    assert "fold_scores" not in learner.specification()["calibrator"]
    assert (
        Candidate(learner, steps).id
        == Candidate(*build({"kind": "naive_bayes", "calibrator": {"kind": "platt", "fold_scores": "inner"}})).id
    )
