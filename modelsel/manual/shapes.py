"""The shapes of what modelsel writes as JSON, as types: `modelsel.manual.json_schema` makes schemas of them.

Where a part of the package has a type for what it writes, it is used; the others are described here. `object` stands for a
value whose shape depends on the study: settings of a learner, say.
"""

from collections.abc import Mapping
from typing import Literal, NotRequired, TypedDict

from modelsel.core.outcome import TestResult
from modelsel.core.types import Finding
from modelsel.examination.board import AuditedExam
from modelsel.record.study_record import Pair

Number = float | None
Span = tuple[float, float]


class TaskShape(TypedDict):
    """The data of a study and their split; `unit` and `units` where units are declared.

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

    mean: Number
    se: Number
    folds: NotRequired[list[Number]]


class CorrectedShape(TypedDict):
    """The winner's score without the luck of the choice."""

    method: Literal["bbc", "nested"]
    mean: float
    low: float
    high: float
    same: NotRequired[float]
    resamples: NotRequired[int]
    reached: NotRequired[Mapping[str, object]]
    feasible: NotRequired[float]
    tibshirani: NotRequired[Number]
    bbc: NotRequired[Mapping[str, object]]
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


class StudyShape(TypedDict):
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
    findings: list[Finding]
    floor: NotRequired[list[FloorShape]]
    nested: NotRequired[NestedShape]
    ensembles: NotRequired[list[EnsembleShape]]
    search: NotRequired[SearchShape]
    rounds: NotRequired[Mapping[str, list[int | None]]]
    grave: NotRequired[list[str]]
    closed: NotRequired[ClosedShape]


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
    overlap: list[object]
    flags: list[str]
    changes: list[str]
    n: NotRequired[int | None]
    n_clean: NotRequired[int | None]
    release: NotRequired[str | None]
    policy: NotRequired[str | None]
    cv_mean: NotRequired[Number]
    metric: NotRequired[str]
    findings: NotRequired[list[Finding]]
    justification: NotRequired[Mapping[str, object] | None]
    charged: NotRequired[list[str]]
    as_first: NotRequired[Span | None]
    superseded: NotRequired[Mapping[str, object] | None]
    outside: NotRequired[bool]


class RefusalShape(EntryShape):
    """A look that was refused."""

    reason: str
    flags: list[str]


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
    next: Mapping[str, object] | None
    budget: Mapping[str, object] | None


class AuditShape(TypedDict):
    """The output of `modelsel audit --json`."""

    ledger: LedgerShape
    test_sets: list[TestSetShape]
    flags: list[Finding]
    state: str
    contacts: NotRequired[list[Mapping[str, object]]]
    next: NotRequired[Mapping[str, object] | None]
    at: NotRequired[str]
    reforms: NotRequired[Mapping[str, Mapping[str, object]]]


class ExamAuditShape(AuditShape):
    """The output of `modelsel exam audit --json`."""

    exam: AuditedExam


# The shapes of details.json and explanation.json, as types; those of other outputs are in `shapes`.


class NothingShape(TypedDict):
    """No field: nothing was sealed."""


class CountedNameShape(TypedDict):
    """A class or a level, and its rows."""

    name: str
    rows: int


class FeatureShape(TypedDict):
    """A column of the development rows: quartiles of numbers, else the most frequent levels."""

    name: str
    kind: Literal["numeric", "nominal", "ordered"]
    missing: float
    different: int
    quartiles: NotRequired[list[float]]
    dates: NotRequired[bool]
    levels: NotRequired[list[CountedNameShape]]


class DataShape(TypedDict):
    """The development rows, summed up; nothing of the test rows is in it."""

    rows: int
    features: list[FeatureShape]
    not_shown: int
    kinds: Mapping[str, int]
    classes: list[CountedNameShape]
    missing: float
    repeated_rows: int
    weighted: bool
    groups: int | None


class FoldsShape(TypedDict):
    """The folds: which repeat each belongs to, and its numbers of rows."""

    repeats: int
    repeat: list[int]
    analysis: list[int]
    assessment: list[int]


class DetailsShape(TypedDict):
    """details.json."""

    command: list[str]
    ended: int
    user: str
    commit: str
    environment: Mapping[str, str]
    data: DataShape
    audit: AuditShape | NothingShape
    pairs: list[Pair]
    folds: FoldsShape
    higher_is_better: bool
    shows: Mapping[str, object]
    predict_1000_rows: Mapping[str, float]


