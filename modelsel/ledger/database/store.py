"""The ledger's database: SQLite or PostgreSQL, append-only, on disk before a call returns, one chain per replica.

Reads never take the write lock; `write` takes it before it reads, so that two processes cannot both be first. Triggers
refuse updates and deletions; the chains show those who went around the triggers.
"""

import hashlib
import json
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeVar
from weakref import finalize

from sqlalchemy import Connection, Engine, insert, select, text
from sqlalchemy.exc import IntegrityError, InterfaceError, OperationalError, SQLAlchemyError

from modelsel.core.errors import ConfigurationError, LedgerError, Problem, StoreError
from modelsel.ledger.database.causes import error_of, is_passing
from modelsel.ledger.database.reading import LAST, JudgedEntries, Reading, signatures
from modelsel.ledger.database.schema import (
    ABOUT,
    ENTRIES,
    FIELDS,
    FORM,
    KNOWN_FORM,
    NAME_ONCE,
    ROWSETS,
    SCHEMA,
    SIGNATURES,
    engine_of,
    is_there,
    prepare_engine,
)
from modelsel.ledger.entry import LedgerEntry, follow
from modelsel.ledger.home import Signer, without_password
from modelsel.ledger.trust import TrustedEntries

T = TypeVar("T")
AT_ONCE = 500  # row sets that one query asks for
PATIENCE, PAUSE = 15.0, 0.1  # seconds that a server may be away, and between two tries


class WriteTransaction:
    """The operations that are allowed under the write lock."""

    def __init__(self, connection: Connection, ledger: "Ledger", token: str) -> None:
        """Begin for a ledger's own replica; `token` marks this transaction."""
        self._connection = connection
        self._ledger = ledger
        self.replica = ledger.replica
        self._token = token
        self._count = 0
        self._own: LedgerEntry | None = None  # the last entry of our replica, once known

    def entries(self) -> TrustedEntries:
        return self._ledger.read(self._connection)

    def everything(self) -> list[LedgerEntry]:
        """All entries as they stand there, whoever wrote them."""
        return self._ledger.written(self._connection)

    def append(self, kind: str, facts: Mapping[str, object]) -> LedgerEntry:
        """The next entry of this replica; its client-made id lets a lost reply be told from a lost entry."""
        self._count += 1
        entry = follow(self._last(), self.replica, kind, {**facts, "id": f"{self._token}.{self._count}"})
        self.admit(entry)
        if self._ledger.signer is not None:
            self.sign(entry.hash, self._ledger.signer.public, self._ledger.signer.sign(entry.hash))
        self._own = entry
        return entry

    def _last(self) -> LedgerEntry | None:
        if self._own is None:
            self._own = self.entries().last(self.replica)
        return self._own

    def admit(self, entry: LedgerEntry) -> None:
        """An entry as it is: our own next one, or one of another replica that is merged in."""
        self._connection.execute(insert(ENTRIES).values(**{name: getattr(entry, name) for name in FIELDS}))

    @property
    def connection(self) -> Connection:
        """The transaction, for those who change how things are stored."""
        return self._connection

    def sign(self, hash_: str, signer: str, signature: str) -> None:
        """Keep a signature of an entry, once."""
        row = {"hash": hash_, "signer": signer, "signature": signature}
        known = select(SIGNATURES.c.hash).where(*(SIGNATURES.c[name] == value for name, value in row.items()))
        if self._connection.execute(known).first() is None:
            self._connection.execute(insert(SIGNATURES).values(**row))

    def keep(self, blob: bytes, key_id: str, n: int, kind: str, name: str = "") -> str:
        """Store a row set once, under the SHA-256 of its bytes (or the one before it was stripped).

        What else stands under that digest is in nobody's way.
        """
        digest = name or hashlib.sha256(blob).hexdigest()
        if blob not in _blobs(self._connection, digest):
            row = {"digest": digest, "key_id": key_id, "n": n, "kind": kind, "blob": blob, "place": secrets.token_hex(16)}
            self._connection.execute(insert(ROWSETS).values(**row))
        return digest

    def rowset(self, digest: str) -> bytes:
        return _rowset(self._connection, digest)


