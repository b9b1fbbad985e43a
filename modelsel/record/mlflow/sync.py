"""A run's folder into an MLflow store, as often as one likes: what is there is found by its key, what is missing is written.

The folder is the truth and MLflow a projection of it, so recording a study and replaying one after a dead server are the same
code.
"""

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from modelsel.core.errors import ConfigurationError, ModelselError, Problem, StoreError
from modelsel.core.system.disk import lock_file
from modelsel.record.files import write
from modelsel.record.folder import MLFLOW, RunFolder
from modelsel.record.mlflow import anchor
from modelsel.record.mlflow import store as mlflow_store
from modelsel.record.mlflow.runs import TrackedStudy, project
from modelsel.record.mlflow.store import TrackingStore
from modelsel.record.redact import HIDDEN

WRITER_LOCK = ".mlflow.write.lock"  # beside the SQLite file
PAUSE = 5.0  # seconds, where somebody else holds that file
Told = Callable[[int, int], None]


@dataclass(frozen=True)
class Synced:
    """The result of one pass: the parent's run id, candidates written now and found there, the writer, and the store."""

    run_id: str
    experiment_id: str
    written: int
    found: int
    writer: str
    uri: str  # without password


def store_of(folder: RunFolder, uri: str | None = None) -> TrackingStore:
    """Return the store of a run: an address given now, else its configuration's, else the embedded store beside it.

    Raises ConfigurationError when the configuration's address had a password, which is not on record.
    """
    if uri is not None:
        return mlflow_store.at(uri, folder.root)
    said = options_of(folder.config().get("tracking") or {})
    if HIDDEN in (said.uri or ""):
        fix = "give it with --uri, or use tracking.uri_env for studies to come"
        raise ConfigurationError(Problem("MSEL-634", "the address had a password, which is not on record", str(said.uri), fix))
    return mlflow_store.locate(said, folder.root) or mlflow_store.embedded_store(folder.root)


@dataclass(frozen=True)
class SyncOptions:
    """The tracking settings of a recorded configuration."""

    NAMES: ClassVar[tuple[str, ...]] = ("kind", "uri", "uri_env")
    kind: str = "sqlite"
    uri: str | None = None
    uri_env: str | None = None


def options_of(tracking: Mapping[Any, Any]) -> SyncOptions:
    """The settings of the store among all of tracking."""
    return SyncOptions(**{name: value for name, value in tracking.items() if name in SyncOptions.NAMES})


def sync(folder: RunFolder, store: TrackingStore, writer: str = "auto", told: Told | None = None) -> Synced:
    """Write what is missing of a finished study. Raises StoreError (exit 6) with what went wrong, secrets left out."""
    shown = folder.redactor.text(store.uri.split("?")[0])
    try:
        with _take_turns(folder, store):
            runs = project(folder)
            mlflow_store.quieten(os.environ)
            mlflow_store.prepare(store)
            if (due := pending_of(folder.path)) is not None:
                for facts in due.looks:
                    anchor.write_once(store, facts)
            done = Synced(**_write_passes(runs, store, writer, told or _nobody), uri=shown)
            folder.write_json(MLFLOW, asdict(done))
            clear_pending(folder.path)
            return done
    except ModelselError:
        raise
    except Exception as error:
        fix = f"`modelsel sync {folder.path.name}` writes what is missing"
        raise StoreError(Problem("MSEL-632", f"MLflow: {folder.redactor.text(_reason(error))}", shown, fix)) from error


@contextmanager
def _take_turns(folder: RunFolder, store: TrackingStore) -> Iterator[None]:
    """Let replays take turns: two of one folder, and two that write into one SQLite file.

    Of two transactions that have read there, the second to write is refused at once, however long it would have waited.
    """
    with ExitStack() as stack:
        stack.enter_context(lock_file(folder.path / ".mlflow.lock"))
        if store.sqlite is not None:
            store.sqlite.parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(lock_file(store.sqlite.with_name(WRITER_LOCK)))
        yield


