"""The shape of an audit (`modelsel audit --json`), as those read it who write it down: fields may be added, never renamed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

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
    """Who sealed rows, when, and in which study."""

    at: str | None
    user: str | None
    study: str | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Choices(Facts):
    """How many candidates were compared, on how many rows, and what that allows for."""

    candidates: int
    rows: int
    bound: float
    luck: float | None
    carried: int


@dataclass(frozen=True, kw_only=True, eq=False)
class LooksLeft(Facts):
    """How many further looks keep an interval narrow, by what each shows; and the width that fresh rows would give."""

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
