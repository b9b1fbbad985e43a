"""A folder in MLflow: complete, linked, once; by either writer the same, field by field."""

import json
import os
import sqlite3
from dataclasses import replace

import numpy as np
import pytest
from mlflow import MlflowClient
from mlflow.entities import ViewType

from modelsel.core.errors import BAD_CONFIGURATION, UNWRITABLE, ModelselError, StoreError
from modelsel.core.types import Description, positions
from modelsel.record import model
from modelsel.record.facts import FinalModel
from modelsel.record.folder import RunFolder
from modelsel.record.mlflow import store as mlflow_store
from modelsel.record.mlflow.client import Client
from modelsel.record.mlflow.runs import CHANGED, KEY, LONGEST_PARAM, project
from modelsel.record.mlflow.store import KNOWN, TrackingStore
from modelsel.record.mlflow.sync import store_of, sync
from modelsel.record.mlflow.write import knows, write_children

TABLES = ("runs", "tags", "params", "metrics", "latest_metrics", "experiments", "datasets", "inputs", "input_tags")


def runs_of(store: TrackingStore) -> dict:
    """Key to run, as MLflow's own client reads it."""
    client = MlflowClient(store.uri)
    experiments = [e.experiment_id for e in client.search_experiments(view_type=ViewType.ALL)]
    found = client.search_runs(experiments, max_results=5000)
    assert not found.token
    keyed = {run.data.tags[KEY]: run for run in found}
    assert len(keyed) == len(found), "a run was written twice"
    return keyed


def tables_of(store: TrackingStore) -> dict:
    """The rows of MLflow's tables with run ids replaced by keys, in no order."""
    with sqlite3.connect(store.sqlite) as connection:
        key_of = dict(connection.execute("SELECT run_uuid, value FROM tags WHERE key = ?", (KEY,)).fetchall())
        return {table: sorted(_rows(connection, table, key_of)) for table in TABLES}


def sizes_of(store: TrackingStore) -> dict:
    """How many rows each of MLflow's tables has."""
    with sqlite3.connect(store.sqlite) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {table: connection.execute(f"SELECT count(*) FROM {table}").fetchone() for table in tables}


def _rows(connection, table, key_of):
    cursor = connection.execute(f"SELECT * FROM {table}")
    names = [column[0] for column in cursor.description]
    unstable = {"input_uuid", "dataset_uuid", "creation_time", "last_update_time", "source_id", "artifact_location"}
    for row in cursor.fetchall():
        text = json.dumps({n: v for n, v in zip(names, row) if n not in unstable}, sort_keys=True)
        for run_id, key in key_of.items():
            text = text.replace(run_id, key)
        yield text


def test_every_candidate_is_a_child_of_one_parent(folder, store, finished):
    done = sync(folder, store)
    keyed = runs_of(store)
    parent = next(run for run in keyed.values() if run.info.run_id == done.run_id)
    children = [run for run in keyed.values() if run.data.tags.get("mlflow.parentRunId") == done.run_id]
    assert len(children) == len(finished.selection.candidates) == done.written
    assert len(keyed) == len(children) + 1
    assert {run.info.status for run in keyed.values()} == {"FINISHED", "FAILED"}
    assert sum(run.info.status == "FAILED" for run in children) == 1
    assert parent.data.metrics["test/error"] == pytest.approx(7 / 171)
    assert parent.data.metrics["best_cv_score"] == pytest.approx(finished.selection.board.mean[finished.selection.winner])
    assert parent.data.params["modelsel.guard.look"] == "1"
    assert parent.data.params["modelsel.guard.head"] == "a3:4:9f2c"
    assert "| rank |" in parent.data.tags["mlflow.note.content"]
    assert parent.inputs.dataset_inputs[0].dataset.digest == finished.task.fingerprint


def test_fold_scores_are_steps_and_parameters_are_params(folder, store):
    sync(folder, store)
    row = folder.candidates()[3]
    run = next(run for key, run in runs_of(store).items() if key.endswith(row.id))
    history = MlflowClient(store.uri).get_metric_history(run.info.run_id, "cv/error_fold")
    assert [m.value for m in sorted(history, key=lambda m: m.step)] == list(row.folds)
    assert {name: run.data.params[name] for name in row.parameters} == dict(row.parameters)


def test_no_score_is_called_test_but_the_released_one(folder, store):
    done = sync(folder, store)
    named = {key: [n for n in run.data.metrics if n.startswith("test")] for key, run in runs_of(store).items()}
    assert {name for names in named.values() for name in names} == {"test/error"}
    assert [run.info.run_id for key, run in runs_of(store).items() if named[key]] == [done.run_id]


