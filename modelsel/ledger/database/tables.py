"""The tables of a ledger: entries, row sets, signatures, and what is said of it as a whole."""

from sqlalchemy import Column, Integer, LargeBinary, MetaData, PrimaryKeyConstraint, String, Table, Text

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