class Ledger:
    """An open ledger; `replica` is the chain this home writes."""

    def __init__(
        self, engine: Engine, url: str, replica: str, signer: Signer | None = None, judged: JudgedEntries | None = None
    ) -> None:
        """Keep engine and address, and read the ledger's id."""
        self._engine = engine
        self.signer = signer
        self.url = url
        self.place = without_password(url)
        self.replica = replica
        self._reading = Reading(signer.public if signer else "", judged)
        self.id = self._identity()
        finalize(self, engine.dispose)  # what SQLite keeps beside a file goes into it, at the latest when the process ends

    @classmethod
    def open(cls, url: str, replica: str, signer: Signer | None = None, judged: JudgedEntries | None = None) -> "Ledger":
        """Open, creating what is not there. StoreError where it cannot be written, LedgerError where it is no ledger.

        With a `signer` what is written is signed, and only entries that somebody signed are read; without one, all of them.
        `judged` are the home's files of entries that were examined before.
        """
        with _translate_errors(without_password(url)):
            return cls(prepare_engine(engine_of(url), SCHEMA, signer.public if signer else ""), url, replica, signer, judged)

    @classmethod
    def existing(cls, url: str, signer: Signer | None = None, judged: JudgedEntries | None = None) -> "Ledger":
        """Open to read only what is there. ConfigurationError where no ledger is."""
        with _translate_errors(without_password(url)):
            engine = engine_of(url)
            if not is_there(engine, SCHEMA):
                raise ConfigurationError(
                    Problem("MSEL-273", "no ledger is there", without_password(url), "name a ledger's file or address")
                )
            return cls(prepare_engine(engine, SCHEMA, ""), url, "reader", signer, judged)

    def entries(self, anew: bool = False) -> TrustedEntries:
        """Entries of all replicas, by replica and seq: those that may be believed, the others aside (`TrustedEntries.bad`).

        What was read before is not read again, unless `anew` asks for it: then every entry is compared with what was read.
        """
        with _translate_errors(self.place), self._engine.connect() as connection:
            return self._reading.now(connection, self.id, anew)

    def examine(self) -> TrustedEntries:
        """Examine every entry, whatever is known of them from before."""
        with _translate_errors(self.place), self._engine.connect() as connection:
            return self._reading.afresh(connection, self.id)

    def keep_judged(self, fit: Callable[[TrustedEntries], bool]) -> None:
        """Let the home know what was judged, where much came since it last did; `fit` says whether all may be believed."""
        with _translate_errors(self.place), self._engine.connect() as connection:
            self._reading.keep(connection, self.id, fit)

    def everything(self) -> list[LedgerEntry]:
        """All entries as they stand there, whoever wrote them."""
        with _translate_errors(self.place), self._engine.connect() as connection:
            return self.written(connection)

    def written(self, connection: Connection) -> list[LedgerEntry]:
        return self._reading.everything(connection)

    def signatures(self) -> dict[str, list[tuple[str, str]]]:
        """Public key and signature, by the hash of the entry."""
        with _translate_errors(self.place), self._engine.connect() as connection:
            return signatures(connection)

    def forged_rowsets(self) -> list[str]:
        """Digests under which something stands that they are not the digest of."""
        with _translate_errors(self.place), self._engine.connect() as connection:
            rows = connection.execute(select(ROWSETS.c.digest, ROWSETS.c.blob))
            found = [(row.digest, hashlib.sha256(row.blob).hexdigest()) for row in rows]
            return sorted({digest for digest, real in found if real != digest and not _is_noted(connection, digest, real)})

    def read(self, connection: Connection) -> TrustedEntries:
        """Read and judge what stands there; what was read before is not judged twice."""
        return self._reading.now(connection, self.id)

    def rowset(self, digest: str) -> bytes:
        """A stored row set; LedgerError where it is gone or its bytes were changed."""
        with _translate_errors(self.place), self._engine.connect() as connection:
            return _rowset(connection, digest)

    def rowsets(self, digests: Sequence[str]) -> dict[str, bytes]:
        """Return the bytes of those among some row sets that stand there as they were stored; the others are left out."""
        found: dict[str, bytes] = {}
        with _translate_errors(self.place), self._engine.connect() as connection:
            for start in range(0, len(digests), AT_ONCE):
                wanted = ROWSETS.c.digest.in_(digests[start : start + AT_ONCE])
                rows = connection.execute(select(ROWSETS.c.digest, ROWSETS.c.blob).where(wanted)).all()
                found |= {digest: blob for digest, blob in rows if hashlib.sha256(blob).hexdigest() == digest}
        return found

    def has_mark(self, name: str) -> bool:
        """Say whether something is noted about the ledger as a whole."""
        with _translate_errors(self.place), self._engine.connect() as connection:
            return connection.execute(select(ABOUT.c.value).where(ABOUT.c.name == name)).first() is not None

    def tidy(self) -> None:
        """Rewrite an SQLite file, so that nothing of what was removed is left in it."""
        if self._engine.dialect.name == "sqlite":
            raw = self._engine.raw_connection()
            try:
                for step in ("VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"):
                    raw.cursor().execute(step).fetchall()
            finally:
                raw.close()

    def rowset_keys(self) -> dict[str, str]:
        """Digest to key id, of all stored row sets."""
        with _translate_errors(self.place), self._engine.connect() as connection:
            rows = connection.execute(select(ROWSETS.c.digest, ROWSETS.c.key_id))
            return {row.digest: row.key_id for row in rows}

    def write(self, step: Callable[[WriteTransaction], T]) -> T:
        """Run `step` under the write lock and commit durably; it may be run again, so it must have no other effect.

        A server that goes away is waited for, and a file that is locked as long as others get on with it. Where the commit's
        acknowledgement was lost, the entries' client-made ids tell whether it arrived, so that nothing is written twice.
        """
        token, give_up = secrets.token_hex(16), time.monotonic() + PATIENCE
        with _translate_errors(self.place):
            size = self._size()
            while True:
                done: list[T] = []
                try:
                    self._attempt(step, token, done)
                    return done[0]
                except (IntegrityError, OperationalError, InterfaceError) as error:
                    if done and self._has_arrived(token, give_up):
                        return done[0]
                    if not is_passing(error):
                        raise
                    before, size = size, self._size() if _is_locked(error) else size
                    if size == before and (self._engine.dialect.name == "sqlite" or time.monotonic() >= give_up):
                        raise
                    time.sleep(PAUSE)

    def append(self, kind: str, facts: Mapping[str, object]) -> LedgerEntry:
        return self.write(lambda writing: writing.append(kind, facts))

    def close(self) -> None:
        self._engine.dispose()

    def _identity(self) -> str:
        """Read the ledger's id, which is drawn when it is first opened."""
        query = select(ABOUT.c.value).where(ABOUT.c.name == "ledger")
        with self._engine.connect() as connection:
            known = connection.execute(query).scalar()
            form = connection.execute(select(ABOUT.c.value).where(ABOUT.c.name == FORM)).scalar()
        if form is not None and int(form) > KNOWN_FORM:
            fix = "upgrade modelsel: python -m pip install --upgrade modelsel"
            what = f"the ledger's form {form} is that of a later version (this one knows {KNOWN_FORM})"
            raise StoreError(Problem("MSEL-649", what, self.place, fix))
        if known is not None:
            return str(known)
        with self._engine.connect().execution_options(modelsel_write=True) as connection, connection.begin():
            connection.execute(text(NAME_ONCE), {"value": secrets.token_hex(16)})
            return str(connection.execute(query).scalar())

    def _attempt(self, step: Callable[[WriteTransaction], T], token: str, done: list[T]) -> None:
        """Run a step in one transaction under the write lock."""
        with self._engine.connect().execution_options(modelsel_write=True) as connection, connection.begin():
            if connection.dialect.name == "postgresql":
                connection.execute(text("SELECT pg_advisory_xact_lock(hashtext(:id))"), {"id": self.id})
            done.append(step(WriteTransaction(connection, self, token)))

    def _size(self) -> int:
        """Count what was ever written into a file: who waits for its lock sees whether others get on. 0 of a server."""
        if self._engine.dialect.name != "sqlite":
            return 0
        with self._engine.connect() as connection:
            return sum(int(number or 0) for number in connection.exec_driver_sql(LAST).one())

    def _has_arrived(self, token: str, give_up: float) -> bool:
        """Say whether the transaction is in the ledger; the server is asked until it answers."""
        while True:
            try:
                return any(str(entry.facts.get("id", "")).startswith(token) for entry in self.entries())
            except StoreError:
                if self._engine.dialect.name == "sqlite" or time.monotonic() >= give_up:
                    raise
                time.sleep(PAUSE)


