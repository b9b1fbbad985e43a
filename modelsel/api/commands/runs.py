"""Runs as people name them: a folder, `latest`, a study's name, an MLflow run id, or an `Outcome`."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # commands start without it
    from modelsel.api.outcome import Outcome


def place(run: object) -> str:
    """Return the folder or the name of a run."""
    return str(getattr(run, "folder", run))


def outcome_of(run: Any) -> "Outcome":
    """Return the outcome of a run."""
    from modelsel.api.outcome import Outcome
    from modelsel.api.run import open_run

    return run if isinstance(run, Outcome) else open_run(run)
