"""The Outcome: what the study found, in one machine-readable value (`study.json`, schema 1)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from modelsel.core.facts import EMPTY, DocumentFacts, Facts, facts
from modelsel.core.types import Finding, Severity

SCHEMA = 1
Number = float | None
Span = tuple[float, float]
CorrectedBy = Literal["bbc", "nested", "bates"]


# What stands in study.json, fact by fact; a fact with a default is not in every one. `object` stands for a value that depends
# on the study: settings of a learner, say.


@facts
class FindingFacts(DocumentFacts):
    """Something a person should know: a stable code, how grave it is, what it says, what to do."""

    code: str
    severity: Severity
    message: str
    do: str = ""


@facts
class CountedRows(DocumentFacts):
    """A number of rows, with the interval of their share."""

    rows: int
    interval: Sequence[float] | None


def as_data(finding: Finding) -> FindingFacts:
    """A finding as it is written."""
    return FindingFacts(code=finding.code, severity=finding.severity, message=finding.message, do=finding.do)


@facts
class WeightsFacts(DocumentFacts):
    """What the weights of rows are (repeats or relative), and what those of the source were divided by."""

    are: str
    factor: float


@facts
class TaskFacts(DocumentFacts):
    """The data of a study and their split; `unit` and `units` where units are declared, `weights` where rows have weights.

    `kind` is classes or numbers: of numbers there are no `classes`, and `measured_in` is their unit where it was said.
    """

    name: str
    rows: int
    development_rows: int
    test_rows: int
    features: int
    kind: str = "classes"
    classes: Sequence[str] = ()
    measured_in: str | None = None
    fingerprint: str
    unit: str | None = None
    units: int | None = None
    weights: WeightsFacts | None = None

    @property
    def of_numbers(self) -> bool:
        """Say whether the target is a number."""
        return self.kind == "numbers"


@facts
class SchemeFacts(DocumentFacts):
    """The folds by which candidates were judged; `trained`: the share of the development rows that their models saw."""

    name: str
    folds: int
    fingerprint: str
    trained: float = 1.0


@facts
class CountsFacts(DocumentFacts):
    """Numbers of candidates, by what became of them."""

    declared: int
    distinct: int
    ok: int
    failed: int
    skipped: int
    dropped: int = 0


@facts
class FitsFacts(DocumentFacts):
    """Fits that were made, and those of separate fits."""

    needed: int
    naive: int


@facts
class SizeFacts(DocumentFacts):
    """The size of a model, in the unit that is named."""

    name: str
    value: Number


@facts
class ScoreFacts(DocumentFacts):
    """A score over folds."""

    mean: float
    se: Number
    folds: Sequence[Number] = ()


@facts
class CorrectedFacts(DocumentFacts):
    """The winner's score without the luck of the choice."""

    method: CorrectedBy
    mean: float
    low: float
    high: float
    same: float | None = None
    resamples: int | None = None
    reached: Mapping[str, object] | None = None
    feasible: float | None = None
    tibshirani: Number = None
    bbc: Mapping[str, object] | None = None
    label: str = ""
    caution: str = ""
    point632: Number = None
    point632_plus: Number = None


@facts
class RefitFailureFacts(DocumentFacts):
    """The reason that the winner could not be fitted on all development rows."""

    status: str
    reason: str


@facts
class WinnerFacts(DocumentFacts):
    """The candidate that was chosen, and its scores."""

    id: str
    learner: str
    entry: str = ""
    parameters: Mapping[str, object]
    complexity: SizeFacts
    cv: ScoreFacts
    measures: Mapping[str, Number] = EMPTY
    indistinguishable: list[str]
    every_best: list[str] | None = None
    corrected: CorrectedFacts | None
    never_out_of_bag: int | None = None
    failure: RefitFailureFacts | None = None

    @property
    def name(self) -> str:
        """The entry of the space, or the learner where the record is of an older version."""
        return self.entry or self.learner


@facts
class FailureFacts(DocumentFacts):
    """A candidate that did not finish: failed, or skipped."""

    id: str
    status: str
    reason: str


@facts
class FloorFacts(DocumentFacts):
    """The score of guessing."""

    id: str
    learner: str
    candidate: bool
    cv: ScoreFacts | None
    reason: str


@facts
class NestedFacts(DocumentFacts):
    """The whole selection inside outer folds."""

    method: str
    mean: float
    low: float
    high: float
    label: str
    scores: list[Number]
    winners: list[str]
    agreement: float


@facts
class MemberFacts(DocumentFacts):
    """A candidate of an ensemble, and how often it was picked."""

    id: str
    entry: str
    times: int


@facts
class EnsembleFacts(DocumentFacts):
    """An ensemble that was picked from the other candidates, whoever won."""

    id: str
    entry: str
    members: list[MemberFacts]
    corrected: CorrectedFacts | None


@facts
class TrialFacts(DocumentFacts):
    """A trial of a search by the scores."""

    entry: str
    trial: int
    seed: int
    id: str
    score: Number | None


