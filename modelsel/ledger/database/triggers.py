"""Database triggers that make the tables append-only.

The insert triggers stand against REPLACE, which fires no delete trigger. Who owns the database can drop them: that is
what chain and anchors show.
"""

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
