"""The entries of a ledger as a history: what was sealed, who chose on which rows, who looked, and what it cost."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from operator import attrgetter
from typing import Any, Literal

from modelsel.core.fingerprint import canonical
from modelsel.guard.facts import Look, PolicyChange, Reveal, Seal, SealTerms
from modelsel.guard.quarantine import all_fit, believed_entries, quarantine_charges
from modelsel.guard.release import ShownAnswer
from modelsel.ledger.entry import LedgerEntry, heads
from modelsel.ledger.trust import TrustedEntries

NO_ANSWER = Reveal.read({})
Status = Literal["open", "revealed", "failed", "recovered"]
IMMATERIAL = (
    "compare", "curve", "deadline", "explain", "explanations", "final_test", "guard", "limit", "measures", "name",
    "note", "on_failure", "optimal", "plugins", "pool", "race", "resume", "retry_failed", "show", "slices", "task",
    "tracking", "dataset.absent", "dataset.cache", "dataset.dir", "dataset.name", "dataset.openml", "dataset.path",
    "dataset.seconds", "dataset.test_path", "dataset.content", "dataset.delimiter", "dataset.decimal",
    "dataset.encoding", "dataset.measured_in", "dataset.header", "dataset.skip_lines", "dataset.thousands", "dataset.signs",
    "dataset.without_target",
)  # fmt: skip


@dataclass(frozen=True)
class PastLook:
    """A look: its intent, and what became of it. Until it is resolved it costs the most that it could have released."""

    entry: LedgerEntry
    status: Status
    end: LedgerEntry | None = None  # the reveal

    @cached_property
    def facts(self) -> Look:
        return Look.of(self.entry)

    @cached_property
    def answer(self) -> Reveal:
        """The facts of the reveal; nothing is stated where there is none."""
        return NO_ANSWER if self.end is None else Reveal.of(self.end)

    @property
    def id(self) -> str:
        return str(self.entry.brief.id)

    @property
    def testset(self) -> str:
        return str(self.entry.brief.testset)

    @property
    def metric(self) -> str:
        return self.facts.metric

    @property
    def spec_id(self) -> str:
        return self.facts.spec_id

    @property
    def config(self) -> Mapping[str, Any]:
        """The settings of the study, or of the exam whose answer it is; empty where none are stated."""
        return self.facts.config or {}

    @property
    def price(self) -> float:
        return float(self.answer.price if self.status == "revealed" else self.facts.worst)

    @property
    def shown(self) -> ShownAnswer:
        """The released answer, as later ones are judged by it."""
        answer, handed = self.answer, self.config.get("handed")
        return ShownAnswer(self.facts.look, self.facts.n, answer.symbol, answer.score, answer.interval, handed)

    def same_question(self, testset: str, metric: str, spec_id: str, train: str) -> bool:
        """The replay key."""
        facts = self.facts
        return (facts.testset, facts.metric, facts.spec_id, facts.train) == (testset, metric, spec_id, train)


@dataclass(frozen=True, eq=False)
class History:
    """All entries, read once. Order within a replica is by number; between replicas by the clock."""

    entries: tuple[LedgerEntry, ...]
    signers: Mapping[str, str] = field(default_factory=dict)  # the key that signs a chain, where entries were read with keys
    read: Mapping[str, int] = field(default_factory=dict)  # how far chains were read that no entry is left of

    @classmethod
    def of(cls, entries: Iterable[LedgerEntry]) -> "History":
        """The history of entries; of the same reading of a ledger it is made once."""
        if not isinstance(entries, TrustedEntries):
            return cls(tuple(_order_entries(believed_entries(entries))))
        if "history" not in entries.memo:
            further = cls._further(entries)
            entries.memo["history"] = further or cls(tuple(_order_entries(believed_entries(entries))), entries.signers)
        found: History = entries.memo["history"]
        return found

    @classmethod
    def _further(cls, read: TrustedEntries) -> "History | None":
        """Extend the history of the previous reading by new entries; None where one of these is not later than all others."""
        former = read.former
        if former is not None and former.recalled:
            cls.of(former)
        if former is None or "history" not in former.memo or not all_fit(former) or not all_fit(read):
            return None
        history: History = former.memo["history"]
        times = [history.latest, *(str(entry.brief.at or "") for entry in read.fresh)]
        if not all(one < other for one, other in pairwise(times)):
            return None
        found = cls((*history.entries, *read.fresh), read.signers)
        found.__dict__.update({"latest": times[-1], **history._with(read.fresh)})
        return found

    def _with(self, fresh: Sequence[LedgerEntry]) -> dict[str, Any]:
        """Extend the looks found so far by later entries; empty where an entry changes the past and all must be read again."""
        if "looks" not in self.__dict__ or any(entry.kind == "recovered" for entry in (*self.of_kind("recovered"), *fresh)):
            return {}
        looks, sets, ids = list(self.looks), {**self._places_of_looks}, {**self._places_of_ids}
        kinds = {**self._kinds}
        for entry in fresh:
            kinds[entry.kind] = (*kinds.get(entry.kind, ()), entry)
            if not _follows(entry, looks, sets, ids):
                return {}
        return {"looks": tuple(looks), "_places_of_looks": sets, "_places_of_ids": ids, "_kinds": kinds}

    @cached_property
    def heads(self) -> dict[str, int]:
        """How far each chain was read."""
        return {
            **self.read,
            **{replica: max(entry.seq, self.read.get(replica, 0)) for replica, entry in heads(self.entries).items()},
        }

    @cached_property
    def latest(self) -> str:
        """The latest time that any entry states."""
        return max((str(entry.brief.at or "") for entry in self.entries), default="")

    @cached_property
    def looks(self) -> tuple[PastLook, ...]:
        """List all looks in order, each with its end; lost ones that were recovered are among them."""
        ends: dict[str, LedgerEntry] = {}
        for entry in self._ends:
            ends.setdefault(entry.brief.intent, entry)  # a later one changes nothing
        return tuple(_look(e, ends.get(e.brief.id)) for e in self.entries if e.kind == "intent" or self.is_missing(e))

    @property
    def _ends(self) -> tuple[LedgerEntry, ...]:
        """The answers in order, and where looks failed."""
        reveals = self.of_kind("reveal")
        return tuple(entry for entry in self.entries if entry.kind in ("reveal", "abort")) if self.of_kind("abort") else reveals

    def is_missing(self, entry: LedgerEntry) -> bool:
        """Say whether an entry is a look that an anchor saw, and that no merge has brought back."""
        return entry.kind == "recovered" and Look.of(entry).head not in self._places

    @cached_property
    def _places(self) -> frozenset[str]:
        return frozenset(entry.place for entry in self.entries)

    @cached_property
    def unnamed(self) -> tuple[str, ...]:
        """Bad entries that name no test set: they may hide a look at any."""
        return tuple(look.why for look in map(Look.of, quarantine_charges(self.entries)) if not look.testset)

    @cached_property
    def seals(self) -> dict[str, LedgerEntry]:
        """The first seal of each test set; one under `guard=off`, which binds nobody, only where there is no other."""
        found: dict[str, LedgerEntry] = {}
        for entry in sorted(self.of_kind("seal"), key=lambda entry: bool(entry.brief.off)):
            found.setdefault(entry.brief.testset, entry)
        return found

    @cached_property
    def descriptions(self) -> tuple[LedgerEntry, ...]:
        """The seals that differ in what rows are compared by: whoever states other rows under a set's name, hides none."""
        found = {(e.brief.testset, e.brief.key_id, e.brief.rows, e.brief.portrait): e for e in reversed(self.of_kind("seal"))}
        return tuple(reversed(found.values()))

    @cached_property
    def sealed_by(self) -> Mapping[str, Sequence[LedgerEntry]]:
        """The first seal of each test set in every chain: a later one of the same chain changes no term."""
        found: dict[str, dict[str, LedgerEntry]] = {}
        for entry in sorted(self.of_kind("seal"), key=lambda entry: bool(entry.brief.off)):
            found.setdefault(entry.brief.testset, {}).setdefault(entry.replica, entry)
        return {testset: tuple(by_chain.values()) for testset, by_chain in found.items()}

    def sealings(self, testsets: Iterable[str]) -> tuple[LedgerEntry, ...]:
        """Every seal of some test sets, by whichever replica."""
        wanted = set(testsets)
        return tuple(entry for entry in self.of_kind("seal") if entry.brief.testset in wanted)

    @cached_property
    def selections(self) -> tuple[LedgerEntry, ...]:
        return self.of_kind("selection")

    def selections_for(self, testset: str) -> Sequence[LedgerEntry]:
        """The choices on the development rows of a test set."""
        return self._selections.get(testset, ())

    @cached_property
    def _selections(self) -> dict[str, list[LedgerEntry]]:
        """Map each test set to the choices on its development rows."""
        found: dict[str, list[LedgerEntry]] = {}
        for entry in self.selections:
            found.setdefault(entry.brief.testset, []).append(entry)
        return found

    @cached_property
    def looks_of_replicas(self) -> Mapping[str, Sequence[PastLook]]:
        """The looks of each replica, in order."""
        found: dict[str, list[PastLook]] = {}
        for look in self.looks:
            found.setdefault(look.entry.replica, []).append(look)
        return found

    @cached_property
    def forked(self) -> frozenset[str]:
        """Replicas of which two looks have the same number."""
        every = self.looks_of_replicas.items()
        return frozenset(name for name, looks in every if len({look.entry.seq for look in looks}) < len(looks))

    @cached_property
    def replicas(self) -> frozenset[str]:
        """The replicas that wrote looks: looks of the same one know of each other."""
        return frozenset(look.entry.replica for look in self.looks)

    @cached_property
    def commits(self) -> tuple[LedgerEntry, ...]:
        return self.of_kind("commit")

    @cached_property
    def replays(self) -> tuple[LedgerEntry, ...]:
        return self.of_kind("replay")

    def before(self, intent: LedgerEntry) -> "History":
        """Return the history as it stood when an intent was written."""
        seen = Look.of(intent).seen or {}
        kept = (e for e in self.entries if any(one.seq <= seen.get(one.replica, 0) for one in e.written))
        return replace(self, entries=tuple(kept))

    def looks_at(self, testsets: Iterable[str]) -> tuple[PastLook, ...]:
        wanted = sorted({place for testset in set(testsets) for place in self._places_of_looks.get(testset, ())})
        return tuple(self.looks[place] for place in wanted)

    @cached_property
    def _places_of_looks(self) -> dict[str, list[int]]:
        """Map each test set to the positions of its looks."""
        found: dict[str, list[int]] = {}
        for place, look in enumerate(self.looks):
            found.setdefault(look.testset, []).append(place)
        return found

    @cached_property
    def _places_of_ids(self) -> dict[str, list[int]]:
        """Map the id of each look, and of each answer, to the positions of looks."""
        found: dict[str, list[int]] = {str(entry.brief.intent): [] for entry in self._ends}
        for place, look in enumerate(self.looks):
            found.setdefault(look.id, []).append(place)
        return found

    @cached_property
    def chosen_on(self) -> frozenset[str]:
        """The development rows that chose something."""
        return frozenset(str(entry.brief.train) for entry in self.selections)

    @cached_property
    def tested(self) -> frozenset[str]:
        """The test sets that were looked at, or that a model is committed to."""
        return frozenset([*self._places_of_looks, *(str(entry.brief.testset) for entry in self.commits)])

    def commits_on(self, testsets: Iterable[str]) -> tuple[LedgerEntry, ...]:
        wanted = set(testsets)
        return tuple(entry for entry in self.commits if entry.brief.testset in wanted)

    def terms(self, testset: str) -> SealTerms:
        """The terms under which a test set was sealed; they stay in force."""
        return Seal.of(self.seals[testset]).terms

    def policies(self, testset: str) -> list[SealTerms]:
        """The policy at sealing and each one since."""
        since = map(PolicyChange.of, self.of_kind("policy_change"))
        changes = [change.terms for change in since if change.testset == testset]
        return [self.terms(testset), *changes] if testset in self.seals else changes

    @property
    def keys(self) -> frozenset[str]:
        """The keys under which test sets were sealed."""
        return frozenset(str(entry.brief.key_id) for entry in self.of_kind("seal"))

    def of_kind(self, kind: str) -> tuple[LedgerEntry, ...]:
        return self._kinds.get(kind, ())

    @cached_property
    def _kinds(self) -> dict[str, tuple[LedgerEntry, ...]]:
        """The entries by kind, each in order."""
        found: dict[str, list[LedgerEntry]] = {}
        for entry in self.entries:
            found.setdefault(entry.kind, []).append(entry)
        return {kind: tuple(entries) for kind, entries in found.items()}


