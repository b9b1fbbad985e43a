"""Unsound entries of a shared ledger: they are not believed, they are charged, and they stop nobody's look.

Beside what the chains show (`ledger.trust`), an entry is bad when it lacks a fact of its kind, answers another person's look,
or states a lower price than its answer has. A bad entry is charged as a look at the highest price of the set that it names;
one that names none takes every certificate, until the ledger's owner rules that it is void.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, log
from typing import Any

from modelsel.core.fingerprint import canonical
from modelsel.guard.facts import Look, Reveal, Seal
from modelsel.guard.release import LabelSummary, LossPlan, Released, count_channel, counts_rows, worst_of
from modelsel.ledger.entry import LedgerEntry
from modelsel.ledger.trust import RejectedEntry, TrustedEntries

PLACE = "quarantine"  # in place of the chain and of the anchor
FEWEST = 30  # rows below which a look at part of a set is not believed
Check = Callable[[Any], bool]


def _text(value: object) -> bool:
    return isinstance(value, str)


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value) and value >= 0


def _count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _mapping(value: object) -> bool:
    return isinstance(value, dict)


def _list(value: object) -> bool:
    return isinstance(value, list)


def _truth(value: object) -> bool:
    return isinstance(value, bool)


def _flags(value: object) -> bool:
    """Say whether a value is a list of well-formed findings."""
    names = {"code", "severity", "message", "do"}
    return isinstance(value, list) and all(
        isinstance(one, dict) and one.keys() == names and all(map(_text, one.values())) for one in value
    )


def _counts(value: object) -> bool:
    return isinstance(value, dict) and all(map(_count, value.values()))


def _or_none(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _real(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _limits(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(_real, value))


def _texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_text, value))


def _some(value: Any) -> bool:
    return _count(value) and value > 0


def _mappings(value: object) -> bool:
    return isinstance(value, list) and all(map(_mapping, value))


def _mirror(value: object) -> bool:
    """Say whether a value names the entry of another ledger that one is a copy of."""
    return isinstance(value, dict) and _text(value.get("hash")) and _text(value.get("key_id"))


def _terms(value: object) -> bool:
    return isinstance(value, dict) and _number(value.get("delta")) and _text(value.get("release")) and _count(value.get("rank"))


def _is_answer(value: Any) -> bool:
    """Say whether a value is a released answer, or none."""
    return _reads(Released.read, value)


def _is_plan(value: Any) -> bool:
    """Say whether a value is the plan of a bounded loss, or none."""
    return _reads(LossPlan.read, value)


def _reads(read: Callable[[Any], object], value: object) -> bool:
    """Say whether a value can be read, or is none."""
    try:
        return value is None or bool(read(value))
    except (TypeError, KeyError, AttributeError, AssertionError):
        return False


def _units(value: Any) -> bool:
    """Say whether a value states how many units an interval counts, or that rows are units."""
    if value is None:
        return True
    named = isinstance(value, dict) and value.get("method") in ("chernoff", "hoeffding")
    return named and _some(value.get("count")) and _number(value.get("effective")) and value["effective"] > 0


def _sizes(value: object) -> bool:
    """Say whether a value states how large units are."""
    return isinstance(value, dict) and all(_some(value.get(name)) for name in ("count", "rows", "largest", "squares"))


SAME = {"testset": _text, "train": _text, "spec_id": _text}
NAMED = dict.fromkeys(("at", "testset", "train", "spec_id", "key_id", "commit"), _or_none(_text))
EVERY: Mapping[str, Check] = {**NAMED, "mirror": _or_none(_mirror)}  # what any entry may state
STORED = dict.fromkeys(("rows", "development", "table", "portrait", "candidates"), _or_none(_text))
NOTES: Mapping[str, Mapping[str, Check]] = {  # by a fact that notes of a kind state
    "code": {"code": _text, "text": _text, "at": _text},
    "refused": {"refused": _text, "flags": _flags},
    "contact": {"contact": _text, "rows": _text, "folder": _or_none(_text)},
}
FACTS: Mapping[str, Mapping[str, Check]] = {
    "seal": {**SAME, **STORED, "n": _count, "rows_in_all": _or_none(_some), "key_id": _text, "terms": _terms, "names": _list,
             "source": _text, **dict.fromkeys(("independent", "assignment", "units", "searched"), _or_none(_text)),
             "sizes": _or_none(_sizes)},
    "selection": {**SAME, **STORED, "key_id": _text, "tried": _count, **dict.fromkeys(("searched", "target"), _or_none(_text))},
    "commit": {**SAME, "look": _count, "spent": _number},
    "intent": {**SAME, "id": _text, "metric": _text, "predictions": _text, "n": _count, "look": _count, "spent": _number,
               "worst": _number, "flags": _flags, "certified": _truth, "release": _text,
               "units": _units, "withheld": _or_none(_text), "charged": _or_none(_texts), "seen": _or_none(_counts),
               **dict.fromkeys(("config", "justify"), _or_none(_mapping)), "plan": _is_plan, "answers": _or_none(_mappings)},
    "reveal": {"intent": _text, "price": _number, "symbol": _text, "score": _or_none(_real), "errors": _or_none(_count),
               "interval": _or_none(_limits), "released": _is_answer,
               **dict.fromkeys(("answers", "verdicts"), _or_none(_mappings))},
    "abort": {"intent": _text},
    "replay": {"of": _text, "testset": _text},
    "policy_change": {"testset": _text, "terms": _terms, "weaker": _list},
    "recovered": {"testset": _text, "worst": _number, "head": _text, "flags": _or_none(_flags),
                  "justify": _or_none(_mapping), "answers": _or_none(_mappings)},
}  # fmt: skip


def believed_entries(read: Iterable[LedgerEntry]) -> list[LedgerEntry]:
    """The entries that may be believed, and in place of each bad one a look that is charged.

    Entries that were read without signatures are believed as they are.
    """
    if not isinstance(read, TrustedEntries):
        return list(read)
    if "judged" not in read.memo:
        read.memo["judged"] = _judge_entries(read)
    found: list[LedgerEntry] = read.memo["judged"]
    return list(found)


def _judge_entries(read: TrustedEntries) -> list[LedgerEntry]:
    """Take unsound entries out, and put a charge in the place of each that its owner has not ruled void."""
    if read.recalled:
        read.memo.update(fit=SoundEntries.of(read), bad=[])
        return list(read)
    if read.former is not None and read.former.recalled:
        believed_entries(read.former)
    fit = _known_before(read)
    bad = [*read.bad, *_unfit(read, read if fit is None else read.fresh, fit or SoundEntries())]
    read.memo["bad"] = bad
    if not bad:
        return list(read)
    unfit, void = {one.entry.place for one in bad}, _void(read)
    good = [entry for entry in read if entry.place not in unfit]
    return [*good, *_charges(good, [one for one in bad if one.entry.place not in void])]


def all_fit(read: TrustedEntries) -> bool:
    """Say whether every entry may be believed, also by what it states."""
    believed_entries(read)
    return not read.memo["bad"]


def quarantine_charges(entries: Iterable[LedgerEntry]) -> list[LedgerEntry]:
    """The looks that stand in place of bad entries."""
    return [entry for entry in entries if entry.replica == PLACE]


def person(read: TrustedEntries, entry: LedgerEntry) -> str:
    """Return the person behind an entry: the first of the keys that signed for each other; a chain without a key is its own."""
    return _people(read).get(read.signers.get(entry.replica, ""), read.signers.get(entry.replica) or entry.replica)


def _people(read: TrustedEntries) -> dict[str, str]:
    """Keys that vouch for each other are one person's; who is vouched for has to say so too."""
    if "people" not in read.memo:
        read.memo["people"] = _persons_of_keys(read)
    people: dict[str, str] = read.memo["people"]
    return people


