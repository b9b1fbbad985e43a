"""What entries of the ledger state, by their kind: read from JSON and written as JSON here, and nowhere else.

Facts that were read are written again byte for byte: names that this version does not know are kept, and those that were not
stated stay so. What is not stated has the default of its field; a fact without a default raises AttributeError when it is asked
for, since what an entry of its kind has to state is checked before it is believed (`guard.history.quarantine`).

An entry that is written is made by keywords, and states what was given and nothing else: a fact that is misspelt, or a missing
one without a default, is an error of types. `UNSTATED` takes the place of a default where not every entry of a kind has a fact.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from typing import Any, ClassVar, Self, TypedDict, TypeVar, dataclass_transform

from modelsel.core.outcome import CountedRows
from modelsel.core.types import Finding
from modelsel.guard.release import LookTerms, LossPlan, QuantileGrid, Released, UnitBound
from modelsel.ledger.entry import LedgerEntry

Limits = Sequence[float]  # low, high
UNSTATED: Any = object()
Kind = TypeVar("Kind")


@dataclass_transform(kw_only_default=True, frozen_default=True, eq_default=False)
def facts(kind: type[Kind]) -> type[Kind]:
    """Decorate a kind of facts: its fields are the keywords that it is made by."""
    for name in [name for name in kind.__annotations__ if kind.__dict__.get(name) is UNSTATED]:
        delattr(kind, name)
    return dataclass(frozen=True, kw_only=True, eq=False, init=False)(kind)


class EntryOrigin(TypedDict):
    """Time, person, machine and version, as every entry states them."""

    at: str
    user: str
    host: str
    version: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Facts:
    """The facts of one kind. `NESTED` says which of them are facts themselves, and how they are read."""

    NESTED: ClassVar[Mapping[str, Callable[[Any], Any]]] = {}

    def __init__(self, **stated: object) -> None:
        """State some facts, by the names of fields."""
        if strange := stated.keys() - self.__dataclass_fields__.keys():
            raise TypeError(f"{type(self).__name__} states no {', '.join(sorted(strange))}")
        self.__dict__.update(stated)

    @classmethod
    def read(cls, stated: "Mapping[str, Any] | Self") -> Self:
        """Read facts from JSON; those that are read already are themselves."""
        if isinstance(stated, cls):
            return stated
        assert isinstance(stated, Mapping)
        nested = {name: read(stated[name]) for name, read in cls.NESTED.items() if stated.get(name) is not None}
        return cls._with({**stated, **nested})

    @classmethod
    def _with(cls, stated: Mapping[str, object]) -> Self:
        """Set what is stated alone; names that are no fields stand apart, where they hide no method."""
        facts, names = object.__new__(cls), cls.__dataclass_fields__.keys()
        facts.__dict__.update({name: value for name, value in stated.items() if name in names})
        facts.__dict__["_others"] = {name: value for name, value in stated.items() if name not in names}
        return facts

    @property
    def _stated(self) -> dict[str, object]:
        known = dict(self.__dict__)
        return {**known.pop("_others", {}), **known}

    @classmethod
    def of(cls, entry: LedgerEntry) -> Self:
        """Read the facts of an entry, once."""
        known = entry.__dict__.get(cls.__name__)
        if not isinstance(known, cls):
            known = entry.__dict__[cls.__name__] = cls.read(entry.facts)
        return known

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self._stated == other._stated

    __hash__ = None  # type: ignore[assignment]

    def states(self, name: str) -> bool:
        """Say whether a fact is stated, be it that there is none."""
        return name in self.__dict__

    def part(self, names: Iterable[str]) -> dict[str, Any]:
        """Some facts as JSON has them; None for those that are not stated."""
        stated = self._stated
        return {name: _plain(stated.get(name)) for name in names}

    def but(self, **facts: object) -> Self:
        """A copy with other facts."""
        return self._with({**self._stated, **facts})

    def written(self) -> dict[str, Any]:
        """The facts as JSON has them."""
        return {name: _plain(value) for name, value in self._stated.items()}


def _plain(value: object) -> Any:
    """Write one fact as JSON has it."""
    if isinstance(value, Facts):
        return value.written()
    if isinstance(value, Finding):  # what an entry of a ledger holds of it, and no more
        return {name: getattr(value, name) for name in ("code", "severity", "message", "do")}
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value


def findings(stated: Sequence[Mapping[str, str]]) -> tuple[Finding, ...]:
    """Read findings."""
    return tuple(Finding(**one) for one in stated)  # type: ignore[arg-type]  # severities are checked when they are made


def many(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Read a list by reading each."""
    return lambda stated: tuple(map(read, stated))


