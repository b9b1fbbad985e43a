"""A run's folder into an MLflow store, as often as one likes: what is there is found by its key, what is missing is written.

The folder is the truth and MLflow a projection of it, so recording a study and replaying one after a dead server are the same
code.
"""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from modelsel.core.errors import ModelselError, Problem, StoreError
from modelsel.record import mlflow_store
from modelsel.record.folder import MLFLOW, RunFolder
from modelsel.record.mlflow_store import Store
from modelsel.record.runs import project

Told = Callable[[int, int], None]


@dataclass(frozen=True)
class Synced:
    """What one pass did: the parent's run id, candidates written now and found there, by which writer, into what."""

    run_id: str
    experiment_id: str
    written: int
    found: int
    writer: str
    uri: str  # without password


def sync(folder: RunFolder, store: Store, writer: str = "auto", told: Told | None = None) -> Synced:
    """Write what is missing of a finished study. Raises StoreError (exit 6) with what went wrong, secrets left out."""
    shown = folder.redactor.text(store.uri.split("?")[0])
    try:
        with _alone(folder):
            runs = project(folder)
            mlflow_store.quieten(os.environ)
            mlflow_store.prepare(store)
            from modelsel.record.mlflow_write import write  # MLflow, a second or two

            done = Synced(**asdict(write(runs, store, writer, told or _nobody)), uri=shown)
            folder.write_json(MLFLOW, asdict(done))
            return done
    except ModelselError:
        raise
    except Exception as error:
        fix = f"`modelsel sync {folder.path.name}` writes what is missing"
        raise StoreError(Problem("MSEL-632", f"MLflow: {folder.redactor.text(_reason(error))}", shown, fix)) from error


@contextmanager
def _alone(folder: RunFolder) -> Iterator[None]:
    """Two replays of one folder take turns."""
    with (folder.path / ".mlflow.lock").open("a") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield


def _reason(error: Exception) -> str:
    """One line of what went wrong; urllib3's story of a server that is not there in three words."""
    text = (str(error).splitlines() or [""])[0]
    return "the server does not answer" if "ConnectionPool" in text else f"{type(error).__name__}: {text[:300]}"


def _nobody(_done: int, _of: int) -> None:
    return None