def test_a_second_pass_writes_nothing(folder, store):
    first = sync(folder, store)
    before = tables_of(store)
    again = sync(folder, store)
    assert (again.run_id, again.written, again.found) == (first.run_id, 0, first.written)
    assert tables_of(store) == before


@pytest.mark.slow
def test_a_replay_leaves_the_params_of_the_look_and_says_what_changed(folder, store):
    first = sync(folder, store)
    outcome = folder.outcome()
    look = folder.details()["audit"]
    folder.amend(outcome.but(test=replace(outcome.test, replay=True, price=0.0, flags=("G002",))), look)
    again = sync(folder, store)
    assert (again.run_id, again.written) == (first.run_id, 0)
    parent = MlflowClient(store.uri).get_run(first.run_id)
    assert parent.info.status == "FINISHED"
    assert (parent.data.params["modelsel.guard.replay"], parent.data.params["modelsel.guard.price"] != "0") == ("false", True)
    changed = json.loads(parent.data.tags[CHANGED])
    assert (changed["modelsel.guard.replay"], changed["modelsel.guard.price"]) == ("true", "0")
    assert "a replay" in parent.data.tags["mlflow.note.content"]
    before = tables_of(store)
    sync(folder, store)
    assert tables_of(store) == before


def test_a_look_after_the_first_pass_adds_its_params(folder, store):
    outcome = folder.outcome()
    folder.write_outcome(outcome.but(test=None))
    first = sync(folder, store)
    assert "modelsel.guard.look" not in MlflowClient(store.uri).get_run(first.run_id).data.params
    folder.write_outcome(outcome)
    sync(folder, store)
    parent = MlflowClient(store.uri).get_run(first.run_id)
    assert parent.data.params["modelsel.guard.look"] == "1"
    assert CHANGED not in parent.data.tags
    assert parent.data.metrics["test/error"] == pytest.approx(7 / 171)


@pytest.mark.slow
def test_both_writers_leave_the_same_rows(folder, store, empty_store, tmp_path):
    other = TrackingStore(f"sqlite:///{tmp_path / 'other.db'}", store.artifacts)
    other.sqlite.write_bytes(empty_store.read_bytes())
    assert sync(folder, store, "bulk").writer == "bulk"
    assert sync(folder, other, "client").writer == "client"
    one, two = tables_of(store), tables_of(other)
    for table in TABLES:
        assert one[table] == two[table], table
    assert sizes_of(store) == sizes_of(other), "a table that is not compared by its rows"


@pytest.mark.slow
def test_both_writers_read_back_equal_through_mlflow(folder, store, empty_store, tmp_path):
    other = TrackingStore(f"sqlite:///{tmp_path / 'other.db'}", store.artifacts)
    other.sqlite.write_bytes(empty_store.read_bytes())
    sync(folder, store, "bulk")
    sync(folder, other, "client")
    one, two = runs_of(store), runs_of(other)
    assert one.keys() == two.keys()
    for key in one:
        assert _entity(one[key]) == _entity(two[key])


def _entity(run):
    whole = run.to_dictionary()
    for name in ("run_id", "run_uuid", "artifact_uri"):
        whole["info"].pop(name, None)
    whole["data"]["tags"].pop("mlflow.parentRunId", None)
    whole.pop("outputs", None)
    return json.dumps(whole, sort_keys=True, default=str)


@pytest.mark.slow
@pytest.mark.parametrize("writer", ["bulk", "client"])
def test_what_was_broken_off_is_completed_without_duplicates(folder, store, writer):
    runs = project(folder)
    client = Client(store)
    experiment = client.experiment(runs.experiment)
    parent, ended = client.parent(experiment, runs.parent)
    assert not ended
    client.write_children(experiment, parent, runs.children[:3], {}, lambda: None)
    client._create(experiment, runs.children[3], {"mlflow.parentRunId": parent})  # created, then killed
    half = client._create(experiment, runs.children[4], {"mlflow.parentRunId": parent})
    client.complete(half, runs.children[4], end=False)
    done = sync(folder, store, writer)
    assert done.run_id == parent
    assert done.found == 3
    keyed = runs_of(store)
    assert len(keyed) == len(runs.children) + 1
    assert "RUNNING" not in {run.info.status for run in keyed.values()}
    row = folder.candidates()[4]
    assert keyed[runs.children[4].key].data.metrics["cv/error"] == row.mean


@pytest.mark.slow
def test_a_look_taken_later_is_added_to_the_same_run(folder, store, finished):
    folder.write_outcome(finished.outcome.but(test=None))
    first = sync(folder, store)
    parent = runs_of(store)[project(folder).parent.key]
    assert "test/error" not in parent.data.metrics
    folder.write_outcome(finished.outcome)
    again = sync(folder, store)
    parent = runs_of(store)[project(folder).parent.key]
    assert (again.run_id, again.written) == (first.run_id, 0)
    assert parent.data.metrics["test/error"] == pytest.approx(7 / 171)
    assert parent.data.params["modelsel.guard.look"] == "1"
    assert "look 1" in parent.data.tags["mlflow.note.content"]
    assert [d.dataset.name for d in parent.inputs.dataset_inputs] == ["breast_cancer", "breast_cancer (test rows)"]


