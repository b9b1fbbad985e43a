"""An audit (`modelsel audit --json`), as it is written and as it is read: fields may be added, never renamed."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from modelsel.core.facts import UNSTATED, DocumentFacts, facts
from modelsel.core.outcome import FindingFacts, Span
from modelsel.core.types import Finding
from modelsel.guard.facts import LaterPlace, Reason, SealTerms


@facts
class EntryLine(DocumentFacts):
    """Facts of an entry in the ledger that a line of an audit repeats."""

    seq: int
    replica: str
    at: str | None = None
    study: str | None = None
    spec_id: str | None = None
    user: str | None = None
    host: str | None = None
    folder: str | None = None


@facts
class LookLine(EntryLine):
    """A look, or an answer that was shown again."""

    look: int
    replay: bool
    status: str
    score: float | None
    step: float | None = None
    read_as: str = ""
    errors: int | None
    interval: Span | None
    cv_mean: float | None = None
    metric: str = "score"
    beside: Mapping[str, Any] | None = None  # of numbers: the mean of capped errors
    price: float
    spent: float
    n: int | None = None
    release: str | None = None
    policy: str | None = None
    overlap: Sequence[Mapping[str, Any]] = ()
    flags: Sequence[str]
    findings: Sequence[FindingFacts] = ()
    justification: Reason | None = None
    changes: Sequence[str]
    charged: Sequence[str] | None = ()
    n_clean: int | None = None
    as_first: Sequence[float] | None = None
    superseded: LaterPlace | None = None
    outside: bool = False

    @property
    def now(self) -> "LookLine":
        """The look as it counts after merges."""
        return self.read({**self.stated, **self.superseded.stated}) if self.superseded else self


@facts
class SealLine(DocumentFacts):
    """A seal: by whom, when, and in which study; how far rows were told apart, and how many models were declared."""

    CHECKED: ClassVar[bool] = False

    at: str | None
    user: str | None
    host: str | None = None
    study: str | None
    u: float | None = None
    space: int | None = None


@facts
class Choices(DocumentFacts):
    """The number of candidates that were compared, on how many rows, and what that allows for."""

    CHECKED: ClassVar[bool] = False

    candidates: int
    rows: int
    bound: float
    luck: float | None
    carried: int


@facts
class LooksLeft(DocumentFacts):
    """Further looks that keep an interval narrow, counted by what each shows; and the width that fresh rows would give."""

    CHECKED: ClassVar[bool] = False

    left: Mapping[str, Mapping[str, int]]
    at: float
    fresh: Mapping[str, float]


@facts
class NextLook(DocumentFacts):
    """The price of a further look, and the interval of the same error rate."""

    look: int
    interval: Span | None = None
    release: str = ""  # older versions wrote none
    price: float
    steps: int | None = None


@facts
class StudyLine(DocumentFacts):
    """A study that chose on the development rows."""

    CHECKED: ClassVar[bool] = False

    at: str | None = None
    study: str | None
    folder: str | None
    spec_id: str = UNSTATED
    winner: str
    cv_mean: float | None
    cv_rows: int | None = None
    measure: str | None = None
    tried: int


@facts
class RefusalLine(EntryLine):
    """A look that was refused."""

    reason: str
    flags: Sequence[str] = ()


@facts
class ContactLine(DocumentFacts):
    """Rows that were opened or predicted."""

    CHECKED: ClassVar[bool] = False

    contact: str
    at: str | None
    user: str | None
    host: str | None
    n: int | None
    folder: str | None
    testset: str | None


@facts
class TestSetReport(DocumentFacts):
    """Everything on record about one test set."""

    __test__ = False  # not a test class, whatever pytest thinks of its name

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
    next: NextLook | None
    budget: LooksLeft | None

    @property
    def level(self) -> float:
        """The confidence level that was declared with the seal."""
        return 1 - (self.policies[0].delta if self.policies else 0.05)

    @property
    def made(self) -> list[LookLine]:
        """The looks without what was shown again."""
        return [look for look in self.looks if not look.replay]


@facts
class LedgerState(DocumentFacts):
    """A ledger, and whether it is whole (null: not asked)."""

    url: str
    entries: int
    intact: bool | None
    head: str | None
    id: str | None = None
    chain: str | None = None
    replicas: int | None = None
    anchors: Sequence[str] = ()
    freed_of_labels: int | None = None
    digests_of_labels: int | None = None


@facts
class AuditReport(DocumentFacts):
    """A whole audit: the output of `modelsel audit --json`."""

    ledger: LedgerState
    test_sets: Sequence[TestSetReport] = ()
    flags: Sequence[FindingFacts] = ()
    contacts: Sequence[ContactLine] = ()
    state: str = ""
    next: NextLook | None = None
    at: str | None = None
    reforms: Mapping[str, Mapping[str, Any]] | None = None

    @property
    def findings(self) -> list[Finding]:
        """The flags as findings."""
        return [Finding.read(one) for one in self.flags]

    @property
    def known(self) -> list[str]:
        """The test sets that it tells of."""
        return [one.id for one in self.test_sets]
