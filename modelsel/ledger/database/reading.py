"""Judgements of a ledger's entries, kept in the home, so that entries whose bytes are the same are not judged again.

A file for each ledger states of its first entries, chain by chain, how many they are, the SHA-256 of all their bytes and of
those of their signatures, and that every one of them may be believed; beside it the few facts of each that passes over a whole
history ask for. At every look all bytes are read and compared with that digest. Where one differs, was added in between, or is
gone, the file is of no use, and every entry is examined as if there were none.

It is a cache and no record. It is believed only as a whole, by a digest keyed with a secret of the home: a file that was
changed, cut off, exchanged for another ledger's or brought from another home says nothing. An old one knows fewer entries.
"""

import hashlib
import hmac
import json
import marshal
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, func, select

from modelsel.core.stored import ARCHIVE, content
from modelsel.core.system.memory import pause_garbage_collection
from modelsel.ledger.database.schema import ABOUT, ENTRIES, FIELDS, SIGNATURES
from modelsel.ledger.entry import Brief, LedgerEntry
from modelsel.ledger.home import write_whole
from modelsel.ledger.trust import LedgerTerms, TrustedEntries, examine, extend

Row = tuple[Any, ...]
Columns = Mapping[str, Mapping[str, list[Any]]]  # by kind of entry and name of fact, in the order of the entries

FEWEST = 500  # entries below which nothing is kept: they are soon examined
FURTHER = 200  # entries that came since, from which the file is written again
SEAL = 32  # bytes of the keyed digest
FORMAT = 3


@dataclass(frozen=True, eq=False)
class LedgerBytes:
    """Everything that stands in a ledger but row sets, in order: entries by chain and number, signatures by what they sign."""

    entries: Sequence[Row] = ()
    signatures: Sequence[Row] = ()
    about: Mapping[str, str] = field(default_factory=dict)

    def same(self, other: "LedgerBytes") -> bool:
        return (self.entries, self.signatures, self.about) == (other.entries, other.signatures, other.about)

    def first(self, counts: Mapping[str, int]) -> tuple["LedgerBytes", list[Row]]:
        """Take the first entries of each chain with their signatures, and the entries that follow."""
        left = dict(counts)
        known: list[Row] = []
        fresh: list[Row] = []
        for row in self.entries:
            there = left.get(row[0], 0)
            (known if there else fresh).append(row)
            left[row[0]] = there - 1 if there else 0
        if not fresh:
            return self, fresh
        hashes = {row[5] for row in fresh}
        signed = [row for row in self.signatures if row[0] not in hashes]
        return LedgerBytes(known, signed, self.about), fresh

    def digest(self) -> str:
        told = (list(self.entries), list(self.signatures), sorted(self.about.items()))
        return hashlib.sha256(marshal.dumps(told, 0)).hexdigest()  # version 0: types, lengths and values, nothing else


@dataclass(frozen=True, eq=False)
class JudgedEntries:
    """The files of a home; `secret` is the home's, and `version` that of the code that judges."""

    folder: Path
    secret: bytes
    version: str

    def recall(self, ledger: str, stands: LedgerBytes, me: str) -> tuple[TrustedEntries, LedgerBytes] | None:
        """The entries that were judged before and stand there unchanged, with their bytes; None where nothing is known."""
        told = self._read(ledger)
        if told is None or (told["ledger"], told["me"], told["by"]) != (ledger, me, self._by):
            return None
        known, _ = stands.first(told["counts"])
        if known.digest() != told["digest"]:
            return None
        entries = [LedgerEntry(*row) for row in known.entries]
        for entry, brief in zip(entries, _briefs(told["columns"], entries), strict=True):
            entry.__dict__["brief"] = brief
        about = {name: told[name] for name in ("signers", "owner", "me")}
        return TrustedEntries(entries, before=tuple(told["before"]), recalled=True, **about), known

    def keep(self, ledger: str, read: TrustedEntries, stands: LedgerBytes) -> None:
        """Write down that all of these may be believed."""
        counts: dict[str, int] = {}
        for entry in read:
            counts[entry.replica] = counts.get(entry.replica, 0) + 1
        told = {
            "ledger": ledger, "me": read.me, "by": self._by, "counts": counts, "digest": stands.digest(),
            "signers": read.signers, "owner": read.owner, "before": list(read.before), "columns": _columns(read),
        }  # fmt: skip
        body = json.dumps(told, separators=(",", ":")).encode()
        with suppress(OSError):  # a cache that cannot be written is done without
            self.folder.mkdir(mode=0o700, exist_ok=True)
            write_whole(self._path(ledger), self._seal(body) + body)

    @property
    def _by(self) -> str:
        return f"{FORMAT} {self.version}"

    def _path(self, ledger: str) -> Path:
        return self.folder / f"{hashlib.sha256(ledger.encode()).hexdigest()[:32]}.judged"

    def _read(self, ledger: str) -> dict[str, Any] | None:
        """Read kept judgements; a file whose seal does not fit is removed."""
        path = self._path(ledger)
        try:
            raw = content(path, ARCHIVE)
        except (OSError, ValueError):
            return None
        if not hmac.compare_digest(raw[:SEAL], self._seal(memoryview(raw)[SEAL:])):
            with suppress(OSError):
                path.unlink(missing_ok=True)
            return None
        told: dict[str, object] = json.loads(raw[SEAL:])
        return told

    def _seal(self, body: bytes | memoryview) -> bytes:
        return hashlib.blake2b(body, digest_size=SEAL, key=self.secret, person=b"modelsel.judged.").digest()


