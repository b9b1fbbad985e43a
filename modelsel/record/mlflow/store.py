"""The store of MLflow's runs: the embedded SQLite file `runs/mlflow.db` unless an address is given.

MLflow's first opening of a fresh file creates some thirty tables step by step: two at a time collide, and a kill half-way
leaves a file that nobody can open again. So the file is made beside, under a lock, and renamed; later openers find it whole.
"""

import os
import sqlite3
from collections.abc import Mapping, MutableMapping
from contextlib import closing
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit, urlunsplit

from sqlalchemy import Connection, Engine

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.system.disk import lock_file, sync_directory
from modelsel.record.files import storing

DATABASE, ARTIFACTS, LOCK = "mlflow.db", "mlartifacts", ".mlflow.lock"
KNOWN = frozenset({"dc11669786a5"})  # Alembic revisions whose tables the tests have compared with the client: MLflow 3.17
SECONDS = 3  # a call to a server or database that has not answered by then is given up
TRIES = 4  # connections to a database at which others may be creating the tables
WAIT = 60  # seconds a writer waits for another writer of the SQLite file
SCHEMES = ("http", "https", "sqlite", "postgresql", "postgres", "mysql", "mssql", "databricks")
FIX = "give http://host:port, sqlite:///path/to/mlflow.db or postgresql://user@host/name"
QUIET = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_ENABLE_ASYNC_LOGGING": "false",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "GIT_PYTHON_REFRESH": "quiet",
}
PATIENCE = {"MLFLOW_HTTP_REQUEST_TIMEOUT": str(SECONDS), "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1"}


class StoreSettings(Protocol):
    """The settings of the `tracking` group that the store reads."""

    @property
    def kind(self) -> str: ...

    @property
    def uri(self) -> str | None: ...

    @property
    def uri_env(self) -> str | None: ...


@dataclass(frozen=True)
class TrackingStore:
    """An MLflow tracking store. `artifacts` is where new experiments keep files; empty: the server decides."""

    uri: str
    artifacts: str = ""

    @property
    def sqlite(self) -> Path | None:
        """The file of an SQLite store."""
        return Path(urlsplit(self.uri).path.removeprefix("/")) if self.uri.startswith("sqlite:///") else None

    @property
    def sql(self) -> bool:
        """True when the tables can be reached without a server between."""
        return urlsplit(self.uri).scheme.partition("+")[0] in ("sqlite", "postgresql", "mysql", "mssql")


def locate(settings: StoreSettings, root: Path, environment: Mapping[str, str] | None = None) -> TrackingStore | None:
    """The store of a study whose folders lie under `root`; None when tracking is off.

    `tracking.uri` first, then the variable that `tracking.uri_env` names, then MLFLOW_TRACKING_URI, then the embedded file.
    Raises ConfigurationError for a variable that is not set and for MLflow's file store, which no longer works.
    """
    variables = os.environ if environment is None else environment
    if settings.kind == "off":
        return None
    if settings.uri_env and not settings.uri and settings.uri_env not in variables:
        fix = f"export {settings.uri_env}=... or set tracking.uri"
        raise ConfigurationError(Problem("MSEL-630", f"variable {settings.uri_env} is not set", "tracking.uri_env", fix))
    uri = settings.uri or variables.get(settings.uri_env or "") or variables.get("MLFLOW_TRACKING_URI")
    return at(uri, root) if uri else embedded_store(root)


def embedded_store(root: Path) -> TrackingStore:
    """The store beside the runs: `runs/mlflow.db`, files in `runs/mlartifacts/`."""
    root = root.resolve()
    return TrackingStore(f"sqlite:///{root / DATABASE}?timeout={WAIT}", (root / ARTIFACTS).as_uri())


