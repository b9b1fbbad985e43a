"""Runs as people name them: a folder, `latest`, a study's name, an MLflow run id, or an `Outcome`."""

from typing import Any

from modelsel.api.outcome import Outcome
from modelsel.api.run import open_run


def place(run: Any) -> str:
    """Return the folder or the name of a run."""
    return str(run.folder if isinstance(run, Outcome) else run)


def outcome_of(run: Any) -> Outcome:
    """Return the outcome of a run."""
    return run if isinstance(run, Outcome) else open_run(run)
