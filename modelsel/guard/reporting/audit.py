"""The audit as data: everything that touched the test rows, its price, and whether the ledger is whole.

The shape is public (`modelsel audit --json`); fields may be added, never renamed.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from modelsel.core.errors import LedgerError, ModelselError
from modelsel.core.facts import UNSTATED
from modelsel.core.outcome import as_data
from modelsel.core.types import Finding
from modelsel.guard.access.integrity import damage, losses, unknown_looks
from modelsel.guard.access.seals import contacts
from modelsel.guard.access.session import LedgerSession
from modelsel.guard.checks.review import choices
from modelsel.guard.concurrent_looks import as_first, incomparable, later_places, looks_beside, standing_answer
from modelsel.guard.concurrent_looks import looks_beside as concurrent
from modelsel.guard.entries import now
from modelsel.guard.facts import Entry, LaterPlace, Look, Note, PolicyChange, RecordedSelection, Replay, Reveal, Seal
from modelsel.guard.findings import ledger_findings, look_findings
from modelsel.guard.findings.base import FindingKind, catalogue
from modelsel.guard.gate import Gate
from modelsel.guard.history import History, PastLook, differences
from modelsel.guard.joining import count_once
from modelsel.guard.quarantine import PLACE
from modelsel.guard.release import CAPPED, QUANTILES, shown_point
from modelsel.guard.reporting.forecast import budget, next_look
from modelsel.guard.reporting.report import (
    AuditReport,
    Choices,
    ContactLine,
    LedgerState,
    LookLine,
    RefusalLine,
    SealLine,
    StudyLine,
    TestSetReport,
)
from modelsel.guard.requests import TestSetDeclaration
from modelsel.ledger.database.store import Ledger
from modelsel.ledger.entry import LedgerEntry
from modelsel.ledger.rows.row_set import RowSet
from modelsel.ledger.trust import TrustedEntries

AT_ONCE = 500  # row sets that are held in memory at a time
FORESEEN = 20  # test sets of which an audit tells what further looks would give
SETS = ("rows", "development", "table")  # of a seal or a selection; a seal may name its candidates, too


def audit(
    gate: Gate,
    sealing: TestSetDeclaration | None = None,
    study: str | None = None,
    known: Sequence[str] = (),
    sets: bool = True,
) -> AuditReport:
    """The whole ledger, the test set of one sealing, or those that a study (its name or its run folder) touched.

    Without a sealing (a gate asks as it looks) anchors are asked, about test sets `known` from elsewhere too, and stored row
    sets are read. What further looks would give is told of FORESEEN test sets at most: of more, for a study that is named.
    `sets=False`: whether the ledger is whole, as far as a look would check it, and no test set is told of.
    A ledger that does not hold is told, not raised: `ledger.intact` is false and the flags say where.
    """
    if not gate.remembers or (sealing and gate.forgotten):
        said = [one for one in gate.findings if one.code in ("G003", "G004")]
        reasons = [as_data(one) for one in said or [look_findings.not_remembered_in_audit()]]
        nothing = LedgerState(url=gate.place, entries=0, intact=None, head=None)
        return AuditReport(ledger=nothing, test_sets=[], flags=reasons, state="not remembered")
    if sealing is None and sets:
        gate.session.ledger.examine()
    history = _counted_once(gate.session.ledger.entries())
    mine = [gate.subject(sealing).digest] if sealing and len(sealing.sealed) else []
    wanted = mine if sealing else _touched_sets(history, study)
    others = known if sealing or study else (*known, *gate.session.remembered_test_sets())
    witnessed = Witnessed.of(gate, () if sealing else tuple(dict.fromkeys((*wanted, *others))))
    entries = gate.session.ledger.entries()  # after all that it is compared with: a look in between is no loss
    history = _counted_once(entries)
    ahead = len(wanted) <= FORESEEN
    told = [_test_set(history, testset, gate.session.row_set, ahead) for testset in wanted if sets]
    ledger, findings = _ledger(gate, entries, () if sealing else _stored_digests(entries), witnessed)
    upcoming = next_look(history, wanted[0]) if len(wanted) == 1 else None
    flags = [*findings, *of_looks(told), *of_record(history, wanted), *of_time(history), *_incomparable_looks(history, wanted)]
    opened = contacts(history.entries) if sets and study is None and sealing is None else []
    return AuditReport(
        ledger=ledger, test_sets=told, flags=[as_data(one) for one in flags], contacts=[*map(ContactLine.read, opened)],
        state=gate.policy.__class__.__name__.lower(), next=upcoming, at=now(),
    )  # fmt: skip


def _incomparable_looks(history: History, wanted: Sequence[str]) -> Iterator[Finding]:
    """G074: looks of a merged ledger at rows that cannot be compared with these."""
    for testset in wanted:
        count = incomparable(history, testset)
        if count:
            yield ledger_findings.key_gap_merged_apart(count, testset)


def _stored_digests(entries: list[LedgerEntry]) -> tuple[str, ...]:
    """The digests of all row sets that entries name."""
    named = (entry for entry in entries if entry.kind in ("seal", "selection"))
    kept = (
        digest for entry in named
        for digest in (*(getattr(entry.brief, name) for name in SETS), entry.kind == "seal" and entry.facts.get("candidates"))
    )  # fmt: skip
    return tuple(dict.fromkeys(digest for digest in kept if digest))


@dataclass(frozen=True)
class Witnessed:
    """The memory of this home and its anchors before the entries were read; `damaged` has findings about the home's own."""

    remembered: Mapping[str, object]
    seen: tuple[tuple[str, Mapping[str, str]], ...]
    unasked: tuple[Finding, ...]
    damaged: tuple[Finding, ...] = ()

    @classmethod
    def of(cls, gate: Gate, asked: Sequence[str]) -> "Witnessed":
        """Ask about some test sets."""
        seen, unasked = gate.session.witnesses.ask(asked) if asked else ([], [])
        try:
            return cls(gate.session.home.state(), tuple(seen), tuple(unasked))
        except ModelselError as error:
            return cls({}, tuple(seen), tuple(unasked), (ledger_findings.ledger_rolled_back(str(error)),))