def _blobs(connection: Connection, digest: str) -> list[bytes]:
    return [bytes(row.blob) for row in connection.execute(select(ROWSETS.c.blob).where(ROWSETS.c.digest == digest))]


def _rowset(connection: Connection, digest: str) -> bytes:
    """Return the bytes of which this is the digest, or which a note says are left of it."""
    blobs = {hashlib.sha256(blob).hexdigest(): blob for blob in _blobs(connection, digest)}
    for found in (digest, *(found for found in blobs if found != digest)):
        if found in blobs and (found == digest or _is_noted(connection, digest, found)):
            return blobs[found]
    raise LedgerError(Problem("MSEL-503", f"the stored row set {digest[:16]} is {'changed' if blobs else 'gone'}",
                              "rowsets", "run `modelsel audit`, and restore the ledger from a backup"))  # fmt: skip


def _is_noted(connection: Connection, digest: str, found: str) -> bool:
    """Say whether a note in the chain states that this is what was left of a row set."""
    query = select(ENTRIES.c.body).where(ENTRIES.c.kind == "note", ENTRIES.c.body.contains('"stripped"'))
    return any(json.loads(body).get("stripped", {}).get(digest) == found for body in connection.execute(query).scalars())


@contextmanager
def _translate_errors(place: str) -> Iterator[None]:
    """Errors of the database as ours: it cannot be written (6), or it is no ledger any more (5).

    They have no cause: the database's own may quote the entry that was to be written, and that may be a score.
    """
    try:
        yield
    except (SQLAlchemyError, sqlite3.DatabaseError, OSError, json.JSONDecodeError) as error:
        raise error_of(error, place) from None


def _is_locked(error: BaseException) -> bool:
    """Say whether others held the lock of a file all the time that SQLite waits for it."""
    return getattr(getattr(error, "orig", None), "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY
