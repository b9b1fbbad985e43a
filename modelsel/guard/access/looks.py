"""Looks: decided under the locks of the ledger at hand and of the home's own, written into both."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from modelsel.core.outcome import TestResult
from modelsel.core.spec import kind_of
from modelsel.core.types import Finding
from modelsel.guard.access.authorize import decide, position_of
from modelsel.guard.access.integrity import mark
from modelsel.guard.access.session import LedgerSession
from modelsel.guard.checks.look_context import LookContext
from modelsel.guard.checks.look_requests import ApprovedLook, PreparedLook, Refused, Replayed
from modelsel.guard.checks.review import LookReview, review
from modelsel.guard.entries import keep_all, keep_chosen, note_of, origin, seal_facts, terms_of
from modelsel.guard.facts import Look, Reveal, Seal
from modelsel.guard.findings import ledger_findings, row_findings
from modelsel.guard.fingerprints import RowFingerprints
from modelsel.guard.history import History
from modelsel.guard.joining import OtherLedgers
from modelsel.guard.policy.base import FULL, Policy
from modelsel.guard.release import (
    CAPPED,
    QUANTILES,
    WITH_COUNT,
    LabelSummary,
    Released,
    count_limits,
    shown_point,
    shown_quantiles,
)
from modelsel.guard.requests import TestSetDeclaration
from modelsel.ledger.database.store import WriteTransaction
from modelsel.ledger.entry import LedgerEntry, follow
from modelsel.ledger.home import IdentityKey


def decide_everywhere(session: LedgerSession, ask: PreparedLook, under: RowFingerprints) -> ApprovedLook | Replayed | Refused:
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
    copy_all(home, mine, subject, session.key, under, session.own, sealing)


def asked_now(session: LedgerSession, ask: PreparedLook, home: Sequence[LedgerEntry]) -> PreparedLook:
    """Return the question together with what other ledgers say now."""
    return replace(ask, elsewhere=elsewhere_now(session, ask.elsewhere, home), since=session.home.since)


def elsewhere_now(session: LedgerSession, elsewhere: OtherLedgers, home: Sequence[LedgerEntry]) -> OtherLedgers:
    """Return the home's and all shared ledgers as they are now, read under their locks."""
    known = [History.of(home), *(History.of(ledger.entries()) for ledger in session.shared.ledgers)]
    charged, gone = session.lost_looks()
    return replace(
        elsewhere,
        entries=(*(entry for history in known for entry in history.entries), *charged),
        signers={replica: key for history in known for replica, key in history.signers.items()},
        load=session.row_set,
        ahead=session.ahead,
        unreached=(*session.shared.unreached, *session.unreadable, *gone),
        hashes=session.hashes,
    )


def noticed_beforehand(session: LedgerSession, ask: PreparedLook) -> tuple[Finding, ...]:
    """List the findings that a look would bring, without making the look or sealing the rows."""

    def step(writing: WriteTransaction) -> tuple[Finding, ...]:
        history = _if_sealed(session, ask, writing)
        position = position_of(writing, asked_now(session, ask, session.at_home()), history)
        sealing, keys = ask.request.sealing, ask.elsewhere.keys | {session.key.id}
        seen = LookReview(ask.subject, position, sealing.spec_id, {}, ask.metric, ask.measure, "", False, keys, origin()["at"],
                    ask.leaks, session.home.since, target=sealing.target)  # fmt: skip
        return (*_of_these_rows(position, sealing), *review(seen))

    return session.ledger.write(step)


def _if_sealed(session: LedgerSession, ask: PreparedLook, writing: WriteTransaction) -> History:
    """Return the history as it would be were the rows sealed now: nothing is written."""
    read, sealing = writing.entries(), ask.request.sealing
    history = History.of(read)
    if ask.subject.digest in history.seals:
        return history
    facts = seal_facts(ask.subject, sealing, terms_of(session.policy, sealing), session.key.id, None)
    return History(
        (*history.entries, follow(read.last(writing.replica), writing.replica, "seal", {**facts.written(), "id": "unwritten"}))
    )


def reveal(session: LedgerSession, go: ApprovedLook, released: Released) -> Reveal:
    """Commit the answer; where another process resolved the same intent meanwhile, its answer stands."""
    plan, units, nats = go.facts.plan, go.facts.units, go.facts.nats
    limits = released.interval(go.facts.n, nats, units, plan) if go.facts.certified else None
    facts = Reveal(
        intent=go.facts.id, symbol=released.symbol, score=released.score, errors=released.errors, price=released.price,
        interval=limits, released=released,
    )  # fmt: skip
    if released.above is not None:
        beyond = count_limits((released.above, released.above), go.facts.n, nats, units)
        facts = facts.but(above={"rows": released.above, "interval": beyond})

    if released.errors is not None and go.facts.metric.startswith(f"{CAPPED}:"):
        within = count_limits((released.errors, released.errors), go.facts.n, nats, units) if limits else None
        facts = facts.but(counted={"rows": released.errors, "interval": within})

    if released.places is not None and go.facts.quantiles is not None:
        facts = facts.but(quantiles=shown_quantiles(go.facts.quantiles, released.places) if limits else None)

    def step(writing: WriteTransaction) -> LedgerEntry:
        for entry in writing.entries():
            mine = entry.kind == "reveal" and entry.replica == go.intent.replica
            if mine and entry.brief.intent == go.facts.id:
                return entry
        return writing.append("reveal", facts.but(**origin()).written())

    return Reveal.of(session.ledger.write(step))


