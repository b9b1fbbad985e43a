"""A first study, end to end: what is compared, what is written, what is said."""

import csv
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

SMALL = ("dataset=wine", "space=[cart,naive_bayes,majority]", "scheme.folds=3")


def test_the_quick_start_compares_every_family_and_tests_once(modelsel: Any) -> None:
    done = modelsel("run", "tracking=sqlite")
    assert done.code == 0, done.err
    outcome = done.outcome
    families = {"forest", "logistic_regression", "cart", "c45", "knn", "naive_bayes", "majority"}
    assert {row["entry"] for row in _candidates() if row["rank"]} == families
    assert outcome.test is not None
    assert outcome.test.look == 1
    assert outcome.test.errors is not None
    assert outcome.test.interval is not None
    assert outcome.test.interval[0] <= outcome.test.score <= outcome.test.interval[1]
    assert "report.html" in done.out
    assert "1st look" in done.out


@pytest.mark.slow
def test_every_file_of_a_run_is_there_and_says_the_same(modelsel: Any) -> None:
    assert modelsel("run", *SMALL).code == 0
    run = Path("runs/latest")
    study = json.loads((run / "study.json").read_text())
    rows = _candidates()
    assert [row["id"] for row in rows if row["rank"] == "1"] == [study["winner"]["id"]]
    assert study["candidates"]["distinct"] == len(rows)
    with np.load(run / "losses.npz", allow_pickle=False) as arrays:
        assert arrays["losses"].shape == (study["task"]["development_rows"], len(rows))
        assert list(arrays["candidate"]) == [row["id"] for row in rows]
        mean = np.nanmean(arrays["losses"][:, [row["rank"] for row in rows].index("1")])
        assert mean == pytest.approx(study["winner"]["cv"]["mean"], abs=0.01)
    html = (run / "report.html").read_text()
    assert study["winner"]["id"][:8] in html
    assert "http://" not in html.replace("http://www.w3.org", "")
    assert (run / "config.yaml").exists()
    assert (run / "study.log").exists()
    assert list((run / "journal").iterdir())


@pytest.mark.slow
def test_every_candidate_is_a_run_in_mlflow(modelsel: Any) -> None:
    assert modelsel("run", *SMALL, "tracking.wait=120").code == 0
    assert modelsel("sync", "latest").code == 0  # waits for what a slow machine still writes in the background
    import mlflow

    client = mlflow.MlflowClient(f"sqlite:///{Path('runs/mlflow.db').resolve()}")
    experiments = [experiment.experiment_id for experiment in client.search_experiments()]
    runs = client.search_runs(experiments, max_results=5000)
    children = [run for run in runs if "mlflow.parentRunId" in run.data.tags]
    assert len(children) == len(_candidates())
    assert {run.info.status for run in runs} == {"FINISHED"}
    parent = next(run for run in runs if run.info.run_id == children[0].data.tags["mlflow.parentRunId"])
    assert parent.data.params["modelsel.guard.look"] == "1"
    assert not [name for run in children for name in run.data.metrics if name.startswith("test/")]


def test_the_same_command_again_computes_nothing_and_is_a_replay(modelsel: Any) -> None:
    first = modelsel("run", *SMALL).outcome
    again = modelsel("run", *SMALL)
    second = again.outcome
    assert second.folder != first.folder
    assert second.winner == first.winner
    assert second.test.replay
    assert second.test.score == first.test.score
    assert second.test.interval == first.test.interval
    assert "replay" in again.out


@pytest.mark.slow
def test_the_test_set_stays_closed_until_it_is_asked_for(modelsel: Any) -> None:
    closed = modelsel("run", *SMALL, "final_test=false")
    assert closed.outcome.test is None
    opened = modelsel("test", "latest")
    assert opened.code == 0, opened.err
    assert opened.outcome.test.look == 1
    assert opened.outcome.winner == closed.outcome.winner
    assert modelsel("test", "latest").outcome.test.replay


def test_a_published_model_predicts_new_rows_by_name(modelsel: Any, tmp_path: Path) -> None:
    from sklearn.datasets import load_wine

    frame = load_wine(as_frame=True).data
    frame[frame.columns[::-1]].to_csv("new.csv", index=False)
    assert modelsel("run", "dataset=wine", "space=[naive_bayes]").code == 0
    done = modelsel("predict", "latest", "new.csv", "-o", "out.csv")
    assert done.code == 0, done.err
    with open("out.csv") as stream:
        assert len(list(csv.reader(stream))) == len(frame) + 1


@pytest.mark.slow
def test_a_sweep_returns_cross_validated_scores_and_no_test_score(modelsel: Any) -> None:
    done = modelsel("run", "-m", "dataset=iris,wine,breast_cancer", "final_test=false", "space=[naive_bayes,majority]")
    assert done.code == 0, done.err
    studies = [json.loads(path.read_text()) for path in Path("runs").glob("*/*/study.json")]
    assert {study["task"]["name"] for study in studies} == {"iris", "wine", "breast_cancer"}
    assert all(study["test"] is None for study in studies)
    assert all(f"{study['winner']['cv']['mean']:.4f}" in done.out for study in studies)


def test_a_plan_fits_nothing_and_writes_nothing(modelsel: Any) -> None:
    done = modelsel("plan")
    assert done.code == 0
    assert "fits" in done.out
    assert not Path("runs").exists()


@pytest.mark.slow
def test_the_ledger_is_the_persons_and_the_tests_have_one_of_their_own(modelsel: Any, tmp_path: Path) -> None:
    assert modelsel("run", *SMALL).code == 0
    assert list((tmp_path / "home").rglob("ledger.db"))
    assert os.environ["MODELSEL_HOME"] == str(tmp_path / "home")
    assert not [name for name in os.environ if name.startswith("MLFLOW_")] or "MLFLOW_TRACKING_URI" not in os.environ


def _candidates() -> list[dict[str, str]]:
    with open("runs/latest/candidates.csv", newline="") as stream:
        return list(csv.DictReader(stream))
