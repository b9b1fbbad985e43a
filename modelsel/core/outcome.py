"""The Outcome: what the study found, in one machine-readable value (`study.json`, schema 1)."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NotRequired, Self, TypedDict, cast

from modelsel.core.types import Finding, Severity

SCHEMA = 1
Number = float | None
Span = tuple[float, float]
CorrectedBy = Literal["bbc", "nested", "bates"]


# The shapes of what stands in study.json, key by key. `object` stands for a value whose shape depends on the study: settings of
# a learner, say.


class FindingShape(TypedDict):
    """Something a person should know: a stable code, how grave it is, what it says, what to do."""

    code: str
    severity: Severity
    message: str
    do: str


class CountedRows(TypedDict):
    """A number of rows, with the interval of their share."""

    rows: int
    interval: Sequence[float] | None


def as_data(finding: Finding) -> FindingShape:
    """A finding as it is written."""
    return {"code": finding.code, "severity": finding.severity, "message": finding.message, "do": finding.do}


class WeightsShape(TypedDict):
    """What the weights of rows are (repeats or relative), and what those of the source were divided by."""

    are: str
    factor: float


class TaskShape(TypedDict):
    """The data of a study and their split; `unit` and `units` where units are declared, `weights` where rows have weights.

    `kind` is classes or numbers: of numbers there are no `classes`, and `measured_in` is their unit where it was said.
    """

    name: str
    rows: int
    development_rows: int
    test_rows: int
    features: int
    kind: str
    classes: NotRequired[list[str]]
    measured_in: NotRequired[str | None]
    fingerprint: str
    unit: NotRequired[str]
    units: NotRequired[int]
    weights: NotRequired[WeightsShape]


class SchemeShape(TypedDict):
    """The folds by which candidates were judged; `trained`: the share of the development rows that their models saw."""

    name: str
    folds: int
    fingerprint: str
    trained: NotRequired[float]


class CountsShape(TypedDict):
    """Numbers of candidates, by what became of them."""

    declared: int
    distinct: int
    ok: int
    failed: int
    skipped: int
    dropped: NotRequired[int]


class FitsShape(TypedDict):
    """Fits that were made, and those of separate fits."""

    needed: int
    naive: int


class SizeShape(TypedDict):
    """The size of a model, in the unit that is named."""

    name: str
    value: Number


class ScoreShape(TypedDict):
    """A score over folds."""

    mean: float
    se: Number
    folds: NotRequired[list[Number]]


class CorrectedShape(TypedDict):
    """The winner's score without the luck of the choice."""

    method: CorrectedBy
    mean: float
    low: float
    high: float
    same: NotRequired[float]
    resamples: NotRequired[int]
    reached: NotRequired[Mapping[str, object]]
    feasible: NotRequired[float]
    tibshirani: NotRequired[Number]
    bbc: NotRequired[Mapping[str, object] | None]
    label: NotRequired[str]
    caution: NotRequired[str]
    point632: NotRequired[Number]
    point632_plus: NotRequired[Number]


class RefitFailureShape(TypedDict):
    """The reason that the winner could not be fitted on all development rows."""

    status: str
    reason: str


class WinnerShape(TypedDict):
    """The candidate that was chosen, and its scores."""

    id: str
    learner: str
    entry: str
    parameters: Mapping[str, object]
    complexity: SizeShape
    cv: ScoreShape
    measures: Mapping[str, Number]
    indistinguishable: list[str]
    every_best: list[str] | None
    corrected: CorrectedShape | None
    never_out_of_bag: NotRequired[int]
    failure: NotRequired[RefitFailureShape]


class FailureShape(TypedDict):
    """A candidate that did not finish: failed, or skipped."""

    id: str
    status: str
    reason: str


class FloorShape(TypedDict):
    """The score of guessing."""

    id: str
    learner: str
    candidate: bool
    cv: ScoreShape | None
    reason: str


class NestedShape(TypedDict):
    """The whole selection inside outer folds."""

    method: str
    mean: float
    low: float
    high: float
    label: str
    scores: list[Number]
    winners: list[str]
    agreement: float


class MemberShape(TypedDict):
    """A candidate of an ensemble, and how often it was picked."""

    id: str
    entry: str
    times: int


class EnsembleShape(TypedDict):
    """An ensemble that was picked from the other candidates, whoever won."""

    id: str
    entry: str
    members: list[MemberShape]
    corrected: CorrectedShape | None


class TrialShape(TypedDict):
    """A trial of a search by the scores."""

    entry: str
    trial: int
    seed: int
    id: str
    score: Number | None


class SearchShape(TypedDict):
    """A search by the scores: its trials in the order in which they were asked for."""

    kind: str
    sampler: str
    batch: int
    most: int
    trials: list[TrialShape]


class ClosedShape(TypedDict):
    """The reason that the test was left closed, and the command that opens it."""

    reason: str
    open: str


class MoreShape(TypedDict, total=False):
    """What stands in study.json where there is such a thing."""

    floor: list[FloorShape]
    nested: NestedShape
    ensembles: list[EnsembleShape]
    search: SearchShape
    rounds: Mapping[str, list[int | None]]
    grave: list[str]
    closed: ClosedShape


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

    @property
    def released(self) -> float | None:
        """The number that was shown, whether it is a point or a step."""
        return self.score if self.step is None else self.step


@dataclass(frozen=True)
class StudySummary:
    """The fields of study.json; `folder` is where it lies."""

    study: str
    spec_id: str
    seed: int
    task: TaskShape
    scheme: SchemeShape
    measure: str
    rule: str
    candidates: Mapping[str, int]
    fits: Mapping[str, int]
    winner: WinnerShape
    test: TestResult | None
    failures: tuple[FailureShape, ...]
    seconds: Mapping[str, float]
    modelsel: str
    folder: str = ""
    findings: tuple[FindingShape, ...] = ()
    extra: MoreShape = field(default_factory=lambda: MoreShape())
    schema: int = SCHEMA

    def to_dict(self) -> dict[str, object]:
        """Plain data in the order of the documentation; what `extra` holds stands beside the other fields."""
        fields = asdict(self)
        extra = fields.pop("extra")
        return {"schema": fields.pop("schema"), "modelsel": fields.pop("modelsel"), **fields, **extra}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read study.json back; fields that a newer version added are kept in `extra`."""
        known = {key: data[key] for key in cls.__dataclass_fields__ if key in data and key != "extra"}
        test = known.get("test")
        if test is not None:
            own = {key: test[key] for key in TestResult.__dataclass_fields__ if key in test}
            known["test"] = TestResult(
                **{**own, "interval": test["interval"] and tuple(test["interval"]), "flags": tuple(test["flags"])}
            )
        known["failures"] = tuple(known.get("failures", ()))
        known["findings"] = tuple(known.get("findings", ()))
        extra = {key: value for key, value in data.items() if key not in cls.__dataclass_fields__}
        return cls(**known, extra=cast(MoreShape, extra))


class StudyShape(MoreShape):
    """study.json."""

    schema: int
    modelsel: str
    study: str
    spec_id: str
    seed: int
    task: TaskShape
    scheme: SchemeShape
    measure: str
    rule: str
    candidates: CountsShape
    fits: FitsShape
    winner: WinnerShape
    test: TestResult | None
    failures: list[FailureShape]
    seconds: Mapping[str, float]
    folder: str
    findings: list[FindingShape]
    files: NotRequired[Mapping[str, str]]  # SHA-256 of the files beside study.json


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
