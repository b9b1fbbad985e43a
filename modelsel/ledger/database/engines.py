"""Connections to the two databases, set up so that what is acknowledged is on disk.

SQLite: WAL with synchronous=FULL (NORMAL may lose the last commit when the power fails), on network file systems
journal_mode=DELETE with synchronous=EXTRA. Plain reads begin deferred: were each connection to begin IMMEDIATE, readers
would take the write lock and wait for each other.
"""

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, MetaData, create_engine, event, inspect, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.system.disk import locked
from modelsel.ledger.database.schema import NEWER, migrate, statements

NETWORK = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.sshfs", "9p", "afs", "ceph", "lustre", "glusterfs", "fuse.glusterfs"}
SOON = 1.5  # seconds after which somebody who waits is told what for
PATIENCE = 120_000  # milliseconds that a writer waits for others: many studies at once on a busy machine take their time


def sqlite_url(path: Path) -> str:
    """Write a path as SQLAlchemy's address."""
    return f"sqlite:///{path}"


def without_password(url: str) -> str:
    """The address as people may read it, without a password."""
    return _parse_address(url).render_as_string(hide_password=True)


def engine_of(url: str) -> Engine:
    """An engine for a file or a server; ConfigurationError for anything else."""
    parsed = _parse_address(url)
    if parsed.get_backend_name() == "sqlite":
        return _sqlite(parsed)
    if parsed.drivername == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg")
    return create_engine(parsed, pool_pre_ping=True, hide_parameters=True)


def prepare_engine(engine: Engine, schema: MetaData, owner: str) -> Engine:
    """The engine, its tables and triggers created where they were missing or migrated, by one process at a time.

    `owner` is the public key of whoever does that, if it becomes the owner's.
    """
    if engine.dialect.name == "sqlite":
        path = _file(engine.url)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        with locked(path.parent / f".{path.name}.lock"):
            _create(engine, schema, owner)
    else:
        _create(engine, schema, owner)
    return engine


def sqlite_file(url: str) -> Path | None:
    """The file of an address; None for a server.

    >>> sqlite_file("sqlite:////tmp/ledger.db"), sqlite_file("postgresql://db.example.org/modelsel")
    (PosixPath('/tmp/ledger.db'), None)
    """
    parsed = _parse_address(url)
    return _file(parsed) if parsed.get_backend_name() == "sqlite" else None


def same_file(url: str, path: Path) -> bool:
    """Say whether an address names this very file, by whatever path."""
    parsed = _parse_address(url)
    return parsed.get_backend_name() == "sqlite" and _file(parsed).resolve() == path.resolve()


def is_there(engine: Engine, schema: MetaData) -> bool:
    """Say whether the tables exist already; nothing is created, not even an empty file."""
    if engine.dialect.name == "sqlite" and not _file(engine.url).is_file():
        return False
    return set(inspect(engine).get_table_names()) >= set(schema.tables) - NEWER


def _create(engine: Engine, schema: MetaData, owner: str) -> None:
    """Create the tables and triggers, or migrate those of an earlier version."""
    if engine.dialect.name == "sqlite":
        _keep_journal(engine)
    if set(inspect(engine).get_table_names()) >= set(schema.tables):
        return
    with engine.connect().execution_options(modelsel_write=True) as connection, connection.begin():
        if engine.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(hashtext('modelsel.schema'))"))
            if set(inspect(connection).get_table_names()) >= set(schema.tables):
                return  # another home made them while we waited
        migrated = migrate(connection, schema) if inspect(connection).has_table("entries") else "none"
        schema.create_all(connection)
        for name, value in (("migrated", migrated), ("owner", owner)):
            connection.execute(text("INSERT INTO about (name, value) VALUES (:name, :value)"), {"name": name, "value": value})
        for statement in statements(engine.dialect.name):
            connection.execute(text(statement))


def _keep_journal(engine: Engine) -> None:
    """The journal mode is a property of the file: set it once, outside any transaction."""
    raw = engine.raw_connection()
    try:
        wanted = "delete" if on_network(_file(engine.url)) else "wal"
        if raw.cursor().execute("PRAGMA journal_mode").fetchone()[0] != wanted:
            raw.cursor().execute(f"PRAGMA journal_mode={wanted}")
    finally:
        raw.close()


def _sqlite(url: URL) -> Engine:
    """Make an engine for SQLite that begins transactions itself and waits until data are on disk."""
    if url.database in (None, "", ":memory:"):
        raise ConfigurationError(Problem("MSEL-271", "a ledger in memory forgets", "guard.ledger", "name a file"))
    engine = create_engine(url, hide_parameters=True)
    level = "EXTRA" if on_network(_file(url)) else "FULL"

    @event.listens_for(engine, "connect")
    def _connect(connection: Any, _record: object) -> None:
        connection.isolation_level = None  # we begin ourselves
        for pragma in (f"busy_timeout={PATIENCE}", f"synchronous={level}", "trusted_schema=OFF"):
            connection.execute(f"PRAGMA {pragma}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        write = connection.get_execution_options().get("modelsel_write", False)
        if not write:
            connection.exec_driver_sql("BEGIN")
            return
        with _say_waiting(
            f"the ledger {url.render_as_string(hide_password=True)} is locked by another process; it is waited for"
        ):
            connection.exec_driver_sql("BEGIN IMMEDIATE")

    return engine


@contextmanager
def _say_waiting(waiting: str) -> Iterator[None]:
    """Say what is waited for, where the block takes longer than SOON."""
    timer = threading.Timer(SOON, logging.getLogger("modelsel").warning, (waiting,))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def on_network(path: Path, mounts: Path = Path("/proc/mounts")) -> bool:
    """Say whether a file lies on a network file system, where shared memory and locks cannot be trusted."""
    try:
        lines = [line.split() for line in mounts.read_text().splitlines()]
    except OSError:
        return False
    holding = [(point, kind) for _, point, kind, *_ in lines if path.absolute().is_relative_to(point.replace("\\040", " "))]
    return max(holding, key=lambda mount: len(mount[0]))[1] in NETWORK if holding else False


def _file(url: URL) -> Path:
    return Path(url.database or "").absolute()


def _parse_address(url: str) -> URL:
    """Parse a ledger's address; other databases are refused."""
    try:
        parsed = make_url(url)
    except ArgumentError:
        parsed = None
    if parsed is None or parsed.get_backend_name() not in ("sqlite", "postgresql"):
        raise ConfigurationError(Problem("MSEL-270", "not a ledger's address", "guard.ledger",
                                         "use user, project, sqlite:///FILE or postgresql://USER@HOST/NAME"))  # fmt: skip
    return parsed