def _persons_of_keys(read: TrustedEntries) -> dict[str, str]:
    """Map keys to one of their person's; two keys are one person's where each vouches for the other."""
    said = {(read.signers.get(e.replica, ""), str(e.facts.get("key"))) for e in read if e.kind == "vouch"}
    root: dict[str, str] = {}
    for one, other in sorted(said):
        if one and (other, one) in said:
            both = {root.get(one, one), root.get(other, other)}
            root.update(dict.fromkeys((one, other, *(key for key, first in root.items() if first in both)), min(both)))
    return root


def _void(read: TrustedEntries) -> set[str]:
    """Places of bad entries that the owner's signed rulings set aside."""
    rulings = (e for e in read if e.kind == "ruling" and read.owner and read.signers.get(e.replica) == read.owner)
    return {str(place) for ruling in rulings for place in ruling.facts.get("void", ())}


@dataclass
class SoundEntries:
    """The looks and seals among entries that are fit: what answers are checked against."""

    intents: dict[str, LedgerEntry] = field(default_factory=dict)
    seals: dict[str, LedgerEntry] = field(default_factory=dict)

    @classmethod
    def of(cls, entries: Iterable[LedgerEntry]) -> "SoundEntries":
        """Gather the looks and seals among entries."""
        found = cls()
        for entry in entries:
            found.take(entry)
        return found

    def take(self, entry: LedgerEntry) -> None:
        """Take up an entry, if it is a look or a seal."""
        if entry.kind == "intent":
            self.intents[entry.brief.id] = entry
        elif entry.kind == "seal":
            self.seals.setdefault(entry.brief.testset, entry)


def _known_before(read: TrustedEntries) -> SoundEntries | None:
    """Return the entries found sound at the previous reading; None where all have to be judged again."""
    former = read.former
    if former is None or former.memo.get("bad", True):
        return None
    fit: SoundEntries = former.memo["fit"]
    again = any(entry.kind == "seal" and entry.facts.get("testset") in fit.seals for entry in read.fresh)
    return None if again else SoundEntries(dict(fit.intents), dict(fit.seals))