def _write_passes(runs: TrackedStudy, store: TrackingStore, writer: str, told: Told) -> dict[str, Any]:
    """Write the runs; once more where another process's transaction came between."""
    from modelsel.record.mlflow.write import write as write_runs  # MLflow, a second or two

    try:
        return asdict(write_runs(runs, store, writer, told))
    except Exception as error:
        if "database is locked" not in str(error):  # MLflow has waited for twenty seconds
            raise
    time.sleep(PAUSE)
    return asdict(write_runs(runs, store, writer, told))


def _reason(error: Exception) -> str:
    """Put what went wrong into one line; a server that is not there in three words."""
    lines = [line for line in str(error).splitlines() if not line.startswith("(raised as a result of")] or [""]
    return "the server does not answer" if "ConnectionPool" in lines[0] else f"{type(error).__name__}: {lines[0][:300]}"


def _nobody(_done: int, _of: int) -> None:
    return None


# Notes of writes to MLflow that are still due: a file in the run's folder, made before the hand-over, removed once written.
#
# The note outlives whoever was to write it, and keeps the last error; the next study, `modelsel sync` and `modelsel ui` take
# along what is left. Looks at test rows that the store has not yet confirmed to have witnessed stand in it too.


NOTE = "outbox.json"


@dataclass(frozen=True)
class Pending:
    """A run that is not in its store yet, and the error of the last attempt (empty: it ended without one)."""

    folder: Path
    writer: str
    error: str
    looks: tuple[Mapping[str, str], ...] = ()  # that the store was to witness, and was not heard of since

    @property
    def said(self) -> str:
        return f"{self.folder} is not in MLflow yet" + (f": {self.error}" if self.error else "")


def note_pending(folder: Path, writer: str, error: str = "", looks: Sequence[Mapping[str, object]] = ()) -> None:
    """Note that a write to MLflow is due, what failed so far, and which looks are still to be witnessed."""
    write(folder / NOTE, json.dumps({"writer": writer, "error": error, "looks": list(looks)}))


def note_failure(folder: Path, writer: str, error: str) -> None:
    """Note what went wrong; the looks that are due stay."""
    there = pending_of(folder)
    note_pending(folder, writer, error, there.looks if there else ())


def pending_of(folder: Path) -> Pending | None:
    """The note of a run; None where nothing is due, or where the note cannot be read: `modelsel sync` needs none."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        found = json.loads((folder / NOTE).read_text("utf-8"))
        return Pending(folder, str(found["writer"]), str(found["error"]), tuple(map(dict, found.get("looks", ()))))
    return None


def clear_pending(folder: Path) -> None:
    """Remove the note."""
    (folder / NOTE).unlink(missing_ok=True)


def waiting(root: Path) -> Iterator[Pending]:
    """Runs below `root`, oldest first. A note that cannot be read is passed over."""
    for path in sorted(root.glob(f"*/*/{NOTE}"), key=lambda one: one.parent.name):
        if not path.parent.parent.is_symlink() and (found := pending_of(path.parent)) is not None:
            yield found


# The final model of a study under a name of MLflow's model registry.


def register(store: TrackingStore, run_id: str, name: str) -> str:
    """Register the model of a recorded study as the next version under a name; the version. Raises StoreError.

    Registered twice, a model keeps the version that it has.
    """
    from mlflow import MlflowClient
    from mlflow.exceptions import MlflowException

    client = MlflowClient(store.uri, store.uri)
    try:
        if not any(one.name == name for one in client.search_registered_models(f"name = '{name}'")):
            client.create_registered_model(name)
        known = [one for one in client.search_model_versions(f"name = '{name}'") if one.run_id == run_id]
        if known:
            return str(known[0].version)
        experiment = client.get_run(run_id).info.experiment_id
        made = client.search_logged_models([experiment], filter_string=f"source_run_id = '{run_id}'")
        source = made[0].artifact_location if made else f"{client.get_run(run_id).info.artifact_uri}/model"
        version = client.create_model_version(name, source, run_id, model_id=made[0].model_id if made else None)
        return str(version.version)
    except MlflowException as error:
        fix = "the study itself is on record; try another name, or the registry's own page"
        raise StoreError(Problem("MSEL-635", f"not registered ({str(error).splitlines()[0]})", name, fix)) from error
