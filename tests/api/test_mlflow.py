"""A study and the MLflow of whoever called it: under the run that is open, found by its id, its model under a name."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mlflow
import numpy as np
import pandas as pd
import pytest
from mlflow import MlflowClient

import modelsel
from modelsel.config.compose import compose
from modelsel.core.errors import StoreError
from modelsel.record.folder import RunFolder
from modelsel.record.mlflow.place import place_study
from modelsel.record.mlflow.store import TrackingStore, prepare
from modelsel.record.mlflow.sync import store_of

STUDY: dict[str, Any] = {
    "space": "naive_bayes",
    "scheme": {"folds": 3},
    "pool": "sequential",
    "final_test": False,
    "name": "mine",
}

pytestmark = pytest.mark.slow  # MLflow is imported, and makes a store


@pytest.fixture(autouse=True)
def theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The caller's store; what was set of MLflow before is set again."""
    uri = f"sqlite:///{tmp_path / 'theirs.db'}"
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    prepare(TrackingStore(uri, (tmp_path / "artifacts").as_uri()))
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(uri)
    yield uri
    mlflow.set_tracking_uri(before)
    os.environ.pop("MLFLOW_TRACKING_URI", None)


def table() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame({"x": rng.normal(size=60), "y": rng.choice(["a", "b"], 60)})


def test_a_study_is_put_under_the_run_that_is_open_and_leaves_that_alone(theirs: str) -> None:
    with mlflow.start_run(run_name="thesis") as run:
        mlflow.log_param("own", 1)
        found = modelsel.run(table(), target="y", **STUDY)
        assert mlflow.active_run().info.run_id == run.info.run_id
        mlflow.log_metric("after", 2.0)
    own = found.to_mlflow()  # waits where the first writing went on in the background
    client = MlflowClient(theirs)
    study = client.get_run(own)
    assert study.data.tags["mlflow.parentRunId"] == run.info.run_id
    assert study.info.experiment_id == run.info.experiment_id
    below = client.search_runs([run.info.experiment_id], f"tags.`mlflow.parentRunId` = '{own}'")
    assert len(below) == len(found.leaderboard)
    again = client.get_run(run.info.run_id)
    assert (again.data.params, again.data.metrics, again.info.status) == ({"own": "1"}, {"after": 2.0}, "FINISHED")
    assert not Path("runs/mlflow.db").exists()
    assert store_of(RunFolder.open("latest")).sqlite == Path(theirs.removeprefix("sqlite:///"))
    assert modelsel.open_run(own).winner == found.winner


def test_without_an_open_run_the_study_goes_where_it_always_goes(theirs: str) -> None:
    config = compose((), None, STUDY)
    assert place_study(config) is config


def test_an_address_of_the_study_and_a_store_that_cannot_be_used_are_said(theirs: str, tmp_path: Path) -> None:
    elsewhere = compose((), None, {**STUDY, "tracking": {"uri": f"sqlite:///{tmp_path / 'other.db'}"}})
    same = compose((), None, {**STUDY, "tracking": {"uri": theirs}})
    off = compose((), None, {**STUDY, "tracking": "off"})
    with mlflow.start_run() as run:
        found = place_study(elsewhere)
        assert found.tracking == elsewhere.tracking
        assert (
            found.notes[-1] == f"the open MLflow run {run.info.run_id} is left alone: it is in another store than tracking.uri"
        )
        assert place_study(same).tracking.parent == run.info.run_id
        assert place_study(off) is off
        mlflow.set_tracking_uri("file:///tmp/mlruns")
        assert "its store cannot be used" in place_study(compose((), None, STUDY)).notes[-1]
        mlflow.set_tracking_uri(theirs)


def test_mlflow_s_variables_say_experiment_and_parent_and_what_is_typed_stands_above_them(theirs: str) -> None:
    """Typed, file, open run, environment, embedded store: in this order."""
    config = compose((), None, STUDY)
    assert place_study(config, {}) is config
    assert place_study(config, {"MLFLOW_EXPERIMENT_NAME": "credit"}).tracking.experiment == "credit"
    assert place_study(config, {"MLFLOW_EXPERIMENT_ID": "7"}).resolved["tracking"]["experiment_id"] == "7"
    assert place_study(config, {"MLFLOW_RUN_ID": "a" * 32, "MLFLOW_EXPERIMENT_NAME": "credit"}).tracking.parent == "a" * 32
    named = compose((), None, {**STUDY, "tracking": {"experiment": "mine"}})
    assert place_study(named, {"MLFLOW_EXPERIMENT_NAME": "credit"}) is named
    other = compose((), None, {**STUDY, "tracking": {"uri": "sqlite:////tmp/else.db"}})
    assert place_study(other, {"MLFLOW_RUN_ID": "b" * 32}).tracking.parent is None
    assert "is left alone" in place_study(other, {"MLFLOW_RUN_ID": "b" * 32}).notes[-1]
    with mlflow.start_run() as run:
        assert place_study(config, {"MLFLOW_EXPERIMENT_NAME": "credit"}).tracking.parent == run.info.run_id


