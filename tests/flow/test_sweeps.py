"""A sweep opens each distinct test set once, after all its jobs have chosen, or commits to all of them first."""

import csv
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from modelsel.comparison.bbc import Corrected
from modelsel.comparison.jobs import correct_best
from modelsel.config.compose import compose
from modelsel.core.spec import make
from modelsel.guard.gate import Gate
from modelsel.record.folder import PROJECT, RunFolder
from modelsel.record.sweep import SweepFolder

FEW = ("dataset=wine", "space=[naive_bayes,majority]", "scheme.folds=3")


def ledger(kind: str) -> list[dict[str, Any]]:
    """The entries of one kind, in order."""
    entries = Gate(make("guard", "warn"), PROJECT).session.ledger.entries()
    return [{**entry.facts, "seq": entry.seq} for entry in entries if entry.kind == kind]


@pytest.mark.slow
def test_a_sweep_over_seeds_opens_its_one_test_set_once(modelsel: Any) -> None:
    done = modelsel("run", "-m", "split.seed=0", "seed=1,2,3", *FEW)
    assert done.code == 0, done.err
    (intent,), chosen = ledger("intent"), ledger("selection")
    assert len({facts["spec_id"] for facts in chosen}) == 3
    assert intent["seq"] > max(facts["seq"] for facts in chosen if facts["folder"] != intent["folder"])
    assert intent["cv_mean"] == min(facts["cv_mean"] for facts in chosen)


@pytest.mark.slow
def test_a_sweep_over_splits_of_one_table_opens_no_test_set_and_says_so(modelsel: Any) -> None:
    done = modelsel("run", "-m", "split.seed=0,1,2", "seed=1,2", *FEW)
    assert done.code == 0, done.err
    assert ledger("intent") == []
    assert len({facts["testset"] for facts in ledger("selection")}) == 3
    assert "the jobs sealed 3 different sets of its rows" in done.err
    assert "no test set was opened" in done.err
    named = done.err.partition("`modelsel test ")[2].partition("`")[0]
    assert modelsel("test", named).code == 0
    assert RunFolder.open(named).outcome().test is not None


@pytest.mark.slow
def test_the_test_sets_of_two_tables_are_opened_once_each(modelsel: Any) -> None:
    done = modelsel("run", "-m", "dataset=wine,iris", "seed=1,2", *FEW[1:])
    assert done.code == 0, done.err
    looks = ledger("intent")
    assert len(looks) == len({facts["testset"] for facts in looks}) == 2


@pytest.mark.slow
def test_with_sweep_test_all_jobs_are_committed_before_the_first_answer_and_each_counts(modelsel: Any) -> None:
    done = modelsel("run", "-m", "seed=1,2,3", "guard.sweep_test=true", "guard.declared_space=null", "scheme.folds=3",
                    "dataset=wine", "space=[naive_bayes],[majority]")  # fmt: skip
    assert done.code == 0, done.err
    commits, looks = ledger("commit"), ledger("intent")
    assert [facts["look"] for facts in commits] == [1, 2, 3, 4, 5, 6]
    assert max(facts["seq"] for facts in commits) < min(facts["seq"] for facts in looks)
    assert {facts["spent"] for facts in looks} == {0.0}


@pytest.fixture
def swept(modelsel: Any) -> Any:
    """Four jobs: two learners on two data sets, whose test sets stay shut."""
    done = modelsel("run", "-m", "dataset=wine,iris", "learner=c45,naive_bayes", "scheme.folds=3", "final_test=false")
    assert done.code == 0, done.err
    return done


@pytest.mark.slow
def test_a_sweep_leaves_a_table_a_page_and_what_each_job_found(swept: Any, modelsel: Any) -> None:
    sweep = SweepFolder.open("latest")
    assert sweep.path.parent == Path("runs/sweeps").resolve()
    rows = list(csv.DictReader((sweep.path / "sweep.csv").open()))
    assert [(row["dataset"], row["learner"]) for row in rows] == [
        ("wine", "c45"), ("wine", "naive_bayes"), ("iris", "c45"), ("iris", "naive_bayes"),
    ]  # fmt: skip
    for row, job in zip(rows, sweep.jobs(), strict=True):
        outcome = job.outcome()
        assert outcome is not None
        assert float(row["cv"]) == outcome.winner["cv"]["mean"] == job.score
        assert row["test"] == ""
    page = (sweep.path / "report.html").read_text()
    assert page.count("<svg") == 1
    assert "dataset=wine learner=c45" in page
    before = (sweep.path / "sweep.csv").read_bytes()
    assert modelsel("report", str(sweep.path)).code == 0
    assert (sweep.path / "sweep.csv").read_bytes() == before


@pytest.mark.slow
def test_which_learner_is_answered_by_the_sweep_alone(swept: Any, modelsel: Any) -> None:
    done = modelsel("compare", f"sweeps/{SweepFolder.open('latest').path.name}")
    assert done.code == 0, done.err
    assert "Mean ranks by error over 2 data sets (1 is best)" in done.out
    import modelsel as package

    sweep = package.open_sweep("latest")
    assert len(sweep) == 4
    assert sweep.best.winner["cv"]["mean"] == min(one.winner["cv"]["mean"] for one in sweep)


