"""Looks that did not know of each other (two machines offline, then a merge) are recomputed: each as if after the other."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from modelsel.guard.facts import LaterPlace, Reveal, Seal
from modelsel.guard.fingerprints import IDENTIFIABLE
from modelsel.guard.history import History, PastLook
from modelsel.guard.matching import more_than_chance
from modelsel.guard.release import UnitBound, count_limits
from modelsel.ledger.rows.row_set import RowSet, shared_rows
from modelsel.statistics.certificate import SpendingState


def later_places(looks: Sequence[PastLook], beside: Iterable[PastLook]) -> list[LaterPlace | None]:
    """Find each look's later index, spending and interval; None where every other look is known to be before or after it.

    `beside` are the looks at the same rows and at rows that overlap. What one did not know of the other, nobody can say that
    it was declared before the other's answer: both are adaptive then. Looks of one replica know of each other by their order.
    """
    return [_place(look, standing) for look, standing in zip(looks, _standings(looks, beside), strict=True)]


def _place(look: PastLook, standing: SpendingState | None) -> LaterPlace | None:
    if standing is None:
        return None
    return LaterPlace(look=standing.look, spent=standing.spent, interval=_interval(look, standing))


def _standings(looks: Iterable[PastLook], beside: Iterable[PastLook]) -> list[SpendingState | None]:
    """Where each look stands after the looks of other replicas; None where it stands where it stood."""
    of_replica = defaultdict(list)
    for other in beside:
        of_replica[other.entry.replica].append(other)
    return [
        _after_others(look, [other for name, own in of_replica.items() if name != look.entry.replica for other in own])
        for look in looks
    ]


def _after_others(look: PastLook, elsewhere: Sequence[PastLook]) -> SpendingState | None:
    """Count a look as if after each look of another replica that did not know of it, nor it of that one."""
    apart = [other for other in elsewhere if _are_concurrent(look, other)]
    if not apart or look.status != "revealed":
        return None
    index, spent = int(look.facts.look) + len(apart), float(look.facts.spent) + sum(other.price for other in apart)
    spaces = (one.facts.space for one in (look, *apart))
    return SpendingState(index, spent, next((space for space in spaces if space is not None), None))


def standing_answer(look: PastLook, beside: Sequence[PastLook]) -> Reveal:
    """The answer as it stands now: as it was shown, unless looks that did not know of it were merged in.

    Then each of its intervals is that of the later place. Ends of quantiles are places of the level that they were released at:
    of another level nothing is known, and none are shown.
    """
    (standing,) = _standings([look], beside)
    if standing is None or look.answer.interval is None:
        return look.answer
    nats = standing.nats(look.facts.delta / look.facts.numbers)
    return look.answer.but(interval=_interval(look, standing), **counts_at(look, nats, look.facts.units))


def counts_at(look: PastLook, nats: float | None, units: UnitBound | None = None) -> dict[str, object]:
    """The counts beside a score at another level (None: withheld): rows that are off, rows above a cap; no quantiles."""
    found: dict[str, object] = {"quantiles": None} if look.answer.quantiles else {}
    for name, said in (("counted", look.answer.counted), ("above", look.answer.above)):
        if said is None:
            continue
        limits = None
        if nats is not None and said.interval:
            limits = count_limits((said.rows, said.rows), look.facts.n, nats, units)
        found[name] = said.but(interval=limits)
    return found


def standing_interval(look: PastLook, beside: Sequence[PastLook]) -> Sequence[float] | None:
    """The interval that an answer has now, after merges."""
    return standing_answer(look, beside).interval


def looks_beside(history: History, testset: str, load: Callable[[str], RowSet]) -> tuple[PastLook, ...]:
    """The looks at these rows, and those at other sealed sets that did not know of them and share rows with them."""
    apart = {other.testset for other in _unaware_looks(history, testset)}
    return history.looks_at([testset, *(other for other in apart if _share(history, testset, other, load))])


def incomparable(history: History, testset: str) -> int:
    """Count the looks that did not know of those here, at sets that nobody can compare with these rows.

    Their rows are not kept (`guard.identity.store=digest_only`), or were hashed under another key.
    """
    return sum(not _comparable(history, testset, other.testset) for other in _unaware_looks(history, testset))


def _unaware_looks(history: History, testset: str) -> list[PastLook]:
    """Looks at other sets that did not know of one at this set, nor it of them; there are none where one replica wrote all."""
    if len(history.replicas) < 2:
        return []
    looks = history.looks_at([testset])
    own = {look.entry.replica for look in looks}  # looks of one replica know of each other by their order, if it has one
    others = (found for name, found in history.looks_of_replicas.items() if own - {name} or name in history.forked)
    return [
        other for found in others for other in found
        if other.testset != testset and any(_are_concurrent(look, other) for look in looks)
    ]  # fmt: skip


def _comparable(history: History, one: str, other: str) -> bool:
    seals = _seals(history, one, other)
    kept = all(seal.rows and seal.development for seal in seals)
    return len(seals) == 2 and kept and seals[0].key_id == seals[1].key_id


def _seals(history: History, *testsets: str) -> list[Seal]:
    return [Seal.of(history.seals[name]) for name in testsets if name in history.seals]


def _share(history: History, one: str, other: str, load: Callable[[str], RowSet]) -> bool:
    """Say whether two sealed sets share rows by more than chance; False where their rows cannot be compared."""
    if not _comparable(history, one, other):
        return False
    ours, theirs = _seals(history, one, other)
    rows, own, stored = (load(str(digest)) for digest in (ours.rows, ours.development, theirs.rows))
    if rows.is_sketch or own.is_sketch or stored.is_sketch:
        return bool(np.isin(rows.bound, stored.bound).any())
    telling = float(ours.u) >= IDENTIFIABLE
    return bool(shared_rows(rows.bound, stored.bound, repetitions=not telling).any()) and (
        telling or more_than_chance(rows.bound, stored.bound, own.bound)
    )


def as_first(look: PastLook) -> list[float] | None:
    """The interval the same answer would have had as a first look."""
    first = SpendingState(1, 0.0, look.facts.space, bool(look.facts.member))
    return _interval(look, first) if look.status == "revealed" else None


def _are_concurrent(look: PastLook, other: PastLook) -> bool:
    """Say whether neither look knew of the other."""
    return not _knows(look, other) and not _knows(other, look)


def _knows(look: PastLook, other: PastLook) -> bool:
    """Say whether the other look was on record when this one was recorded."""
    return look.entry.follows(other.entry) or look.facts.knows(other.entry)


def _interval(look: PastLook, standing: SpendingState) -> list[float] | None:
    """Recompute the interval of a look at another place among the looks."""
    facts = look.facts
    released = look.answer.released
    if not facts.certified or released is None:
        return None
    nats = standing.nats(facts.delta / facts.numbers)
    limits = released.interval(facts.n, nats, facts.units, facts.plan)
    return list(limits) if limits else None
