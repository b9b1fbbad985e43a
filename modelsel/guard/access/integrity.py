"""Check that the ledger is the one last seen: chains whole and as long as then, every look of its anchors there."""

from collections.abc import Mapping, Sequence
from math import log
from typing import Any

from modelsel.core.errors import LedgerError, Problem
from modelsel.core.fingerprint import canonical
from modelsel.core.types import Finding
from modelsel.guard.entries import note_of, origin
from modelsel.guard.facts import Look, Note
from modelsel.guard.findings import ledger_findings, row_findings
from modelsel.guard.history import History
from modelsel.guard.quarantine import believed_entries
from modelsel.guard.release import worst_of
from modelsel.ledger.anchors import AnchoredLook
from modelsel.ledger.database.reading import JudgedEntries
from modelsel.ledger.database.store import Ledger, WriteTransaction
from modelsel.ledger.entry import ChainBreak, LedgerEntry, broken
from modelsel.ledger.home import Home, without_password
from modelsel.ledger.trust import TrustedEntries

MOST = 1000  # lost looks that are written down one by one: after so many no interval says anything, whatever an anchor claims
LOST = "lost"  # in place of the chain
Seen = Sequence[tuple[str, Mapping[str, str]]]  # the name of an anchor, and what it saw


def check_ledger(home: Home, ledger: Ledger, url: str) -> tuple[Ledger, list[Finding]]:
    """Return the ledger to go on with, and findings about its past. LedgerError (5) where a chain does not hold."""
    remembered = home.state()  # before the entries: a look in between would seem to have been cut off
    entries = ledger.entries(anew=True)
    breaks = damage(home, ledger, entries)
    if breaks:
        raise LedgerError(*(Problem("MSEL-501", str(one), ledger.place, "restore the ledger from a backup") for one in breaks))
    findings = losses(remembered, ledger, url, entries)
    if not findings:
        return ledger, []
    ledger = _begin_anew(home, ledger, url)
    for finding in findings:
        ledger.append("note", note_of(finding).written())
    mark(home, ledger, url)
    return ledger, findings


def judged_of(home: Home) -> JudgedEntries:
    """The home's files of what was found of ledgers' entries."""
    return JudgedEntries(home.folder / "judged", home.secret("index.key"), origin()["version"])


def damage(home: Home, ledger: Ledger, entries: TrustedEntries) -> list[ChainBreak]:
    """List the breaks of chains that were whole once: entries signed by this home, or seen here before, that are gone.

    What a stranger wrote into a chain damages nothing: it is kept aside.
    """
    mine = [hash_ for hash_, who in entries.lost if who in ("", home.signer().public)]
    return broken(ledger.everything()) if mine else []


def losses(remembered: Mapping[str, object], ledger: Ledger, url: str, entries: Sequence[LedgerEntry]) -> list[Finding]:
    """List findings for what the home remembered before the entries were read and the ledger no longer shows."""
    return [
        *_replaced_ledgers(remembered, ledger, url),
        *_shortened_chains(remembered, ledger, entries),
        *_missing_entries(ledger, entries),
    ]


def mark(home: Home, ledger: Ledger, url: str) -> None:
    """Remember the heads of all chains, and which ledger stands at this address."""
    with home.changing() as state:
        tops = {replica: [entry.seq, entry.hash] for replica, entry in ledger.entries().heads().items()}
        state.setdefault("places", {})[without_password(url)] = ledger.id
        state.setdefault("marks", {})[ledger.id] = tops


def unknown_looks(
    ledger: Ledger, entries: Sequence[LedgerEntry], seen: Seen, elsewhere: Sequence[LedgerEntry] = ()
) -> list[Finding]:
    """List findings for looks that anchors saw and neither the ledger knows nor `elsewhere`, the others at hand."""
    numbers = {(entry.replica, entry.seq) for entry in entries}
    unknown = _strange(entries, seen, elsewhere).values()
    return list(dict.fromkeys(_meaning(ledger, anchor, look, numbers) for anchor, look in unknown))


def recover_looks(ledger: Ledger, testset: str, n: int, seen: Seen, elsewhere: Sequence[LedgerEntry] = ()) -> list[Finding]:
    """Write down the looks that anchors saw and no ledger at hand knows; say what that means."""
    if not seen or {AnchoredLook.read(facts).head for _, facts in seen} <= {entry.place for entry in ledger.entries()}:
        return []
    return ledger.write(lambda writing: _recover(writing, ledger, testset, n, seen, elsewhere))


def _strange(
    entries: Sequence[LedgerEntry], seen: Seen, elsewhere: Sequence[LedgerEntry]
) -> dict[str, tuple[str, AnchoredLook]]:
    """Gather looks that stand neither in the chains nor among the recovered or copied, by the head that they name."""
    entries = [*believed_entries(entries), *elsewhere]
    lost = {Look.of(entry).head for entry in entries if entry.kind == "recovered"}
    known = lost | {entry.place for entry in entries}
    copied = {entry.brief.copied for entry in entries if entry.brief.mirror}
    looks = [(anchor, AnchoredLook.read(facts)) for anchor, facts in seen]
    strange = [(anchor, look) for anchor, look in looks if look.head not in known]
    return {look.head: (anchor, look) for anchor, look in strange if look.head.rpartition(":")[2] not in copied}