def _columns(entries: Sequence[LedgerEntry]) -> Columns:
    """The briefs, by kind: of each fact that any entry of a kind states a list of all."""
    kinds: dict[str, list[dict[str, object]]] = {}
    for entry in entries:
        kinds.setdefault(entry.kind, []).append(vars(entry.brief))
    return {
        kind: {
            name: [brief.get(name) for brief in briefs]
            for name in dict.fromkeys(name for brief in briefs for name in brief)
            if any(brief.get(name) not in (None, "", False) for brief in briefs)
        }
        for kind, briefs in kinds.items()
    }


def _briefs(columns: Columns, entries: Sequence[LedgerEntry]) -> Iterator[Brief]:
    """Back into one for each entry."""
    by_kind = {kind: _rows(tuple(named), list(named.values())) for kind, named in columns.items()}
    return (next(by_kind[entry.kind], Brief()) for entry in entries)


def _rows(names: tuple[str, ...], columns: list[list[object]]) -> Iterator[Brief]:
    rows = zip(*columns, strict=True)
    return (Brief.of({name: value for name, value in zip(names, row) if value is not None}) for row in rows)


# Cache of a ledger's reading: a process reads and judges each entry once, and later only the new ones.
#
# Whether anything came is told by the number of entries, the last ones of each chain (a hash covers its whole chain) and the
# number of signatures. What somebody changes further back while a process is at work is found when it reads anew, which every
# look does first: then all bytes are read and compared with those that were judged, by this process or by an earlier one
# (`judged`). Where they are not the same, every entry is examined.


Tops = dict[str, tuple[int, int, tuple[str, ...]]]  # by replica: how many entries, the last number, the hashes there
Signed = dict[str, list[tuple[str, str]]]  # public key and signature, by the hash of the entry
COLUMNS = tuple(ENTRIES.c[name] for name in FIELDS)
SIGNED = tuple(SIGNATURES.c[name] for name in ("hash", "signer", "signature"))
TERMS = ("owner", "migrated")  # what of a ledger as a whole decides which entries are believed
MANY = 1000  # new entries from which all are examined at once
LAST = "SELECT (SELECT max(rowid) FROM entries), (SELECT max(rowid) FROM signatures)"  # of SQLite


