"""Replay, refuse or record an intent: decided under the ledger's write lock, so that two looks cannot both be first."""

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path

from filelock import FileLock, Timeout

from modelsel.core.spec import kind_of
from modelsel.core.types import Finding, weights_of
from modelsel.guard.bounded_losses import BoundedLossRelease, SealedSide, plan_release, resume_release
from modelsel.guard.checks.declared_space import declared_ids, judge_declaration
from modelsel.guard.checks.independence import EarlierStatements, Independence
from modelsel.guard.checks.look_context import EXACT, LookContext, in_force
from modelsel.guard.checks.look_requests import ApprovedLook, PreparedLook, Refused, Replayed
from modelsel.guard.checks.other_target import by_other_target, relations_by_target
from modelsel.guard.checks.review import LookReview, review, selection
from modelsel.guard.concurrent_looks import counts_at, standing_answer, standing_interval
from modelsel.guard.copied_units import sealed_copies
from modelsel.guard.entries import ONLY_ERRORS, origin
from modelsel.guard.facts import Commitment, Look, Note, Reason, Replay, Seal
from modelsel.guard.findings import certificate_findings, look_findings
from modelsel.guard.history import History, PastLook
from modelsel.guard.joining import NOTHING, OtherLedgers, join_histories
from modelsel.guard.matching import DESIGN, RowSetIndex, related_sets
from modelsel.guard.policy.base import CORRECTED, Question, judge, says_other_target
from modelsel.guard.release import (
    Counts,
    LadderRelease,
    LookTerms,
    QuantileRelease,
    ReleaseMechanism,
    ScoreGridRelease,
    Veto,
    bounds_of,
    count_channel,
    count_limits,
)
from modelsel.ledger.database.store import WriteTransaction
from modelsel.ledger.entry import LedgerEntry
from modelsel.ledger.home import Home, IdentityKey
from modelsel.ledger.rows.row_set import RowSet
from modelsel.measure.capped import ErrorQuantiles
from modelsel.statistics.quantiles import plan_quantile


def decide(writing: WriteTransaction, ask: PreparedLook) -> ApprovedLook | Replayed | Refused:
    """Decide about a look under the ledger's lock: replay it, refuse it, or write its intent."""
    entries = writing.entries()
    history = History.of(entries)
    known = _answered_before(history, ask, writing)
    if known is not None:
        return _replay(writing, ask, history, known)
    open_one = _find_interrupted(history, ask, writing)
    if open_one is not None:
        return _resume(writing, ask, history, open_one)
    position = position_of(writing, ask, history)
    terms = in_force(position, ask.likely[0])
    hidden = terms.closed or _why_hidden(ask, terms)
    if hidden:
        closed = (certificate_findings.budget_exhausted_quota_is_used(),) if terms.closed else ()
        return _refuse(writing, ask, position, terms, closed, hidden)
    channel = _bounded_release(ask, terms, position) or _channel(
        ask, terms, position.past, int(position.rows.sum()), position.standing.look
    )
    channel = _with_quantiles(channel, ask, position, lambda numbers: position.standing.nats(terms.delta / numbers))
    seen = LookReview(ask.subject, position, ask.request.sealing.spec_id, ask.request.sealing.config, ask.metric, ask.measure,
                ask.predictions, says_labels_corrected(ask), ask.elsewhere.keys | {ask.key.id}, origin()["at"], ask.leaks,
                ask.since, ask.request.sitting is not None, ask.request.sealing.target)  # fmt: skip
    objection = sitting.objection(position.past, channel.worst) if (sitting := ask.request.sitting) else ""
    if objection:
        return _refuse(writing, ask, position, terms, (), objection)
    findings = (
        *review(seen),
        *_by_quota(terms, position),
        *ask.elsewhere.unreached,
        *selection(ask.request, history, ask.subject),
    )
    all_found = (*ask.noticed, *findings)  # the ledger has those of the seal in entries of their own
    verdict = judge(ask.policy, _question(ask, position, terms, all_found, channel))
    if verdict.decision == "refuse":
        return _refuse(writing, ask, position, terms, all_found, verdict.reason)
    facts = _intent(ask, position, terms, channel, findings)
    return ApprovedLook(writing.append("intent", facts.written()), channel, position.rows, findings, position.units)


