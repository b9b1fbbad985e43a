"""Studies through the command line: what is printed where, what is written, how it ends."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from modelsel.record.folder import RunFolder

Command = Callable[..., object]


def outcome(folder: Path) -> dict[str, object]:
    return dict(json.loads((folder / "runs" / "latest" / "study.json").read_text()))


@pytest.mark.slow
def test_a_study_prints_its_verdict_and_leaves_its_record(modelsel: Command, folder: Path, small: tuple[str, ...]) -> None:
    ran = modelsel("run", *small)
    assert ran.code == 0, ran.err
    assert ran.out.startswith("play_tennis-majority-naive_bayes: ")
    assert "test " in ran.out
    assert "Traceback" not in ran.err
    found = outcome(folder)
    assert found["test"]["look"] == 1
    assert found["scheme"]["folds"] == 3
    assert {path.name for path in folder.iterdir()} <= {"runs", "modelsel.lock"}
    assert sorted(path.name for path in (folder / "runs").iterdir()) == ["latest", "play_tennis-majority-naive_bayes"]


@pytest.mark.slow
def test_the_test_set_may_stay_closed_and_be_opened_later(modelsel: Command, folder: Path, small: tuple[str, ...]) -> None:
    assert modelsel("run", *small, "final_test=false").code == 0
    assert outcome(folder)["test"] is None
    ran = modelsel("test", "latest")
    assert ran.code == 0, ran.err
    assert outcome(folder)["test"]["look"] == 1
    assert modelsel("audit", "latest", "--fail-on", "critical").code == 0
    report = modelsel("report", "latest")
    assert report.out.strip().endswith("report.html")
    assert Path(report.out.strip()).is_file()


@pytest.mark.slow
def test_a_refused_look_ends_with_4_and_a_whole_record(modelsel: Command, folder: Path, small: tuple[str, ...]) -> None:
    iris = ("dataset=iris", *small[2:], "guard=strict")
    assert modelsel("run", *iris, "learner=majority").code == 0
    ran = modelsel("run", *iris, "learner=naive_bayes")
    assert ran.code == 4
    assert "refused" in ran.out
    assert outcome(folder)["test"]["refused"]


@pytest.mark.slow
def test_predictions_follow_the_columns_by_name(modelsel: Command, folder: Path) -> None:
    rows = ["x,y,class", *(f"{i},{i % 7},{'ab'[i > 20]}" for i in range(40))]
    (folder / "train.csv").write_text("\n".join(rows) + "\n")
    (folder / "new.csv").write_text("y,extra,x\n1,q,3\n2,r,39\n")
    options = ("dataset=csv", "dataset.path=train.csv", "dataset.target=class", "tracking=off", "scheme.folds=3")
    assert modelsel("run", *options, "learner=naive_bayes").code == 0
    printed = modelsel("predict", "latest", "new.csv")
    assert printed.code == 0, printed.err
    assert [line.split(",")[0] for line in printed.out.splitlines()] == ["prediction", "a", "b"]
    assert modelsel("predict", "latest", "new.csv", "-o", "out.csv").out == ""
    assert (folder / "out.csv").read_text() == printed.out
    contacts = json.loads(modelsel("audit", "--json").out)["contacts"]
    assert [(one["contact"], one["n"]) for one in contacts] == [("predicted", 2)]  # on record, once
    assert modelsel("predict", "latest", "gone.csv").code == 2
    (folder / "less.csv").write_text("y\n1\n")
    assert modelsel("predict", "latest", "less.csv").code == 3


@pytest.mark.slow
def test_a_sweep_ends_in_one_table_and_opens_each_test_set_once(
    modelsel: Command, folder: Path, small: tuple[str, ...]
) -> None:
    ran = modelsel("run", "-m", *small[1:], "dataset=play_tennis,iris", "measure=error,brier")
    assert ran.code == 0, ran.err
    table = [line for line in ran.out.splitlines() if line.startswith("dataset=")]
    assert [line.split("  ")[0].strip() for line in table] == [
        "dataset=play_tennis measure=error", "dataset=play_tennis measure=brier",
        "dataset=iris measure=error", "dataset=iris measure=brier",
    ]  # fmt: skip
    tests = [json.loads(path.read_text())["test"] for path in folder.glob("runs/*/*/study.json")]
    assert sum(test is not None for test in tests) == 4  # two data sets, two measures: each its own winner
    assert not list(folder.glob("runs/*/*/.hydra"))


@pytest.mark.slow
def test_a_sweep_goes_on_after_a_failed_job_and_ends_with_the_worst_code(modelsel: Command, small: tuple[str, ...]) -> None:
    ran = modelsel("run", "-m", *small[:3], "tracking=off", "final_test=false", "scheme.folds=500,3")
    assert ran.code == 2
    assert "scheme.folds=500  ended with exit code 2" in ran.out
    assert "scheme.folds=3 " in ran.out
    assert "[dataset=play_tennis" in ran.err


@pytest.mark.slow
def test_a_sweep_returns_the_cross_validated_score(folder: Path, small: tuple[str, ...]) -> None:
    from modelsel.cli.run import study
    from modelsel.config.compose import compose

    done = study((), compose(small), True)
    outcome = RunFolder.open(done.folder).outcome()
    assert done.score == outcome.winner["cv"]["mean"]
    assert outcome.test is None


@pytest.mark.slow
def test_one_test_set_is_opened_for_the_best_job_alone(modelsel: Command, folder: Path, small: tuple[str, ...]) -> None:
    assert modelsel("run", "-m", *small, "scheme.folds=3,4").code == 0
    found = [json.loads(path.read_text()) for path in folder.glob("runs/*/*/study.json")]
    tested = [one for one in found if one["test"] is not None]
    assert len(tested) == 1
    assert tested[0]["winner"]["cv"]["mean"] == min(one["winner"]["cv"]["mean"] for one in found)


@pytest.mark.parametrize(
    "words", [("plan",), ("plan", "-m", "seed=1,2"), ("run", "--cfg", "job"), ("run", "--info", "defaults")]
)
def test_what_only_shows_writes_nothing(
    modelsel: Command, folder: Path, small: tuple[str, ...], words: tuple[str, ...]
) -> None:
    before = {path for path in folder.parent.rglob("*") if path.is_file()}
    ran = modelsel(*words, *small)
    assert ran.code == 0, ran.err
    assert ran.out
    assert {path for path in folder.parent.rglob("*") if path.is_file()} == before


@pytest.mark.slow
def test_an_experiment_over_several_data_sets_is_a_sweep_by_itself(
    modelsel: Command, folder: Path, small: tuple[str, ...]
) -> None:
    experiment = folder / "conf" / "experiment"
    experiment.mkdir(parents=True)
    (experiment / "several.yaml").write_text(
        "# @package _global_\nhydra:\n  mode: MULTIRUN\n  sweeper:\n    params:\n      dataset: iris,wine\n"
    )
    ran = modelsel("run", "--config-dir", "conf", "experiment=several", "final_test=false", *small[1:])
    assert ran.code == 0, ran.err
    assert [line.split()[0] for line in ran.out.splitlines() if line.startswith("dataset=")] == ["dataset=iris", "dataset=wine"]


def test_a_starter_folder_can_be_planned_once_it_has_data(modelsel: Command, folder: Path) -> None:
    assert modelsel("init").code == 0
    again = modelsel("init")
    assert again.code == 2
    assert "nothing was written" in again.err
    missing = modelsel("plan", "--config-dir", "conf", "experiment=first")
    assert missing.code == 2
    assert "data/mine.csv" in missing.err
    (folder / "data").mkdir()
    (folder / "data" / "mine.csv").write_text("\n".join(["x,class", *(f"{i},{'ab'[i % 3 == 0]}" for i in range(60))]) + "\n")
    planned = modelsel("plan", "--config-dir", "conf", "experiment=first")
    assert planned.code == 0, planned.err
    assert "fits" in planned.out


@pytest.mark.slow
def test_doctor_finds_everything_in_order(modelsel: Command, small: tuple[str, ...]) -> None:
    assert modelsel("run", *small).code == 0
    ran = modelsel("doctor")
    assert ran.code == 0, ran.out
    assert "1 finished, 0 not" in ran.out
    assert "intact" in ran.out


@pytest.mark.slow
def test_an_audit_sees_scores_that_were_changed(modelsel: Command, folder: Path, small: tuple[str, ...]) -> None:
    """Each number of the test and of the winner alone, beside the ledger and candidates.csv."""
    assert modelsel("run", *small, "final_test=true").code == 0
    path = folder / "runs" / "latest" / "study.json"
    whole = path.read_text()
    assert "R003" not in modelsel("audit", "latest").out
    for place, name, value in (("test", "score", 0.0), ("test", "errors", 0), ("test", "interval", [0.0, 0.01]),
                               ("cv", "mean", 0.0), ("test", "look", 7)):  # fmt: skip
        said = json.loads(whole)
        (said["test"] if place == "test" else said["winner"]["cv"])[name] = value
        path.write_text(json.dumps(said))
        ran = modelsel("audit", "latest", "--fail-on", "high")
        assert (ran.code, "R003" in ran.out) == (4, True), (place, name)


@pytest.mark.slow
def test_an_audit_sees_a_record_that_was_changed(modelsel: Command, folder: Path, small: tuple[str, ...]) -> None:
    assert modelsel("run", *small).code == 0
    assert json.loads(modelsel("audit", "latest", "--json").out)["ledger"]["intact"] is True
    path = folder / "runs" / "latest" / "study.json"
    path.write_text(path.read_text().replace(outcome(folder)["winner"]["id"], "0" * 16))
    ran = modelsel("audit", "latest", "--fail-on", "critical", "--html", "audit.html")
    assert ran.code == 4
    assert "R002" in ran.out
    assert (folder / "audit.html").read_text().startswith("<!doctype html>")


@pytest.mark.slow
def test_runs_of_one_data_set_are_compared_and_unpaired_ones_refused(modelsel: Command, small: tuple[str, ...]) -> None:
    for name, extra in (("one", "seed=0"), ("two", "seed=1")):
        assert modelsel("run", *small, f"name={name}", extra, "final_test=false").code == 0
    assert "naive_bayes" in modelsel("compare", "one").out
    assert "naive_bayes" in modelsel("compare", "one", "two").out  # other folds of the same rows: repeats
    assert modelsel("run", *small, "name=three", "seed=1", "space=[cart]", "final_test=false").code == 0
    assert modelsel("compare", "one", "three").code == 2