def test_a_bulk_write_that_fails_leaves_nothing(folder, store):
    runs = project(folder)
    client = Client(store)
    experiment = client.experiment(runs.experiment)
    parent, _ = client.parent(experiment, runs.parent)
    before = tables_of(store)
    spoiled = [*runs.children[:5], replace(runs.children[5], params={"k": None})]
    with pytest.raises(Exception, match="NOT NULL"):
        write_children(store, experiment, parent, spoiled, {})
    assert tables_of(store) == before


def test_a_run_that_was_broken_off_is_written_anew_under_its_id(folder, store):
    runs = project(folder)
    client = Client(store)
    experiment = client.experiment(runs.experiment)
    parent, _ = client.parent(experiment, runs.parent)
    write_children(store, experiment, parent, runs.children[:2], {})
    written, before = runs_of(store), sizes_of(store)
    there = {one.key: (written[one.key].info.run_id, False) for one in runs.children[:1]}
    write_children(store, experiment, parent, runs.children[:1], there)
    assert sizes_of(store) == before
    again = runs_of(store)
    assert {key: run.info.run_id for key, run in again.items()} == {key: run.info.run_id for key, run in written.items()}
    assert _entity(again[runs.children[0].key]) == _entity(written[runs.children[0].key])


def test_the_revisions_that_are_written_directly_are_those_compared_here(store):
    """One more in KNOWN needs its own comparison: with an MLflow that has it, these tests."""
    with sqlite3.connect(store.sqlite) as connection:
        assert {revision for (revision,) in connection.execute("SELECT version_num FROM alembic_version")} == KNOWN


def test_an_unknown_revision_is_left_to_the_client(folder, store):
    with sqlite3.connect(store.sqlite) as connection:
        connection.execute("UPDATE alembic_version SET version_num = 'of_the_future'")
    assert not knows(store)
    with pytest.raises(ModelselError, match="of_the_future") as error:
        knows(store, strict=True)
    assert error.value.exit_code == BAD_CONFIGURATION


def test_names_and_texts_fit_what_mlflow_accepts(finished, tmp_path, empty_store):
    winner = {**finished.outcome.winner, "parameters": {"odd=name|ü": "x" * 10_000, "inf": float("inf")}}
    folder = RunFolder.create(tmp_path / "runs", "odd 'name' \"/..%")
    cv = {**winner["cv"], "mean": float("nan")}
    folder.save(
        replace(finished, outcome=finished.outcome.but(study="odd 'name'", winner={**winner, "cv": {**cv, "mean": 0.1}}))
    )
    store = mlflow_store.embedded_store(folder.root)
    store.sqlite.write_bytes(empty_store.read_bytes())
    done = sync(folder, store)
    params = runs_of(store)[project(folder).parent.key].data.params
    long = next(value for name, value in params.items() if name.startswith("best_odd"))
    assert len(long) == LONGEST_PARAM
    assert "sha256" in long
    assert sync(folder, store).run_id == done.run_id


def test_no_secret_reaches_the_store(finished, tmp_path, empty_store, monkeypatch):
    monkeypatch.setenv("SOME_API_TOKEN", "cAnArY-12")
    winner = {**finished.outcome.winner, "parameters": {"note": "cAnArY-12"}}
    folder = RunFolder.create(tmp_path / "runs", "study")
    reasons = ("cAnArY-12", *finished.selection.reasons[1:])
    folder.save(replace(finished, outcome=finished.outcome.but(winner=winner), command=("x=cAnArY-12",),
                        selection=replace(finished.selection, reasons=reasons)))  # fmt: skip
    store = mlflow_store.embedded_store(folder.root)
    store.sqlite.write_bytes(empty_store.read_bytes())
    sync(folder, store)
    written = [path for path in folder.root.rglob("*") if path.is_file()]
    assert not [path for path in written if b"cAnArY" in path.read_bytes()]


def test_a_deleted_experiment_is_brought_back(folder, store):
    client = Client(store)
    client.api.delete_experiment(client.experiment(folder.outcome().study))
    assert sync(folder, store).written


