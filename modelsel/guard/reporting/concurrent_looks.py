"""Looks that did not know of each other (two machines offline, then a merge) are recomputed: each as if after the other."""

from collections.abc import Iterable
from typing import Any

from modelsel.guard.history.history import PastLook
from modelsel.guard.release.mechanisms import Released
from modelsel.statistics.reuse.certificate import SpendingState


def superseded(look: PastLook, looks: Iterable[PastLook]) -> dict[str, Any] | None:
    """The later index, spending and interval of a look; None where every other look is known to be before or after it.

    `looks` are those at the same rows and at rows that overlap. What one did not know of the other, nobody can say that it was
    declared before the other's answer: both are adaptive then.
    """
    apart = [other for other in looks if other.id != look.id and not _knows(look, other) and not _knows(other, look)]
    if not apart or look.status != "revealed":
        return None
    index, spent = int(look.facts["look"]) + len(apart), float(look.facts["spent"]) + sum(other.price for other in apart)
    spaces = (one.facts.get("space") for one in (look, *apart))
    space = next((space for space in spaces if space is not None), None)
    return {"look": index, "spent": spent, "interval": _interval(look, SpendingState(index, spent, space))}


def as_first(look: PastLook) -> list[float] | None:
    """The interval the same answer would have had as a first look."""
    first = SpendingState(1, 0.0, look.facts.get("space"), bool(look.facts.get("member")))
    return _interval(look, first) if look.status == "revealed" else None


def _knows(look: PastLook, other: PastLook) -> bool:
    """Was the other one on record when this one was recorded?"""
    if look.entry.replica == other.entry.replica:
        return look.entry.seq > other.entry.seq
    return bool(look.facts.get("seen", {}).get(other.entry.replica, 0) >= other.entry.seq)


def _interval(look: PastLook, standing: SpendingState) -> list[float] | None:
    facts = look.facts
    if not facts["certified"] or not look.answer.get("released"):
        return None
    released = Released(**{**look.answer["released"], "bounds": tuple(look.answer["released"]["bounds"])})
    limits = released.interval(facts["n"], standing.nats(facts["delta"] / facts.get("numbers", 1)))
    return list(limits) if limits else None