def note_contradiction(session: LedgerSession, intent: LedgerEntry) -> Finding:
    """Put it on record that the labels say something else than another person's answer."""
    found = ledger_findings.entry_quarantined_contradicted(Look.of(intent).look, intent.place)
    session.ledger.append("note", note_of(found).written())
    return found


def _of_these_rows(position: LookContext, sealing: TestSetDeclaration) -> Iterator[Finding]:
    """Report that these very rows were sealed by another study, or looked at before, so that they are not fresh."""
    first, before = Seal.of(position.history.seals[position.digest]), len(position.past)
    if before or first.folder != sealing.folder:
        yield row_findings.overlap_reseed_sealed_before(before, str(first.study))


# Each contact a second time: in the home's own ledger, under the home's own key, so that looking up needs one key.

COPIED = ("seal", "selection", "commit", "intent", "reveal", "abort")
NOT_ITS_OWN = ("id", "overlap", "seen", "candidates")  # of a copy: what names other entries of the ledger it was made in


def copy_all(
    writing: WriteTransaction,
    entries: Sequence[LedgerEntry],
    subject: RowFingerprints,
    made: IdentityKey,
    under: RowFingerprints,
    key: IdentityKey,
    sealing: TestSetDeclaration,
) -> None:
    """Write what is on record of a sealing (`subject`, by the key `made`) as the home calls it (`under`); once each.

    `entries` are those of the ledger at hand that this home wrote, `writing` the home's own: hashes of all rows go with them,
    whatever the ledger at hand stores.
    """
    copies = {entry.brief.copied: entry for entry in writing.entries() if entry.brief.mirror}
    intents = {e.brief.id: e for e in entries if e.kind == "intent" and e.brief.testset == subject.digest}
    for entry in entries:
        mine = entry.brief.testset == subject.digest or entry.brief.intent in intents
        mine = mine and (entry.kind != "selection" or entry.brief.train == subject.train)
        if entry.kind in COPIED and mine and not entry.brief.mirror and entry.hash not in copies:
            facts = {**_facts(entry, under, key), "mirror": {"hash": entry.hash, "key_id": made.id}}
            if entry.kind == "seal":
                facts |= keep_all(writing, FULL, key, sealing, under)
            elif entry.kind == "selection":
                facts |= keep_chosen(writing, FULL, key, sealing, under)
            elif entry.kind in ("reveal", "abort"):
                facts["intent"] = copies[intents[entry.brief.intent].hash].brief.id
            copies[entry.hash] = writing.append(entry.kind, facts)


def _facts(entry: LedgerEntry, under: RowFingerprints, key: IdentityKey) -> dict[str, object]:
    """Take over the facts of an entry that hold under the home's own key."""
    facts = entry.facts
    renamed = {
        "testset": under.digest, "train": under.train, "source": under.source, "names": list(under.names), "key_id": key.id,
        "charged": [under.digest], "predictions": "", "labels": "", "order": None,
    }  # fmt: skip
    return {name: renamed.get(name, value) for name, value in facts.items() if name not in NOT_ITS_OWN}


# Entries of the ledger as the result that a study reports.


def released_result(
    intent: Look, answer: Reveal, policy: Policy, replay: bool, extra: tuple[str, ...] = (), unseen: bool = False
) -> TestResult:
    """The released answer; a replay costs nothing and keeps its look, interval and spending, one that is `unseen` its price."""
    limits, repeated = answer.interval, replay and not unseen
    codes = () if repeated else tuple(finding.code for finding in intent.flags)
    units = answer.units if answer.states("units") else intent.units
    point = shown_point(answer.symbol, answer.score, limits)
    return TestResult(
        score=point.score, step=point.step, read_as=point.read_as,
        errors=answer.errors, n=intent.n, look=intent.look, replay=replay, unseen=unseen,
        unit=units.get("of", "groups") if units else "rows",
        units=(units["count"] if units else intent.n) if limits else None,
        price=0.0 if repeated else float(answer.price), spent=float(intent.spent),
        interval=(float(limits[0]), float(limits[1])) if limits else None, level=1 - intent.delta,
        policy=kind_of(policy), release=str(intent.release), flags=(*codes, *(code for code in extra if code not in codes)),
        cap=intent.plan.cap if intent.plan else None, above=answer.above, counted=answer.counted,
        beside=_quantiles_of(intent, answer),
    )  # fmt: skip


def _quantiles_of(intent: Look, answer: Reveal) -> dict[str, object] | None:
    """The quantiles of errors that stand beside a count, and where their grid ends; None without any."""
    if not answer.quantiles or intent.quantiles is None:
        return None
    return {"measure": QUANTILES, "quantiles": list(answer.quantiles), "cap": intent.quantiles["grid"][-1]}


def refusal_result(verdict: Refused, policy: Policy) -> TestResult:
    """Write a refusal as a test result."""
    return TestResult(
        score=None, errors=None, n=verdict.n, look=verdict.look, replay=False, price=0.0, spent=verdict.spent, interval=None,
        level=1 - verdict.delta, policy=kind_of(policy), release=verdict.release,
        flags=tuple(finding.code for finding in verdict.findings), refused=verdict.reason,
    )  # fmt: skip


def unguarded_result(found: LabelSummary, policy: Policy, metric: str, codes: tuple[str, ...]) -> TestResult:
    """Write an unguarded score as a test result: no look number, no price, no interval."""
    errors = found.errors if metric in WITH_COUNT else None
    return TestResult(
        score=found.score, errors=errors, n=found.n, look=0, replay=False, price=0.0, spent=0.0, interval=None,
        level=1 - policy.delta, policy=kind_of(policy), release="full", flags=codes,
    )  # fmt: skip
