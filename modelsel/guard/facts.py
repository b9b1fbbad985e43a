"""What entries of the ledger state, by their kind; how facts are read and written stands in `core/facts.py`."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypedDict

from modelsel.core.facts import UNSTATED, DocumentFacts, Facts, facts
from modelsel.core.outcome import CountedRows
from modelsel.core.types import Finding
from modelsel.guard.release import LookTerms, LossPlan, QuantileGrid, Released, UnitBound
from modelsel.ledger.entry import LedgerEntry

Limits = Sequence[float]  # low, high


class EntryOrigin(TypedDict):
    """Time, person, machine and version, as every entry states them."""

    at: str
    user: str
    host: str
    version: str


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
class Reason(DocumentFacts):
    """Why a further look was needed, as its person put it."""

    CHECKED: ClassVar[bool] = False

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
class SealTerms(DocumentFacts):
    """The terms of a seal: how answers are shown, and what they are charged for."""

    CHECKED: ClassVar[bool] = False

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

    testset: str
    terms: SealTerms
    weaker: Sequence[str]


@facts
class Note(Entry):
    """A finding that was noticed (`code`), a look that was refused, rows that were opened (`contact`), or a step of an exam.

    A step of a gate is a proposal: its verdict, how much better it was than which other one, and that gain's standard error.
    """

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
class LaterPlace(DocumentFacts):
    """A look's index, spending and interval after a merge, in place of those that it had."""

    CHECKED: ClassVar[bool] = False

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
