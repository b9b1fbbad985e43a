"""Answers about the labels alone, those of an exam's close, and what `guard=off` shows."""

import secrets
from collections.abc import Sequence
from itertools import combinations
from math import exp, log

import numpy as np

from modelsel.core.spec import kind_of
from modelsel.core.types import Booleans, Finding, Floats, Targets, Task
from modelsel.guard.access.authorize import memory_of, position_of
from modelsel.guard.access.looks import asked_now
from modelsel.guard.access.session import AnchorSet, LedgerSession
from modelsel.guard.checks.look_context import LookContext, terms_for
from modelsel.guard.checks.look_requests import PreparedLook, metric_of
from modelsel.guard.entries import intent_to_burn, origin
from modelsel.guard.facts import Look, PairVerdict, Reason, Reveal, StatedAnswer
from modelsel.guard.findings import look_findings
from modelsel.guard.fingerprints import RowFingerprints
from modelsel.guard.history import History, PastLook
from modelsel.guard.labels import truth, wrong
from modelsel.guard.matching import RowSetIndex, relations
from modelsel.guard.release import (
    COUNTED,
    WITH_COUNT,
    Counts,
    LabelSummary,
    ReleaseMechanism,
    ScoreGridRelease,
    UnitBound,
    bounds_of,
)
from modelsel.guard.requests import Handed, LookRequest, TestSetDeclaration
from modelsel.ledger.database.store import WriteTransaction
from modelsel.ledger.entry import LedgerEntry, heads
from modelsel.statistics import prices
from modelsel.statistics.certificate import index_weight


def burn(session: LedgerSession, sealing: TestSetDeclaration, subject: RowFingerprints) -> list[Finding]:
    """Record a look that releases all labels, at all that they can say."""
    price = len(subject.test.bound) * all_of_a_label(sealing.development)

    def step(writing: WriteTransaction) -> LedgerEntry:
        facts = intent_to_burn(subject, sealing, price, History.of(writing.entries()))
        intent = writing.append("intent", facts.written())
        writing.append("reveal", nothing_shown(Look.of(intent).id, "labels", price).written())
        return intent

    return session.witness(session.ledger.write(step), price)


def record_intent(
    session: LedgerSession, sealing: TestSetDeclaration, subject: RowFingerprints, metric: str, price: float
) -> LedgerEntry:
    """Write the intent of an answer that is about the labels alone, without predictions."""

    def step(writing: WriteTransaction) -> LedgerEntry:
        facts = intent_to_burn(subject, sealing, price, History.of(writing.entries()))
        return writing.append("intent", facts.but(metric=metric, release=metric, policy=metric, flags=()).written())

    return session.ledger.write(step)


def nothing_shown(intent: str, symbol: str, price: float) -> Reveal:
    """A reveal without a score of its own."""
    return Reveal(
        **origin(), intent=intent, symbol=symbol, price=price, score=None, errors=None, interval=None, released=None
    )  # fmt: skip


def record_answer(session: LedgerSession, intent: LedgerEntry, symbol: str, price: float, **shown: object) -> Reveal:
    """Record the answer to such an intent before it is shown."""
    facts = nothing_shown(Look.of(intent).id, symbol, price).but(**shown)
    answer = Reveal.of(session.ledger.append("reveal", facts.written()))
    session.witness(intent, answer.price)
    return answer


def close(
    session: LedgerSession, ask: PreparedLook, handed: Sequence[Handed], delta: float, share: float
) -> tuple[LedgerEntry, Reveal | None]:
    """The intent of closing an exam, once; with what was shown, where that has been done."""

    def step(writing: WriteTransaction) -> tuple[LedgerEntry, Reveal | None]:
        history = History.of(writing.entries())
        exam = ask.request.sealing.spec_id
        closings = (look for look in history.looks_at([ask.subject.digest]) if look.facts.metric == CLOSING)
        known = [look for look in closings if look.facts.spec_id == exam]
        if known:
            return known[0].entry, known[0].answer if known[0].end else None
        position = position_of(writing, asked_now(session, ask, session.at_home()), history)
        return writing.append("intent", closing_intent(ask, position, handed, delta, share).written()), None

    return session.ledger.write(step)


def open_unguarded(
    session: LedgerSession, request: LookRequest, subject: RowFingerprints, predictions: str, score: float | None = None
) -> LedgerEntry | None:
    """Put an unguarded look on record before labels are opened; None where the same number was shown before."""

    def step(writing: WriteTransaction) -> LedgerEntry | None:
        history = History.of(writing.entries())
        facts = unguarded_intent(request, subject, predictions, memory_of(writing, history, session.key), score)
        return writing.append("intent", facts.written()) if facts else None

    return session.ledger.write(step)


def close_unguarded(
    session: LedgerSession, intent: LedgerEntry, found: LabelSummary, sealing: TestSetDeclaration
) -> list[Finding]:
    """Record the number that `guard=off` is about to show."""
    session.ledger.append("reveal", unguarded_reveal(Look.of(intent), found, sealing).written())
    return session.witness(intent, Look.of(intent).worst)


