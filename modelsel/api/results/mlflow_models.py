"""A study and the MLflow of whoever called it: under the run that is open, and written or registered on demand."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from modelsel.config.compose import Config
from modelsel.core.errors import ConfigurationError
from modelsel.record.folder import RunFolder, runs_folder
from modelsel.record.mlflow.store import at, locate
from modelsel.record.mlflow.sync import register, store_of, sync

OFF = "off"


def to_mlflow(folder: RunFolder, registered_name: str | None = None, uri: str | None = None) -> str:
    """The id of the study's run. `registered_name` registers the final model under it, as its next version.

    Raises StoreError (exit 6) with what went wrong, ConfigurationError for an address that cannot be meant.
    """
    store = store_of(folder, uri)
    done = sync(folder, store)
    if registered_name is not None:
        register(store, done.run_id, registered_name)
    return done.run_id


def under_the_open_run(config: Config) -> Config:
    """The study put under the run that the caller has open in MLflow, in the store where that run is.

    Nothing is written into the open run, and it stays open. If `tracking.uri` names another server, runs go there;
    so they do where the caller's store cannot be used. A note says so.
    """
    mlflow = sys.modules.get("mlflow")  # who has a run open has imported it
    run = None if mlflow is None else mlflow.active_run()
    tracking = config.tracking
    if mlflow is None or run is None or tracking.kind == OFF or tracking.parent is not None:
        return config
    address, root = str(mlflow.get_tracking_uri()), runs_folder(config.runs)
    try:
        store = at(address, root)
    except ConfigurationError as error:
        return _noted(config, run, f"its store cannot be used ({error.problems[0].what})")
    own = bool(tracking.uri or tracking.uri_env)
    if own and locate(tracking, root) != store:
        return _noted(config, run, "it is in another store than tracking.uri")
    uri, parent = tracking.uri if own else _absolute(address, store.sqlite), str(run.info.run_id)
    recorded = {**config.resolved, "tracking": {**config.resolved["tracking"], "uri": uri, "parent": parent}}
    return replace(config, tracking=replace(tracking, uri=uri, parent=parent), resolved=recorded)


def _absolute(address: str, path: Path | None) -> str:
    """Make an address independent of the working folder."""
    return address if path is None else f"sqlite:///{path}"


def _noted(config: Config, run: Any, why: str) -> Config:
    note = f"the open MLflow run {run.info.run_id} is left alone: {why}"
    return replace(config, notes=(*config.notes, note))
