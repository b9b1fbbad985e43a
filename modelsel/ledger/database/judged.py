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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from modelsel.ledger.entry import Brief, LedgerEntry
from modelsel.ledger.home import write_whole
from modelsel.ledger.trust import TrustedEntries

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
            raw = path.read_bytes()
        except OSError:
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
