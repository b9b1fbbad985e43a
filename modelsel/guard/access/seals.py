"""Records beside looks: seals of rows and what has changed since, who chose on which rows, which rows were predicted."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypedDict

from modelsel.core.fingerprint import digest
from modelsel.core.types import Finding, Table
from modelsel.guard.access.authorize import memory_of
from modelsel.guard.access.integrity import mark, recover_looks
from modelsel.guard.access.looks import elsewhere_now
from modelsel.guard.access.session import LedgerSession
from modelsel.guard.entries import (
    CHOSEN,
    Statement,
    declared_space,
    keep,
    keep_all,
    keep_chosen,
    origin,
    seal_facts,
    terms_of,
    weaker,
)
from modelsel.guard.facts import Commitment, Note, PolicyChange, RecordedSelection, Seal, SealTerms
from modelsel.guard.findings import ledger_findings
from modelsel.guard.fingerprints import RowFingerprints
from modelsel.guard.history import History
from modelsel.guard.joining import OtherLedgers, join_histories
from modelsel.guard.matching import RowSetIndex, related_sets, relations
from modelsel.guard.quarantine import believed_entries
from modelsel.guard.requests import SelectionSummary, TestSetDeclaration
from modelsel.ledger.database.store import Ledger, WriteTransaction
from modelsel.ledger.entry import LedgerEntry
from modelsel.ledger.home import IdentityKey
from modelsel.ledger.rows.identity import bound_hashes, columns, set_digest
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
        contact = Note(
            contact=OPENED, rows=subject.train, n=len(subject.development.bound), key_id=session.key.id, study=sealing.study,
            spec_id=sealing.spec_id,
        )  # fmt: skip
        note(writing, contact)


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
        kept = keep_all(writing, session.store, session.key, sealing, subject)
        writing.append("seal", facts.but(**declaration, **kept).written())
    if first or off:
        return []
    policies = history.policies(subject.digest)
    changed = weaker(policies, terms)
    now = terms.written()
    fixed = now.keys() - CHOSEN
    if any(now[name] != value for name, value in policies[-1].part(fixed).items()):
        change = PolicyChange(**origin(), testset=subject.digest, terms=terms, weaker=changed)
        writing.append("policy_change", change.written())
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


# Choices: selections, and models that are committed to.


def select(
    session: LedgerSession,
    sealing: TestSetDeclaration,
    subject: RowFingerprints,
    selected: SelectionSummary,
    predictions: str | None,
) -> None:
    """Record a study's choice and the rows it was made on, unless it stands there already."""
    terms = terms_of(session.policy, sealing)
    chosen = RecordedSelection(
        testset=subject.digest, train=subject.train, spec_id=sealing.spec_id, study=sealing.study, folder=sealing.folder,
        key_id=session.key.id, measure=terms.metric, measured=terms.measure, winner=selected.winner,
        cv_mean=selected.cv_mean, cv_rows=selected.cv_rows, cv_error=selected.cv_error, tried=selected.tried,
        trained=selected.trained, **_search_end(sealing),
    )  # fmt: skip
    chosen = chosen.but(predictions=predictions) if predictions else chosen
    chosen = chosen.but(target=sealing.target) if sealing.target else chosen
    facts = chosen.written()

    def step(writing: WriteTransaction) -> None:
        known = History.of(writing.entries()).selections
        mine = (one for one in known if (one.brief.train, one.brief.spec_id) == (subject.train, sealing.spec_id))
        if not any(all(entry.facts.get(name) == value for name, value in facts.items()) for entry in mine):
            kept = keep_chosen(writing, session.store, session.key, sealing, subject)
            writing.append("selection", chosen.but(**origin(), **kept).written())

    session.ledger.write(step)
    session.remember_how_far()