def _ledger(
    gate: Gate, entries: TrustedEntries, stored: Sequence[str], witnessed: Witnessed
) -> tuple[LedgerState, list[Finding]]:
    """Describe the ledger, and report what is damaged, missing or contradicted."""
    breaks = [ledger_findings.ledger_tampered(str(one)) for one in damage(gate.session.home, gate.session.ledger, entries)]
    breaks += _unreadable(gate.session.ledger, stored)
    forged = [ledger_findings.entry_quarantined_forged_row_set(digest) for digest in
              gate.session.ledger.forged_rowsets()]  # fmt: skip
    missing = [*witnessed.damaged, *losses(witnessed.remembered, gate.session.ledger, gate.session.url, entries)]
    told = unknown_looks(gate.session.ledger, entries, witnessed.seen, gate.session.elsewhere())
    missing += [finding for finding in told if finding.code in ("G070", "G071")]
    others = [
        *(finding for finding in told if finding not in missing),
        *witnessed.unasked,
        *forged,
    ]
    own = [entry for entry in entries if entry.replica == gate.session.ledger.replica]
    freed, told_labels = _of_labels(entries)
    ledger = LedgerState(
        url=gate.place, entries=len(entries), intact=not breaks and not missing, head=own[-1].place if own else None,
        id=gate.session.ledger.id, chain=gate.session.ledger.replica, replicas=len({entry.replica for entry in entries}),
        anchors=gate.session.witnesses.names, freed_of_labels=freed, digests_of_labels=told_labels,
    )  # fmt: skip
    return ledger, [*breaks, *missing, *others]


def _unreadable(ledger: Ledger, stored: Sequence[str]) -> Iterator[Finding]:
    """Report row sets that are gone or were changed: many are read at once, what is not as it was named by itself."""
    for start in range(0, len(stored), AT_ONCE):
        some = stored[start : start + AT_ONCE]
        whole = ledger.rowsets(some).keys()
        for digest in (digest for digest in some if digest not in whole):
            try:
                ledger.rowset(digest)
            except LedgerError as error:
                yield ledger_findings.ledger_tampered(error.problems[0].what)


def _of_labels(entries: list[LedgerEntry]) -> tuple[int, int]:
    """Row sets that were freed of what depended on labels, and entries of that time that hold digests of labels for good."""
    freed = sum(len(entry.facts.get("stripped", ())) for entry in entries if entry.kind == "note")
    told = (entry.facts for entry in entries if '"labels":' in entry.body or '"order":' in entry.body)
    return freed, sum(bool(one.get("order") or one.get("labels")) for one in told)


def _counted_once(entries: TrustedEntries) -> History:
    """The history without copies of what stands there too, and with what is charged for bad entries."""
    return History.of(count_once(History.of(entries).entries, entries.signers))


def _touched_sets(history: History, study: str | None) -> list[str]:
    """Test sets in the order in which they were sealed."""
    every = [*history.seals, *(look.testset for look in history.looks)]
    if study is None:
        return [testset for testset in dict.fromkeys(every) if testset]
    facts = [entry.facts for entry in history.entries]
    mine = {f["testset"] for f in facts if study in (f.get("study"), f.get("folder")) and "testset" in f}
    return [testset for testset in dict.fromkeys(every) if testset in mine]