def _answered_before(history: History, ask: PreparedLook, writing: WriteTransaction) -> PastLook | None:
    """Find the latest answer to the same predictions for the same rows, under whatever specification."""
    mine = [look for look in history.looks_at([ask.subject.digest]) if look.status == "revealed" and not look.facts.off]
    mine = [look for look in mine if look.id not in ask.doubted]
    mine = [look for look in mine if _can_follow(ask, look) or _is_own(writing, look)]  # another's answer is computed anew
    same = (look for look in mine if ask.told_by(look.facts))
    return next((look for look in reversed([*same]) if _of_these_labels(look, ask)), None)


def says_labels_corrected(ask: PreparedLook) -> bool:
    """Say whether the request states that labels were corrected; no digest of labels is kept that could tell."""
    return ask.policy.justify.category == CORRECTED


def _of_these_labels(look: PastLook, ask: PreparedLook) -> bool:
    """Say whether a look was by this target, and after the very correction, or the other target, that is stated now."""
    if by_other_target(look, ask.request.sealing.target, declared=False):
        return False
    stated = says_labels_corrected(ask) or says_other_target(ask.policy)
    return not stated or look.facts.justify == Reason.read(asdict(ask.policy.justify))


def _replay(writing: WriteTransaction, ask: PreparedLook, history: History, known: PastLook) -> Replayed:
    """Record that a known answer is shown again, and return it."""
    sealing = ask.request.sealing
    facts = Replay(
        **origin(), testset=known.testset, spec_id=sealing.spec_id, study=sealing.study, folder=sealing.folder,
        train=ask.subject.train,
    )  # fmt: skip
    writing.append("replay", {**facts.written(), "of": known.id})
    asked = (known.facts.folder, *(one.folder for one in map(Replay.of, history.replays) if one.source == known.id))
    unseen = _is_own(writing, known) and all(bool(folder) and ask.request.unfinished(str(folder)) for folder in asked)
    look, price = known.facts.look, known.answer.price
    return Replayed(
        known.entry,
        known.answer.but(**_as_known_now(writing, ask, history, known)),
        (look_findings.shown_late(look, price) if unseen else look_findings.replay(look),),
        None if _is_own(writing, known) else _resume(writing, ask, history, known),
        unseen,
    )


def _as_known_now(writing: WriteTransaction, ask: PreparedLook, history: History, known: PastLook) -> dict[str, object]:
    """The intervals that a known answer has today: after merges, and for units where it is said since that rows are none."""
    stands = standing_answer(known, history.looks_at(known.facts.charged or [known.testset]))
    today: dict[str, object] = {name: getattr(stands, name) for name in ("interval", "counted", "above", "quantiles")}
    seals = history.sealings([known.testset])
    if stands.interval is None or known.facts.units or not any(Seal.of(seal).independent for seal in seals):
        return today
    position, nats = position_of(writing, ask, history), known.facts.nats
    units, told = position.sizes(ask.likely[0], nats), known.answer.released
    if position.withheld or told is None:
        return {"interval": None, **counts_at(known, None)}
    limits = told.interval(known.facts.n, nats, units)  # none for a loss planned over rows
    return {"interval": limits, "units": units, **counts_at(known, nats, units)}


def _is_own(writing: WriteTransaction, look: PastLook) -> bool:
    """Say whether this home wrote a look, or the look is older than signatures."""
    read = writing.entries()
    return read.signers.get(look.entry.replica, read.me) == read.me