def test_experiment_tags_and_description_of_one_s_own_are_on_the_study_s_run(theirs: str) -> None:
    mlflow.set_experiment("risk models")
    settings = {**STUDY, "tracking": {"tags": {"team": "risk"}, "description": "Quarterly choice."}}
    own = modelsel.run(table(), target="y", **settings).to_mlflow()
    os.environ.pop("MLFLOW_EXPERIMENT_ID", None)
    mlflow.tracking.fluent._active_experiment_id = None
    study = MlflowClient(theirs).get_run(own)
    assert study.data.tags["team"] == "risk"
    assert study.data.tags["mlflow.note.content"].startswith("Quarterly choice.\n\n**naive_bayes**")
    assert MlflowClient(theirs).get_experiment(study.info.experiment_id).name == "risk models"


def test_autologging_leaves_no_runs_of_our_own_fits(theirs: str) -> None:
    mlflow.sklearn.autolog(silent=True)
    try:
        found = modelsel.run(table(), target="y", **{**STUDY, "space": ["logistic_regression"], "name": "logged"})
        found.to_mlflow()
    finally:
        mlflow.sklearn.autolog(disable=True)
    names = {run.data.tags.get("estimator_name") for run in MlflowClient(theirs).search_runs(["0"])}
    assert names == set() or names == {None}


def test_the_model_is_registered_under_a_name_once(theirs: str) -> None:
    found = modelsel.run(table(), target="y", **{**STUDY, "tracking": "off"})
    own = found.to_mlflow(registered_name="credit", uri=theirs)
    assert found.to_mlflow(registered_name="credit", uri=theirs) == own
    versions = MlflowClient(theirs, theirs).search_model_versions("name = 'credit'")
    assert [(str(one.version), one.run_id) for one in versions] == [("1", own)]
    mlflow.set_registry_uri(theirs)
    loaded = mlflow.pyfunc.load_model("models:/credit/1")
    said = loaded.predict(table()[["x"]])
    expected = found.model.predict(table())
    column = said["prediction"] if isinstance(said, pd.DataFrame) else said
    assert list(column) == list(expected)
    other = modelsel.run(table(), target="y", **{**STUDY, "tracking": "off", "seed": 1})
    other.to_mlflow(registered_name="credit", uri=theirs)
    assert len(MlflowClient(theirs, theirs).search_model_versions("name = 'credit'")) == 2
    with pytest.raises(StoreError, match="MSEL-635"):
        found.to_mlflow(registered_name="", uri=theirs)


def test_all_measures_are_metrics_of_the_study_and_of_every_candidate(theirs: str) -> None:
    found = modelsel.run(table(), target="y", **STUDY, measures="all", tracking={"uri": theirs})
    client, own = MlflowClient(theirs), found.to_mlflow()
    metrics = client.get_run(own).data.metrics
    measures = found.winner["measures"]
    assert {"recall", "kappa", "auc", "log_loss", "lift", "average_precision", "expected_calibration_error"} <= set(measures)
    assert {name: metrics[f"cv/{name}"] for name in measures} == pytest.approx(measures)
    store = client.get_run(own).info.experiment_id
    children = client.search_runs([store], f"tags.`mlflow.parentRunId` = '{own}'")
    board = found.leaderboard.iloc[0]
    (child,) = [one for one in children if one.data.tags["modelsel.key"].endswith(board["id"])]
    assert {name: child.data.metrics[f"cv/{name}"] for name in measures} == pytest.approx(
        {name: board[name] for name in measures}
    )
    times = json.loads((Path(found.folder) / "details.json").read_text("utf-8"))["predict_1000_rows"]
    assert metrics["seconds/predict_1000_rows"] == pytest.approx(times[board["id"]])