def _test_set(history: History, testset: str, load: Callable[[str], RowSet], ahead: bool) -> TestSetReport:
    """Gather everything on record about one test set; `ahead`: and what further looks would give."""
    seal = Seal.of(history.seals[testset]) if testset in history.seals else Seal.read({})
    looks = history.looks_at([testset])
    told = [*_looks(looks, looks_beside(history, testset, load)), *_replays(history, testset)]
    mine = map(RecordedSelection.of, history.selections_for(testset))
    tried = {stated.spec_id: stated.tried for stated in mine if not stated.outside}
    found = choices(history, testset)
    return TestSetReport(
        id=testset, rows=(seal.states("n") and seal.n) or max((look.facts.n for look in looks), default=0),
        looks=sorted(told, key=lambda look: (look.at, look.seq)),
        sealed=SealLine.read(seal.part(("at", "user", "host", "study", "u", "space"))),
        policies=history.policies(testset), refusals=list(_refusals(history, testset)),
        spent=sum(look.price for look in looks), studies=len(tried), candidates=sum(tried.values()),
        choices=Choices.read(found) if found else None,
        siblings=_siblings(history, testset), next=next_look(history, testset) if ahead else None,
        budget=budget(history, testset) if ahead else None,
    )  # fmt: skip


def _looks(looks: tuple[PastLook, ...], concurrent: tuple[PastLook, ...]) -> Iterator[LookLine]:
    """Yield a line for each look, with what was changed since the one before."""
    before: Mapping[str, object] | None = None
    for look, instead in zip(looks, later_places(looks, concurrent), strict=True):
        facts, stands = look.facts, standing_answer(look, concurrent)
        yield LookLine(
            **_common(look.entry), look=facts.look, replay=False, status=look.status, **_shown_answer(look, stands),
            price=look.price, spent=facts.spent, n=facts.n or None, release=facts.release, policy=facts.policy,
            overlap=list(facts.overlap), flags=[one.code for one in facts.flags],
            findings=[as_data(one) for one in facts.flags], justification=facts.justify,
            changes=differences(before, facts.config or {}) if before is not None and not facts.outside else [],
            charged=facts.charged if facts.states("charged") else [look.testset], n_clean=facts.n_clean,
            as_first=as_first(look), superseded=_describe_superseded(look, instead, stands), outside=facts.outside,
        )  # fmt: skip
        before = before if facts.outside else facts.config or {}


def _describe_superseded(look: PastLook, instead: LaterPlace | None, stands: Reveal) -> LaterPlace | None:
    """What stands in place of a look after a merge, with the interval of what the line shows first."""
    if instead is None:
        return None
    first = stands.counted.interval if _shows_share(look) and stands.counted else instead.interval
    return instead.but(interval=first and list(first))


def _shows_share(look: PastLook) -> bool:
    """Whether a look showed capped errors of numbers beside the share of rows that are off."""
    return look.facts.metric.startswith(f"{CAPPED}:") and look.answer.counted is not None and bool(look.facts.n)


def _shown_answer(look: PastLook, stands: Reveal) -> dict[str, Any]:
    """What a look showed: of numbers first the share of rows that are off; what is beside it as it stands after merges."""
    facts, answer = look.facts, look.answer
    own = {**_shown(answer), "cv_mean": facts.cv_mean, "metric": facts.metric}
    if facts.metric.startswith(f"{QUANTILES}:"):
        return {**own, "metric": "within", "beside": {"quantiles": stands.quantiles}}
    if not _shows_share(look) or answer.counted is None:
        return own
    share = {"score": answer.counted.rows / facts.n, "interval": answer.counted.interval, "cv_mean": facts.cv_error}
    beside = {"score": answer.score, "interval": stands.interval, "most": facts.plan.width if facts.plan else None}
    return {**own, **share, "step": UNSTATED, "read_as": UNSTATED, "metric": "within", "beside": beside}


def _shown(answer: Reveal) -> dict[str, Any]:
    """The score of an answer, or the step that was shown where it is no point of its interval; its errors and limits."""
    point = shown_point(answer.symbol, answer.score, answer.interval)
    step, read_as = UNSTATED if point.step is None else point.step, point.read_as or UNSTATED
    return {"score": point.score, "step": step, "read_as": read_as, "errors": answer.errors, "interval": answer.interval}