@pytest.mark.slow
def test_the_model_is_logged_once_and_loads_as_a_pyfunc(finished, tmp_path, empty_store):
    import mlflow
    import pandas as pd

    task = finished.task
    majority = Description("majority", {"class": 1, "classes": 2}, {})
    final = _majority(task) or FinalModel(task.features, task.classes, majority, (), task.take(positions(task)[:5]))
    folder = RunFolder.create(tmp_path / "runs", "study")
    folder.save(replace(finished, final=final))
    store = mlflow_store.embedded_store(folder.root)
    store.sqlite.write_bytes(empty_store.read_bytes())
    done = sync(folder, store)
    sync(folder, store)
    client = MlflowClient(store.uri)
    models = client.search_logged_models([done.experiment_id])
    assert len(models) == 1
    assert str(models[0].status) == "READY"
    assert models[0].source_run_id == done.run_id
    assert [m.key for m in models[0].metrics] == ["test/error"]
    replayed = finished.outcome.but(test=replace(finished.outcome.test, replay=True))
    folder.write_outcome(replayed)
    sync(folder, store)
    folder.write_outcome(replace(replayed, test=replace(replayed.test, score=0.05)))
    sync(folder, store)
    history = client.get_metric_history(done.run_id, "test/error")
    assert [(m.step, round(m.value, 6)) for m in sorted(history, key=lambda m: m.step)] == [(0, round(7 / 171, 6)), (1, 0.05)]
    frame = pd.DataFrame(task.values[:7], columns=[f.name for f in task.features])
    for place in (str(folder.model), models[0].artifact_location):
        loaded = mlflow.pyfunc.load_model(place)
        assert set(loaded.predict(frame[frame.columns[::-1]])) <= set(task.classes)
        assert np.allclose(loaded.predict(frame, params={"scores": True}).sum(axis=1), 1)
        assert loaded.metadata.signature is not None
        assert loaded.input_example is not None


def _majority(task):
    from modelsel.core.spec import class_of
    from modelsel.core.types import Candidate
    from modelsel.runner.final_fit import fit

    fitted = fit(Candidate(class_of("learner", "majority")()), task, seed=0)
    return FinalModel(task.features, task.classes, fitted.learner, (), task.take(positions(task)[:5]))


def test_our_mlmodel_says_what_mlflow_itself_would_write(finished, tmp_path):
    from mlflow.models import Model, ModelSignature
    from mlflow.types import ColSpec, ParamSchema, ParamSpec, Schema

    from modelsel.record.model import save

    saved = save(tmp_path / "model", _majority(finished.task), "0.1.0")
    ours = Model.load(str(saved / "MLmodel"))
    theirs = ModelSignature(
        Schema([ColSpec("double", f.name) for f in finished.task.features]),
        Schema([ColSpec("string")]),
        ParamSchema([ParamSpec("scores", "boolean", False)]),
    )
    assert ours.signature == theirs
    assert ours.flavors["python_function"]["loader_module"] == "modelsel.record.pyfunc"


@pytest.mark.slow
def test_the_model_is_where_people_look_for_it_and_the_candidates_are_one_file(folder, store, finished):
    import mlflow

    model.save(folder.model, _majority(finished.task), "0.1.0")
    done = sync(folder, store)
    names = [one.path for one in MlflowClient(store.uri).list_artifacts(done.run_id)]
    assert [name for name in names if name.endswith(".csv")] == ["candidates.csv"]
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(store.uri)
    try:
        assert mlflow.pyfunc.load_model(f"runs:/{done.run_id}/model").metadata.signature is not None
    finally:
        mlflow.set_tracking_uri(before)


def test_a_store_that_cannot_be_written_is_exit_6_and_says_how_to_go_on(folder):
    with pytest.raises(StoreError, match="modelsel sync") as error:
        sync(folder, TrackingStore("http://127.0.0.1:9"))
    assert error.value.exit_code == UNWRITABLE
    assert "does not answer" in str(error.value)


def test_a_replay_goes_where_the_study_said(folder, monkeypatch):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    assert store_of(folder) == mlflow_store.embedded_store(folder.root)
    assert store_of(folder, "http://given:1") == TrackingStore("http://given:1")
    folder.write_config({"tracking": {"kind": "server", "uri": "http://said:2", "on_error": "warn"}})
    assert store_of(folder) == TrackingStore("http://said:2")
    folder.write_config({"tracking": {"kind": "off"}})
    assert store_of(folder) == mlflow_store.embedded_store(folder.root)
    assert store_of(folder, "http://given:1") == TrackingStore("http://given:1")
    folder.write_config({"tracking": {"kind": "server", "uri": "http://me:secret-77@said:2"}})
    with pytest.raises(ModelselError, match="uri_env"):
        store_of(folder)


def test_recording_leaves_no_tracking_address_behind(folder, store):
    before = os.environ.get("MLFLOW_TRACKING_URI")
    sync(folder, store)
    assert os.environ.get("MLFLOW_TRACKING_URI") == before