@facts
class Entry(Facts):
    """Facts that any entry states: its name, when, and by whom."""

    id: str = UNSTATED  # given by the ledger
    at: str | None = None
    user: str | None = None
    host: str | None = None
    version: str | None = None
    study: str | None = None
    folder: str | None = None
    spec_id: str = UNSTATED
    testset: str = UNSTATED
    train: str = UNSTATED


@facts
class Reason(Facts):
    """Why a further look was needed, as its person put it."""

    category: str = ""
    text: str = ""


@facts
class StatedAnswer(Facts):
    """An answer to an exam, as its close shows it: at which index it stands, then what came out."""

    name: str
    base: float = UNSTATED
    certified: bool = UNSTATED
    score: float | None = None
    errors: int | None = None
    interval: Limits | None = None


@facts
class PairVerdict(Facts):
    """The verdict on two answers to an exam."""

    answer: str
    beside: str
    says: str


@facts
class Look(Entry):
    """An intent: everything about a look but its answer, on record before labels are opened; or a look that was lost."""

    NESTED: ClassVar = {"flags": findings, "justify": Reason.read, "answers": many(StatedAnswer.read), "plan": LossPlan.read}

    spec_id: str
    testset: str
    train: str
    metric: str
    predictions: str
    config: Mapping[str, Any] | None = None
    winner: str = UNSTATED
    cv_mean: float | None = None
    cv_rows: int = UNSTATED
    cv_error: float | None = None
    n: int = 0
    n_clean: int | None = None
    certified: bool = True
    look: int
    spent: float = 0.0
    space: int | None = None
    member: bool = False
    nats: float = UNSTATED
    numbers: int = 1
    declared: str | None = None
    worst: float
    delta: float = UNSTATED
    release: str | None = None
    policy: str | None = None
    since: str | None = None
    commit: str | None = None
    overlap: Sequence[Mapping[str, object]] = ()
    charged: Sequence[str] | None = ()
    seen: Mapping[str, int] | None = None
    flags: tuple[Finding, ...] = ()
    justify: Reason | None = None
    at_work: str | None = None
    units: UnitBound | None = None
    withheld: str | None = None
    plan: LossPlan | None = None
    quantiles: QuantileGrid | None = None
    share: float = UNSTATED
    counted: bool = UNSTATED
    whole: bool = False
    answers: tuple[StatedAnswer, ...] = UNSTATED
    head: str = UNSTATED
    anchor: str = UNSTATED
    unguarded: bool = UNSTATED
    outside: bool = False  # computed by code that is not modelsel's
    why: str = UNSTATED
    code: str = "G072"

    @property
    def off(self) -> bool:
        return self.policy == "off"

    @property
    def paid_sets(self) -> Sequence[str]:
        """The test sets that the look was charged for; earlier versions state none but its own."""
        return self.charged or () if self.states("charged") else (self.testset,)

    def knows(self, entry: LedgerEntry) -> bool:
        """Say whether an entry of another replica was on record when the look began, in whichever version."""
        seen = self.seen or {}
        return any(seen.get(one.replica, 0) >= one.seq for one in entry.written)


@facts
class Reveal(Facts):
    """A reveal: what was shown of a look, and its price; of a look without one nothing is stated."""

    NESTED: ClassVar = {"released": Released.read, "answers": many(StatedAnswer.read), "verdicts": many(PairVerdict.read)}

    id: str = UNSTATED
    at: str | None = None
    user: str | None = None
    host: str | None = None
    version: str | None = None
    intent: str
    symbol: str | None = None
    score: float | None = None
    errors: int | None = None
    price: float
    interval: Limits | None = None
    released: Released | None = None
    units: UnitBound | None = None
    above: CountedRows | None = None
    counted: CountedRows | None = None
    quantiles: Sequence[Mapping[str, object]] | None = None
    counts: Sequence[int] = ()
    answers: tuple[StatedAnswer, ...] = ()
    verdicts: tuple[PairVerdict, ...] = ()


