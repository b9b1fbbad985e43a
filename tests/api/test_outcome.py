"""What comes back from a study in Python: frames, the final model, candidates, pictures, the record."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import modelsel
from modelsel.api.commands.model import Beside, _refuse_what_numbers_have
from modelsel.api.run import documented_as
from modelsel.config.folders import Folders
from modelsel.core.errors import ConfigurationError, LedgerError, RefusedError
from modelsel.record.folder import RunFolder
from modelsel.reporting.verdict import verdict

QUICK: dict[str, Any] = {"tracking": "off", "pool": "sequential", "scheme": {"kind": "stratified_kfold", "folds": 3}}
APART = (
    "sklearn",
    "object",
    "transformed_target",
    "greedy_ensemble",
    "mean",
    "median",
    "linear_regression",
    "m5p",
)  # of numbers, made in Python alone, or of others
LEARNERS = [name for name in Folders.of().options("learner") if name not in APART and not name.endswith("_regression")]


def test_the_leaderboard_is_a_frame_best_first(outcome: modelsel.Outcome) -> None:
    board = outcome.leaderboard
    assert board["rank"].tolist() == [1, 2, 3, 4, 5]
    assert board["id"][0] == outcome.winner["id"]
    assert board["mean"].is_monotonic_increasing
    assert {"max_depth", "k", "se", "complexity", "tied", "fold_00", "fold_02"} <= set(board)
    assert set(board["id"][board["tied"]]) == {outcome.winner["id"], *outcome.winner["indistinguishable"]}
    assert np.allclose(board[["fold_00", "fold_01", "fold_02"]].mean(axis=1), board["mean"])


@pytest.mark.slow
def test_a_part_that_a_candidate_does_not_have_is_called_none_and_a_chosen_threshold_path(people: pd.DataFrame) -> None:
    space = {
        "bayes": {"learner": "naive_bayes", "sweep": {"calibrator": ["none", "platt"], "preparer": ["none", "impute"]}},
        "tree": {"learner": "cart", "sweep": {"threshold": [0.3, "path"], "max_depth": [2, None]}},
    }
    found = modelsel.run(people, target="left", space=space, final_test=False, **QUICK)
    board = found.leaderboard
    bayes, trees = board[board["entry"] == "bayes"], board[board["entry"] == "tree"]
    assert set(bayes["calibrator"]) == {"none", "platt"}
    assert set(bayes["preparer"]) == {"none", "impute"}
    assert trees["max_depth"].isna().sum() == 2  # a number that is not there is no word
    page = (Path(found.folder) / "report.html").read_text("utf-8")
    for words in ("calibrator=none", "preparer=none", "threshold=path", "threshold=0.3", "bayes: calibrator"):
        assert words in page
    assert "decision.at" not in page.partition("Reproduce")[0]


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["stratified_kfold", "holdout"])
def test_the_error_of_a_difference_stands_in_frame_file_report_and_terminal(scheme: str, people: pd.DataFrame) -> None:
    space = {"tree": {"learner": "cart", "sweep": {"max_depth": [1, 4]}}, "knn": {"sweep": {"k": [1, 3]}}}
    quick = {**QUICK, "scheme": scheme}
    found = modelsel.run(people, target="left", space=space, final_test=False, **quick)
    board = found.leaderboard.set_index("id")
    winner, others = found.winner["id"], [name for name in board.index if name != found.winner["id"]]
    assert np.isnan(board.loc[winner, "difference_se"])
    if scheme == "holdout":
        rows = found.losses.dropna()
        d = rows[others].to_numpy(float) - rows[[winner]].to_numpy(float)
        expected = d.std(axis=0) / np.sqrt(len(d))
    else:
        d = np.array([[a - b for a, b in zip(found.candidate(one).scores, found.candidate(winner).scores)] for one in others]).T
        sizes = found.folds.drop_duplicates("fold")
        expected = np.sqrt((1 / len(d) + (sizes["assessment"] / sizes["analysis"]).mean()) * d.var(axis=0, ddof=1))
    assert board.loc[others, "difference_se"].to_numpy() == pytest.approx(expected, abs=1e-9)
    assert "difference_se" in (Path(found.folder) / "candidates.csv").read_text().splitlines()[0]
    near = next(one for one in others if board.loc[one, "entry"] != board.loc[winner, "entry"])
    digits = f"{board.loc[near, 'difference_se']:.4f}"
    assert f"standard error of the difference {digits}" in " ".join(str(found).split())
    assert f" ± {digits}</td>" in found.report().read_text("utf-8")
    assert f"± {digits}" in found._repr_html_()


@pytest.mark.slow
def test_folds_predictions_and_losses_agree_with_each_other(outcome: modelsel.Outcome, people: pd.DataFrame) -> None:
    found = outcome.predictions
    assert (people["left"].to_numpy()[found["row"]] == found["truth"]).all()
    brier = sum((found[f"score_{label}"] - (found["truth"] == label)) ** 2 for label in (False, True))
    scores = outcome.folds[outcome.folds["id"] == outcome.winner["id"]].sort_values("fold")["score"]
    assert np.allclose(brier.groupby(found["fold"]).mean(), scores, atol=1e-5)
    assert outcome.losses.shape == (len(found), 5)
    assert np.allclose(outcome.losses[outcome.winner["id"]].groupby(found.set_index("row")["fold"]).mean(), scores, atol=1e-5)


@pytest.mark.slow
def test_the_model_finds_columns_by_name_and_leaves_others_aside(outcome: modelsel.Outcome, people: pd.DataFrame) -> None:
    model = outcome.model
    shuffled = people[people.columns[::-1]].assign(more=1)
    assert (model.predict(people) == model.predict(shuffled)).all()
    assert model.predict(people).dtype == bool
    assert model.feature_names_in_.tolist() == people.columns[:-1].tolist()
    assert np.allclose(model.predict_proba(people).sum(axis=1), 1)
    with pytest.raises(ValueError, match="age"):
        model.predict(people.drop(columns="age"))


@pytest.mark.slow
def test_the_model_of_a_study_can_be_fitted_again_as_any_estimator(outcome: modelsel.Outcome, people: pd.DataFrame) -> None:
    features = people[["age", "visits"]].astype(float)
    again = clone(outcome.model).fit(features, people["left"])
    assert again.n_features_in_ == 2
    assert set(again.predict(features)) <= {False, True}


@pytest.mark.slow
@pytest.mark.parametrize("learner", LEARNERS)
def test_the_model_of_every_learner_is_pickled(learner: str, people: pd.DataFrame) -> None:
    frame = people[["colour", "size", "left"]] if learner == "table" else people
    found = modelsel.run(frame, target="left", learner=learner, final_test=False, **QUICK)
    again = pickle.loads(pickle.dumps(found.model))
    assert (again.predict(frame) == found.model.predict(frame)).all()
    assert (found.candidate().fit().predict(frame) == found.model.predict(frame)).all()


def test_a_recipe_is_fitted_again_on_the_table_in_memory(people: pd.DataFrame) -> None:
    space = {"forest": {"learner": "random_forest", "params": {"n_estimators": 5}}}
    found = modelsel.run(people[["age", "left"]].dropna(), target="left", space=space, final_test=False, **QUICK)
    assert found.model.predict(people[["age"]].dropna()).dtype == bool
    assert pickle.loads(pickle.dumps(found.model)).classes_.tolist() == [False, True]


@pytest.mark.slow
def test_a_candidate_is_a_specification_that_fits(outcome: modelsel.Outcome, people: pd.DataFrame) -> None:
    last = outcome.candidate(outcome.leaderboard["id"].iloc[-1][:10])
    assert last.learner == last.specification["kind"]
    assert np.allclose(last.scores.mean(), outcome.leaderboard["mean"].iloc[-1])
    assert last.fit().predict(people).dtype == bool
    with pytest.raises(ConfigurationError, match="MSEL-807"):
        outcome.candidate("no such")


def test_the_candidates_of_every_learner_are_read_back_by_their_id(people: pd.DataFrame) -> None:
    steps = {"learner": "naive_bayes", "preparer": ["discretise_mdl", {"kind": "select_top", "n": 2}]}
    space = {**{name: name for name in ("c45", "id3", "rep_tree", "knn", "majority")}, "prepared": steps}
    found = modelsel.run(people, target="left", space=space, final_test=False, **QUICK)
    for row in found.leaderboard["id"]:
        assert found.candidate(row).specification


@pytest.mark.slow
def test_the_test_is_opened_once_and_repeated_for_nothing(outcome: modelsel.Outcome) -> None:
    opened = outcome.open_test()
    assert (outcome.test, opened.test.look) == (None, 1)
    assert modelsel.test(outcome).test.replay
    assert opened.audit()["test_sets"][0]["looks"][0]["score"] == opened.test.score
    assert modelsel.audit(opened).looks["score"][0] == opened.test.score


@pytest.mark.slow
def test_methods_say_rows_candidates_rule_correction_and_look(outcome: modelsel.Outcome) -> None:
    before, after = outcome.methods(), outcome.open_test().methods()
    for words in ("120 rows", "5 candidates", "3 folds", "stratified kfold", "rule “best”", "BBC"):
        assert words in before
    assert "have not been looked at" in before
    assert "1st look" in after
    assert "95 % interval" in after


@pytest.mark.slow
def test_print_shows_what_the_terminal_shows(outcome: modelsel.Outcome) -> None:
    assert str(outcome) == verdict(RunFolder.open(outcome.folder))
    assert repr(outcome).startswith("<Outcome memory-tree-knn: ")


@pytest.mark.slow
def test_a_notebook_sees_verdict_board_and_strips_in_light_and_dark(outcome: modelsel.Outcome) -> None:
    shown = outcome._repr_html_()
    assert outcome.winner["id"][:8] in shown
    assert "prefers-color-scheme: dark" in shown
    assert "<svg" in shown
    outside = [
        line for line in shown.split("<style>")[1].split("</style>")[0].splitlines() if line.startswith(("svg", ":root"))
    ]
    assert outside == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["leaderboard", "tree", "roc", "calibration", "curve"])
@pytest.mark.parametrize("form", ["svg", "png"])
def test_pictures_are_shown_and_saved(outcome: modelsel.Outcome, name: str, form: str, tmp_path: Path) -> None:
    drawn = getattr(outcome.plot, name)
    if name == "tree" and outcome.winner["learner"] != "tree":
        with pytest.raises(ConfigurationError, match="MSEL-806"):
            drawn()
        return
    picture = drawn("max_depth") if name == "curve" else drawn()
    written = picture.save(tmp_path / f"{name}.{form}").read_bytes()
    assert written.startswith(b"<svg" if form == "svg" else b"\x89PNG")
    assert picture._repr_svg_() == picture.svg
    if form == "png":
        assert len(written) > 3000  # not an empty sheet


@pytest.mark.slow
def test_a_picture_of_another_form_and_one_that_is_not_there_are_said(outcome: modelsel.Outcome) -> None:
    with pytest.raises(ConfigurationError, match=r"MSEL-288.*\.svg, \.png"):
        outcome.plot.leaderboard().save("x.gif")
    with pytest.raises(ConfigurationError, match="no entry varies 'depth'"):
        outcome.plot.curve("depth")
    with pytest.raises(ConfigurationError, match="show="):
        outcome.plot.path()


@pytest.mark.slow
def test_the_pruning_path_and_the_critical_difference_are_pictures(people: pd.DataFrame) -> None:
    pruned = {"cart": {"learner": "cart", "sweep": {"pruner": "cost_complexity", "pruner.alpha": "path"}}, "knn": {}}
    studies = [
        modelsel.run(
            people[people.index % 3 != i], target="left", space=pruned, show=["pruning_path"], final_test=False, **QUICK
        )
        for i in range(3)
    ]
    assert studies[0].plot.path().svg.startswith("<svg")
    assert "critical-difference" in studies[0].plot.critical_difference(*studies[1:]).title


def test_any_run_on_disk_is_opened_as_the_same_object(outcome: modelsel.Outcome, people: pd.DataFrame) -> None:
    for run in ("latest", outcome.study, outcome.folder, Path(outcome.folder)):
        again = modelsel.open_run(run)
        assert again.winner == outcome.winner
        pd.testing.assert_frame_equal(again.leaderboard, outcome.leaderboard)
    assert (modelsel.open_run().model.predict(people) == outcome.model.predict(people)).all()
    with pytest.raises(ConfigurationError, match="MSEL-610"):
        modelsel.open_run("nowhere")


@pytest.mark.slow
def test_check_raises_what_the_command_exits_with(outcome: modelsel.Outcome, folder: Path) -> None:
    outcome.open_test()
    assert modelsel.check(outcome)["ledger"]["intact"]
    with pytest.raises(RefusedError, match="G001") as raised:
        modelsel.check(outcome, fail_on="info")
    assert raised.value.exit_code == 4
    (folder / "home" / "ledger.db").unlink()
    with pytest.raises(LedgerError) as broken:
        modelsel.check(outcome)
    assert broken.value.exit_code == 5


@pytest.mark.slow
def test_predictions_for_a_file_and_for_a_table_are_the_same(outcome: modelsel.Outcome, people: pd.DataFrame) -> None:
    people.to_parquet("new.parquet")
    pd.testing.assert_frame_equal(modelsel.predict(outcome, people), modelsel.predict("latest", "new.parquet"))


@pytest.mark.slow
def test_the_model_goes_to_other_systems(outcome: modelsel.Outcome, tmp_path: Path) -> None:
    assert modelsel.export(outcome, "json").startswith("{")
    assert outcome.export("json", tmp_path / "m.json").read_text() == modelsel.export("latest", "json")
    with pytest.raises(ConfigurationError, match="MSEL-810"):
        outcome.export("pmml")
    assert outcome.report().name == "report.html"


@pytest.mark.slow
def test_an_interrupted_study_goes_on_where_it_stopped(people: pd.DataFrame, monkeypatch: pytest.MonkeyPatch) -> None:
    from modelsel.api import run as door
    from modelsel.runner.run import NullProgress

    class Impatient(NullProgress):
        done = 0

        def advance(self, cells: int = 1, best: float | None = None, failures: int = 0) -> None:
            self.done += cells
            if self.done >= 4:
                raise KeyboardInterrupt

    said: list[str] = []

    class Listening(NullProgress):
        def say(self, message: str) -> None:
            said.append(message)

    study = {"target": "left", "space": ["cart", "knn", "naive_bayes"], "final_test": False, **QUICK}
    monkeypatch.setattr(door, "progress", Impatient)
    with pytest.raises(KeyboardInterrupt) as stopped:
        modelsel.run(people, **study)
    assert "goes on where it stopped" in stopped.value.__notes__[0]
    monkeypatch.setattr(door, "progress", Listening)
    assert modelsel.run(people, **study).winner
    assert any("were found in a journal" in message for message in said)


def test_predict_in_python_has_the_options_of_the_command(people: pd.DataFrame, tmp_path: Path) -> None:
    people = people.drop(columns="member")  # booleans are written otherwise in a file
    found = modelsel.run(people, target="left", learner="cart", final_test=False, **{**QUICK, "explanations": {"sets": True}})
    told = modelsel.predict(found, people, explain=True, sets=0.8, threshold=0.0)
    assert told.columns.tolist() == ["prediction", "score_False", "score_True", "path", "set"]
    assert told["prediction"].all()  # the second class from a score of 0 on
    people.to_csv(tmp_path / "people.csv", index=False)
    again = modelsel.predict(found, tmp_path / "people.csv", explain=True, sets=0.8, threshold=0.0)
    pd.testing.assert_frame_equal(told, again)


@pytest.mark.parametrize(
    ("beside", "named"),
    [(Beside(interval=0.9), "--interval"), (Beside(quantiles=(0.5,)), "--quantiles"), (Beside(sets=0.9), "")],
)
def test_intervals_and_quantiles_are_refused_for_classes_by_name(beside: Beside, named: str) -> None:
    if not named:
        _refuse_what_numbers_have(beside)
        return
    with pytest.raises(ConfigurationError, match=f"MSEL-293.*{named}"):
        _refuse_what_numbers_have(beside)


def test_where_docstrings_are_left_out_none_is_copied() -> None:
    def documented() -> None:
        """It. Returns nothing."""

    def bare() -> None:
        pass

    assert documented_as(bare)(documented).__doc__ == "It. Returns nothing."