def tell_unremembered(session: LedgerSession, study: str) -> list[Finding]:
    """Say in `modelsel.lock` that nothing was kept of a study."""
    return AnchorSet(session.anchors, "").note_unremembered(study, origin()["at"])  # no key is made for it


def witness_unguarded(session: LedgerSession, subject: RowFingerprints) -> list[Finding]:
    """Tell the anchors of rows that were opened without a guard."""
    facts = {"ledger": "none", "testset": subject.digest, "look": "0", "spent": "0", "n": str(len(subject.test.bound)),
             "head": f"unguarded:0:{secrets.token_hex(16)}", "policy": "off", "key": session.key.id}  # fmt: skip
    return session.witnesses.tell(facts)


# Release all answers of an exam when it is closed: each answer's count at its own index, and verdicts of pairs, in one look.
#
# Each answer's predictions were fixed at index t, when s nats were spent, so its count is tested at level δ w_t e^−s, whatever
# is shown besides (the nodes of the tree are the same). Where nothing was shown before, k answers share the level of the one
# index of the close: δ w_t e^−s / k. Where a study declared a space of models for these rows, half of δ is that space's, as at
# every look. A later answer j is compared with each of the j − 1 before it by an exact sign test of the rows on which one is
# right and the other wrong, on a share of δ of its own:
#
#     j differs from i   iff   P(Bin(b + c, 1/2) ≤ min(b, c)) ≤ δ' w_t e^−s / (2 (j − 1))
#
# b and c are not shown: at the threshold one row of them would tell that row's label. Where rows are dropped (public ones, or
# such that were tested before) no pair is compared: a verdict would say who knew them.

CLOSING = "closing"  # in place of a measure
VERDICTS = ("cannot be told apart", "fewer errors", "more errors")


def closing_intent(ask: PreparedLook, position: LookContext, handed: Sequence[Handed], delta: float, share: float) -> Look:
    """The intent: which answers will be shown, and where each stands."""
    standing = position.standing
    alone = -log(index_weight(standing.look)) + standing.spent + log(max(1, len(handed)))
    every = bool(position.rows.all())
    fresh, delta = every and position.certified, min(delta, terms_for(position).delta)
    answers = tuple(
        StatedAnswer(name=one.name, base=alone if one.base is None else one.base, certified=one.certified and fresh)
        for one in handed
    )  # fmt: skip
    n = len(position.rows)
    channels = len(handed) * _channel(ask, n).worst + len(handed) * (len(handed) - 1) / 2 * log(len(VERDICTS))
    return Look(
        **origin(), testset=position.digest, train=ask.subject.train, metric=CLOSING, config={},
        spec_id=ask.request.sealing.spec_id, predictions="", study=ask.request.sealing.study, justify=None,
        folder=ask.request.sealing.folder, n=n, n_clean=int(position.clean.sum()), certified=position.certified,
        look=standing.look, spent=standing.spent, space=standing.space, worst=channels,
        delta=delta, share=share, units=position.sizes(ask.likely[0], log(2 / delta) + alone),
        release=CLOSING, policy=kind_of(ask.policy), flags=(), charged=list(position.charged),
        seen={}, answers=answers, counted=ask.counted, whole=every,
    )  # fmt: skip


def closing_answers(
    ask: PreparedLook, facts: Look, handed: Sequence[Handed], labels: tuple[tuple[str, ...], Targets, Floats | None]
) -> tuple[float, tuple[StatedAnswer, ...], tuple[PairVerdict, ...]]:
    """Release the error counts of all answers and verdicts of pairs, with their price."""
    n, price, shown, masks = facts.n, 0.0, [], []
    channel, rows, measure = _channel(ask, n), np.ones(n, bool), ask.request.sealing.measure
    halved = log(2) if facts.space is not None else 0.0
    for one, stated in zip(handed, facts.answers, strict=True):
        released = channel.release(truth(measure, one.outputs, labels, rows))
        nats = log(2 * channel.numbers / facts.delta) + halved + stated.base
        limits = released.interval(n, nats, facts.units) if stated.certified else None
        price += released.price
        shown.append(StatedAnswer(name=one.name, score=released.score, errors=released.errors, interval=limits))
        masks.append(wrong(measure, one.outputs, labels[1], len(labels[0])))
    verdicts = _verdicts(facts, masks) if ask.counted and facts.certified and facts.whole else []
    price += len(verdicts) * log(len(VERDICTS))
    return price, tuple(shown), tuple(verdicts)