def _find_interrupted(history: History, ask: PreparedLook, writing: WriteTransaction) -> PastLook | None:
    """Find an unresolved look that asked the same question: it is resolved now instead of counted again."""
    sealing = ask.request.sealing
    for look in history.looks_at([ask.subject.digest]):
        asked = look.status == "open" and look.same_question(ask.subject.digest, ask.metric, sealing.spec_id, ask.subject.train)
        asked = asked and not look.facts.off and not says_labels_corrected(ask) and look.entry.replica == writing.replica
        if asked and ask.told_by(look.facts) and _can_follow(ask, look):
            return look
    return None


def _can_follow(ask: PreparedLook, look: PastLook) -> bool:
    """Say whether an answer can be computed by the plan of a look, where it has one: out-of-fold predictions are needed."""
    return look.facts.plan is None or ask.form is not None


def _resume(writing: WriteTransaction, ask: PreparedLook, history: History, look: PastLook) -> ApprovedLook:
    """Continue an interrupted look on the rows that were clean when it began."""
    position = position_of(writing, ask, history, until=look.entry)
    terms, past = in_force(position, ask.likely[0]), history.looks_at(position.charged)
    plan, channel = look.facts.plan, _channel(ask, terms, past, int(position.rows.sum()), look.facts.look)
    if plan is not None and (bounded := _plan_release(ask, terms, position)) is not None:
        channel = resume_release(bounded, plan)
    channel = _with_quantiles(channel, ask, position, lambda _numbers: look.facts.nats)
    return ApprovedLook(look.entry, channel, position.rows, (), position.units)


def position_of(
    writing: WriteTransaction, ask: PreparedLook, history: History, until: LedgerEntry | None = None
) -> LookContext:
    """Compute the context of a look from the entries of this ledger and of all others that are known."""
    whole = join_histories(history, ask.elsewhere, ask.key.id)
    before = whole if until is None else whole.before(until)
    history = before if ask.subject.digest in before.seals else whole  # a stranger may state that he saw nothing
    kin = related_sets(ask.subject, memory_of(writing, history, ask.key, ask.elsewhere), ask.elsewhere)
    found, complete = relations_by_target(ask, history, tuple(one for one in kin if one.role != DESIGN))
    commits = history.commits_on([ask.subject.digest])
    spec_id = ask.request.sealing.spec_id
    used = {look.entry.brief.commit for look in history.looks}
    mine = (entry for entry in commits if Commitment.of(entry).spec_id == spec_id and _is_that(entry, ask))
    free = (entry for entry in mine if Commitment.of(entry).id not in used)
    unknown = bool(ask.elsewhere.unreached or history.unnamed)
    at_work = frozenset(_at_work(writing, ask, history))
    position = LookContext(
        ask.subject.digest,
        len(ask.subject.test.bound),
        history,
        found,
        next(free, None),
        unknown,
        at_work=at_work,
        independence=Independence.of(ask.request.sealing, ask.has_form_for_units, ask.copies),
        copied=sealed_copies(ask.request.sealing).dropped,
        complete=complete,
        designs=tuple(dict.fromkeys(one.testset for one in kin if one.role == DESIGN)),
    )
    position = replace(position, independence=_independent(writing, ask, position))
    related = {ask.subject.digest, *(relation.testset for relation in found if relation.role == "test")}
    ids = declared_ids(history, history.seals[ask.subject.digest], related, writing.rowset)
    return replace(position, declared=judge_declaration(ask, history, found, ids, bool(position.rows.all())))