@facts
class SealTerms(Facts):
    """The terms of a seal: how answers are shown, and what they are charged for."""

    policy: str | None = None
    rank: int
    delta: float
    release: str
    resolution: str | float | None = None
    steps: int | None = None
    target: float | None = None
    quota: float | None = None
    budget: int = 0
    max_looks: int | None = None
    metric: str
    measure: str
    noise: int | None = None

    @property
    def off(self) -> bool:
        return self.policy == "off"

    @property
    def of_look(self) -> LookTerms:
        """The terms of a look at these rows alone."""
        quota = () if self.quota is None else (self.quota,)
        return LookTerms(self.release, self.delta, self.steps, self.target, self.noise, self.budget, quota)


@facts
class Seal(Entry):
    """A seal: the rows by their digests, the terms, and the models that were declared."""

    NESTED: ClassVar = {"terms": SealTerms.read}

    spec_id: str
    testset: str
    train: str
    source: str
    n: int
    rows_in_all: int
    u: float
    key_id: str
    names: Sequence[str]
    space: int | None = None
    seed: int | None = None
    terms: SealTerms
    searched: str | None = None  # the digest of a search that names its candidates when it is over
    commitment: str | None = None
    weights: str | None = None
    rows: str | None = None
    development: str | None = None
    table: str | None = None
    portrait: str | None = None
    candidates: str | None = None
    independent: str | None = None
    assignment: str | None = None
    units: str | None = None
    sizes: Mapping[str, int] | None = None
    unit: str | None = None


@facts
class PolicyChange(Entry):
    """Terms under which rows were used later than they were sealed, and which of them are weaker."""

    NESTED: ClassVar = {"terms": SealTerms.read}

    testset: str
    terms: SealTerms
    weaker: Sequence[str]


@facts
class Note(Entry):
    """A finding that was noticed (`code`), a look that was refused, rows that were opened (`contact`), or a step of an exam.

    A step of a gate is a proposal: its verdict, how much better it was than which other one, and that gain's standard error.
    """

    NESTED: ClassVar = {"flags": findings}

    code: str = UNSTATED
    text: str = UNSTATED
    refused: str = UNSTATED
    flags: tuple[Finding, ...] = ()
    contact: str | None = None
    rows: str = UNSTATED
    key_id: str | None = None
    n: int | None = None
    exam: str | None = None
    what: str | None = None
    terms: str | None = None
    asker: str = UNSTATED
    handed: str = UNSTATED
    verdict: str = UNSTATED
    asked: bool = False  # a veto of the sealed rows
    gain: float | None = None
    se: float | None = None
    beside: str | None = None


@facts
class Replay(Entry):
    """An answer that was shown again."""

    @property
    def source(self) -> str:
        """The look that was shown (`of` in the entry)."""
        return str(self.part(["of"])["of"])


@facts
class ExamConfig(Facts):
    """Of the settings of a look, which exam it answers: who handed in what, by the digest of the predictions."""

    exam: str | None = None
    asker: str = UNSTATED
    handed: str = UNSTATED


@facts
class Ruling(Entry):
    """Entries that the owner of a ledger sets aside, by their places, and why."""

    void: Sequence[str]
    why: str


@facts
class Vouch(Entry):
    """The key of another home, whose entries count."""

    key: str


@facts
class Abort(Entry):
    """A look that ended without an answer, and the name of the error that ended it."""

    intent: str
    error: str


@facts
class LaterPlace(Facts):
    """A look's index, spending and interval after a merge, in place of those that it had."""

    look: int
    spent: float
    interval: Limits | None = None


@facts
class RecordedSelection(Entry):
    """A study's choice, and the rows that it was made on."""

    spec_id: str
    testset: str
    train: str
    winner: str
    cv_mean: float | None = None
    cv_rows: int
    cv_error: float | None = None
    tried: int
    trained: float = 1.0
    outside: bool = False  # other code fitted on these rows
    key_id: str
    measure: str = "error"
    measured: str
    predictions: str | None = None
    development: str | None = None
    table: str | None = None
    searched: str | None = None
    candidates: str | None = None  # that a search has asked for, as a stored set,
    named: str | None = None  # and as one digest
    target: str = ""  # its name; empty where it has none


@facts
class Commitment(Entry):
    """A study that was fixed before any answer is known: its index, and what was spent by then."""

    spec_id: str
    testset: str
    train: str
    look: int
    spent: float
    predictions: str | None = None
    measure: str | None = None
