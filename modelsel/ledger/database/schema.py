"""The tables of a ledger (entries, row sets, signatures, what is said of it as a whole), and connections to the databases."""

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    create_engine,
    event,
    inspect,
    text,
)
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from modelsel.core.errors import ConfigurationError, LedgerError, Problem
from modelsel.core.system.disk import lock_file
from modelsel.ledger.entry import LedgerEntry, follow, heads
from modelsel.ledger.home import without_password

FIELDS = ("replica", "seq", "kind", "body", "prev", "hash")

SCHEMA = MetaData()
ENTRIES = Table(
    "entries", SCHEMA,
    Column("replica", String(32), nullable=False), Column("seq", Integer, nullable=False),
    Column("kind", String(32), nullable=False), Column("body", Text, nullable=False),
    Column("prev", String(64), nullable=False), Column("hash", String(64), nullable=False),
    PrimaryKeyConstraint("replica", "seq", "hash"),  # a forged entry occupies no place
)  # fmt: skip
ROWSETS = Table(
    "rowsets", SCHEMA,
    Column("digest", String(64), nullable=False), Column("key_id", String(16), nullable=False),
    Column("n", Integer, nullable=False), Column("kind", String(32), nullable=False),
    Column("blob", LargeBinary, nullable=False), Column("place", String(32), nullable=False, server_default=""),
    PrimaryKeyConstraint("digest", "place"),
)  # fmt: skip
SIGNATURES = Table(
    "signatures", SCHEMA,
    Column("hash", String(64), nullable=False), Column("signer", String(64), nullable=False),
    Column("signature", String(128), nullable=False), PrimaryKeyConstraint("hash", "signer", "signature"),
)  # fmt: skip
ABOUT = Table("about", SCHEMA, Column("name", String(32), primary_key=True), Column("value", String(64), nullable=False))


# Database triggers that make the tables append-only.
#
# The insert triggers stand against REPLACE, which fires no delete trigger. Who owns the database can drop them: that is
# what chain and anchors show.

_KEYS = {
    "entries": "replica = NEW.replica AND seq = NEW.seq AND hash = NEW.hash",
    "rowsets": "digest = NEW.digest AND place = NEW.place",
    "signatures": "hash = NEW.hash AND signer = NEW.signer AND signature = NEW.signature",
    "about": "name = NEW.name",
}
NAME_ONCE = (  # of two homes at once on a server the second waits for the first, and takes its name
    "INSERT INTO about (name, value) SELECT 'ledger', :value WHERE NOT EXISTS (SELECT 1 FROM about WHERE name = 'ledger') "
    "ON CONFLICT DO NOTHING"
)
_REFUSAL = "the ledger is append-only"


def statements(dialect: str) -> list[str]:
    """The DDL for SQLite or PostgreSQL; each may be run again."""
    return _postgresql() if dialect == "postgresql" else _sqlite()


def _sqlite() -> list[str]:
    """Write the triggers that refuse changes in SQLite."""
    refuse = f"BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END"
    return [
        f"CREATE TRIGGER IF NOT EXISTS {table}_no_{event} BEFORE {event} ON {table} {when} {refuse}"
        for table, same in _KEYS.items()
        for event, when in (
            ("update", ""),
            ("delete", ""),
            ("insert", f"WHEN EXISTS (SELECT 1 FROM {table} WHERE {same})"),  # noqa: S608 (names of our own)
        )
    ]


def _postgresql() -> list[str]:
    """Write the triggers that refuse changes in PostgreSQL."""
    refusal = f"BEGIN RAISE EXCEPTION '{_REFUSAL}'; END"
    out = [f"CREATE OR REPLACE FUNCTION modelsel_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ {refusal} $$"]
    for table in _KEYS:
        out += [
            f"CREATE OR REPLACE TRIGGER {table}_fixed BEFORE UPDATE OR DELETE ON {table} "
            "FOR EACH ROW EXECUTE FUNCTION modelsel_refuse()",
            f"CREATE OR REPLACE TRIGGER {table}_whole BEFORE TRUNCATE ON {table} "
            "FOR EACH STATEMENT EXECUTE FUNCTION modelsel_refuse()",
        ]
    return out


# Migrate a ledger written before entries were signed: its entries stay, and the heads of its chains are recorded.
#
# Who owns the tables does that, in one transaction: from then on an entry that nobody signed is bad, but for those up to these
# heads. The new primary keys leave no place that a forged entry or row set could occupy.

NEWER = {"signatures"}  # tables that a ledger of before lacks
ENTRY_FIELDS = "replica, seq, kind, body, prev, hash"
SETS = "digest, key_id, n, kind, blob"