@facts
class SearchFacts(DocumentFacts):
    """A search by the scores: its trials in the order in which they were asked for."""

    kind: str
    sampler: str
    batch: int
    most: int
    trials: list[TrialFacts]


@facts
class ClosedFacts(DocumentFacts):
    """The reason that the test was left closed, and the command that opens it."""

    reason: str
    open: str


@facts
class MoreFacts(Facts):
    """What stands in study.json where there is such a thing."""

    floor: Sequence[FloorFacts] = ()
    nested: NestedFacts | None = None
    ensembles: Sequence[EnsembleFacts] = ()
    search: SearchFacts | None = None
    rounds: Mapping[str, list[int | None]] = EMPTY
    grave: Sequence[str] = ()
    closed: ClosedFacts | None = None


@dataclass(frozen=True)
class TestResult:
    """One look at the sealed rows, as released: nothing here was computed from labels beyond the released answer."""

    __test__ = False  # not a test class, whatever pytest thinks of its name

    score: float | None
    errors: int | None
    n: int
    look: int
    replay: bool
    price: float
    spent: float
    interval: tuple[float, float] | None
    level: float
    policy: str
    release: str
    flags: tuple[str, ...] = ()
    refused: str | None = None
    unit: str = "rows"  # what the interval takes as independent,
    units: int | None = None  # and how many of them; None where no interval is certified for them
    cap: float | None = None  # of a log loss: what a row counts at most; None where the measure has a bound of its own
    above: CountedRows | None = None  # the `rows` that lost more than the cap, with the `interval` of their share
    counted: CountedRows | None = None  # beside another measure: the `rows` that are off, with the `interval` of their share
    beside: Mapping[str, Any] | None = (
        None  # the study's `measure` beside the share: `score`, `interval`, the `cap` of errors, the rows `above` it
    )
    step: float | None = None  # what was shown in the place of the score where it is none of its interval's values
    read_as: str = ""  # what the score, or the step, is where it is not exact: a step of the ladder, rounded, noised
    measure: str | None = None  # what the score is of; of numbers `within`,
    tolerance: float | None = None  # the share of rows whose error exceeds this
    unseen: bool = False  # a replay of what no run put on record: computed before, shown first now, at the price paid then

    @classmethod
    def read(cls, stated: Mapping[str, Any]) -> Self:
        """Read a result from study.json; what a newer version added is left."""
        own = {name: value for name, value in stated.items() if name in cls.__dataclass_fields__}
        for name in ("above", "counted"):
            own[name] = own.get(name) and CountedRows.read(own[name])
        return cls(**{**own, "interval": own["interval"] and tuple(own["interval"]), "flags": tuple(own["flags"])})

    @property
    def repeated(self) -> bool:
        """Say whether the answer had been given before."""
        return self.replay and not self.unseen

    @property
    def released(self) -> float | None:
        """The number that was shown, whether it is a point or a step."""
        return self.score if self.step is None else self.step


@facts
class StudySummary(MoreFacts):
    """The fields of study.json; `folder` is where it lies."""

    schema: int
    modelsel: str
    study: str
    spec_id: str
    seed: int
    task: TaskFacts
    scheme: SchemeFacts
    measure: str
    rule: str
    candidates: CountsFacts
    fits: FitsFacts
    winner: WinnerFacts
    test: TestResult | None
    failures: Sequence[FailureFacts]
    seconds: Mapping[str, float]
    folder: str
    findings: Sequence[FindingFacts]
    files: Mapping[str, str] | None = None  # SHA-256 of the files beside study.json

    @property
    def extra(self) -> Mapping[str, Any]:
        """What stands in study.json beside what every study has, also what a newer version added."""
        return {name: value for name, value in self.stated.items() if name not in StudySummary.__annotations__}

    def to_dict(self) -> dict[str, object]:
        """Plain data in the order of the documentation."""
        return self.written()


# A measured complexity as people read it: `1 leaf`, `about 358 neighbourhoods`.


def mean_size(value: float | None, unit: str) -> str:
    """A mean complexity over folds, in its unit; a dash where it is not known.

    >>> mean_size(1.0, "leaves"), mean_size(12.0, "leaves"), mean_size(358.2, "neighbourhoods"), mean_size(7.25, "rules")
    ('1 leaf', '12 leaves', 'about 358 neighbourhoods', '7.2 rules on average')
    """
    if value is None:
        return "–"
    if value == 1:
        return f"1 {unit.removesuffix('leaves')}leaf" if unit.endswith("leaves") else f"1 {_singular(unit)}"
    if value == round(value):
        return f"{value:,.0f} {unit}"
    return f"about {value:,.0f} {unit}" if value >= 100 else f"{value:.1f} {unit} on average"


def _singular(unit: str) -> str:
    """Return the singular of a unit of complexity.

    >>> _singular("table entries"), _singular("neighbourhoods")
    ('table entry', 'neighbourhood')
    """
    return f"{unit.removesuffix('ies')}y" if unit.endswith("ies") else unit.removesuffix("s")
