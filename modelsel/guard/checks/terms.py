"""The terms that hold for a look: those of its seal and of every charged set that shares rows, strictest first.

And what the quota leaves of them.

A quota is a number of exact answers (1 or more) or a half width (below 1): until it is reached answers are as they were sealed,
then they come by the ladder, and where the interval of the next one would say nothing, not at all. It is decided before labels
are opened, from sealed terms, history and forecast. The first look is always as sealed.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from modelsel.guard.checks.look_context import LookContext
from modelsel.guard.history.history import is_off
from modelsel.statistics.certificate import NO_INFORMATION
from modelsel.statistics.prices import steps_near

EXACT = ("full", "predicted", "grid")
LADDER, CLOSED = "ladder", "closed"
STRICTNESS = (*EXACT, "thresholdout", LADDER, "passfail", "better", CLOSED)  # the last two are terms of exams alone


def terms_for(position: LookContext) -> dict[str, Any]:
    """The sealed terms of these rows, with what is stricter in another set whose answers are charged, or that is the same."""
    kin = {r.testset for r in position.relations if r.role == "test" and r.same} | {*position.charged}
    seals = [entry.facts["terms"] for testset, entry in position.history.seals.items() if testset in kin]
    own = position.history.terms(position.digest)
    return strictest(own, [terms for terms in seals if not is_off(terms)])


def strictest(own: Mapping[str, Any], seals: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Take the strictest of every term; noise and target are those of the earliest seal that has them.

    >>> one = {"release": "ladder", "delta": 0.05, "steps": 20, "budget": 10, "noise": 1, "target": None, "quota": None}
    >>> other = {"release": "predicted", "delta": 0.1, "steps": None, "budget": 10, "noise": 2, "target": None, "quota": 3}
    >>> {name: value for name, value in strictest(other, [one, other]).items() if name != "budget"}
    {'release': 'ladder', 'delta': 0.05, 'steps': 20, 'noise': 1, 'target': None, 'quota': [3]}
    """
    every = seals or [own]
    release = max((terms["release"] for terms in every), key=STRICTNESS.index)
    of_that = [terms for terms in every if terms["release"] == release]
    steps = [terms["steps"] for terms in every if terms["steps"] is not None]
    return {
        **own, "release": release, "delta": min(terms["delta"] for terms in every), "steps": min(steps, default=None),
        "budget": min(terms["budget"] for terms in every), "noise": every[0]["noise"],
        "target": next((terms["target"] for terms in of_that if terms["target"] is not None), None),
        "quota": sorted({terms["quota"] for terms in every if terms.get("quota") is not None}),
    }  # fmt: skip


def in_force(position: LookContext, rate: float) -> dict[str, Any]:
    """The terms of this look: as sealed, by the ladder (then with its steps), or `closed`; `rate` is what is foreseen."""
    terms = terms_for(position)
    if terms["release"] == CLOSED:
        return {
            **terms,
            CLOSED: "these rows are those of an exam that shows nothing until it is closed, and nothing afterwards",
        }
    stage = _stage(terms, position, rate)
    if stage == LADDER:
        return {**terms, "release": LADDER, "steps": ladder_steps(terms, position.n)}
    return {**terms, "closed": _closed(terms, width(position, terms["delta"], rate))} if stage == CLOSED else terms


def width(position: LookContext, delta: float, rate: float) -> float:
    """Half the interval that the next answer would have at the foreseen rate."""
    low, high = position.foreseen(rate, position.standing.nats(delta))
    return (high - low) / 2


def _stage(terms: Mapping[str, Any], position: LookContext, rate: float) -> str:
    if not terms["quota"] or not position.past or terms["release"] not in (*EXACT, LADDER) or _fixed_before(position):
        return str(terms["release"])
    return left_by_quota(terms, len(position.past), width(position, terms["delta"], rate))


def left_by_quota(terms: Mapping[str, Any], answers: int, half: float) -> str:
    """Return the release mode of the next answer after so many, when its interval would have this half width.

    >>> left_by_quota({"release": "predicted", "quota": [3]}, 3, 0.1), left_by_quota({"release": "full", "quota": [3]}, 2, 0.1)
    ('ladder', 'full')
    """
    mode = str(terms["release"])
    if mode not in (*EXACT, LADDER) or not answers or not any(reached(quota, answers, half) for quota in terms["quota"]):
        return mode
    return CLOSED if half >= NO_INFORMATION else LADDER


def ladder_steps(terms: Mapping[str, Any], n: int) -> int:
    """The steps of the ladder: those of the terms, else near half a standard error of n rows."""
    return int(terms["steps"] or steps_near(0.5 / max(1, n) ** 0.5))


def reached(quota: float, answers: int, half: float) -> bool:
    """Say whether a quota is used up after so many answers, when the next would have this half width.

    >>> reached(3, 2, 0.1), reached(3, 3, 0.1), reached(0.05, 1, 0.06)
    (False, True, True)
    """
    return answers >= quota if quota >= 1 else half > quota


def _fixed_before(position: LookContext) -> bool:
    """Say whether a model was declared or committed to before any answer was known, and so not chosen by looking."""
    if position.standing.member:
        return True
    return position.commit is not None and not float(position.commit.facts["spent"])


def _closed(terms: Mapping[str, Any], half: float) -> str:
    said = ", ".join(f"{quota:g}" for quota in terms["quota"])
    return f"guard.quota={said} is used up, and the next interval would be ±{half:.2f} wide: nothing would be learnt from it"
