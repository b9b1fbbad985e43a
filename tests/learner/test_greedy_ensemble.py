"""Ensembles: picked as an independent loop picks them, judged like candidates, fitted as the mean of their members."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import modelsel
from modelsel.comparison.bbc import RESAMPLES, bbc_generator, draws
from modelsel.comparison.selection import choose
from modelsel.core.errors import ConfigurationError
from modelsel.core.spec import kind_of, make
from modelsel.core.types import Candidate, Task
from modelsel.dataset.read_table import read_table
from modelsel.learner.greedy_ensemble import ALONE
from modelsel.planning.make import make as make_plan
from modelsel.runner import ensembles
from modelsel.runner.execution.executors import Pool
from modelsel.runner.families import resolve
from modelsel.runner.final_fit import fit
from modelsel.runner.journal import Journal
from modelsel.runner.results import Results
from modelsel.runner.run import run

MEMBERS = (
    ("bayes", "naive_bayes", {"smoothing": 1.0}),
    ("near", "knn", {"k": 3}),
    ("near", "knn", {"k": 9, "smoothing": 0.5}),
    ("near", "knn", {"k": 25, "smoothing": 1.0}),
    ("forest", "forest", {"trees": 15}),
    ("majority", "majority", {}),
)
NUMBERS = (
    ("near", "knn", {"k": 3}),
    ("near", "knn", {"k": 15}),
    ("forest", "forest", {"trees": 10, "criterion": make("criterion", "variance")}),
    ("mean", "mean", {}),
)


def table(numbers: bool = False, rows: int = 60) -> tuple[pd.DataFrame, str]:
    """Three columns that say something of the target, with noise and a group of three rows each."""
    rng = np.random.default_rng(4)
    x = rng.normal(size=(rows, 3))
    signal = x[:, 0] + 0.7 * x[:, 1] ** 2 - 0.7 + rng.normal(0, 0.8, rows)
    frame = pd.DataFrame(x, columns=["a", "b", "c"]).assign(patient=np.repeat(np.arange(rows // 3), 3))
    frame["y"] = signal if numbers else np.where(signal > 0.4, "high", np.where(signal < -0.6, "low", "mid"))
    return frame, "y"


def candidates(numbers: bool, size: int, library: int) -> tuple[Candidate, ...]:
    made = [Candidate(make("learner", kind, **own), (), entry) for entry, kind, own in (NUMBERS if numbers else MEMBERS)]
    return (*made, Candidate(make("learner", "greedy_ensemble", size=size, library=library), (), "ensemble"))


def study(
    folder: Path, measure: str, scheme: Any, numbers: bool = False, size: int = 6, library: int = 4, groups: bool = False
) -> tuple[Results, Task, Any]:
    frame, target = table(numbers)
    roles = {"groups": "patient"} if groups else {"features": {"patient": "ignore"}}
    task = read_table(frame, target=target, **roles)
    known = resolve(candidates(numbers, size, library), task, 0)
    resampling = scheme.instantiate(task, 0)
    with Journal(folder / "journal") as journal:
        plan = make_plan(known, task, resampling)
        return run(plan, task, resampling, make("measure", measure), Pool("sequential"), journal), task, resampling


# By hand: plain loops over the answers that the cells gave, in which nothing of the package takes part but those answers.


def answers(results: Results, task: Task, resampling: Any) -> tuple[list[Any], list[int], list[int]]:
    """Per candidate the answers of all assessed rows, fold after fold; the row and the fold of each."""
    said: dict[tuple[int, int], Any] = {}
    for fold, members, result in results.book.records(range(len(results.candidates) - 1)):
        for place, member in enumerate(members.tolist()):
            said[member, fold.index] = (result.scores if task.class_count else result.predicted)[place]
    whole = [
        np.concatenate([said[member, fold.index] for fold in resampling.folds]) for member in range(len(results.candidates) - 1)
    ]
    rows = [int(row) for fold in resampling.folds for row in fold.assessment]
    return whole, rows, [fold.index for fold in resampling.folds for _ in fold.assessment]


def cost(said: Any, truth: Any, weight: list[float], measure: str) -> float:
    """The weighted mean loss of answers, rounded so that ties are ties."""
    total = 0.0
    for answer, true, w in zip(said, truth, weight, strict=True):
        if measure == "log_loss":
            loss = -np.log(max(answer[true], 1e-15))
        elif measure == "error":
            loss = float(int(np.argmax(answer)) != true)
        else:
            loss = (answer - true) ** 2
        total += w * loss
    return round(total / sum(weight), 12)


def picked(
    whole: list[Any], entry: list[str], size: list[float], truth: Any, weight: list[float], measure: str, ask: int, library: int
) -> list[int]:  # fmt: skip
    """Caruana's loop: from the best of each entry and the best of all, with replacement, the best beginning."""
    there = [at for at, w in enumerate(weight) if w]
    truth, weight = [truth[at] for at in there], [weight[at] for at in there]
    own = [[each[at] for at in there] for each in whole]
    order = sorted(range(len(own)), key=lambda one: (cost(own[one], truth, weight, measure), size[one], one))
    best = [one for place, one in enumerate(order) if entry[one] not in [entry[other] for other in order[:place]]]
    known = [*best, *(one for one in order if one not in best)][:library]
    picks: list[int] = []
    reached: list[float] = []
    for _ in range(ask):
        costs = {
            one: cost([np.mean(each, axis=0) for each in zip(*(own[m] for m in [*picks, one]))], truth, weight, measure)
            for one in known
        }
        picks.append(min(known, key=lambda one: (costs[one], known.index(one))))
        reached.append(costs[picks[-1]])
    return picks[: reached.index(min(reached)) + 1]