def _verdicts(facts: Look, masks: Sequence[Booleans]) -> list[PairVerdict]:
    """Compare every two answers on the rows where one of them errs: by the sign test, or over units."""
    found = []
    for first, later in combinations(range(len(masks)), 2):
        better, worse = int((masks[first] & ~masks[later]).sum()), int((masks[later] & ~masks[first]).sum())
        level = facts.share * exp(-facts.answers[later].base) / (2 * later)
        p = _chance(better, worse, facts.n, facts.units)
        alike = p > level or better == worse
        said = VERDICTS[0 if alike else 1 if better > worse else 2]
        names = [facts.answers[place].name for place in (later, first)]
        found.append(PairVerdict(answer=names[0], beside=names[1], says=said))
    return found


def _chance(better: int, worse: int, n: int, units: UnitBound | None) -> float:
    """The probability of so large a difference between equals; over units a bound of it.

    A row counts ½ where both are right or wrong, 1 where the later answer alone errs and 0 where the first does: a loss in
    [0, 1] whose mean is ½ between equals, which an interval for units either holds or not (`count_limits`).
    """
    if units is None:
        from scipy.stats import binom

        return float(binom.cdf(min(better, worse), better + worse, 0.5))
    from scipy.special import rel_entr

    apart = abs(better - worse) / (2 * n)
    chernoff = float(rel_entr(0.5 + apart, 0.5) + rel_entr(0.5 - apart, 0.5))
    nats = chernoff if units["method"] == "chernoff" else 2 * apart**2
    return exp(-float(units["effective"]) * nats)


def _channel(ask: PreparedLook, n: int) -> ReleaseMechanism:
    """Choose the release of closing: exact counts, or scores on a grid."""
    if ask.counted:
        return Counts(n, None)
    measure = ask.request.sealing.measure
    return ScoreGridRelease(kind_of(measure), n, n, bounds_of(measure), None, None)


# Record the number that `guard=off` shows as a look at its full price, which later looks pay for.
#
# Price: ln(n + 1) for an error count; 64 ln 2 for any other score, of which at most 2⁶⁴ can be told apart; together at most
# n ln C, or n 64 ln 2 for numbers, which is all that labels can say.

FLOAT = 64 * log(2)


def full_price(sealing: TestSetDeclaration) -> float:
    """Price of the score and the count that `off` shows: the most nats that they can tell.

    Three classes and ten rows: no more than 10 ln 3.
    """
    n, kind = len(sealing.sealed), kind_of(sealing.measure)
    plain = kind in COUNTED and sealing.development.weights is None
    said = (prices.full(n) if kind in WITH_COUNT else 0.0) + (0.0 if plain else FLOAT)
    return min(said, n * all_of_a_label(sealing.development))


def all_of_a_label(task: Task) -> float:
    """The most nats that the target of a row can tell: ln C for one of C classes, 64 ln 2 for a number, a double."""
    return log(max(2, task.class_count)) if task.kind == "classes" else FLOAT


def unguarded_intent(
    request: LookRequest, subject: RowFingerprints, predictions: str, memory: RowSetIndex, score: float | None = None
) -> Look | None:
    """The intent of an unguarded look; None where this very number (where it is known: this `score`) was shown before."""
    history, sealing, selected = memory.history, request.sealing, request.selected
    metric = metric_of(sealing.measure)
    asked = (metric, predictions, len(sealing.sealed))
    if any(_was_shown(look, asked, score) for look in history.looks_at([subject.digest])):
        return None
    kin = [one for one in relations(subject, memory) if one.role == "test"]
    past = history.looks_at((subject.digest, *(one.testset for one in kin)))
    n, price = len(sealing.sealed), full_price(sealing)
    return Look(
        **origin(), testset=subject.digest, train=subject.train, metric=metric, spec_id=sealing.spec_id,
        predictions=predictions, justify=Reason(), study=sealing.study, folder=sealing.folder,
        config=sealing.config, winner=selected.winner, cv_mean=selected.cv_mean, cv_rows=selected.cv_rows,
        cv_error=selected.cv_error, n=n, n_clean=n, certified=False, look=1 + len(past),
        spent=sum(look.price for look in past), space=None, member=False, worst=price, delta=0.05,
        release="full", policy="off", commit=None, overlap=(), charged=[subject.digest],
        seen={replica: entry.seq for replica, entry in heads(history.entries).items()}, flags=(look_findings.guard_off(),),
    )  # fmt: skip


def unguarded_reveal(intent: Look, found: LabelSummary, sealing: TestSetDeclaration) -> Reveal:
    """The reveal: nothing is charged to this look itself."""
    errors = found.errors if kind_of(sealing.measure) in WITH_COUNT else None
    return nothing_shown(intent.id, "unguarded", intent.worst).but(score=found.score, errors=errors)


def _was_shown(look: PastLook, asked: tuple[str, str, int], score: float | None) -> bool:
    """Say whether the number for these predictions was shown before; corrected labels make another number."""
    facts = look.facts
    whole = look.answer.symbol == "count" or facts.off
    same = (facts.metric, facts.predictions, facts.n) == asked and score in (None, look.answer.score)
    return look.status == "revealed" and whole and same