def _independent(writing: WriteTransaction, ask: PreparedLook, position: LookContext) -> Independence:
    """What is independent by what is declared now and by every seal of these rows, in whichever ledger."""
    history, load = position.history, ask.elsewhere.load or (lambda digest: RowSet.unpack(writing.rowset(digest)))
    told = (entry for entry in ask.elsewhere.entries if entry.kind == "seal")
    seals = {entry.hash: entry for entry in (*history.of_kind("seal"), *told)}
    subjects = {ask.key.id: ask.subject, **{key.id: subject for subject, key in ask.elsewhere.subjects}}
    looks = history.looks_at(relation.testset for relation in position.relations if relation.role == "test")
    before = EarlierStatements(ask.request.sealing, tuple(seals.values()), looks, subjects, load)
    return before.joined_with(position.independence, position.relations, position.rows)


def _at_work(writing: WriteTransaction, ask: PreparedLook, history: History) -> Iterator[str]:
    """The looks that have no answer yet and are being made."""
    for look in history.looks:
        if look.status == "open" and ask.home is not None and alive(ask.home, look, _is_own(writing, look)):
            yield look.id


def _is_that(commit: LedgerEntry, ask: PreparedLook) -> bool:
    """Say whether the model is the one that was committed to, by its predictions on record."""
    stated = Commitment.of(commit)
    return stated.predictions == ask.predictions and stated.measure == ask.measure


def memory_of(writing: WriteTransaction, history: History, key: IdentityKey, elsewhere: OtherLedgers = NOTHING) -> RowSetIndex:
    """Return the history as an index over its stored row sets, those of other ledgers included."""
    load = elsewhere.load
    return RowSetIndex(
        history, load or (lambda digest: RowSet.unpack(writing.rowset(digest))), key, elsewhere.hashes, elsewhere.ahead
    )


def _why_hidden(ask: PreparedLook, terms: LookTerms) -> str:
    """Say why this measure may not be shown; empty where it may."""
    release = terms.release
    if release == "better" and ask.request.sitting is None:
        return "these rows are those of an exam, which shows one bit for an answer: hand in predictions (modelsel exam answer)"
    if release not in ONLY_ERRORS or ask.counted:
        return ""
    fix = "leave guard.beside out" if ask.capped else "use measure=error"
    return f"these rows were sealed with guard.release={release}, which shows plain error rates only; {fix}"


def _by_quota(terms: LookTerms, position: LookContext) -> Iterator[Finding]:
    """G053: what the seal promised to show is used up."""
    sealed = position.history.terms(position.digest).release
    if terms.release == "ladder" != sealed:
        why = f"guard.quota={terms.quota[0]:g} is used up" if terms.quota else "a set that shares these rows says so"
        yield certificate_findings.quota_used(terms.steps or position.n, why)


def _channel(ask: PreparedLook, terms: LookTerms, looks: Sequence[PastLook], n: int, look: int) -> ReleaseMechanism:
    """Choose how the answer is released: an error count by its terms, another measure on a grid of scores."""
    if ask.counted:
        mine = (one for one in looks if not by_other_target(one, ask.request.sealing.target, says_other_target(ask.policy)))
        past = [one for one in mine if one.status == "revealed"]
        against = ask.request.sealing.config.get("against")
        if terms.release == "better" and against:  # a gate asks whether a proposal is worse than the one that it would replace
            return Veto(n, n, best=str(against), margin=int(ask.request.sealing.config["margin"]))
        if terms.release == "better":  # its best answer is kept by this exam; that of another one is not at hand
            exam = ask.request.sealing.config.get("exam")
            past = [one for one in past if one.config.get("exam") == exam]
        return _not_taken(count_channel(terms, n, ask.likely, [one.shown for one in past], look), past, looks)
    selected, told = ask.request.selected, terms.release == "predicted"
    expected = (selected.cv_mean, selected.cv_rows) if told and isfinite(selected.cv_mean) else None
    kind = kind_of(ask.request.sealing.measure)
    return ScoreGridRelease(kind, n, int(terms.steps or n), bounds_of(ask.request.sealing.measure), expected,
                  ask.foreseen if told else None, rounded=terms.steps is not None)  # fmt: skip


