"""The same study from another folder: nothing twice in MLflow, and what was abandoned half-way is adopted."""

import pytest
from filelock import FileLock
from mlflow import MlflowClient

from modelsel.record.folder import RunFolder
from modelsel.record.mlflow import sweeps
from modelsel.record.mlflow.client import Client
from modelsel.record.mlflow.runs import project
from modelsel.record.mlflow.sync import sync


@pytest.fixture
def again(folder, finished):
    other = RunFolder.create(folder.root, finished.outcome.study)
    other.save(finished)
    return other


def _statuses(store, folder):
    api = MlflowClient(store.uri)
    (experiment,) = [one for one in api.search_experiments() if one.name == folder.outcome().study]
    return [run.info.status for run in api.search_runs([experiment.experiment_id], max_results=1000)]


@pytest.mark.slow
def test_the_same_study_again_is_done_already_and_logged_once(folder, again, store):
    first, second = sync(folder, store), sync(again, store)
    assert (second.run_id, second.written, second.writer) == (first.run_id, 0, "done already")
    assert len(_statuses(store, folder)) == 1 + len(folder.candidates())


@pytest.mark.parametrize("written", [0, 2])
def test_a_run_that_was_abandoned_half_way_is_adopted(folder, again, store, written):
    client, runs = Client(store), project(folder)
    experiment = client.experiment(runs.experiment)
    left, _ = client.parent(experiment, runs.parent)
    client.write_children(experiment, left, runs.children[:written], {}, lambda: None)
    done = sync(again, store)
    assert done.run_id == left
    statuses = _statuses(store, folder)
    assert len(statuses) == 1 + len(folder.candidates())
    assert "RUNNING" not in statuses


def test_a_run_that_is_being_recorded_is_left_alone(folder, again, store):
    client, runs = Client(store), project(folder)
    left, _ = client.parent(client.experiment(runs.experiment), runs.parent)
    with FileLock(folder.path / ".mlflow.lock"):
        assert sync(again, store).run_id != left


def test_an_interrupted_sweep_goes_on_in_its_own_run(folder, store, tmp_path):
    facts = {"experiment": "sweeps", "name": "one", "command": "modelsel run -m", "folder": str(tmp_path)}
    first = sweeps.begin(store, **facts)
    sweeps.finish(store, first, str(tmp_path), {"jobs": 1.0}, failed=True)
    assert sweeps.begin(store, **facts, known=first) == first
    api = MlflowClient(store.uri)
    assert api.get_run(first).info.status == "RUNNING"
    api.delete_run(first)
    assert sweeps.begin(store, **facts, known=first) != first
    assert sweeps.begin(store, **facts, known="0" * 32) != first