@pytest.mark.slow
def test_an_interrupted_sweep_goes_on_and_jobs_that_are_done_are_not_done_again(swept: Any, modelsel: Any) -> None:
    sweep = SweepFolder.open("latest")
    runs = sorted(job.folder for job in sweep.jobs())
    sweep.write(replace(sweep.settings, state="running"))  # as a killed process leaves it
    shutil.rmtree(sweep.path / "3")
    done = modelsel("run", "-m", "dataset=wine,iris", "learner=c45,naive_bayes", "scheme.folds=3", "final_test=false")
    assert done.code == 0, done.err
    assert done.err.count("was done before") == 3
    assert len(list(Path("runs/sweeps").iterdir())) == 1
    again = sorted(job.folder for job in SweepFolder.open("latest").jobs())
    assert len(set(runs) & set(again)) == 3


@pytest.mark.slow
def test_what_the_best_of_the_jobs_is_worth_is_what_bbc_says_of_their_winners(modelsel: Any) -> None:
    done = modelsel(
        "run", "-m", "dataset=wine", "learner.kind=cart", "learner.max_depth=1,2,3", "scheme.folds=3", "final_test=false"
    )
    assert done.code == 0, done.err
    outcomes = [outcome for job in SweepFolder.open("latest").jobs() if (outcome := job.outcome()) is not None]
    found = correct_best(outcomes)
    assert isinstance(found, Corrected)
    together = modelsel("run", "dataset=wine", "space={cart: {learner: cart, sweep: {max_depth: [1, 2, 3]}}}", "scheme.folds=3",
                        "final_test=false")  # fmt: skip
    assert together.code == 0, together.err
    one_study = together.outcome.winner["corrected"]
    assert one_study is not None
    assert found.mean == pytest.approx(one_study["mean"], abs=0.01)  # other draws of the same bootstrap


@pytest.mark.slow
def test_runs_go_where_they_are_sent_and_the_project_s_ledger_stays(modelsel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    first = modelsel("run", *FEW, "guard.ledger=project", "runs=else/where")
    assert first.code == 0, first.err
    assert (Path("else/where/latest") / "study.json").is_file()
    assert Path("runs/ledger.db").is_file()
    assert not Path("else/where/ledger.db").exists()
    monkeypatch.setenv("MODELSEL_RUNS", "third")
    second = modelsel("run", *FEW, "guard.ledger=project", "seed=5")
    assert second.code == 0, second.err
    found = RunFolder.open("latest")
    assert found.path.is_relative_to(Path("third").resolve())
    assert found.outcome().test is not None
    assert found.outcome().test.replay  # another place for runs forgets nothing


@pytest.mark.slow
def test_hydra_s_places_are_obeyed_or_answered_with_ours(modelsel: Any) -> None:
    done = modelsel("run", "-m", "dataset=iris", "learner=majority,naive_bayes", "hydra.sweep.dir=mine",
                    "hydra.sweep.subdir=job_${hydra.job.num}", "final_test=false", "scheme.folds=3")  # fmt: skip
    assert done.code == 0, done.err
    assert sorted(path.name for path in Path("mine").iterdir() if path.is_dir()) == ["job_0", "job_1"]
    assert (Path("mine/job_1/result.json")).is_file()
    for word, answer in (("hydra.run.dir=out", "write runs=out"), ("hydra.job.name=study", "write name=study")):
        refused = modelsel("plan", "dataset=iris", word)
        assert (refused.code, answer in refused.err) == (2, True)


def test_a_root_file_of_one_s_own_is_composed_on_top_of_ours(modelsel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("own").mkdir()
    Path("own/mine.yaml").write_text(
        "defaults:\n  - config\n  - override /dataset: csv\n  - _self_\n"
        "dataset:\n  path: ${oc.env:DATA_PLACE}/t.csv\n  target: y\nscheme:\n  folds: 3\n"
    )
    Path("data").mkdir()
    Path("data/t.csv").write_text("x,y\n" + "".join(f"{i % 7},{'ab'[i % 2]}\n" for i in range(40)))
    monkeypatch.setenv("DATA_PLACE", "data")
    config = compose((), "own", config_name="mine")
    assert (config.scheme.folds, config.dataset.path) == (3, "data/t.csv")  # type: ignore[attr-defined]
    assert config.resolved["dataset"]["path"] == "${oc.env:DATA_PLACE}/t.csv"
    Path("own/mine.yaml").write_text("defaults: [config, _self_]\nscheme:\n  foldz: 3\n")
    refused = modelsel("plan", "--config-dir", "own", "--config-name", "mine")
    assert refused.code == 2
    assert "scheme.foldz (mine.yaml, line 3)" in refused.err
    assert modelsel("plan", "--config-dir", "own", "--config-name", "none").code == 2
    assert "MSEL-234" in modelsel("plan", "dataset=iris", "name=${oc.env:DATA_PLACE}").err


@pytest.mark.slow
def test_an_experiment_sweeps_what_the_command_line_sweeps(modelsel: Any) -> None:
    Path("own/experiment").mkdir(parents=True)
    Path("own/experiment/mine.yaml").write_text(
        "# @package _global_\ndefaults:\n  - override /dataset: iris\nfinal_test: false\n"
        "hydra:\n  mode: MULTIRUN\n  sweeper:\n    params:\n      learner: majority,naive_bayes\n      scheme.folds: 3,4\n"
    )
    done = modelsel("run", "--config-dir", "own", "experiment=mine")
    assert done.code == 0, done.err
    labels = [row["label"] for row in csv.DictReader((SweepFolder.open("latest").path / "sweep.csv").open())]
    assert labels == [f"learner={name} scheme.folds={folds}" for name in ("majority", "naive_bayes") for folds in (3, 4)]