def _with_quantiles(
    channel: ReleaseMechanism, ask: PreparedLook, position: LookContext, nats_for: Callable[[int], float]
) -> ReleaseMechanism:
    """The channel of an exact count with the quantiles of errors that are asked for beside it; any other one as it is.

    `nats_for` is the level of one of so many numbers that are shown at once.
    """
    measure, seen = ask.request.sealing.measure, ask.request.seen
    if not isinstance(measure, ErrorQuantiles) or not isinstance(channel, Counts) or not position.certified:
        return channel
    nats, n = nats_for(1 + len(measure.quantiles)), channel.n
    units = position.sizes(ask.likely[0], nats)
    plans = tuple(plan_quantile(q, n, lambda c: count_limits((c, c), n, nats, units)) for q in measure.quantiles)
    rows = 0 if seen is None or channel.foreseen is None else len(seen.truth)
    shares = tuple(count / rows for count in measure.within(seen.truth, seen.outputs)) if rows and seen is not None else None
    return QuantileRelease(channel, measure.grid, plans, shares, rows)


def _bounded_release(ask: PreparedLook, terms: LookTerms, position: LookContext) -> BoundedLossRelease | None:
    """The release of a bounded loss with the narrowest forecast; None where nothing is certified or there is no form."""
    return _plan_release(ask, terms, position) if position.certified and terms.release in EXACT else None


def _plan_release(ask: PreparedLook, terms: LookTerms, position: LookContext) -> BoundedLossRelease | None:
    """Plan the release of a bounded loss from out-of-fold predictions; None where the measure has no form."""
    if ask.form is None:
        return None
    seen, steps, weights = ask.request.seen, terms.steps, weights_of(ask.request.sealing.sealed)
    assert seen is not None
    assert ask.outputs is not None
    side = SealedSide(ask.outputs, position.units, weights).of(position.rows)
    nats = position.standing.nats(terms.delta / ask.form.numbers(steps is not None))
    told = ask.foreseen if terms.release == "predicted" else None
    return plan_release(ask.form, seen, side, nats, None if steps is None else int(steps), told)


def _not_taken(channel: ReleaseMechanism, past: Sequence[PastLook], looks: Sequence[PastLook]) -> ReleaseMechanism:
    """The board with the interval that its model has after a merge, where looks that did not know of it took the one it had."""
    if not isinstance(channel, LadderRelease) or channel.held is None:
        return channel
    for one in past:
        if one.facts.look == channel.set_by and tuple(one.answer.interval or ()) == channel.held:
            held = standing_interval(one, looks)
            return replace(channel, held=(held[0], held[1]) if held else None)
    return channel


def _question(
    ask: PreparedLook,
    position: LookContext,
    terms: LookTerms,
    findings: tuple[Finding, ...],
    channel: ReleaseMechanism | None = None,
) -> Question:
    """Gather what the policy is asked: the look's number, the width of its interval, the findings so far."""
    nats = position.standing.nats(terms.delta)
    low, high = position.foreseen(ask.likely[0], nats) if position.certified and ask.counted else (0.0, 1.0)
    if isinstance(channel, BoundedLossRelease):
        low, high = 0.0, 2 * channel.plan.forecast
    texts = tuple(str(look.entry.brief.said or "") for look in position.history.looks)
    return Question(1 + len(position.past), (high - low) / 2, findings, texts, _exhausted_budget(terms, position.past))


def _exhausted_budget(terms: LookTerms, past: tuple[PastLook, ...]) -> int:
    """Return thresholdout's budget where it is used up, else 0; an answer that nobody has seen yet counts as used."""
    used = sum(1 for look in past if look.status != "revealed" or look.answer.symbol == "noisy")
    return terms.budget if terms.release == "thresholdout" and used >= terms.budget else 0