def _replays(history: History, testset: str) -> Iterator[LookLine]:
    """Yield a line for each answer that was shown again."""
    looks = {look.id: look for look in history.looks_at([testset])}
    for entry in history.replays:
        look = looks.get(Replay.of(entry).source)
        if look is not None:
            yield LookLine(
                **_common(entry), look=look.facts.look, replay=True, status="replay", **_shown(look.answer),
                price=0.0, spent=look.facts.spent, overlap=[], flags=["G002"], changes=[],
            )  # fmt: skip


def _siblings(history: History, testset: str) -> list[StudyLine]:
    """Every study that chose on the development rows of this test set, tested or not."""
    names = ("at", "study", "folder", "spec_id", "winner", "cv_mean", "cv_rows", "measure", "tried")
    return [StudyLine.read(RecordedSelection.of(entry).part(names)) for entry in history.selections_for(testset)]


def _refusals(history: History, testset: str) -> Iterator[RefusalLine]:
    """Yield a line for each refused look."""
    for entry in history.of_kind("note"):
        if entry.brief.testset == testset and Note.of(entry).states("refused"):
            note = Note.of(entry)
            yield RefusalLine(**_common(entry), reason=note.refused, flags=[one.code for one in note.flags])


def _common(entry: LedgerEntry) -> dict[str, Any]:
    names = ("at", "study", "spec_id", "user", "host", "folder")
    return {"seq": entry.seq, "replica": entry.replica, **Entry.of(entry).part(names)}


# Findings that a ledger remembers: those of its looks, what was found out about it, and clocks that went back.


def of_looks(sets: Sequence[TestSetReport]) -> list[Finding]:
    """Findings of all looks, each once; and looks that nobody resolved."""
    found: dict[tuple[str, str], Finding] = {}
    for one in sets:
        for look in one.looks:
            for facts in look.findings:
                found[facts.code, facts.message] = Finding.read(facts)
            if look.status == "open":
                text = f"look {look.look} of test set {one.id[:8]} has no answer on record"
                found["G060", text] = look_findings.unresolved_intent_told(text)
    return list(found.values())


def of_record(history: History, testsets: list[str]) -> Iterator[Finding]:
    """Yield the findings that are on record: about the ledger, settings that were loosened, looks that only an anchor saw."""
    for entry in history.entries:
        if entry.kind == "note" and Note.of(entry).states("code"):
            yield from _notes(Note.of(entry), testsets)
        elif entry.kind == "policy_change":
            change = PolicyChange.of(entry)
            if change.weaker and change.testset in testsets:
                yield ledger_findings.policy_weakened_recorded(change.weaker, change.testset)
        elif entry.kind == "recovered":
            look = Look.of(entry)
            if entry.replica == PLACE:
                yield ledger_findings.entry_quarantined_charged(look.why, look.testset, look.worst)
            elif history.is_missing(entry) and look.testset in testsets:
                what = "opened without a guard" if look.unguarded else "looked at beside this ledger"
                yield _kind(look.code).finding(f"{look.anchor} saw test set {look.testset[:8]} {what}")


def _notes(note: Note, testsets: list[str]) -> Iterator[Finding]:
    """Yield what a note says, unless it is about other rows."""
    if not note.states("testset") or note.testset in testsets:
        yield _kind(note.code).finding(f"{note.text} (noticed {str(note.at)[:10]})")


def _kind(code: str) -> FindingKind:
    known = catalogue()
    return known.get(code, known["G079"])  # a later version may have others


def of_time(history: History) -> Iterator[Finding]:
    """Entries that are dated before the one they follow."""
    last: dict[str, LedgerEntry] = {}
    for entry in sorted(history.entries, key=lambda entry: (entry.replica, entry.seq)):
        former = last.get(entry.replica)
        if not entry.brief.at:
            continue
        if former is not None and entry.brief.at < former.brief.at:
            yield ledger_findings.clock_backwards_out_of_order(entry.seq, entry.replica)
        last[entry.replica] = entry


# A ledger's facts about one test set: looks with their outcome, and notes about it.


@dataclass(frozen=True)
class StandingLook(PastLook):
    """A look, with what stands in place of its index, spending and interval where looks that did not know of it were merged."""

    superseded: LaterPlace | None = None


def looks(session: LedgerSession, testset: str) -> list[StandingLook]:
    """The looks at a test set, in their order."""
    history = History.of(session.ledger.entries())
    found = history.looks_at([testset])
    later = later_places(found, concurrent(history, testset, session.row_set))
    return [StandingLook(look.entry, look.status, look.end, instead) for look, instead in zip(found, later, strict=True)]


def notes(session: LedgerSession, exam: str) -> list[Note]:
    """List the notes about an exam, in the order in which they were recorded."""
    history = History.of(session.ledger.entries())
    return [note for note in map(Note.of, history.of_kind("note")) if note.exam == exam]
