"""The tables of a ledger: entries, row sets, signatures, and what is said of it as a whole."""

from sqlalchemy import Column, Connection, Integer, LargeBinary, MetaData, PrimaryKeyConstraint, String, Table, Text, text

from modelsel.core.errors import LedgerError, Problem
from modelsel.ledger.entry import LedgerEntry, follow, heads

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
        for event in ("update", "delete", "insert"):
            connection.execute(text(f"DROP TRIGGER IF EXISTS {table}_no_{event}"))
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
