"""Records of choices: selections, models that are committed to, rows that were predicted."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from modelsel.core.types import Table
from modelsel.guard.access import contacts
from modelsel.guard.access.authorize import memory_of
from modelsel.guard.access.integrity import mark
from modelsel.guard.access.recording.looks import elsewhere_now
from modelsel.guard.access.session import LedgerSession
from modelsel.guard.history.entries import terms_of, who
from modelsel.guard.history.history import History
from modelsel.guard.history.stored_rows import keep_chosen
from modelsel.guard.identity.fingerprints import RowFingerprints
from modelsel.guard.identity.requests import SelectionSummary, TestSetDeclaration
from modelsel.guard.matching.other_ledgers import OtherLedgers, joined, related
from modelsel.ledger.database.store import WriteTransaction


def select(
    session: LedgerSession,
    sealing: TestSetDeclaration,
    subject: RowFingerprints,
    selected: SelectionSummary,
    predictions: str | None,
) -> None:
    """Record a study's choice and the rows it was made on, unless it stands there already."""
    facts = {"testset": subject.digest, "train": subject.train, "spec_id": sealing.spec_id, "study": sealing.study,
             "folder": sealing.folder, "key_id": session.key.id, **_measured(terms_of(session.policy, sealing)),
             **asdict(selected), **({"predictions": predictions} if predictions else {})}  # fmt: skip

    def step(writing: WriteTransaction) -> None:
        known = History.of(writing.entries()).selections
        mine = (one for one in known if (one.brief.get("train"), one.brief.get("spec_id")) == (subject.train, sealing.spec_id))
        if not any(all(entry.facts.get(name) == value for name, value in facts.items()) for entry in mine):
            writing.append(
                "selection", {**who(), **facts, **keep_chosen(writing, session.policy, session.key, sealing, subject)}
            )

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
        history = joined(History.of(writing.entries()), known, session.key.id)
        found = related(subject, memory_of(writing, history, session.key, known), known)
        charged = tuple(dict.fromkeys((subject.digest, *(one.testset for one in found if one.role == "test"))))
        done, past = history.commits_on(charged), history.looks_at(charged)
        index = 1 + len(done) + sum(1 for look in past if not look.facts.get("commit"))
        spent = sum(look.price for look in past)
        before = {(entry.facts["testset"], entry.facts["spec_id"], entry.facts["train"]) for entry in done}
        fresh = [one for one in spec_ids if (subject.digest, one, subject.train) not in before]
        for offset, spec_id in enumerate(fresh):
            facts = {"testset": subject.digest, "train": subject.train, "spec_id": spec_id, "look": index + offset,
                     "spent": spent, **_on_record(history, subject, spec_id)}  # fmt: skip
            writing.append("commit", {**who(), **facts, "study": sealing.study})

    session.ledger.write(step)
    session.remember_how_far()


def predicted(session: LedgerSession, table: Table, folder: str) -> None:
    """Put on record that rows were predicted: here, and in the home."""
    contacts.predicted(session.ledger, table, session.key, folder)
    if session.apart:
        contacts.predicted(session.memory, table, session.home.own(), folder)
        mark(session.home, session.memory, session.memory.url)
    session.remember_how_far()


def _measured(terms: Mapping[str, Any]) -> dict[str, Any]:
    return {"measure": terms["metric"], "measured": terms["measure"]}


def _on_record(history: History, subject: RowFingerprints, spec_id: str) -> dict[str, Any]:
    """The latest predictions of a study for these rows, and the measure that it chose by."""
    mine = (entry.facts for entry in history.selections if entry.brief["testset"] == subject.digest)
    noted = [facts for facts in mine if facts["spec_id"] == spec_id and facts.get("predictions")]
    return {"predictions": noted[-1]["predictions"], "measure": noted[-1]["measured"]} if noted else {}
