"""`subject_to`: who may win, who is nearest where nobody may, and a correction that repeats the bound."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import modelsel
from modelsel.api.results.audit import replay
from modelsel.comparison.bbc import draws
from modelsel.comparison.fold_predictions import FoldPredictions, bbc_of_folds
from modelsel.core.errors import ConfigurationError, NoCandidateError
from modelsel.core.spec import make
from modelsel.core.types import Outputs, Resampling, Scoreboard
from modelsel.record.folder import RunFolder
from modelsel.rule.base import among, bounds, nearest, problems

STUDY: dict[str, Any] = {
    "tracking": "off", "pool": "sequential", "scheme": {"kind": "stratified_kfold", "folds": 3}, "final_test": False,
    "space": {"cart": {"sweep": {"max_depth": [0, 1, 2, 3], "min_leaf": [1, 5]}}, "naive_bayes": None},
}  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def board(mean: list[float], **beside: list[float]) -> Scoreboard:
    n = len(mean)
    return Scoreboard(
        ids=tuple(map(str, range(n))), folds=np.tile(np.array(mean)[:, None], 2), mean=np.array(mean), se=np.full(n, 0.1),
        complexity=np.arange(n, dtype=float), unit=("leaves",) * n, eligible=np.ones(n, bool),
        beside={name: np.array(values, float) for name, values in beside.items()},
    )  # fmt: skip


RESAMPLING = Resampling("kfold", "", ())


def rule(**said: Any) -> Any:
    return make("rule", "best", subject_to=said)


def test_the_best_of_those_that_keep_all_bounds_wins() -> None:
    of = board([0.1, 0.2, 0.3, 0.4], recall=[0.85, 0.9 - 1e-14, 0.95, 0.99], brier=[0.1, 0.3, 0.2, np.nan])
    assert rule().choose(of) == 0
    assert rule(recall=">= 0.9").choose(of) == 1  # equal to 1e-12 is kept
    assert rule(recall="≥0.9", brier="<= 0.2").choose(of) == 2
    assert rule(brier="<=1").choose(replace(of, eligible=np.array([False, False, True, True]))) == 2  # NaN keeps no bound
    with pytest.raises(ValueError, match="no candidate"):
        rule(recall=">= 0.995").choose(of)


def test_the_nearest_is_the_one_whose_worst_distance_is_least() -> None:
    of = board([0.1, 0.2, 0.3], recall=[0.5, 0.85, 0.88], brier=[0.1, 0.2, 0.5])
    assert nearest(of, bounds({"recall": ">= 0.9"})) == 2
    assert nearest(of, bounds({"recall": ">= 0.9", "brier": "<= 0.15"})) == 1
    assert among(of, ()) is of


@pytest.mark.parametrize("said", ["0.9", "> 0.9", ">= much", {"positive": 1}, None, 0.9])
def test_what_is_no_bound_is_said(said: Any) -> None:
    assert "is not a bound" in next(problems({"recall": said}))


@pytest.mark.slow
def test_a_study_takes_the_best_that_keeps_the_bound_and_replays_it() -> None:
    plain = modelsel.run("dataset=breast_cancer", **STUDY)
    least = float(np.sort(plain.leaderboard["specificity"])[-2])
    bounded = modelsel.run(
        "dataset=breast_cancer", **STUDY, rule={"kind": "best", "subject_to": {"specificity": f">= {least!r}"}}
    )
    kept = bounded.leaderboard[bounded.leaderboard["specificity"] >= least - 1e-12]
    assert bounded.winner["id"] == kept.sort_values(["mean", "rank"])["id"].iloc[0]
    assert 1 <= len(kept) <= 3
    assert bounded.spec_id != plain.spec_id
    assert set(bounded.winner["corrected"]["reached"]) == {"specificity"}
    assert 0 < bounded.winner["corrected"]["feasible"] <= 1
    assert replay(RunFolder.open(bounded.folder))[0]["code"] == "R001"


@pytest.mark.parametrize("kind", ["one_standard_error", "within_percent", "fewest_leaves_within"])
def test_every_rule_chooses_among_those_who_keep_the_bounds(kind: str) -> None:
    """Candidate 0 is the best and breaks the bound; 1 keeps it and is the best that does; 3 is simple and within reach of 1."""
    of = replace(
        board([0.1, 0.2, 0.204, 0.205, 0.5], recall=[0.5, 0.9, 0.9, 0.95, 0.99]), se=np.full(5, 0.01),
        complexity=np.array([9.0, 8, 7, 2, 1]),
    )  # fmt: skip
    bounded = make("rule", kind, subject_to={"recall": ">= 0.9"})
    assert bounded.choose(of) == 3
    assert make("rule", kind).choose(of) == 0
    assert next(make("rule", kind, subject_to={"recall": "0.9"}).problems(RESAMPLING, True)).startswith(
        "rule.subject_to.recall"
    )


@pytest.mark.slow
def test_a_study_by_another_rule_keeps_the_bound_corrects_by_it_and_replays_it() -> None:
    plain = modelsel.run("dataset=breast_cancer", **STUDY)
    least = float(np.sort(plain.leaderboard["specificity"])[-3])
    wanted = {"kind": "one_standard_error", "subject_to": {"specificity": f">= {least!r}"}}
    bounded = modelsel.run("dataset=breast_cancer", **STUDY, rule=wanted)
    assert bounded.winner["measures"]["specificity"] >= least - 1e-12
    assert set(bounded.winner["corrected"]["reached"]) == {"specificity"}
    assert replay(RunFolder.open(bounded.folder))[0]["code"] == "R001"


@pytest.mark.slow
def test_nobody_in_an_outer_fold_is_exit_7_and_names_the_fold() -> None:
    """On few rows nobody reaches what the best reaches on all of them."""
    board = modelsel.run("dataset=breast_cancer", **STUDY).leaderboard
    least = {name: f">= {float(board[name][0])!r}" for name in ("recall", "specificity", "precision")}  # of the winner
    rule = {"kind": "best", "subject_to": least}
    modelsel.run("dataset=breast_cancer", **STUDY, rule=rule)
    with pytest.raises(NoCandidateError) as caught:
        modelsel.run("dataset=breast_cancer", **STUDY, rule=rule, outer={"kind": "stratified_kfold", "folds": 8})
    assert caught.value.exit_code == 7
    problem = caught.value.problems[0]
    assert problem.code == "MSEL-708"
    assert problem.where.startswith("outer fold ")
    assert problem.what.startswith("no candidate has recall >= ")


@pytest.mark.slow
def test_the_bound_may_be_about_one_class_and_need_class_scores() -> None:
    said = {"recall": {"bound": ">= 0.5", "positive": 0}, "auc": ">= 0.6"}
    outcome = modelsel.run("dataset=breast_cancer", **STUDY, rule={"kind": "best", "subject_to": said})
    assert outcome.winner["measures"]["recall(positive=0)"] >= 0.5
    assert outcome.leaderboard["auc"].notna().all()


@pytest.mark.slow
def test_nobody_is_exit_7_and_names_the_nearest() -> None:
    with pytest.raises(NoCandidateError) as caught:
        modelsel.run("dataset=breast_cancer", **STUDY, rule={"kind": "best", "subject_to": {"recall": ">= 1.0"}})
    assert caught.value.exit_code == 7
    problem = caught.value.problems[0]
    assert problem.code == "MSEL-707"
    assert problem.what == "none of 9 candidates has recall >= 1"
    board = modelsel.run("dataset=breast_cancer", **STUDY).leaderboard
    nearest = board.loc[board["recall"].idxmax()]
    assert f"{nearest['id']}: recall {nearest['recall']:.4g}" in problem.fix


@pytest.mark.parametrize(
    ("said", "what"),
    [
        ({"accurracy": ">= 0.9"}, "unknown measure 'accurracy'"),
        ({"recall": {"bound": ">= 0.9", "positive": 7}}, "the task has classes 0 to 1"),
        ({"recall": {"bound": ">= 0.9", "posit": 1}}, "posit"),
        ({"recall": "0.9"}, "is not a bound"),
    ],
)
def test_a_bound_that_cannot_be_is_refused_before_any_fit(said: Any, what: str) -> None:
    with pytest.raises(ConfigurationError, match="MSEL-240") as caught:
        modelsel.run("dataset=breast_cancer", **STUDY, rule={"kind": "best", "subject_to": said})
    assert what in str(caught.value)


@pytest.mark.slow
def test_it_is_typed_on_the_command_line() -> None:
    outcome = modelsel.run("dataset=breast_cancer", "rule.subject_to={recall: '>= 0.5'}", **STUDY)
    assert outcome.winner["corrected"]["reached"]["recall"] > 0.5


def test_selection_cv_keeps_the_bound() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    space = {"cart": {"sweep": {"max_depth": [1, 2, 3, 4, 5]}}}
    plain = modelsel.SelectionCV(space, cv=3).fit(X, y)
    subject_to = {"specificity": {"bound": ">= 0.8", "positive": 1}, "precision": {"bound": ">= 0.9", "positive": 0}}
    bounded = modelsel.SelectionCV(space, cv=3, rule={"kind": "best", "subject_to": subject_to}).fit(X, y)
    assert bounded.best_score_ <= plain.best_score_
    assert len(bounded.cv_results_["params"]) == 5
    assert bounded.corrected_score_ is None
    with pytest.raises(ValueError, match="no candidate has recall >= 1"):
        modelsel.SelectionCV(space, cv=3, rule={"kind": "best", "subject_to": {"recall": ">= 1"}}).fit(X, y)


@pytest.mark.slow
def test_the_correction_repeats_the_bound_in_every_draw() -> None:
    rng = np.random.default_rng(3)
    truth = (rng.random(80) < 0.4).astype(np.int32)
    said = np.where(rng.random((6, 80)) < np.linspace(0.15, 0.4, 6)[:, None], 1 - truth, truth).astype(np.int32)
    folds = [FoldPredictions(at, truth[at], Outputs(said[:, at]), 0) for at in (np.arange(i, 80, 4) for i in range(4))]
    error, recall = make("measure", "error"), make("measure", "recall", positive=1)
    wanted = rule(recall={"bound": ">= 0.75", "positive": 1})
    of = board([float((one != truth).mean()) for one in said], **{"recall(positive=1)": [0.0] * 6})
    found = bbc_of_folds(
        folds, np.arange(6), of, wanted, error, 2, winner=0, rng=np.random.default_rng(1), beside={"recall(positive=1)": recall}
    )
    scores, reached, tried = [], [], 0
    for draw in np.concatenate(list(draws(80, 500, np.random.default_rng(1)))):
        tried += 1
        mean = {measure: _by_hand(measure, folds, draw) for measure in (error, recall)}
        kept = np.flatnonzero(np.round(mean[recall], 12) >= 0.75)
        if len(kept):
            choice = kept[np.argmin(np.round(mean[error][kept], 12))]
            scores.append(_by_hand(error, folds, draw == 0)[choice])
            reached.append(_by_hand(recall, folds, draw == 0)[choice])
    assert found is not None
    assert 0 < len(scores) < tried  # some draws have nobody
    assert found.feasible == pytest.approx(len(scores) / tried)
    assert found.mean == pytest.approx(np.nanmean(scores), abs=1e-9)
    assert found.reached["recall(positive=1)"] == pytest.approx(np.nanmean(reached), abs=1e-9)


def _by_hand(measure: Any, folds: list[FoldPredictions], draw: np.ndarray) -> np.ndarray:
    weights = draw.astype(float)
    return np.nanmean([measure.score(fold.truth, fold.outputs, weights[fold.rows], 2) for fold in folds], axis=0)
