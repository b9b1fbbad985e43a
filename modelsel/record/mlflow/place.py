"""Where in MLflow a study stands: its store, its experiment, the run above it, as people who use MLflow say it.

    what is typed > a configuration file > the run that is open in this process > MLflow's environment > the embedded store

The answer is part of the study's configuration, so that a replay of the record goes to the same place.
"""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

from modelsel.config.compose import Config
from modelsel.core.errors import ConfigurationError
from modelsel.record.folder import runs_folder
from modelsel.record.mlflow.store import at, locate

OFF = "off"
RUN, EXPERIMENT, EXPERIMENT_ID = "MLFLOW_RUN_ID", "MLFLOW_EXPERIMENT_NAME", "MLFLOW_EXPERIMENT_ID"


def place_study(config: Config, environment: Mapping[str, str] | None = None) -> Config:
    """The study with its place in MLflow settled; a note where the open run, or a variable, is left alone."""
    if config.tracking.kind == OFF:
        return config
    return _under_the_open_run(_by_environment(config, os.environ if environment is None else environment))


def under(config: Config, parent: str, uri: str | None = None) -> Config:
    """The study put under a run of MLflow's."""
    changes: dict[str, Any] = {"parent": parent, **({"uri": uri} if uri else {})}
    return _with(config, changes)


def _with(config: Config, changes: Mapping[str, Any]) -> Config:
    """The study with other settings of tracking, which are recorded."""
    recorded = {**config.resolved, "tracking": {**config.resolved["tracking"], **changes}}
    return replace(config, tracking=replace(config.tracking, **changes), resolved=recorded)


def _by_environment(config: Config, variables: Mapping[str, str]) -> Config:
    """Experiment and parent by MLflow's variables, where nothing else says them."""
    tracking = config.tracking
    if tracking.parent is not None or tracking.experiment is not None or _open_run() is not None:
        return config
    own = bool(tracking.uri or (tracking.uri_env and tracking.uri_env != "MLFLOW_TRACKING_URI"))
    run, name, number = (variables.get(each) or None for each in (RUN, EXPERIMENT, EXPERIMENT_ID))
    if own and (run or number):  # ids of a run and of an experiment are of one store
        which = RUN if run else EXPERIMENT_ID
        note = f"{which} is left alone: it is of MLflow's own store, and tracking.uri names another"
        return replace(config, notes=(*config.notes, note))
    if run:
        return under(config, run)
    if not name and not number:
        return config
    return _with(config, {"experiment": name} if name else {"experiment_id": number})


def _open_run() -> Any:
    """The run that is open in this process; None where MLflow was not imported."""
    mlflow = sys.modules.get("mlflow")  # who has a run open has imported it
    return None if mlflow is None else mlflow.active_run()


def _under_the_open_run(config: Config) -> Config:
    """The study put under the run that the caller has open in MLflow, in the store where that run is.

    Nothing is written into the open run, and it stays open. If `tracking.uri` names another server, runs go there;
    so they do where the caller's store cannot be used. A note says so.
    """
    run, tracking = _open_run(), config.tracking
    if run is None or tracking.parent is not None or tracking.experiment is not None:
        return config
    address, root = str(sys.modules["mlflow"].get_tracking_uri()), runs_folder(config.runs)
    try:
        store = at(address, root)
    except ConfigurationError as error:
        return _with_note(config, run, f"its store cannot be used ({error.problems[0].what})")
    own = bool(tracking.uri or tracking.uri_env)
    if own and locate(tracking, root) != store:
        return _with_note(config, run, "it is in another store than tracking.uri")
    sqlite = store.sqlite
    absolute = address if sqlite is None else f"sqlite:///{sqlite}"  # independent of the working folder
    return under(config, str(run.info.run_id), tracking.uri if own else absolute)


def _with_note(config: Config, run: Any, why: str) -> Config:
    note = f"the open MLflow run {run.info.run_id} is left alone: {why}"
    return replace(config, notes=(*config.notes, note))


@contextmanager
def without_autologging() -> Iterator[None]:
    """Leave no runs of `mlflow.autolog` for the many fits of a search: each candidate is on record by itself."""
    utils = sys.modules.get("mlflow.utils.autologging_utils")
    with nullcontext() if utils is None else utils.disable_autologging():
        yield
