"""The terms that hold for a look: those of its seal and of every charged set that shares rows, strictest first.

And what the quota leaves of them.

A quota is a number of exact answers (1 or more) or a half width (below 1): until it is reached answers are as they were sealed,
then they come by the ladder, and where the interval of the next one would say nothing, not at all. It is decided before labels
are opened, from sealed terms, history and forecast. The first look is always as sealed.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from modelsel.guard.checks.look_context import LookContext
from modelsel.guard.facts import Commitment, Seal, SealTerms
from modelsel.guard.history.history import History
from modelsel.guard.release import LookTerms
from modelsel.statistics.certificate import NO_INFORMATION
from modelsel.statistics.prices import steps_near

EXACT = ("full", "predicted", "grid")
LADDER, CLOSED = "ladder", "closed"
STRICTNESS = (*EXACT, "thresholdout", LADDER, "passfail", "better", CLOSED)  # the last two are terms of exams alone


def terms_for(position: LookContext) -> LookTerms:
    """The sealed terms of these rows, with what is stricter in another set whose answers are charged, or that is the same."""
    kin = {r.testset for r in position.relations if r.role == "test" and r.same} | {*position.charged}
    return strictest_of(position.history, position.digest, kin)


def strictest_of(history: History, testset: str, charged: Collection[str]) -> LookTerms:
    """The strictest terms of the guarded seals among some sets; those of a set's own seal where none of them was guarded."""
    seals = [Seal.of(entry).terms for name, entry in history.seals.items() if name in charged]
    return strictest(history.terms(testset), [terms for terms in seals if not terms.off])


def strictest(own: SealTerms, seals: Sequence[SealTerms]) -> LookTerms:
    """Take the strictest of every term; noise and target are those of the earliest seal that has them.

    >>> one = SealTerms(release="ladder", delta=0.05, steps=20, budget=10, noise=1, rank=1, metric="error", measure="m")
    >>> other = one.but(release="predicted", delta=0.1, steps=None, noise=2, quota=3)
    >>> strictest(other, [one, other])
    LookTerms(release='ladder', delta=0.05, steps=20, target=None, noise=1, budget=10, quota=(3,), closed='')
    """
    every = seals or [own]
    release = max((terms.release for terms in every), key=STRICTNESS.index)
    of_that = [terms for terms in every if terms.release == release]
    return LookTerms(
        release=release, delta=min(terms.delta for terms in every),
        steps=min((terms.steps for terms in every if terms.steps is not None), default=None),
        target=next((terms.target for terms in of_that if terms.target is not None), None), noise=every[0].noise,
        budget=min(terms.budget for terms in every),
        quota=tuple(sorted({terms.quota for terms in every if terms.quota is not None})),
    )  # fmt: skip


def in_force(position: LookContext, rate: float) -> LookTerms:
    """The terms of this look: as sealed, by the ladder (then with its steps), or `closed`; `rate` is what is foreseen."""
    terms = terms_for(position)
    if terms.release == CLOSED:
        why = "these rows are those of an exam that shows nothing until it is closed, and nothing afterwards"
        return replace(terms, closed=why)
    stage = _stage(terms, position, rate)
    if stage == LADDER:
        return replace(terms, release=LADDER, steps=ladder_steps(terms, position.n))
    return replace(terms, closed=_why_closed(terms, width(position, terms.delta, rate))) if stage == CLOSED else terms


def width(position: LookContext, delta: float, rate: float) -> float:
    """Half the interval that the next answer would have at the foreseen rate."""
    low, high = position.foreseen(rate, position.standing.nats(delta))
    return (high - low) / 2


def _stage(terms: LookTerms, position: LookContext, rate: float) -> str:
    if not terms.quota or not position.past or terms.release not in (*EXACT, LADDER) or _fixed_before(position):
        return terms.release
    return left_by_quota(terms, len(position.past), width(position, terms.delta, rate))


def left_by_quota(terms: LookTerms, answers: int, half: float) -> str:
    """Return the release mode of the next answer after so many, when its interval would have this half width.

    >>> left_by_quota(LookTerms("predicted", quota=(3,)), 3, 0.1), left_by_quota(LookTerms("full", quota=(3,)), 2, 0.1)
    ('ladder', 'full')
    """
    mode = terms.release
    if mode not in (*EXACT, LADDER) or not answers or not any(is_used_up(quota, answers, half) for quota in terms.quota):
        return mode
    return CLOSED if half >= NO_INFORMATION else LADDER


def ladder_steps(terms: LookTerms, n: int) -> int:
    """The steps of the ladder: those of the terms, else near half a standard error of n rows."""
    return int(terms.steps or steps_near(0.5 / max(1, n) ** 0.5))


def is_used_up(quota: float, answers: int, half: float) -> bool:
    """Say whether a quota is used up after so many answers, when the next would have this half width.

    >>> is_used_up(3, 2, 0.1), is_used_up(3, 3, 0.1), is_used_up(0.05, 1, 0.06)
    (False, True, True)
    """
    return answers >= quota if quota >= 1 else half > quota


def _fixed_before(position: LookContext) -> bool:
    """Say whether a model was declared or committed to before any answer was known, and so not chosen by looking."""
    if position.standing.member:
        return True
    return position.commit is not None and not float(Commitment.of(position.commit).spent)


def _why_closed(terms: LookTerms, half: float) -> str:
    said = ", ".join(f"{quota:g}" for quota in terms.quota)
    return f"guard.quota={said} is used up, and the next interval would be ±{half:.2f} wide: nothing would be learnt from it"