@pytest.mark.parametrize(
    ("measure", "numbers", "scheme", "groups"),
    [
        ("log_loss", False, make("scheme", "stratified_kfold", folds=3), False),
        ("error", False, make("scheme", "repeated_kfold", folds=3, repeats=2), False),
        ("log_loss", False, make("scheme", "stratified_group_kfold", folds=3), True),
        ("mse", True, make("scheme", "kfold", folds=3), False),
    ],
)
def test_it_is_picked_and_judged_as_loops_by_hand_do_it(
    measure: str, numbers: bool, scheme: Any, groups: bool, tmp_path: Path
) -> None:
    results, task, resampling = study(tmp_path, measure, scheme, numbers, groups=groups)
    ensemble = len(results.candidates) - 1
    whole, rows, folds = answers(results, task, resampling)
    entry, size = [one.entry for one in results.candidates[:-1]], results.board.complexity[:-1].tolist()
    truth = task.target[rows]
    times = {row: rows.count(row) for row in set(rows)}
    every = [1 / times[row] for row in rows]
    asked = (measure, 6, 4)
    final = picked(whole, entry, size, truth, every, *asked)
    assert {one.id: times for one, times in results.candidates[-1].learner.chosen} == {
        results.candidates[one].id: final.count(one) for one in final
    }
    for fold in resampling.folds:
        known = set(fold.analysis.tolist()) - set(fold.assessment.tolist())
        picks = picked(whole, entry, size, truth, [w * (row in known) for w, row in zip(every, rows, strict=True)], *asked)
        own = [at for at, of in enumerate(folds) if of == fold.index]
        said = [np.mean([whole[one][at] for one in picks], axis=0) for at in own]
        expected = cost(said, truth[own], [1.0] * len(own), measure)
        assert results.board.folds[ensemble, fold.index] == pytest.approx(expected, abs=1e-9)
        if fold.repeat == 0:
            assessed = results.out_of_fold([ensemble])
            kept = assessed.predicted[0] if numbers else assessed.scores[0]  # type: ignore[index]
            assert np.allclose(kept[fold.assessment], said, atol=1e-12)
    assert results.status[ensemble] == "ok"
    assert len(final) > 1, "an ensemble of one would show nothing"


def test_in_each_resample_it_is_picked_anew(tmp_path: Path) -> None:
    """What it is worth by itself, and what a choice of it is worth, on the very draws of the correction."""
    results, task, resampling = study(tmp_path, "log_loss", make("scheme", "stratified_kfold", folds=3), groups=True)
    rule, ensemble = make("rule", "best"), len(results.candidates) - 1
    selection = choose(results, rule, resampling, 0)
    whole, rows, _ = answers(results, task, resampling)
    entry, size = [one.entry for one in results.candidates[:-1]], results.board.complexity[:-1].tolist()
    unit = np.unique(task.groups, return_inverse=True)[1]
    losses = np.asarray(results.losses.matrix, np.float64)
    drawn = next(draws(20, RESAMPLES, bbc_generator(resampling, 0)))[:4]
    worth = bbc_scores(results, resampling, selection)
    for draw, (alone, chosen) in zip(drawn, worth, strict=False):
        bag = draw[unit]
        picks = picked(whole, entry, size, task.target[rows], [float(bag[row]) for row in rows], "log_loss", 6, 4)
        out = [at for at, row in enumerate(rows) if bag[row] == 0]
        said = [np.mean([whole[one][at] for one in picks], axis=0) for at in out]
        expected = cost(said, task.target[[rows[at] for at in out]], [1.0] * len(out), "log_loss")
        assert alone == pytest.approx(expected, abs=1e-9)
        best = int(np.argmin(bag @ losses))
        left = bag == 0
        assert chosen == pytest.approx(expected if best == ensemble else losses[left, best].mean(), abs=1e-6)
    assert selection.alone[results.board.ids[ensemble]]["mean"] == pytest.approx(np.mean([one for one, _ in worth]))
    assert selection.corrected is not None
    assert selection.corrected["mean"] == pytest.approx(np.mean([one for _, one in worth]))


