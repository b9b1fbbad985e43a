"""Findings about a look that are made before labels are opened."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from modelsel.core.types import Finding
from modelsel.guard.checks.declared_space import STRANGER
from modelsel.guard.checks.look_context import LookContext
from modelsel.guard.facts import Commitment, Look
from modelsel.guard.findings import certificate_findings, ledger_findings, look_findings, row_findings
from modelsel.guard.fingerprints import RowFingerprints
from modelsel.guard.history.history import History, PastLook, differences
from modelsel.guard.history.quarantine import quarantine_charges
from modelsel.guard.matching.other_ledgers import WHOLE, seals_without_rows
from modelsel.ledger.entry import LedgerEntry

NEARLY = 0.98  # share from which a set is another one's with a row more or less: the count of looks says enough


@dataclass(frozen=True, eq=False)
class LookReview:
    """A look about to happen, and the past that it meets."""

    subject: RowFingerprints
    position: LookContext
    spec_id: str
    config: Mapping[str, object]
    metric: str
    measure: str  # its digest
    predictions: str
    relabelled: bool  # is it said that labels were corrected
    keys: frozenset[str]  # that rows were compared under
    at: str
    leaks: tuple[Finding, ...] = ()  # what the features alone show
    since: str = ""  # the day from which the home remembers
    sitting: bool = False  # an answer to an exam, where each is another model by somebody else

    @property
    def history(self) -> History:
        return self.position.history

    @property
    def same(self) -> tuple[PastLook, ...]:
        """Looks at these very rows (a few more or less)."""
        sets = [self.subject.digest, *(r.testset for r in self.position.looked if r.same)]
        return self.history.looks_at(sets)


def review(seen: LookReview) -> tuple[Finding, ...]:
    """All findings, the gravest kinds of memory first."""
    return tuple(
        finding for check in (_rows_seen, _looks, _measure, _space, _duplicates, _store) for finding in check(seen)
    )  # fmt: skip


def _rows_seen(seen: LookReview) -> Iterator[Finding]:
    """Report which of the rows were tested before, or helped to choose, and whether their table was split anew."""
    yield from _tables(seen)
    for relation in (one for one in seen.position.looked if not one.linked):
        if relation.channel in row_findings.PROBABLE_SAME_ROWS_CHANNELS:
            yield row_findings.probable_same_rows(relation.rows, seen.position.n, relation.testset, relation.channel)
        elif not relation.same or relation.share < NEARLY:
            yield row_findings.overlap_reseed(relation.rows, seen.position.n, relation.testset)
    for relation in seen.position.relations:
        if relation.role == "selection" and not relation.linked:
            yield row_findings.test_rows_in_earlier_selection(relation.rows, seen.position.n)
    source = [one for one in seen.history.seals.values() if one.brief.source == seen.subject.source]
    rows = [one for one in seen.position.relations[1:] if one.channel != WHOLE]
    if not rows and any(one.brief.testset != seen.subject.digest for one in source):
        yield row_findings.same_source_new_split()


def _tables(seen: LookReview) -> Iterator[Finding]:
    """Report tables that are this one, and those that share its design."""
    for testset in seen.position.designs:
        yield row_findings.shared_design(testset)
    for relation in seen.position.relations:
        if relation.linked and relation.channel != WHOLE:
            yield row_findings.probable_same_rows_same_table(relation.testset, relation.role)


def _looks(seen: LookReview) -> Iterator[Finding]:
    """Report earlier looks at these rows and what has changed since them."""
    if not seen.position.past:
        yield look_findings.first_look(seen.since)
    if seen.position.commit is not None:
        yield look_findings.committed_look(Commitment.of(seen.position.commit).look)
    if seen.position.outside:
        yield look_findings.outside_looks(seen.position.outside)
    revealed = [look for look in seen.same if look.status in ("revealed", "failed") and not look.facts.outside]
    other = [look for look in revealed if look.facts.spec_id != seen.spec_id]
    if other and seen.position.commit is None and not seen.sitting:
        keys = differences(other[-1].facts.config or {}, seen.config)
        yield look_findings.spec_changed_after_score(other[-1].facts.look, keys)
    yield from _asked_again(seen, revealed)
    if any(look.facts.metric == "labels" for look in seen.position.past):
        yield row_findings.labels_released_before()
    off = [look for look in seen.position.past if look.facts.off]
    if off:
        yield row_findings.unguarded_run_seen(len(off))
    if any(look.status == "open" and look.id not in seen.position.at_work for look in seen.position.past):
        yield look_findings.unresolved_intent()


def _asked_again(seen: LookReview, revealed: list[PastLook]) -> Iterator[Finding]:
    """Report the same study on other training rows, with other predictions, or on corrected labels."""
    if any(look.facts.spec_id == seen.spec_id and look.facts.train != seen.subject.train for look in revealed):
        yield look_findings.same_test_new_train()
    asked = [
        look for look in revealed if look.same_question(seen.subject.digest, seen.metric, seen.spec_id, seen.subject.train)
    ]
    if any(look.facts.predictions != seen.predictions for look in asked):
        yield look_findings.same_test_same_spec()
    if seen.relabelled and revealed:
        yield row_findings.labels_changed(revealed[-1].facts.look)


def _measure(seen: LookReview) -> Iterator[Finding]:
    """Report a measure other than the sealed one, once an answer is known: before that nothing can have suggested it."""
    sealed = seen.history.terms(seen.subject.digest)
    if seen.position.past and sealed.measure != seen.measure:
        yield ledger_findings.policy_weakened_other_measure(sealed.metric, seen.metric)


def _space(seen: LookReview) -> Iterator[Finding]:
    """Report whether the model is one of those declared."""
    space, declared = seen.position.space, seen.position.declared
    if declared and space is not None:
        yield certificate_findings.declared_model(space, declared.how)
    elif declared.why == STRANGER and space is not None:
        yield certificate_findings.outside_declared_space(space)
    elif space is not None and seen.position.past:
        yield certificate_findings.outside_declared_space_not_as_declared(declared.why)


def _duplicates(seen: LookReview) -> Iterator[Finding]:
    """Report test rows that stand among the development rows, and other leaks."""
    rows = int(seen.subject.duplicated.sum())
    if rows:
        yield row_findings.train_test_duplicates(rows, seen.position.n, seen.subject.identifiable)
    yield from seen.leaks


def _store(seen: LookReview) -> Iterator[Finding]:
    """Report the state of the ledger: unknown keys, quarantined entries, a clock that ran back."""
    known = {e.brief.copied for e in seen.history.seals.values() if e.brief.mirror}
    strangers = {e.brief.key_id for e in seen.history.seals.values() if e.hash not in known} - seen.keys
    if strangers:
        yield ledger_findings.key_gap(len(strangers))
    unkept = [
        one for one in seals_without_rows(seen.history, seen.keys, seen.subject.digest) if not _recognisable(one, seen.subject)
    ]
    if unkept:
        yield ledger_findings.key_gap_no_rows(len(unkept))
    for look in map(Look.of, quarantine_charges(seen.history.entries)):
        if look.testset in ("", *seen.position.charged):
            yield ledger_findings.entry_quarantined(look.why)
    if seen.history.latest > seen.at:
        yield ledger_findings.clock_backwards()


def _recognisable(seal: LedgerEntry, subject: RowFingerprints) -> bool:
    """Say whether a sealed table whose rows are not kept would be known again as a whole."""
    return bool(seal.brief.portrait and subject.portrait) or seal.brief.source == subject.source