def _recover(
    writing: WriteTransaction, ledger: Ledger, testset: str, n: int, seen: Seen, elsewhere: Sequence[LedgerEntry]
) -> list[Finding]:
    """Record the looks that anchors saw and no ledger holds, each at its highest price."""
    entries = writing.entries()
    strange = _strange(entries, seen, elsewhere)
    guarded = [look for _, look in strange.values() if not look.unguarded]
    present = len(History.of(entries).looks_at([testset]))
    latest = max(guarded, key=lambda look: int(look.look), default=AnchoredLook(testset, ""))
    numbers = {(entry.replica, entry.seq) for entry in entries}
    found = {head: _meaning(ledger, anchor, look, numbers) for head, (anchor, look) in strange.items()}
    for head, (anchor, look) in strange.items():
        writing.append("recovered", _facts(testset, n, anchor, look).but(code=found[head].code).written())
    unseen = int(latest.look) - present - len(guarded)  # they were counted, and no anchor saw them themselves
    for _ in range(min(unseen, MOST)):
        counted = _facts(testset, n, "count", AnchoredLook(testset, latest.head))
        writing.append("recovered", counted.but(code=found[latest.head].code).written())
    return list(dict.fromkeys(found.values()))


def _facts(testset: str, n: int, anchor: str, look: AnchoredLook) -> Look:
    """Gather the facts of a recovered look; what nobody knows of it is charged at its worst."""
    rows, off = int(look.n or n), look.unguarded
    worst = worst_of(log(rows + 1) if off else log(10 * (rows + 1)))
    return Look(
        **origin(), testset=testset, head=look.head, anchor=anchor, worst=worst, look=int(look.look), spec_id="", train="",
        metric="", predictions="", study="", unguarded=off, flags=(),
    )  # fmt: skip


def lost_look(number: int, look: AnchoredLook) -> LedgerEntry:
    """A look that the home's state alone tells of, as an entry that nobody has written: it is charged at its worst."""
    facts = _facts(look.testset, 0, "state", look)
    return LedgerEntry(LOST, number, "recovered", canonical({**facts.written(), "code": "G072"}), "", f"{LOST}:{look.head}")


def _meaning(ledger: Ledger, anchor: str, look: AnchoredLook, present: set[tuple[str, int]]) -> Finding:
    """Return the finding for one look that an anchor saw and the ledger does not know."""
    replica, seq, _ = look.head.split(":")
    rows = f"test set {look.testset[:8]}"
    if look.unguarded:
        return row_findings.unguarded_run_seen_by_anchor(anchor, rows)
    if look.ledger != ledger.id:
        return ledger_findings.ledger_missing_elsewhere(anchor, look.look, rows)
    if (replica, int(seq)) in present:
        return ledger_findings.ledger_tampered_rewritten(anchor, seq, replica, rows)
    return ledger_findings.ledger_rolled_back_look_is_gone(anchor, seq, replica, rows)


def _replaced_ledgers(remembered: Mapping[str, Any], ledger: Ledger, url: str) -> list[Finding]:
    """Report that another ledger stands where one with looks stood."""
    former = remembered.get("places", {}).get(without_password(url))
    if former in (None, ledger.id) or not remembered.get("marks", {}).get(former):
        return []
    return [ledger_findings.ledger_missing_another_one(ledger.place)]


def _shortened_chains(remembered: Mapping[str, Any], ledger: Ledger, entries: Sequence[LedgerEntry]) -> list[Finding]:
    """Report chains that are shorter than when last seen, or end in another entry."""
    marks = remembered.get("marks", {}).get(ledger.id, {})
    wanted = {(replica, seq) for replica, (seq, _) in marks.items()}
    there = {(one.replica, one.seq): one.hash for one in entries if (one.replica, one.seq) in wanted}
    found = []
    for replica, (seq, hash_) in marks.items():
        if (replica, seq) not in there:
            found.append(ledger_findings.ledger_rolled_back_end_is_gone(replica, seq))
        elif there[(replica, seq)] != hash_:
            found.append(ledger_findings.ledger_tampered_replaced(replica, seq))
    return found


def _missing_entries(ledger: Ledger, entries: Sequence[LedgerEntry]) -> list[Finding]:
    """Report signatures whose entries are gone, unless a note on record says so already."""
    if not isinstance(entries, TrustedEntries) or not entries.lost:
        return []
    gone = {hash_ for hash_, _ in entries.lost} - {entry.hash for entry in ledger.everything()}
    said = f"{len(gone)} entries that were signed are gone"
    known = any(entry.kind == "note" and Note.of(entry).part(["text"]) == {"text": said} for entry in entries)
    return [] if known or not gone else [ledger_findings.ledger_rolled_back(said)]


def _begin_anew(home: Home, ledger: Ledger, url: str) -> Ledger:
    """Go on under a new replica name: what follows must not pass for what was lost."""
    with home.changing() as state:
        generations = state.setdefault("generation", {})
        generations[without_password(url)] = generations.get(without_password(url), 0) + 1
    ledger.close()
    return Ledger.open(url, home.replica(url), home.signer(), judged_of(home))
