"""Looks: decided under the locks of the ledger at hand and of the home's own, written into both."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from modelsel.core.types import Finding
from modelsel.guard.access.authorize import decide, position_of
from modelsel.guard.access.integrity import mark
from modelsel.guard.access.session import LedgerSession
from modelsel.guard.access.twin_sets import copy_all
from modelsel.guard.checks.look_context import LookContext
from modelsel.guard.checks.look_requests import ApprovedLook, PreparedLook, Refused, Replayed
from modelsel.guard.checks.pre_release import LookReview, noticed
from modelsel.guard.findings.ledger_state import entry_quarantined
from modelsel.guard.findings.rows import overlap_reseed
from modelsel.guard.history.entries import who
from modelsel.guard.history.history import History
from modelsel.guard.identity.fingerprints import RowFingerprints
from modelsel.guard.identity.requests import TestSetDeclaration
from modelsel.guard.matching.other_ledgers import OtherLedgers
from modelsel.guard.release.mechanisms import Released
from modelsel.ledger.database.store import WriteTransaction
from modelsel.ledger.entry import LedgerEntry


def decided(session: LedgerSession, ask: PreparedLook, under: RowFingerprints) -> ApprovedLook | Replayed | Refused:
    """Replay, refuse or record an intent, here and in the home: under the locks of both, the home's first."""
    if not session.apart:
        return session.ledger.write(lambda writing: decide(writing, asked_now(session, ask, ())))

    def outer(home: WriteTransaction) -> ApprovedLook | Replayed | Refused:
        here = session.memory is session.ledger
        asked = asked_now(session, ask, () if here else home.entries())
        done = decide(home, asked) if here else session.ledger.write(lambda writing: decide(writing, asked))
        _copy(session, home, ask.request.sealing, ask.subject, under)
        return done

    return session.memory.write(outer)


def remember(session: LedgerSession, sealing: TestSetDeclaration, subject: RowFingerprints, under: RowFingerprints) -> None:
    """Write what is on record of a sealing into the home, under its own key."""
    if session.apart:
        session.memory.write(lambda home: _copy(session, home, sealing, subject, under))
        mark(session.home, session.memory, session.memory.url)


def _copy(
    session: LedgerSession,
    home: WriteTransaction,
    sealing: TestSetDeclaration,
    subject: RowFingerprints,
    under: RowFingerprints,
) -> None:
    entries = home.entries() if session.memory is session.ledger else session.ledger.entries()
    mine = [entry for entry in entries if entry.replica == session.ledger.replica]
    copy_all(home, mine, subject, session.key, under, session.home.own(), session.policy, sealing)


def asked_now(session: LedgerSession, ask: PreparedLook, home: Sequence[LedgerEntry]) -> PreparedLook:
    """Return the question together with what other ledgers say now."""
    return replace(ask, elsewhere=elsewhere_now(session, ask.elsewhere, home), since=session.home.since)


def elsewhere_now(session: LedgerSession, elsewhere: OtherLedgers, home: Sequence[LedgerEntry]) -> OtherLedgers:
    """Return the home's and all shared ledgers as they are now, read under their locks."""
    entries = (entry for ledger in session.shared.ledgers for entry in History.of(ledger.entries()).entries)
    return replace(
        elsewhere,
        entries=(*History.of(home).entries, *entries),
        load=session.stored,
        ahead=session.ahead,
        unreached=session.shared.unreached,
        hashes=session.hashes,
    )


def noticed_beforehand(session: LedgerSession, ask: PreparedLook) -> tuple[Finding, ...]:
    """List the findings that a look would bring, without making the look."""

    def step(writing: WriteTransaction) -> tuple[Finding, ...]:
        history = History.of(writing.entries())
        position = position_of(writing, asked_now(session, ask, session.at_home()), history)
        sealing, keys = ask.request.sealing, ask.elsewhere.keys | {session.key.id}
        seen = LookReview(ask.subject, position, sealing.spec_id, {}, ask.metric, ask.measure, "", False, keys, who()["at"],
                    ask.leaks, session.home.since)  # fmt: skip
        return (*_of_these_rows(position, sealing), *noticed(seen))

    return session.ledger.write(step)


def reveal(session: LedgerSession, go: ApprovedLook, released: Released) -> Mapping[str, Any]:
    """Commit the answer; where another process resolved the same intent meanwhile, its answer stands."""
    limits = released.interval(go.facts["n"], go.facts["nats"]) if go.facts["certified"] else None
    facts = {"intent": go.facts["id"], "symbol": released.symbol, "score": released.score, "errors": released.errors,
             "price": released.price, "interval": limits, "released": asdict(released)}  # fmt: skip

    def step(writing: WriteTransaction) -> Mapping[str, Any]:
        for entry in writing.entries():
            mine = entry.kind == "reveal" and entry.replica == go.intent.replica
            if mine and entry.brief.get("intent") == go.facts["id"]:
                return entry.facts
        return writing.append("reveal", {**who(), **facts}).facts

    return session.ledger.write(step)


def contradicted(session: LedgerSession, intent: LedgerEntry) -> Finding:
    """Put it on record that the labels say something else than another person's answer."""
    found = entry_quarantined.contradicted(intent.facts["look"], intent.place)
    session.ledger.append("note", {**who(), "code": found.code, "text": found.message})
    return found


def _of_these_rows(position: LookContext, sealing: TestSetDeclaration) -> Iterator[Finding]:
    """Report that these very rows were sealed by another study, or looked at before, so that they are not fresh."""
    first, before = position.history.seals[position.digest].facts, len(position.past)
    if before or first["folder"] != sealing.folder:
        yield overlap_reseed.sealed_before(before, first["study"])
