"""Cache of a ledger's reading: a process reads and judges each entry once, and later only the new ones.

Whether anything came is told by the number of entries, the last ones of each chain (a hash covers its whole chain) and the
number of signatures. What somebody changes further back while a process is at work is found when it reads anew, which
every look does first.
"""

from typing import Any

from sqlalchemy import Connection, func, select

from modelsel.ledger.database.tables import ABOUT, ENTRIES, FIELDS, SIGNATURES
from modelsel.ledger.entry import LedgerEntry
from modelsel.ledger.trust import LedgerTerms, TrustedEntries, examined, extended

Tops = dict[str, tuple[int, int, tuple[str, ...]]]  # by replica: how many entries, the last number, the hashes there
COLUMNS = tuple(ENTRIES.c[name] for name in FIELDS)
MANY = 200  # new entries from which all are read at once


class Reading:
    """The entries of one ledger as this process last read them; `me` is the public key of who reads (empty: unsigned)."""

    def __init__(self, me: str) -> None:
        self._me = me
        self._known: dict[tuple[Any, ...], LedgerEntry] = {}
        self._state: tuple[Tops, int] = ({}, -1)
        self._read = TrustedEntries()

    def now(self, connection: Connection, anew: bool = False) -> TrustedEntries:
        """The entries that stand there now, judged."""
        state = (_tops(connection), int(connection.execute(select(func.count()).select_from(SIGNATURES)).scalar() or 0))
        if anew or state != self._state:
            further = None if anew else self._further(connection, state)
            self._read = further if further is not None else self._whole(connection)
            self._state = state
        return self._read

    def everything(self, connection: Connection) -> list[LedgerEntry]:
        """All entries as they stand there; one that was read before, and is the same throughout, is not parsed again."""
        rows = connection.execute(select(*COLUMNS).order_by(ENTRIES.c.replica, ENTRIES.c.seq)).all()
        return [self._known.setdefault(row, LedgerEntry(*row)) for row in map(tuple, rows)]

    def _whole(self, connection: Connection) -> TrustedEntries:
        entries = self.everything(connection)
        if not self._me:
            return TrustedEntries(entries)
        signed = signatures(connection)
        if self._read.memo.get("state") == _whole_state(entries, signed):
            return self._read
        about = {row.name: row.value for row in connection.execute(select(ABOUT.c.name, ABOUT.c.value))}
        read = examined(entries, signed, LedgerTerms(about.get("owner", ""), about.get("migrated", "")), self._me)
        read.memo["state"] = _whole_state(entries, signed)
        return read

    def _further(self, connection: Connection, state: tuple[Tops, int]) -> TrustedEntries | None:
        """Extend the previous reading by a few entries that follow on; None where a full reading is needed."""
        before, after = self._state[0], state[0]
        grown = {name: after[name][0] - top[0] for name, top in before.items() if name in after and after[name] != top}
        if not self._me or before.keys() != after.keys() or not 0 < sum(grown.values()) <= MANY:
            return None
        fresh: list[LedgerEntry] = []
        for replica, count in grown.items():
            last = before[replica][1]
            query = select(*COLUMNS).where(ENTRIES.c.replica == replica, ENTRIES.c.seq > last).order_by(ENTRIES.c.seq)
            rows = [tuple(row) for row in connection.execute(query)]
            if len(rows) != count or _hashes(connection, replica, last) != before[replica][2]:
                return None
            fresh += [self._known.setdefault(row, LedgerEntry(*row)) for row in rows]
        signed = signatures(connection, [entry.hash for entry in fresh])
        return extended(self._read, fresh, signed) if state[1] - self._state[1] == len(signed) else None


def signatures(connection: Connection, hashes: list[str] | None = None) -> dict[str, list[tuple[str, str]]]:
    """Public key and signature, by the hash of the entry: of some entries, or all."""
    found: dict[str, list[tuple[str, str]]] = {}
    query = select(SIGNATURES) if hashes is None else select(SIGNATURES).where(SIGNATURES.c.hash.in_(hashes))
    for row in connection.execute(query):
        found.setdefault(row.hash, []).append((row.signer, row.signature))
    return found


def _whole_state(entries: list[LedgerEntry], signed: dict[str, list[tuple[str, str]]]) -> object:
    return tuple(map(id, entries)), sum(map(len, signed.values()))


def _tops(connection: Connection) -> Tops:
    query = select(ENTRIES.c.replica, func.count(), func.max(ENTRIES.c.seq)).group_by(ENTRIES.c.replica)
    return {replica: (count, top, _hashes(connection, replica, top)) for replica, count, top in connection.execute(query).all()}


def _hashes(connection: Connection, replica: str, seq: int) -> tuple[str, ...]:
    query = select(ENTRIES.c.hash).where(ENTRIES.c.replica == replica, ENTRIES.c.seq == seq).order_by(ENTRIES.c.hash)
    return tuple(connection.execute(query).scalars())