def at(uri: str, root: Path) -> TrackingStore:
    """The store of an address, made explicit: an absolute file, the installed driver, a limit on waiting.

    >>> at("http://tracking.example:5000", Path("runs")).artifacts
    ''
    """
    parts = urlsplit(uri)
    if parts.scheme in ("", "file"):
        fix = "give sqlite:///path/to/mlflow.db or a server's http:// address; null means runs/mlflow.db"
        raise ConfigurationError(
            Problem("MSEL-631", f"{uri!r} is MLflow's file store, which MLflow gave up", "tracking.uri", fix)
        )
    if (reason := _unusable(parts)) is not None:
        raise ConfigurationError(
            Problem("MSEL-636", f"{uri!r} is not an address of a tracking store: {reason}", "tracking.uri", FIX)
        )
    if parts.scheme.startswith("sqlite"):
        path = Path(parts.path.removeprefix("/")).absolute()
        return TrackingStore(f"sqlite:///{path}?timeout={WAIT}", (path.parent / ARTIFACTS).as_uri())
    if parts.scheme.partition("+")[0] in ("postgresql", "postgres"):
        return TrackingStore(_postgresql(uri), (root.resolve() / ARTIFACTS).as_uri())
    return TrackingStore(uri)


def _unusable(parts: SplitResult) -> str | None:
    """Say why MLflow could not use an address, without connecting to it."""
    scheme = parts.scheme.partition("+")[0]
    if scheme not in SCHEMES:
        near = get_close_matches(scheme, SCHEMES, 1)
        return f"unknown scheme {parts.scheme!r}" + (f", did you mean {near[0]!r}?" if near else "")
    return "it names no host" if scheme in ("http", "https") and not parts.hostname else None


def quieten(variables: MutableMapping[str, str]) -> None:
    """No telemetry, no printed links, no asynchronous logging, short waits: for the process that records, never a notebook."""
    variables.update(QUIET)
    for name, value in PATIENCE.items():
        variables.setdefault(name, value)


def prepare(store: TrackingStore) -> None:
    """Make sure that the store's tables exist; safe for any number of processes at once, and for a kill at any moment."""
    if (path := store.sqlite) is not None:
        with storing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            _create(path, store.artifacts)
    elif store.uri.startswith("postgresql"):
        _create_on_server(store)


def _create(path: Path, artifacts: str) -> None:
    """Create the store in another file first, so that a half-made one is never opened."""
    if path.exists():
        return
    with lock_file(path.with_name(LOCK)):
        if path.exists():
            return
        for left in path.parent.glob(f".{path.name}.part*"):
            left.unlink()
        beside = path.with_name(f".{path.name}.part")
        _open(f"sqlite:///{beside}", artifacts)
        with closing(sqlite3.connect(beside)) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        with beside.open("rb") as stream:
            os.fsync(stream.fileno())
        beside.rename(path)
        sync_directory(path.parent)


def _create_on_server(store: TrackingStore) -> None:
    """Create the tables on a server, one process at a time, by a lock of the database."""
    from sqlalchemy import create_engine, text

    engine = create_engine(store.uri)
    try:
        with _connect(engine) as connection:
            connection.execute(text("SELECT pg_advisory_lock(7303014, 1)"))
            _open(store.uri, store.artifacts)
            connection.execute(text("SELECT pg_advisory_unlock(7303014, 1)"))
    finally:
        engine.dispose()


def _connect(engine: Engine) -> Connection:
    """Connect; a server that is slow to answer is asked again, one that refuses is not."""
    from sqlalchemy.exc import OperationalError

    for _ in range(TRIES - 1):
        try:
            return engine.connect()
        except OperationalError as error:
            if "timeout" not in str(error.orig):
                raise
    return engine.connect()


def _open(uri: str, artifacts: str) -> None:
    """Let MLflow create its tables."""

    from mlflow.store.tracking.sqlalchemy_store import SqlAlchemyStore

    store = SqlAlchemyStore(uri, artifacts)
    store.engine.dispose()
    SqlAlchemyStore._engine_map.pop(uri, None)


def _postgresql(uri: str) -> str:
    """psycopg 3 where psycopg2 is not installed, and a limit on connecting."""
    parts = urlsplit(uri)
    scheme = "postgresql" if parts.scheme == "postgres" else parts.scheme
    if scheme == "postgresql" and find_spec("psycopg2") is None:
        scheme = "postgresql+psycopg"
    query = {"connect_timeout": str(SECONDS), **dict(parse_qsl(parts.query))}
    return urlunsplit((scheme, parts.netloc, parts.path, urlencode(query), ""))