def bbc_scores(results: Results, resampling: Any, selection: Any) -> list[tuple[float, float]]:
    """Scores out of bag of each resample, of the ensemble and of the choice: what `summary` was handed."""
    from modelsel.comparison import bbc

    seen: list[Any] = []
    summed = bbc.summary
    try:
        bbc.summary = lambda scores, *more: seen.append(scores) or summed(scores, *more)  # type: ignore[func-returns-value]
        choose(results, make("rule", "best"), resampling, 0)
    finally:
        bbc.summary = summed
    alone, chosen = seen
    return list(zip(alone.tolist(), chosen.tolist(), strict=True))


@pytest.mark.parametrize("measure", [pytest.param("auc", marks=pytest.mark.slow), "balanced_error"])
def test_measures_that_are_no_mean_over_rows_are_corrected_by_picking_anew_too(measure: str, tmp_path: Path) -> None:
    results, _, resampling = study(tmp_path, measure, make("scheme", "stratified_kfold", folds=3), size=3)
    selection = choose(results, make("rule", "best"), resampling, 0)
    own = selection.alone[results.board.ids[-1]]
    assert 0 < own["low"] < own["mean"] < own["high"] < 1
    assert selection.corrected is not None
    assert 0 < selection.corrected["mean"] < 1


@pytest.mark.parametrize("numbers", [False, True])
def test_its_model_is_the_mean_of_its_members_each_fitted_as_it_would_be_alone(numbers: bool, tmp_path: Path) -> None:
    scheme = make("scheme", "kfold", folds=3)
    results, task, _ = study(tmp_path, "mse" if numbers else "brier", scheme, numbers)
    ensemble = results.candidates[-1]
    final, rows = fit(ensemble, task, 0), task.take(np.arange(7))
    members = [one for one, times in ensemble.learner.chosen for _ in range(times)]
    if numbers:
        said = np.mean([fit(one, task, 0).predict(rows) for one in members], axis=0)
        assert np.allclose(final.predict(rows), said, atol=1e-12)
        return
    said = np.mean([fit(one, task, 0).scores(rows) for one in members], axis=0)
    assert np.allclose(final.scores(rows), said, atol=1e-12)
    assert final.predict(rows).tolist() == said.argmax(axis=1).tolist()
    assert any(kind_of(one.learner) == "forest" for one in members), "one that draws, so that equal draws are shown"


@pytest.mark.parametrize(
    ("scheme", "reason"),
    [
        (make("scheme", "holdout"), "fold 0 has none"),
        (make("scheme", "time_split", folds=3), "fold 0 has none"),
    ],
)
def test_where_no_other_rows_could_pick_it_is_skipped_with_the_reason(scheme: Any, reason: str, tmp_path: Path) -> None:
    frame, target = table()
    task = read_table(frame, target=target, features={"patient": "ignore"})
    if "time" in scheme.__class__.__module__:
        from dataclasses import replace

        task = replace(task, times=np.arange(len(task), dtype=np.float64))
    known, resampling = resolve(candidates(False, 3, 4), task, 0), scheme.instantiate(task, 0)
    with Journal(tmp_path / "journal") as journal:
        plan = make_plan(known, task, resampling)
        results = run(plan, task, resampling, make("measure", "error"), Pool("sequential"), journal)
    assert results.status[-1] == "skipped"
    assert reason in results.reasons[-1]
    assert choose(results, make("rule", "best"), resampling, 0).winner < len(known) - 1