def commit(
    session: LedgerSession,
    sealing: TestSetDeclaration,
    subject: RowFingerprints,
    spec_ids: Sequence[str],
    elsewhere: OtherLedgers,
) -> None:
    """Give studies the next free indices in the order given; each pays for what was spent until now.

    What is committed to are the predictions that the selection of each study put on record: an id alone fixes nothing.
    """

    def step(writing: WriteTransaction) -> None:
        known = elsewhere_now(session, elsewhere, () if session.memory is session.ledger else session.memory.entries())
        history = join_histories(History.of(writing.entries()), known, session.key.id)
        found = related_sets(subject, memory_of(writing, history, session.key, known), known)
        charged = tuple(dict.fromkeys((subject.digest, *(one.testset for one in found if one.role == "test"))))
        done, past = history.commits_on(charged), history.looks_at(charged)
        index = 1 + len(done) + sum(1 for look in past if not look.facts.commit)
        spent = sum(look.price for look in past)
        before = {(one.testset, one.spec_id, one.train) for one in map(Commitment.of, done)}
        fresh = [one for one in spec_ids if (subject.digest, one, subject.train) not in before]
        for offset, spec_id in enumerate(fresh):
            promise = Commitment(
                **origin(), testset=subject.digest, train=subject.train, spec_id=spec_id, look=index + offset, spent=spent,
                study=sealing.study, **_on_record(history, subject, spec_id),
            )  # fmt: skip
            writing.append("commit", promise.written())

    session.ledger.write(step)
    session.remember_how_far()


def record_predictions(session: LedgerSession, table: Table, folder: str) -> None:
    """Put on record that rows were predicted: here, and in the home."""
    record_prediction(session.ledger, table, session.key, folder)
    if session.apart:
        record_prediction(session.memory, table, session.own, folder)
        mark(session.home, session.memory, session.memory.url)
    session.remember_how_far()


class SearchEnd(TypedDict, total=False):
    """A search, and what it asked for."""

    searched: str | None
    named: str


class ChosenBy(TypedDict, total=False):
    """Predictions of a study for sealed rows, and the measure that it chose by."""

    predictions: str | None
    measure: str


def _search_end(sealing: TestSetDeclaration) -> SearchEnd:
    """The search that has named its candidates, and all of them by one digest: other ones are another entry."""
    return {"searched": sealing.searched, "named": digest(sorted(sealing.asked))} if sealing.asked else {}


def _on_record(history: History, subject: RowFingerprints, spec_id: str) -> ChosenBy:
    """The latest predictions of a study for these rows, and the measure that it chose by."""
    mine = (RecordedSelection.of(entry) for entry in history.selections if entry.brief.testset == subject.digest)
    noted = [one for one in mine if one.spec_id == spec_id and one.predictions]
    return {"predictions": noted[-1].predictions, "measure": noted[-1].measured} if noted else {}


# Contacts that choose nothing and read no label: a file that was opened to choose on, rows that were predicted.
#
# They are on record as information, each once, and make no row unclean: a note names the digest of the rows, and stores none of
# them. What chose is a selection, what used labels a look; this is what is left.

OPENED, PREDICTED = "opened", "predicted"
SAME = ("contact", "rows", "folder", "spec_id")  # what makes two contacts one


def rows_of(table: Table, key: IdentityKey) -> str:
    """The identity of a table's rows, as a seal of them would have it."""
    return set_digest(bound_hashes(columns(table), key), key)


def note(writing: WriteTransaction, contact: Note) -> None:
    """Put a contact on record, unless it is there."""
    same = (*contact.part(SAME).values(),)
    if same not in {(*note.part(SAME).values(),) for note in _contacts(believed_entries(writing.entries()))}:
        writing.append("note", contact.but(**origin()).written())


def record_prediction(ledger: Ledger, table: Table, key: IdentityKey, folder: str) -> None:
    """Put on record that a run's model predicted the rows of a table."""
    contact = Note(contact=PREDICTED, rows=rows_of(table, key), n=len(table), key_id=key.id, folder=folder)
    ledger.write(lambda writing: note(writing, contact))


def contacts(entries: Sequence[LedgerEntry]) -> list[Mapping[str, object]]:
    """List contacts, oldest first: what was done, when, by whom, with how many rows, and which sealed set these are."""
    sealed = {entry.brief.testset for entry in entries if entry.kind == "seal"}
    names = ("contact", "at", "user", "host", "n", "folder")
    return [{**note.part(names), "testset": note.rows if note.rows in sealed else None} for note in _contacts(entries)]


def _contacts(entries: Sequence[LedgerEntry]) -> Iterator[Note]:
    return (Note.of(entry) for entry in entries if entry.kind == "note" and entry.brief.contact)
