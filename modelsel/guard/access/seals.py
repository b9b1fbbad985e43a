"""Seals: the first of some rows, what has changed since, and looks at them that only anchors remember."""

from collections.abc import Mapping

from modelsel.core.types import Finding
from modelsel.guard.access import choices
from modelsel.guard.access.integrity import recover_looks
from modelsel.guard.access.session import LedgerSession
from modelsel.guard.facts import Seal, SealTerms
from modelsel.guard.findings import ledger_findings
from modelsel.guard.fingerprints import RowFingerprints
from modelsel.guard.history.entries import CHOSEN, declared_space, origin, seal_facts, terms_of, weaker
from modelsel.guard.history.history import History
from modelsel.guard.history.statements import Statement
from modelsel.guard.history.stored_rows import keep, keep_all
from modelsel.guard.matching.overlap import RowSetIndex, relations
from modelsel.guard.requests import TestSetDeclaration
from modelsel.ledger.database.store import WriteTransaction
from modelsel.ledger.rows.screens import ScreenFolder


def seal(
    session: LedgerSession, sealing: TestSetDeclaration, subject: RowFingerprints, declaration: Mapping[str, str]
) -> list[Finding]:
    """The first seal of these rows, or what has changed since; where none are sealed, the rows that will choose."""
    terms = terms_of(session.policy, sealing)
    if not len(sealing.sealed):
        session.ledger.write(lambda writing: _opened_to_choose(session, writing, sealing, subject))
        return []
    missed = recall(session, subject)
    changed = session.ledger.write(lambda writing: _seal(session, writing, sealing, subject, terms, declaration))
    session.remember_how_far()
    return [*missed, *([ledger_findings.policy_weakened(changed)] if changed else [])]


def keep_screen(session: LedgerSession, sealing: TestSetDeclaration, under: RowFingerprints) -> None:
    """Keep what a table of other people's work is tried for these rows with; `under` are the rows as the home calls them."""
    ScreenFolder.of(session.home).keep(sealing.sealed, under.digest)


def _opened_to_choose(
    session: LedgerSession, writing: WriteTransaction, sealing: TestSetDeclaration, subject: RowFingerprints
) -> None:
    """Record development rows before they choose, where no row is sealed: the study may be broken off."""
    keep(writing, session.store, session.key, subject, "development")
    known = History.of(writing.entries()).selections
    if not any((one.brief.train, one.brief.spec_id) == (subject.train, sealing.spec_id) for one in known):
        facts = {"contact": choices.OPENED, "rows": subject.train, "n": len(subject.development.bound)}
        choices.note(writing, {**facts, "key_id": session.key.id, "study": sealing.study, "spec_id": sealing.spec_id})


def _seal(
    session: LedgerSession,
    writing: WriteTransaction,
    sealing: TestSetDeclaration,
    subject: RowFingerprints,
    terms: SealTerms,
    declaration: Mapping[str, str],
) -> list[str]:
    """Seal rows that were not sealed so before; return the names of terms that were loosened since."""
    history = History.of(writing.entries())
    off, known = terms.off, history.seals.get(subject.digest)
    first = known is None or (Seal.of(known).terms.off and not off)
    if first or _says_more(history, sealing, subject):
        facts = seal_facts(subject, sealing, terms, session.key.id, _space(session, sealing))
        writing.append("seal", {**facts, **declaration, **keep_all(writing, session.store, session.key, sealing, subject)})
    if first or off:
        return []
    policies = history.policies(subject.digest)
    changed = weaker(policies, terms)
    now = terms.written()
    fixed = now.keys() - CHOSEN
    if any(now[name] != value for name, value in policies[-1].part(fixed).items()):
        writing.append("policy_change", {**origin(), "testset": subject.digest, "terms": now, "weaker": changed})
    return changed


def _says_more(history: History, sealing: TestSetDeclaration, subject: RowFingerprints) -> bool:
    """Say whether it is said now that rows are not independent, in a way that no seal of them has on record."""
    said = Statement.of(sealing, subject)
    return bool(said.says) and said not in map(Statement.read, history.sealings([subject.digest]))


def _space(session: LedgerSession, sealing: TestSetDeclaration) -> int | None:
    """Count the declared candidates, and those that a search may ask for at most, as the policy says how."""
    declared, many = session.policy.declared_space, len(set(sealing.candidates)) + sealing.most
    if declared == "auto":
        return many or None
    return None if declared is None else declared_space(declared, many)


def recall(session: LedgerSession, subject: RowFingerprints) -> list[Finding]:
    """Looks that anchors saw and no ledger at hand knows; they are written into this one at their highest price."""
    found: list[Finding] = []
    for testset, n in _kin(session, subject).items():
        seen, unasked = session.witnesses.ask([testset])
        found += [*unasked, *recover_looks(session.ledger, testset, n, seen, session.elsewhere())]
    return list(dict.fromkeys(found))


def _kin(session: LedgerSession, subject: RowFingerprints) -> dict[str, int]:
    """Count the rows of this test set, and of those sealed here that share rows with it."""
    history = History.of(session.ledger.entries())
    met = relations(subject, RowSetIndex(history, session.stored_here, session.key, session.hashes))
    others = {one.testset: Seal.of(history.seals[one.testset]).n for one in met if one.testset in history.seals}
    return {subject.digest: len(subject.test.bound), **others}