@pytest.mark.parametrize(("most", "status"), [(1080, "ok"), (1079, "skipped")])
def test_answers_of_members_are_counted_before_they_are_held(
    most: int, status: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six members, 60 rows, a chance for each of three classes."""
    monkeypatch.setattr(ensembles, "LARGEST", most)
    results, *_ = study(tmp_path, "error", make("scheme", "kfold", folds=3), size=2)
    assert results.status[-1] == status
    assert status == "ok" or "1,080 answers of candidates are more than the 1,079" in results.reasons[-1]


# Whole studies, from the setting to the saved model.

SPACE = {
    "bayes": {"learner": "naive_bayes", "sweep": {"smoothing": [0.1, 1]}},
    "near": {"learner": "knn", "sweep": {"k": [3, 9, 25], "smoothing": [0.5]}},
    "line": {"learner": "logistic_regression"},
}
QUICK = {"tracking": "off", "scheme": {"kind": "stratified_kfold", "folds": 3}, "final_test": True, "measure": "log_loss"}


def whole(ensemble: str = "greedy", **more: Any) -> Any:
    frame, target = table(rows=150)
    return modelsel.run(frame.drop(columns="patient"), target=target, space=SPACE, ensemble=ensemble, **{**QUICK, **more})


@pytest.fixture
def outcome(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    return whole()


@pytest.mark.slow
def test_a_study_keeps_names_predicts_and_refuses_it(outcome: Any) -> None:
    folder = Path(outcome.folder)
    summed = json.loads((folder / "study.json").read_text())
    (own,) = summed["ensembles"]
    assert outcome.winner["id"] == own["id"]  # this table was made so
    board = outcome.leaderboard
    assert set(board["entry"]) == {*SPACE, "ensemble"}
    assert own["corrected"]["mean"] > 0
    assert sum(one["times"] for one in own["members"]) <= 10
    frame, _ = table(rows=150)
    rows = frame.drop(columns=["patient", "y"]).head(9)
    members = [(outcome.candidate(one["id"]).fit(), one["times"]) for one in own["members"]]
    by_hand = sum(times * one.predict_proba(rows) for one, times in members) / sum(times for _, times in members)
    assert np.allclose(outcome.model.predict_proba(rows), by_hand, atol=1e-12)
    with pytest.raises(ConfigurationError, match="EnsembleModel"):
        modelsel.export(outcome, to="sql")
    assert '"greedy_ensemble"' in modelsel.export(outcome, to="json")
    page = (folder / "report.html").read_text()
    assert "ensemble" in page


@pytest.mark.slow
def test_what_is_resumed_is_the_same_to_the_last_byte(outcome: Any) -> None:
    again = whole(resume=str(outcome.folder))
    for name in ("candidates.csv", "model/data/arrays.npz", "model/data/model.json"):
        assert (Path(outcome.folder) / name).read_bytes() == (Path(again.folder) / name).read_bytes()
    assert (
        json.loads((Path(again.folder) / "study.json").read_text())["ensembles"]
        == json.loads((Path(outcome.folder) / "study.json").read_text())["ensembles"]
    )


@pytest.mark.slow
def test_nested_cross_validation_picks_it_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = whole(corrected="nested")
    nested = json.loads((Path(found.folder) / "study.json").read_text())["nested"]
    assert len(nested["winners"]) == 3
    assert any(name == "ensemble" for name in nested["winners"])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"race": "exact"}, "which a race drops"),
        ({"search": "tpe", "space": {"line": {"learner": "logistic_regression", "sweep": {"params.C": "log_uniform(0.1, 9)"}}}},
         "has yet to ask for"),
        ({"space": {"near": {"learner": "knn"}}}, ALONE),
        ({"explanations": {"sets": True}}, "picked by the rows"),
    ],
)  # fmt: skip
def test_what_cannot_be_had_is_refused_before_any_fit(
    settings: dict[str, Any], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    frame, target = table()
    asked = {"space": SPACE, "ensemble": "greedy", **QUICK, **settings}
    with pytest.raises(ConfigurationError, match=words):
        modelsel.run(frame.drop(columns="patient"), target=target, **asked)


def test_a_search_that_fits_one_estimator_leaves_it_out_and_says_so() -> None:
    frame, target = table()
    search = modelsel.SelectionCV({**SPACE, "all": {"learner": "greedy_ensemble"}}, cv=3)
    with pytest.warns(UserWarning, match="leaves the ensemble all out"):
        search.fit(frame[["a", "b", "c"]], frame[target])
    assert len(search.cv_results_["params"]) == 5  # no smoothing matters where every column is a number


def test_the_setting_is_an_entry_of_the_space_and_takes_one_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    frame, target = table()
    rows = frame.drop(columns="patient")
    ids = {
        name: modelsel.plan(rows, target=target, space=space, ensemble=ensemble, **QUICK).candidates
        for name, space, ensemble in (
            ("short", SPACE, "greedy"),
            ("long", {**SPACE, "ensemble": {"learner": "greedy_ensemble", "size": 10}}, "auto"),
            ("off", {**SPACE, "mean": {"learner": "greedy_ensemble"}}, "off"),
            ("none", SPACE, "auto"),
        )
    }
    assert ids["short"] == ids["long"] == ids["none"] + 1
    assert ids["off"] == ids["none"]
