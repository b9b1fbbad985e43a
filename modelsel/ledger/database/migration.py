"""Migrate a ledger written before entries were signed: its entries stay, and the heads of its chains are recorded.

Who owns the tables does that, in one transaction: from then on an entry that nobody signed is bad, but for those up to these
heads. The new primary keys leave no place that a forged entry or row set could occupy.
"""

from sqlalchemy import Connection, MetaData, text

from modelsel.core.errors import LedgerError, Problem
from modelsel.ledger.entry import LedgerEntry, follow, heads

NEWER = {"signatures"}  # tables that a ledger of before lacks
FIELDS = "replica, seq, kind, body, prev, hash"
SETS = "digest, key_id, n, kind, blob"


def migrate(connection: Connection, schema: MetaData) -> str:
    """Change the tables, and state the heads; the hash of the entry that does."""
    (_postgresql if connection.dialect.name == "postgresql" else _sqlite)(connection, schema)
    entries = [LedgerEntry(*row) for row in connection.execute(text(f"SELECT {FIELDS} FROM entries"))]  # noqa: S608 (names of our own)
    tops = {replica: [top.seq, top.hash] for replica, top in heads(entries).items()}
    stated = follow(None, "migration", "migration", {"heads": tops})
    values = {"replica": stated.replica, "seq": stated.seq, "kind": stated.kind, "body": stated.body, "prev": stated.prev,
              "hash": stated.hash}  # fmt: skip
    names = ", ".join(f":{name}" for name in values)
    connection.execute(text(f"INSERT INTO entries ({FIELDS}) VALUES ({names})"), values)  # noqa: S608
    return stated.hash


def owned(connection: Connection) -> bool:
    """Say whether this role may change the tables; on a server only their owner may."""
    if connection.dialect.name != "postgresql":
        return True
    query = (
        "SELECT pg_has_role(tableowner, 'MEMBER') FROM pg_tables WHERE tablename = 'entries' AND schemaname = current_schema()"
    )
    return bool(connection.execute(text(query)).scalar())


def _sqlite(connection: Connection, schema: MetaData) -> None:
    """SQLite changes no primary key: the tables are made anew and filled."""
    for table, columns in (("entries", FIELDS), ("rowsets", SETS)):
        for event in ("update", "delete", "insert"):
            connection.execute(text(f"DROP TRIGGER IF EXISTS {table}_no_{event}"))
        connection.execute(text(f"ALTER TABLE {table} RENAME TO {table}_of_before"))
        schema.tables[table].create(connection)
        copy = f"INSERT INTO {table} ({columns}) SELECT {columns} FROM {table}_of_before"  # noqa: S608
        connection.execute(text(copy))
        connection.execute(text(f"DROP TABLE {table}_of_before"))


def _postgresql(connection: Connection, _: MetaData) -> None:
    """Migrate a ledger of PostgreSQL; its owner alone may."""
    if not owned(connection):
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