def _refuse(
    writing: WriteTransaction,
    ask: PreparedLook,
    position: LookContext,
    terms: LookTerms,
    findings: tuple[Finding, ...],
    reason: str,
) -> Refused:
    """Record a refusal, and return it."""
    sealing, standing = ask.request.sealing, position.standing
    note = Note(
        **origin(), refused=reason, testset=ask.subject.digest, spec_id=sealing.spec_id, study=sealing.study,
        folder=sealing.folder, flags=findings,
    )  # fmt: skip
    writing.append("note", note.written())
    return Refused(reason, position.n, standing.look, standing.spent, terms.delta, terms.release, findings)


def _intent(
    ask: PreparedLook, position: LookContext, terms: LookTerms, channel: ReleaseMechanism, findings: tuple[Finding, ...]
) -> Look:
    """Gather the facts of an intent, which stands in the ledger before any label is opened."""
    sealing, selected, standing = ask.request.sealing, ask.request.selected, position.standing
    nats = standing.nats(terms.delta / channel.numbers)
    plan = channel.plan if isinstance(channel, BoundedLossRelease) else None
    quantiles = channel.facts if isinstance(channel, QuantileRelease) else None
    units = position.sizes(ask.likely[0], nats)
    apart = {"units": units, "withheld": position.withheld, "plan": plan, "quantiles": quantiles}  # where they apply
    look = Look(
        **origin(), testset=ask.subject.digest, train=ask.subject.train, metric=ask.metric, spec_id=sealing.spec_id,
        predictions=ask.predictions, study=sealing.study, folder=sealing.folder, config=sealing.config,
        winner=selected.winner, cv_mean=selected.cv_mean, cv_rows=selected.cv_rows, cv_error=selected.cv_error,
        n=int(position.rows.sum()), n_clean=int(position.clean.sum()), certified=position.certified,
        look=standing.look, spent=standing.spent, space=standing.space, member=standing.member,
        nats=nats, numbers=channel.numbers,
        declared=position.declared.how, worst=channel.worst, delta=terms.delta, release=terms.release,
        policy=kind_of(ask.policy), since=ask.since, commit=Commitment.of(position.commit).id if position.commit else None,
        overlap=[relation.facts() for relation in position.relations if relation.testset != position.digest],
        charged=list(position.charged), seen=position.history.heads,
        flags=findings, justify=Reason.read(asdict(ask.policy.justify)), at_work=ask.at_work,
    )  # fmt: skip
    return look.but(**{name: value for name, value in apart.items() if value})


# Tell looks that are still being made from those that died without an answer, which are charged at their highest price.
#
# An answer is on record before it is shown, and another look's predictions are on record before that: they cannot depend on an
# answer that is still to come. A look of this home holds a lock for as long as its process lives; one of another home, whose
# locks nobody here sees, is believed to be at work for a minute after its intent.

LEASE = 60.0  # seconds


@contextmanager
def at_work(home: Home) -> Iterator[str]:
    """Hold a lock of this home while a look is made; its name goes into the intent."""
    name = secrets.token_hex(8)
    place = _place(home, name)
    place.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(place):
        yield name
    with suppress(OSError):
        place.unlink()


def alive(home: Home, look: PastLook, own: bool) -> bool:
    """Say whether a look is still being made; `own`: it was begun by this home."""
    name = look.facts.at_work
    if look.status != "open" or not isinstance(name, str) or not name.isalnum():
        return False
    return _is_held(_place(home, name)) if own else 0 <= _age(str(look.facts.at)) <= LEASE


def _is_held(place: Path) -> bool:
    """Say whether another process holds a lock."""
    if not place.exists():
        return False
    try:
        with FileLock(place, timeout=0):
            return False
    except Timeout:
        return True


def _age(at: str) -> float:
    """Seconds since a stated time; none where it states none."""
    try:
        return (datetime.now(UTC) - datetime.fromisoformat(at)).total_seconds()
    except (ValueError, TypeError):
        return -1.0


def _place(home: Home, name: str) -> Path:
    return home.folder / "at_work" / name