class IntervalShape(TypedDict):
    """A mean over folds with its interval; null where a fold has no score."""

    mean: Number
    low: Number
    high: Number


class LossShape(IntervalShape):
    """The loss of score by a permutation, over folds."""

    folds: list[Number]
    above_noise: NotRequired[bool]


class ColumnLossShape(LossShape):
    """The importance of a column."""

    column: str


class ColumnsLossShape(LossShape):
    """The importance of columns that are permuted together."""

    columns: list[str]


class ImpurityShape(TypedDict):
    """The impurity importance of a column in a forest."""

    column: str
    mean: float


class ImportanceShape(TypedDict):
    """The importances of a candidate, or the reason why there are none."""

    candidate: str
    entry: str
    no_noise: NotRequired[str]
    failed: NotRequired[str]
    repeats: NotRequired[int]
    columns: NotRequired[list[ColumnLossShape]]
    together: NotRequired[list[ColumnsLossShape]]
    noise: NotRequired[LossShape | None]
    impurity: NotRequired[list[ImpurityShape]]


LinesShape = TypedDict("LinesShape", {"class": NotRequired[str], "scores": list[list[float]]})


class DependenceShape(TypedDict):
    """Class scores, or predicted numbers, along the values of a column: means, and some single rows."""

    column: str
    kind: Literal["numeric", "nominal", "ordered"]
    dates: bool
    grid: list[float]
    levels: list[str]
    mean: list[list[float]]
    lines: LinesShape


class CandidateCurveShape(TypedDict):
    """A candidate's scores by share of the rows; `doubling` is what the second half of the rows brought."""

    candidate: str
    entry: str
    points: list[IntervalShape]
    doubling: IntervalShape


class CurveShape(TypedDict):
    """The learning curve: shares, mean numbers of rows, scores."""

    shares: list[float]
    rows: list[float]
    candidates: list[CandidateCurveShape]


class SliceShape(TypedDict):
    """Errors in a part of the rows; no interval where rows stand in groups. `mae`: of numbers, their mean absolute error."""

    slice: str
    column: NotRequired[str]
    rows: int
    wrong: int
    rate: Number
    mae: NotRequired[Number]
    low: Number
    high: Number
    p: Number
    adjusted: Number


class SlicesShape(TypedDict):
    """The rows that were counted, and the slices of them; of numbers those off by more than `tolerance` are wrong."""

    rows: int
    wrong: int
    tolerance: NotRequired[float]
    mae: NotRequired[Number]
    slices: list[SliceShape]


class SetsShape(TypedDict):
    """From how many folds prediction sets are made, whether the choice was made anew in each, or why there are none."""

    folds: NotRequired[int]
    nested: NotRequired[bool]
    failed: NotRequired[str]


class GrownAndBestShape(TypedDict):
    """Shares of wrong weight in training: of the grown tree, of the best found of its size, and the proven bound."""

    grown: float
    optimal: float
    bound: float


class UnseenShape(TypedDict):
    """Shares of wrong weight on unseen rows; λ and mean leaves of the best trees; folds whose search `ended`."""

    grown: float
    optimal: float
    leaves: float
    prices: list[float]
    ended: int
    folds: int
    difference: NotRequired[IntervalShape]


class WholeTreeShape(TypedDict):
    """The tree that was chosen, where it is deeper than what was searched and was held to that depth."""

    depth: int
    leaves: int
    training: float
    out_of_fold: float


class OptimalShape(TypedDict):
    """A tree beside the best of its size; `unlike`: why the bound is none for its tests."""

    candidate: str
    entry: str
    depth: NotRequired[int]
    leaves: NotRequired[int]
    training: NotRequired[GrownAndBestShape]
    proven: NotRequired[bool]
    out_of_fold: NotRequired[UnseenShape]
    unlike: NotRequired[str]
    whole: NotRequired[WholeTreeShape]
    failed: NotRequired[str]


class ExplanationShape(TypedDict):
    """explanation.json: what was asked for."""

    importance: NotRequired[list[ImportanceShape]]
    dependence: NotRequired[list[DependenceShape]]
    curve: NotRequired[CurveShape]
    weak_slices: NotRequired[SlicesShape]
    declared_slices: NotRequired[SlicesShape]
    sets: NotRequired[SetsShape]
    optimal: NotRequired[list[OptimalShape]]