def migrate(connection: Connection, schema: MetaData) -> str:
    """Change the tables, and state the heads; the hash of the entry that does."""
    (_migrate_postgresql if connection.dialect.name == "postgresql" else _migrate_sqlite)(connection, schema)
    entries = [LedgerEntry(*row) for row in connection.execute(text(f"SELECT {ENTRY_FIELDS} FROM entries"))]  # noqa: S608 (names of our own)
    tops = {replica: [top.seq, top.hash] for replica, top in heads(entries).items()}
    stated = follow(None, "migration", "migration", {"heads": tops})
    values = {"replica": stated.replica, "seq": stated.seq, "kind": stated.kind, "body": stated.body, "prev": stated.prev,
              "hash": stated.hash}  # fmt: skip
    names = ", ".join(f":{name}" for name in values)
    connection.execute(text(f"INSERT INTO entries ({ENTRY_FIELDS}) VALUES ({names})"), values)  # noqa: S608
    return stated.hash


def is_owner(connection: Connection) -> bool:
    """Say whether this role may change the tables; on a server only their owner may."""
    if connection.dialect.name != "postgresql":
        return True
    query = (
        "SELECT pg_has_role(tableowner, 'MEMBER') FROM pg_tables WHERE tablename = 'entries' AND schemaname = current_schema()"
    )
    return bool(connection.execute(text(query)).scalar())


def _migrate_sqlite(connection: Connection, schema: MetaData) -> None:
    """SQLite changes no primary key: the tables are made anew and filled."""
    for table, columns in (("entries", ENTRY_FIELDS), ("rowsets", SETS)):
        for change in ("update", "delete", "insert"):
            connection.execute(text(f"DROP TRIGGER IF EXISTS {table}_no_{change}"))
        connection.execute(text(f"ALTER TABLE {table} RENAME TO {table}_of_before"))
        schema.tables[table].create(connection)
        copy = f"INSERT INTO {table} ({columns}) SELECT {columns} FROM {table}_of_before"  # noqa: S608
        connection.execute(text(copy))
        connection.execute(text(f"DROP TABLE {table}_of_before"))


def _migrate_postgresql(connection: Connection, _: MetaData) -> None:
    """Migrate a ledger of PostgreSQL; its owner alone may."""
    if not is_owner(connection):
        fix = "its owner opens it once: modelsel audit --ledger ADDRESS"
        raise LedgerError(
            Problem("MSEL-510", "the ledger is of before entries were signed", connection.engine.url.database or "", fix)
        )
    for constraint in ("entries_pkey", "entries_prev_key", "entries_hash_key"):
        connection.execute(text(f"ALTER TABLE entries DROP CONSTRAINT IF EXISTS {constraint}"))
    connection.execute(text("ALTER TABLE entries ADD PRIMARY KEY (replica, seq, hash)"))
    connection.execute(text("ALTER TABLE rowsets ADD COLUMN place VARCHAR(32) NOT NULL DEFAULT ''"))
    connection.execute(text("ALTER TABLE rowsets DROP CONSTRAINT rowsets_pkey"))
    connection.execute(text("ALTER TABLE rowsets ADD PRIMARY KEY (digest, place)"))


# Connections to the two databases, set up so that what is acknowledged is on disk.
#
# SQLite: WAL with synchronous=FULL (NORMAL may lose the last commit when the power fails), on network file systems
# journal_mode=DELETE with synchronous=EXTRA. Plain reads begin deferred: were each connection to begin IMMEDIATE, readers
# would take the write lock and wait for each other.


NETWORK = {"nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.sshfs", "9p", "afs", "ceph", "lustre", "glusterfs", "fuse.glusterfs"}
SOON = 1.5  # seconds after which somebody who waits is told what for
PATIENCE = 120_000  # milliseconds that a writer waits for others: many studies at once on a busy machine take their time


def sqlite_url(path: Path) -> str:
    """Write a path as SQLAlchemy's address."""
    return f"sqlite:///{path}"


FORM, KNOWN_FORM = "form", 1  # of the tables, as a row of `about`; a ledger without one has the first


def engine_of(url: str) -> Engine:
    """An engine for a file or a server; ConfigurationError for anything else."""
    parsed = _parse_address(url)
    if parsed.get_backend_name() == "sqlite":
        return _sqlite_engine(parsed)
    if parsed.drivername == "postgresql":
        parsed = parsed.set(drivername="postgresql+psycopg")
    if parsed.drivername == "postgresql+psycopg" and find_spec("psycopg") is None:
        fix = "python -m pip install 'modelsel[postgresql]'"
        raise ConfigurationError(Problem("MSEL-277", "a ledger in PostgreSQL needs psycopg, which is not installed",
                                         without_password(url), fix))  # fmt: skip
    return create_engine(parsed, pool_pre_ping=True, hide_parameters=True)


def prepare_engine(engine: Engine, schema: MetaData, owner: str) -> Engine:
    """The engine, its tables and triggers created where they were missing or migrated, by one process at a time.

    `owner` is the public key of whoever does that, if it becomes the owner's.
    """
    if engine.dialect.name == "sqlite":
        path = _file(engine.url)
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        with lock_file(path.parent / f".{path.name}.lock"):
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
    return parsed.get_backend_name() == "sqlite" and os.path.realpath(_file(parsed)) == os.path.realpath(path)


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


def _sqlite_engine(url: URL) -> Engine:
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
