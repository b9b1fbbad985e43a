"""What other code did with sealed rows, on record: outside looks, and sealed rows that were fitted on.

An outside look is an intent and its reveal in one step, before the number is returned. What it told nobody can say, so it has
no price, and while it is on record nothing at its rows is certified (`checks.look_context`). Fitting on sealed rows is a
selection: rows that helped to choose are not clean. No label is read or kept; of predictions a keyed digest.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from modelsel.core.fingerprint import short
from modelsel.core.types import Finding
from modelsel.guard.access.apart import nothing_shown
from modelsel.guard.access.integrity import mark
from modelsel.guard.access.session import LedgerSession
from modelsel.guard.entries import note_of, origin
from modelsel.guard.facts import Look, Reason, RecordedSelection, Seal
from modelsel.guard.findings import look_findings
from modelsel.guard.history import History
from modelsel.ledger.database.store import WriteTransaction
from modelsel.ledger.entry import LedgerEntry, heads

OUTSIDE = "outside"  # in place of a policy and of a release


@dataclass(frozen=True)
class OutsideScore:
    """A score that is about to be computed: by which metric, on predictions of which estimator, in which program."""

    testset: str
    rows: int
    metric: str
    predictions: str
    estimator: str
    program: str


@dataclass(frozen=True)
class OutsideFit:
    """A fit on sealed rows: how many of how many rows, by which estimator, in which program."""

    testset: str
    rows: int
    n: int
    estimator: str
    program: str


def look(session: LedgerSession, score: OutsideScore) -> Finding | None:
    """Put an outside look on record; None where a score of these very predictions stands there."""

    def step(writing: WriteTransaction) -> LedgerEntry | None:
        history = History.of(writing.entries())
        past = history.looks_at([score.testset])
        if any(one.facts.outside and one.facts.predictions == score.predictions for one in past):
            return None
        count = 1 + sum(one.facts.outside for one in past)
        found = look_findings.outside_look(score.metric, score.rows, _name(history, score.testset), count)
        intent = writing.append("intent", _intent(history, score, found).written())
        writing.append("reveal", nothing_shown(Look.of(intent).id, OUTSIDE, 0.0).written())
        return intent

    intent = session.memory.write(step)
    if intent is None:
        return None
    mark(session.home, session.memory, session.memory.url)
    session.witnesses.tell(_witness_facts(session, intent))
    return Look.of(intent).flags[0]


def fit(session: LedgerSession, fitted: OutsideFit, found: Finding) -> bool:
    """Put it on record that sealed rows were fitted on; False where this program's doing so stands there."""

    def step(writing: WriteTransaction) -> bool:
        history = History.of(writing.entries())
        seal = Seal.of(history.seals[fitted.testset])
        spec_id = _spec(fitted.program, found.code)
        if any(
            (one.testset, one.spec_id) == (fitted.testset, spec_id) for one in map(RecordedSelection.of, history.selections)
        ):
            return False
        writing.append("note", note_of(found).but(testset=fitted.testset).written())
        selection = RecordedSelection(
            **origin(), testset=fitted.testset, train=fitted.testset, spec_id=spec_id, study=fitted.program,
            folder="", key_id=seal.key_id, winner=fitted.estimator, cv_mean=None, cv_rows=0, cv_error=None,
            tried=0, trained=1.0, outside=True, measure=OUTSIDE, measured="", development=seal.rows,
        )  # fmt: skip
        writing.append("selection", selection.written())
        return True

    fresh = session.memory.write(step)
    mark(session.home, session.memory, session.memory.url)
    return fresh


def names(session: LedgerSession, testsets: Sequence[str]) -> dict[str, str]:
    """Name the sealed sets that are on record."""
    history = History.of(session.memory.entries())
    return {testset: _name(history, testset) for testset in testsets if testset in history.seals}


def strict(session: LedgerSession, testset: str) -> bool:
    """Say whether some rows were sealed under a policy that refuses."""
    history = History.of(session.memory.entries())
    return any(terms.policy == "strict" for terms in history.policies(testset))


def _name(history: History, testset: str) -> str:
    seal = history.seals.get(testset)
    return f"{Seal.of(seal).study or 'unnamed'}, test set {testset[:8]}" if seal else f"test set {testset[:8]}"


def _spec(*said: str) -> str:
    return short([OUTSIDE, *said])


def _intent(history: History, score: OutsideScore, found: Finding) -> Look:
    """The facts of an outside look."""
    past = history.looks_at([score.testset])
    return Look(
        **origin(), testset=score.testset, train="", metric=score.metric,
        spec_id=_spec(score.program, score.predictions), predictions=score.predictions,
        justify=Reason(), study=score.program, folder="", config={},
        winner=score.estimator, cv_mean=None, cv_rows=0, cv_error=None, n=score.rows, n_clean=score.rows,
        certified=False, look=1 + len(past), spent=sum(one.price for one in past), space=None, member=False,
        worst=0.0, delta=0.05, release=OUTSIDE, policy=OUTSIDE, commit=None, overlap=(), charged=[score.testset],
        seen={replica: entry.seq for replica, entry in heads(history.entries).items()}, flags=(found,), outside=True,
    )  # fmt: skip


def _witness_facts(session: LedgerSession, intent: LedgerEntry) -> dict[str, str]:
    """The facts of a look as anchors are told."""
    last, facts = session.memory.entries().last(session.memory.replica), Look.of(intent)
    assert last is not None  # the intent is there
    return {"ledger": session.memory.id, "testset": facts.testset, "look": str(facts.look), "spent": f"{facts.spent:.6f}",
            "n": str(facts.n), "head": last.place, "policy": OUTSIDE, "key": session.own.id}  # fmt: skip