def differences(before: Mapping[str, object], after: Mapping[str, object]) -> list[str]:
    """The keys whose values differ between two resolved configurations, dotted; those that decide no answer are left out.

    What stands in one of them alone is named as a whole.

    >>> differences({"a": {"b": 1, "c": 2}, "name": "x"}, {"a": {"b": 3, "c": 2}, "d": 0, "name": "y"})
    ['a.b', 'd']
    """
    return sorted(key for key in _changed_settings(before, after) if _material(key))


def _material(key: str) -> bool:
    return not any(key == name or key.startswith(f"{name}.") for name in IMMATERIAL)


def _changed_settings(before: Mapping[str, object], after: Mapping[str, object], prefix: str = "") -> Iterator[str]:
    """Yield the dotted names of settings that differ; one that says nothing is as good as none."""
    for name in before.keys() | after.keys():
        old, new, key = before.get(name), after.get(name), f"{prefix}{name}"
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from _changed_settings(old, new, f"{key}.")
        elif canonical(old) != canonical(new):  # as the ledger keeps it: 1.0 is 1 there
            yield key


def _follows(entry: LedgerEntry, looks: list[PastLook], sets: dict[str, list[int]], ids: dict[str, list[int]]) -> bool:
    """Put a look in, or an answer to its look; False where its name was used before, or its look is not there."""
    if entry.kind == "intent":
        name, testset = str(entry.brief.id), str(entry.brief.testset)
        if name in ids:
            return False
        sets[testset], ids[name] = [*sets.get(testset, ()), len(looks)], [len(looks)]
        looks.append(_look(entry, None))
    elif entry.kind in ("reveal", "abort"):
        if entry.brief.intent not in ids:
            return False
        for place in ids[entry.brief.intent]:
            if looks[place].status == "open":
                looks[place] = _look(looks[place].entry, entry)
    return True


def _look(intent: LedgerEntry, end: LedgerEntry | None) -> PastLook:
    """Pair an intent with its end."""
    if intent.kind == "recovered":
        return PastLook(intent, "recovered")
    if end is None:
        return PastLook(intent, "open")
    return PastLook(intent, "revealed", end) if end.kind == "reveal" else PastLook(intent, "failed")


def _order_entries(entries: Iterable[LedgerEntry]) -> list[LedgerEntry]:
    """Order entries by number within a replica; between replicas by the latest time that each has stated."""
    latest: dict[str, str] = {}
    stated: dict[tuple[str, int], str] = {}
    chains = sorted(sorted(entries, key=attrgetter("seq")), key=attrgetter("replica"))
    if not chains or chains[0].replica == chains[-1].replica:
        return chains
    for entry in chains:
        latest[entry.replica] = max(latest.get(entry.replica, ""), str(entry.brief.at or ""))
        stated[entry.replica, entry.seq] = latest[entry.replica]
    return sorted(chains, key=lambda entry: (stated[entry.replica, entry.seq], entry.replica, entry.seq))
