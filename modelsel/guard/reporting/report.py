"""The shape of an audit (`modelsel audit --json`), as those read it who write it down: fields may be added, never renamed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NotRequired, TypedDict

from modelsel.core.outcome import FindingShape, Number, Span
from modelsel.core.types import Finding
from modelsel.guard.facts import Facts, LaterPlace, Limits, Reason, SealTerms, findings, many


@dataclass(frozen=True, kw_only=True, eq=False)
class LookLine(Facts):
    """A look, or an answer that was shown again."""

    NESTED: ClassVar = {"superseded": LaterPlace.read, "justification": Reason.read}

    look: int
    replay: bool
    status: str
    at: str | None = None
    user: str | None = None
    host: str | None = None
    study: str | None = None
    score: float | None
    errors: int | None
    interval: Limits | None
    price: float
    spent: float
    n: int | None = None
    step: float | None = None
    read_as: str = ""
    metric: str = "score"
    beside: Mapping[str, Any] | None = None  # of numbers: the mean of capped errors
    cv_mean: float | None = None
    flags: Sequence[str]
    changes: Sequence[str]
    charged: Sequence[str] = ()
    justification: Reason | None = None
    as_first: Limits | None = None
    superseded: LaterPlace | None = None
    outside: bool = False

    @property
    def now(self) -> "LookLine":
        """The look as it counts after merges."""
        return self.but(**self.superseded.written()) if self.superseded else self


@dataclass(frozen=True, kw_only=True, eq=False)
class SealLine(Facts):
    """A seal: by whom, when, and in which study."""

    at: str | None
    user: str | None
    study: str | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Choices(Facts):
    """The number of candidates that were compared, on how many rows, and what that allows for."""

    candidates: int
    rows: int
    bound: float
    luck: float | None
    carried: int


@dataclass(frozen=True, kw_only=True, eq=False)
class LooksLeft(Facts):
    """Further looks that keep an interval narrow, counted by what each shows; and the width that fresh rows would give."""

    left: Mapping[str, Mapping[str, int]]
    at: float
    fresh: Mapping[str, float]


@dataclass(frozen=True, kw_only=True, eq=False)
class StudyLine(Facts):
    """A study that chose on the development rows."""

    study: str | None
    folder: str | None
    tried: int
    winner: str
    cv_mean: float | None


@dataclass(frozen=True, kw_only=True, eq=False)
class RefusalLine(Facts):
    """A look that was refused."""

    at: str | None = None
    study: str | None = None
    reason: str


@dataclass(frozen=True, kw_only=True, eq=False)
class ContactLine(Facts):
    """Rows that were opened or predicted."""

    contact: str
    at: str | None
    user: str | None
    host: str | None
    n: int | None
    folder: str | None
    testset: str | None


@dataclass(frozen=True, kw_only=True, eq=False)
class TestSetReport(Facts):
    """Everything on record about one test set."""

    __test__ = False  # not a test class, whatever pytest thinks of its name
    NESTED: ClassVar = {
        "looks": many(LookLine.read), "sealed": SealLine.read, "policies": many(SealTerms.read), "choices": Choices.read,
        "refusals": many(RefusalLine.read), "siblings": many(StudyLine.read), "budget": LooksLeft.read,
    }  # fmt: skip

    id: str
    rows: int
    looks: Sequence[LookLine]
    sealed: SealLine
    policies: Sequence[SealTerms]
    refusals: Sequence[RefusalLine]
    spent: float
    studies: int
    candidates: int
    choices: Choices | None
    siblings: Sequence[StudyLine]
    budget: LooksLeft | None

    @property
    def level(self) -> float:
        """The confidence level that was declared with the seal."""
        return 1 - (self.policies[0].delta if self.policies else 0.05)

    @property
    def made(self) -> list[LookLine]:
        """The looks without what was shown again."""
        return [look for look in self.looks if not look.replay]


@dataclass(frozen=True, kw_only=True, eq=False)
class LedgerState(Facts):
    """A ledger, and whether it is whole."""

    url: str
    entries: int
    intact: bool | None
    head: str | None
    anchors: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class AuditReport(Facts):
    """A whole audit."""

    NESTED: ClassVar = {
        "test_sets": many(TestSetReport.read), "flags": findings, "ledger": LedgerState.read,
        "contacts": many(ContactLine.read),
    }  # fmt: skip

    test_sets: Sequence[TestSetReport]
    flags: Sequence[Finding]
    ledger: LedgerState
    contacts: Sequence[ContactLine] = ()


# The same as it is written, key by key.


class LedgerShape(TypedDict):
    """The ledger's address, and whether it is whole (null: not asked)."""

    url: str
    entries: int
    intact: bool | None
    head: str | None
    id: NotRequired[str]
    chain: NotRequired[str]
    replicas: NotRequired[int]
    anchors: NotRequired[list[str]]
    freed_of_labels: NotRequired[int]
    digests_of_labels: NotRequired[int]


class EntryShape(TypedDict):
    """Facts of an entry in the ledger that every line of an audit repeats."""

    seq: int
    replica: str
    at: str
    study: str | None
    spec_id: str | None
    user: str | None
    host: str | None
    folder: str | None


class LookShape(EntryShape):
    """A look at a test set, or a replay of its answer."""

    look: int
    replay: bool
    status: str
    score: Number
    errors: int | None
    interval: Span | None
    price: float
    spent: float
    overlap: list[Mapping[str, Any]]
    flags: list[str]
    changes: list[str]
    n: NotRequired[int | None]
    n_clean: NotRequired[int | None]
    release: NotRequired[str | None]
    policy: NotRequired[str | None]
    cv_mean: NotRequired[Number]
    metric: NotRequired[str]
    step: NotRequired[Number]
    read_as: NotRequired[str]
    findings: NotRequired[list[FindingShape]]
    justification: NotRequired[Mapping[str, object] | None]
    charged: NotRequired[list[str]]
    beside: NotRequired[Mapping[str, object]]
    as_first: NotRequired[Span | None]
    superseded: NotRequired[Mapping[str, object] | None]
    outside: NotRequired[bool]


class RefusalShape(EntryShape):
    """A look that was refused."""

    reason: str
    flags: list[str]


class NextLookShape(TypedDict):
    """The price of a further look, and the interval of the same error rate."""

    look: int
    interval: Span | None
    release: str
    price: float
    steps: NotRequired[int]


class TestSetShape(TypedDict):
    """All that touched one test set."""

    id: str
    rows: int
    looks: list[LookShape]
    sealed: Mapping[str, object]
    policies: list[Mapping[str, object]]
    refusals: list[RefusalShape]
    spent: float
    studies: int
    candidates: int
    choices: Mapping[str, Number] | None
    siblings: list[Mapping[str, object]]
    next: NextLookShape | None
    budget: Mapping[str, object] | None


class AuditShape(TypedDict):
    """The output of `modelsel audit --json`."""

    ledger: LedgerShape
    test_sets: list[TestSetShape]
    flags: list[FindingShape]
    state: str
    contacts: NotRequired[list[Mapping[str, object]]]
    next: NotRequired[NextLookShape | None]
    at: NotRequired[str]
    reforms: NotRequired[Mapping[str, Mapping[str, object]]]