def _unfit(read: TrustedEntries, entries: Sequence[LedgerEntry], fit: SoundEntries) -> Iterator[RejectedEntry]:
    """Yield entries that are sound links of a chain but cannot be believed."""
    well = []
    for entry in entries:
        lacking = [name for name, fits in _required_statements(entry).items() if not fits(entry.facts.get(name))]
        if lacking:
            yield RejectedEntry(entry, f"as {entry.kind} it lacks {', '.join(lacking)}")
        else:
            well.append(entry)
            fit.take(entry)
    read.memo["fit"] = fit
    for entry in well:
        if entry.kind in ("reveal", "abort"):
            fault = _fault(read, entry, fit.intents.get(entry.facts["intent"]), fit.seals)
            if fault:
                yield RejectedEntry(entry, fault)


def _required_statements(entry: LedgerEntry) -> dict[str, Check]:
    """Gather what an entry has to state, by its kind and by what it states."""
    notes = (asked for name, asked in NOTES.items() if entry.kind == "note" and name in entry.facts)
    return {**EVERY, **FACTS.get(entry.kind, {}), **{name: check for asked in notes for name, check in asked.items()}}


def _fault(read: TrustedEntries, end: LedgerEntry, intent: LedgerEntry | None, seals: Mapping[str, LedgerEntry]) -> str:
    """Say why an answer is not to be believed; empty where it is."""
    if intent is None:
        return "it answers a look that is not there"
    if person(read, intent) != person(read, end):
        return "it answers another person's look"
    if end.kind == "abort" or read.signers.get(end.replica) in (None, read.me):
        return ""
    look, answer, seal = Look.of(intent), Reveal.of(end), seals.get(intent.brief.testset)
    if seal is not None and look.metric != "labels" and look.n < min(FEWEST, Seal.of(seal).n):
        return f"it is said to be computed on {look.n} rows"
    under = [Seal.of(seals[name]) for name in {look.testset, *(look.charged or ())} if name in seals]
    least = min((_least(answer, look, one) for one in under), default=0.0)  # terms are inherited from sets that are charged
    return f"its price is {answer.price:.4g}, and its answer costs {least:.4g}" if answer.price < least - 1e-6 else ""


def _least(answer: Reveal, look: Look, seal: Seal) -> float:
    """Compute the least price of an answer from what was released; 0 where that does not say it."""
    symbol, low = str(answer.symbol), answer.released.low if answer.released else None
    if not counts_rows(look.metric) or low is None or symbol.startswith("board"):
        return 0.0
    rate = look.cv_error if isinstance(look.cv_error, int | float) else look.cv_mean
    try:
        told = (float(rate), int(look.cv_rows)) if rate is not None and 0 <= float(rate) <= 1 else (0.5, 1)
        channel = count_channel(seal.terms.of_look, look.n, told, [], look.look)
        again = channel.release(LabelSummary(look.n, int(low), 0.0, (), float(look.n)))
    except (ValueError, TypeError, KeyError, AttributeError):  # whatever of it is not stated, or is none
        return float(look.worst)
    return again.price if again.symbol == symbol else float(look.worst)


def _charges(good: Sequence[LedgerEntry], bad: Sequence[RejectedEntry]) -> Iterator[LedgerEntry]:
    """Put a look in the place of each bad entry, at the highest price of the set that it names."""
    sizes = {seal.testset: seal.n for seal in (Seal.of(entry) for entry in good if entry.kind == "seal")}
    looks = [Look.of(entry) for entry in good if entry.kind == "intent"]
    sets = {look.id: look.testset for look in looks}
    highest: dict[str, float] = {}
    for look in looks:
        if look.metric != "labels":
            highest[look.testset] = max(highest.get(look.testset, 0.0), float(look.worst))
    for number, one in enumerate(sorted(bad, key=lambda one: one.entry.place), start=1):
        stated = one.facts
        named = str(stated.get("testset") or sets.get(str(stated.get("intent"))) or "")
        testset = named if named in sizes else ""
        n = sizes.get(testset, 1)
        worst = max(worst_of(log(10 * (n + 1))), highest.get(testset, 0.0))
        unknown = dict.fromkeys(("spec_id", "train", "metric", "predictions", "study"), "")
        facts = {"at": "", "id": f"{PLACE}.{one.entry.place}", "user": str(stated.get("user", "unknown")),
                 "host": str(stated.get("host", "")), "testset": testset,
                 "head": one.entry.place, "anchor": PLACE,
                 "worst": worst, "look": 0, **unknown, "unguarded": False, "flags": [],
                 "why": str(one), "code": "G079"}  # fmt: skip
        yield LedgerEntry(PLACE, number, "recovered", canonical(facts), "", one.entry.place)
