"""A sweep's own run in MLflow, under which the runs of its studies stand: begun before the first job, ended with its table."""

import time
from pathlib import Path
from typing import Any

import mlflow.entities as entities
from mlflow.exceptions import MlflowException

from modelsel.record.mlflow.client import Client
from modelsel.record.mlflow.store import TrackingStore, prepare
from modelsel.record.sweep import REPORT, SWEEP, TABLE

FOLDER = "modelsel.sweep"


def begin(
    store: TrackingStore, experiment: str, name: str, command: str, folder: str, below: str | None = None, known: str = ""
) -> str:
    """Create the sweep's run, under another one where one is given, or go on with the known one; return its id."""
    prepare(store)
    client = Client(store)
    if known and _resume(client, known):
        return known
    where = client.experiment(experiment) if below is None else client.experiment_of(below)
    tags = {FOLDER: folder, "mlflow.source.name": command, "mlflow.source.type": "LOCAL"}
    tags |= {"mlflow.parentRunId": below} if below else {}
    return str(client.api.create_run(where, int(time.time() * 1000), tags, name).info.run_id)


def _resume(client: Client, run: str) -> bool:
    """Set the run of an interrupted sweep going again; False where this store has it no more."""
    try:
        if client.api.get_run(run).info.lifecycle_stage != "active":
            return False
    except MlflowException:
        return False
    client.api.update_run(run, status="RUNNING")
    return True


def finish(store: TrackingStore, run: str, folder: str, best: dict[str, Any], failed: bool) -> str:
    """Log the best job's scores and the sweep's files, and end its run."""
    api = Client(store).api
    now = int(time.time() * 1000)
    metrics = [entities.Metric(key, value, now, 0) for key, value in best.items() if isinstance(value, int | float)]
    params = [entities.Param(key, str(value)) for key, value in best.items() if isinstance(value, str)]
    api.log_batch(run, metrics=metrics, params=params)
    for name in (TABLE, SWEEP, REPORT):
        if (Path(folder) / name).is_file():
            api.log_artifact(run, str(Path(folder) / name))
    api.set_terminated(run, "FAILED" if failed else "FINISHED", now)
    return run
