"""Findings about a look: before labels are opened, then from the released answer and the selection together."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np

from modelsel.core.outcome import Number
from modelsel.core.spec import kind_of
from modelsel.core.types import ClassTask, Finding
from modelsel.guard.checks.declared_space import STRANGER
from modelsel.guard.checks.look_context import FEWEST, LookContext
from modelsel.guard.checks.other_target import by_other_target, found_by_target
from modelsel.guard.facts import Commitment, Look, RecordedSelection
from modelsel.guard.findings import certificate_findings, ledger_findings, look_findings, row_findings
from modelsel.guard.fingerprints import RowFingerprints
from modelsel.guard.history import History, PastLook, differences
from modelsel.guard.matching import WHOLE, seals_without_rows
from modelsel.guard.policy.base import Policy
from modelsel.guard.quarantine import quarantine_charges
from modelsel.guard.release import COUNTED, Released
from modelsel.guard.requests import LookRequest
from modelsel.ledger.entry import LedgerEntry
from modelsel.statistics.bounds import agnostic_excess, best_of
from modelsel.statistics.certificate import NO_INFORMATION
from modelsel.statistics.prices import error_count_distribution

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
    target: str = ""  # its name

    @property
    def history(self) -> History:
        return self.position.history

    @property
    def same(self) -> tuple[PastLook, ...]:
        """Looks at these very rows (a few more or less)."""
        sets = [self.subject.digest, *(r.testset for r in self.position.looked if r.same)]
        said = any(relation.declared for relation in self.position.relations)
        return tuple(look for look in self.history.looks_at(sets) if not by_other_target(look, self.target, said))


def review(seen: LookReview) -> tuple[Finding, ...]:
    """All findings, the gravest kinds of memory first."""
    return tuple(
        finding for check in (_rows_seen, _looks, _measure, _space, _duplicates, _store) for finding in check(seen)
    )  # fmt: skip


def _rows_seen(seen: LookReview) -> Iterator[Finding]:
    """Report which of the rows were tested before, or helped to choose, and whether their table was split anew."""
    yield from found_by_target(seen.position, seen.target)
    yield from _tables(seen)
    for relation in (one for one in seen.position.looked if not one.linked and one.other is None):
        if relation.channel in row_findings.PROBABLE_SAME_ROWS_CHANNELS:
            yield row_findings.probable_same_rows(relation.rows, seen.position.n, relation.testset, relation.channel)
        elif not relation.same or relation.share < NEARLY:
            yield row_findings.overlap_reseed(relation.rows, seen.position.n, relation.testset)
    for relation in seen.position.relations:
        if relation.role == "selection" and not relation.linked and relation.other is None:
            yield row_findings.test_rows_in_earlier_selection(relation.rows, seen.position.n)
    source = [one for one in seen.history.seals.values() if one.brief.source == seen.subject.source]
    rows = [one for one in seen.position.relations if one.channel != WHOLE and not one.same]  # not these very rows, by any name
    if not rows and not seen.position.complete and any(one.brief.testset != seen.subject.digest for one in source):
        yield row_findings.same_source_new_split()


def _tables(seen: LookReview) -> Iterator[Finding]:
    """Report tables that are this one, and those that share its design."""
    for testset in seen.position.designs:
        yield row_findings.shared_design(testset)
    for relation in seen.position.relations:
        if relation.linked and relation.channel != WHOLE and relation.other is None:
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
    if rows and row_findings.TRAIN_TEST_DUPLICATES.code not in {finding.code for finding in seen.leaks}:
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


# From the released answer and the selection; nothing beyond what is released or recorded is used.


IMPLAUSIBLE = 0.01
LEVEL = 0.05


def count_candidates(history: History, train: str) -> int:
    """Candidates of all studies that chose on these development rows, each study counted once."""
    by_study = {
        one.spec_id: int(one.tried)
        for one in (RecordedSelection.of(entry) for entry in history.selections if entry.brief.train == train)
    }
    return sum(by_study.values())


def selection(request: LookRequest, history: History, subject: RowFingerprints) -> Iterator[Finding]:
    """G040: so many candidates that the best of them may owe its lead to chance: √((ln K + ln 1/δ) / 2m) ≥ the lead.

    That bounds plain error rates. Where another measure decides, the winner need not lead by errors, and nothing is said;
    nor of numbers, where the floor at a tolerance is not known.
    """
    count, chosen, sealing = count_candidates(history, subject.train), request.selected, request.sealing
    task, error = sealing.development, chosen.cv_error if kind_of(sealing.measure) == "error" else None
    if error is None or not isinstance(task, ClassTask) or task.weights is not None or count < 2 or chosen.cv_rows < 1:
        return
    lead = majority_error(task) - error
    margin = sqrt((log(count) + log(1 / LEVEL)) / (2 * chosen.cv_rows))
    if margin >= lead:
        yield certificate_findings.too_many_candidates(count, chosen.cv_rows, margin, lead)


def answer(
    released: Released, intent: Look, told: tuple[float, int] | None, limits: Sequence[float] | None,
    policy: Policy, trained: float = 1.0,
) -> Iterator[Finding]:  # fmt: skip
    """G041, G050, G051, G052: what the answer to an intent and its interval say themselves.

    Models of folds had a share of the rows, `trained`. With all of them errors fall at most in proportion (the fast rate 1/n of
    learning curves), and a test that is better by no more than that accuses nobody.
    """
    n = intent.n
    if released.errors is not None and told is not None and not (intent.units or intent.withheld):
        rate = told[0] * trained
        p = float(np.sum(error_count_distribution(n, rate, told[1])[: released.errors + 1]))
        if p < IMPLAUSIBLE:
            yield certificate_findings.test_better_than_cv(released.errors, n * rate, p)
    if limits is None:
        yield _why_uncertified(intent)
        return
    half = (limits[1] - limits[0]) / 2 / abs(intent.plan.width if intent.plan else 1.0)
    if half >= NO_INFORMATION:
        yield (
            certificate_findings.budget_exhausted_too_few_rows()
            if intent.look == 1
            else certificate_findings.budget_exhausted()
        )
    elif policy.max_halfwidth is not None and half > 0.8 * policy.max_halfwidth:
        yield certificate_findings.budget_low(half, policy.max_halfwidth)


def _why_uncertified(intent: Look) -> Finding:
    """G052: what takes the interval away, and what to do about that one."""
    clean, n = intent.n_clean or 0, intent.n
    if intent.withheld:
        return certificate_findings.not_certified_withheld(intent.withheld)
    if any(flag.code == look_findings.OUTSIDE_LOOK.code for flag in intent.flags):
        return certificate_findings.not_certified_outside()
    if not intent.certified:
        return (
            certificate_findings.not_certified_too_few_clean(clean, n, FEWEST)
            if clean < FEWEST
            else certificate_findings.not_certified_shared_unknown()
        )
    if intent.release == "thresholdout":
        return certificate_findings.not_certified_by_thresholdout()
    return certificate_findings.not_certified(intent.metric, str(intent.release))


def majority_error(task: ClassTask) -> float:
    """The error of always predicting the commonest class."""
    return 1 - float(np.bincount(task.target).max()) / len(task)


def log_most_candidates(rows: int, tolerance: float) -> float:
    """ln of how many candidates a validation set of m rows carries: 2 m τ² − ln 1/δ (the number itself is soon no float).

    >>> round(log_most_candidates(1000, 0.05), 4), round(log_most_candidates(200_000, 0.05))
    (2.0043, 997)
    """
    return 2 * rows * tolerance**2 - log(1 / LEVEL)


# The effort of selection on a test set's development rows: how many candidates were tried, and the luck that allows.

TOLERANCE = 0.05  # of the error rate, for the number of candidates that the rows carry
MOST = 10**15  # beyond, nobody counts


def choices(history: History, testset: str) -> Mapping[str, Number] | None:
    """Count candidates of all studies, each study once; None where nobody chose.

    All of error rates. `bound`: half width that holds for all of them at once, √((ln K + ln 1/δ) / 2m); `luck`: by how much the
    best of K equally good ones is expected to look better (None where another measure decided); `carried`: how many candidates
    m rows carry within ±.05 (10^15 stands for more). With folds instead of one validation set they are heuristics.
    """
    chosen = (one for one in map(RecordedSelection.of, history.selections_for(testset)) if not one.outside)
    studies = {one.spec_id: one for one in chosen}
    tried, last = sum(int(one.tried) for one in studies.values()), next(reversed(studies.values()), None)
    if last is None or tried < 1 or int(last.cv_rows) < 1:
        return None
    rows, rate = int(last.cv_rows), _rate(last)
    luck = None if rate is None else best_of(tried) * (rate * (1 - rate) / rows) ** 0.5
    return {"candidates": tried, "rows": rows, "bound": agnostic_excess(tried, rows, LEVEL), "luck": luck,
            "carried": _most_candidates(rows)}  # fmt: skip


def _most_candidates(rows: int) -> int:
    return int(min(float(MOST), exp(min(log_most_candidates(rows, TOLERANCE), 40.0))))


def _rate(chosen: RecordedSelection) -> float | None:
    """Return the error rate of the winner, where error rates decided."""
    error = chosen.cv_error if chosen.measure in COUNTED else None
    return float(error) if isinstance(error, int | float) and 0 <= error <= 1 else None
