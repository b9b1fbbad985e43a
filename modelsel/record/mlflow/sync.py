"""A run's folder into an MLflow store, as often as one likes: what is there is found by its key, what is missing is written.

The folder is the truth and MLflow a projection of it, so recording a study and replaying one after a dead server are the same
code.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import ClassVar

from modelsel.core.errors import ConfigurationError, ModelselError, Problem, StoreError
from modelsel.core.system.disk import locked
from modelsel.record.content.redact import HIDDEN
from modelsel.record.folder import MLFLOW, RunFolder
from modelsel.record.mlflow import pending
from modelsel.record.mlflow import store as mlflow_store
from modelsel.record.mlflow.runs import project
from modelsel.record.mlflow.store import TrackingStore

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


def store_of(folder: RunFolder, uri: str | None = None) -> TrackingStore:
    """Where a run belongs: an address given now, else what its configuration says, else the embedded store beside it.

    Raises ConfigurationError when the configuration's address had a password, which is not on record.
    """
    if uri is not None:
        return mlflow_store.at(uri, folder.root)
    said = SyncOptions(
        **{name: value for name, value in (folder.config().get("tracking") or {}).items() if name in SyncOptions.NAMES}
    )
    if HIDDEN in (said.uri or ""):
        fix = "give it with --uri, or use tracking.uri_env for studies to come"
        raise ConfigurationError(Problem("MSEL-634", "the address had a password, which is not on record", str(said.uri), fix))
    return mlflow_store.locate(said, folder.root) or mlflow_store.embedded(folder.root)


@dataclass(frozen=True)
class SyncOptions:
    """What a recorded configuration says of tracking."""

    NAMES: ClassVar[tuple[str, ...]] = ("kind", "uri", "uri_env")
    kind: str = "sqlite"
    uri: str | None = None
    uri_env: str | None = None


def sync(folder: RunFolder, store: TrackingStore, writer: str = "auto", told: Told | None = None) -> Synced:
    """Write what is missing of a finished study. Raises StoreError (exit 6) with what went wrong, secrets left out."""
    shown = folder.redactor.text(store.uri.split("?")[0])
    try:
        with _alone(folder):
            runs = project(folder)
            mlflow_store.quieten(os.environ)
            mlflow_store.prepare(store)
            from modelsel.record.mlflow.write import write  # MLflow, a second or two

            done = Synced(**asdict(write(runs, store, writer, told or _nobody)), uri=shown)
            folder.write_json(MLFLOW, asdict(done))
            pending.clear(folder.path)
            return done
    except ModelselError:
        raise
    except Exception as error:
        fix = f"`modelsel sync {folder.path.name}` writes what is missing"
        raise StoreError(Problem("MSEL-632", f"MLflow: {folder.redactor.text(_reason(error))}", shown, fix)) from error


@contextmanager
def _alone(folder: RunFolder) -> Iterator[None]:
    """Two replays of one folder take turns."""
    with locked(folder.path / ".mlflow.lock"):
        yield


def _reason(error: Exception) -> str:
    """One line of what went wrong; urllib3's story of a server that is not there in three words."""
    text = (str(error).splitlines() or [""])[0]
    return "the server does not answer" if "ConnectionPool" in text else f"{type(error).__name__}: {text[:300]}"


def _nobody(_done: int, _of: int) -> None:
    return None