class Reading:
    """The entries of one ledger as this process last read them; `me` is the public key of who reads (empty: unsigned)."""

    def __init__(self, me: str, judged: JudgedEntries | None = None) -> None:
        """Start with nothing read; kept judgements are read where they are given."""
        self._me = me
        self._judged = judged
        self._last: Sequence[object] = ()
        self._state: tuple[Tops, int] = ({}, -1)
        self._read = TrustedEntries()
        self._base: tuple[TrustedEntries, LedgerBytes] | None = None  # as all was read last, and its bytes
        self._kept = 0  # entries that the home's file knows

    def now(self, connection: Connection, ledger: str, anew: bool = False) -> TrustedEntries:
        """The entries that stand there now, judged; `ledger` is its id."""
        last = connection.exec_driver_sql(LAST).one() if connection.dialect.name == "sqlite" else ()
        if not anew and last and last == self._last:
            return self._read
        state = (_tops(connection), int(connection.execute(select(func.count()).select_from(SIGNATURES)).scalar() or 0))
        if anew or state != self._state:
            further = None if anew else self._further(connection, state)
            self._read = further if further is not None else self._whole(connection, ledger)
            self._state = state
        self._last = last
        return self._read

    def afresh(self, connection: Connection, ledger: str) -> TrustedEntries:
        """Examine every entry that stands there now, whatever was judged before."""
        judged, self._judged, self._base = self._judged, None, None
        try:
            return self.now(connection, ledger, anew=True)
        finally:
            self._judged = judged

    def keep(self, connection: Connection, ledger: str, fit: Callable[[TrustedEntries], bool]) -> None:
        """Let the home's file know these entries, if it knows too few of them; `fit` says whether all may be believed."""
        if self._judged is None or not self._me or len(self._read) < max(FEWEST, self._kept + FURTHER):
            return
        read = self.now(connection, ledger, anew=True)
        if self._base is not None and read is self._base[0] and not read.bad and not read.lost and fit(read):
            self._judged.keep(ledger, *self._base)
            self._kept = len(read)

    def everything(self, connection: Connection) -> list[LedgerEntry]:
        """All entries as they stand there."""
        return [LedgerEntry(*row) for row in _bytes(connection).entries]

    def _whole(self, connection: Connection, ledger: str) -> TrustedEntries:
        """Read all entries, and examine those that were not judged before."""
        with pause_garbage_collection():
            return self._read_whole(connection, ledger)

    def _read_whole(self, connection: Connection, ledger: str) -> TrustedEntries:
        """Read and judge them all."""
        stands = _bytes(connection)
        if not self._me:
            return TrustedEntries(LedgerEntry(*row) for row in stands.entries)
        read = self._entries_judged_before(ledger, stands)
        if read is None:
            terms = LedgerTerms(stands.about.get("owner", ""), stands.about.get("migrated", ""))
            read = examine([LedgerEntry(*row) for row in stands.entries], _by_hash(stands.signatures), terms, self._me)
            self._kept = 0
        self._base = read, stands
        return read

    def _entries_judged_before(self, ledger: str, stands: LedgerBytes) -> TrustedEntries | None:
        """Return the entries judged before, here or in an earlier process; None where all must be examined.

        With those that plainly follow.
        """
        base = self._base
        if base is None and self._judged is not None:
            base = self._judged.recall(ledger, stands, self._me)
            self._kept = len(base[0]) if base else 0
        if base is None:
            return None
        read, before = base
        if before.same(stands):
            return read
        known, fresh = stands.first(_counts(read))
        if not known.same(before) or not 0 < len(fresh) <= MANY:
            return None
        hashes = {row[5] for row in fresh}
        signed = _by_hash([row for row in stands.signatures if row[0] in hashes])
        return extend(read, [LedgerEntry(*row) for row in fresh], signed)

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
            fresh += [LedgerEntry(*row) for row in rows]
        signed = signatures(connection, [entry.hash for entry in fresh])
        return extend(self._read, fresh, signed) if state[1] - self._state[1] == len(signed) else None


def signatures(connection: Connection, hashes: list[str] | None = None) -> Signed:
    """Read the signatures of some entries, or of all."""
    query = select(*SIGNED) if hashes is None else select(*SIGNED).where(SIGNATURES.c.hash.in_(hashes))
    return _by_hash([tuple(row) for row in connection.execute(query)])


def _by_hash(rows: Sequence[Row]) -> Signed:
    """Group signatures by the hash that they sign."""
    found: Signed = {}
    for hash_, signer, signature in rows:
        found.setdefault(hash_, []).append((signer, signature))
    return found


def _bytes(connection: Connection) -> LedgerBytes:
    """All of it, read anew."""
    entries = connection.execute(select(*COLUMNS).order_by(ENTRIES.c.replica, ENTRIES.c.seq, ENTRIES.c.hash)).all()
    signed = connection.execute(select(*SIGNED).order_by(*SIGNED)).all()
    about = connection.execute(select(ABOUT.c.name, ABOUT.c.value))
    return LedgerBytes(
        list(map(tuple, entries)), list(map(tuple, signed)), {name: value for name, value in about if name in TERMS}
    )


def _counts(read: TrustedEntries) -> dict[str, int]:
    """Count entries per replica."""
    counts: dict[str, int] = {}
    for entry in read:
        counts[entry.replica] = counts.get(entry.replica, 0) + 1
    return counts


def _tops(connection: Connection) -> Tops:
    query = select(ENTRIES.c.replica, func.count(), func.max(ENTRIES.c.seq)).group_by(ENTRIES.c.replica)
    return {replica: (count, top, _hashes(connection, replica, top)) for replica, count, top in connection.execute(query).all()}


def _hashes(connection: Connection, replica: str, seq: int) -> tuple[str, ...]:
    query = select(ENTRIES.c.hash).where(ENTRIES.c.replica == replica, ENTRIES.c.seq == seq).order_by(ENTRIES.c.hash)
    return tuple(connection.execute(query).scalars())


def chains_in_file(path: Path) -> set[str]:
    """The names of the chains in an SQLite file, read without opening it as a ledger; none where it cannot be read."""
    with suppress(sqlite3.Error), closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        return {str(name) for (name,) in connection.execute("SELECT DISTINCT replica FROM entries")}
    return set()
