"""What stands in details.json and explanation.json, key by key: what writes them and what reads them share these types.

`object` stands for a value whose shape depends on the study: what an experiment shows, say.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict, final

from modelsel.core.facts import EMPTY, UNSTATED, DocumentFacts, facts
from modelsel.core.outcome import Number
from modelsel.guard.reporting.report import AuditReport


@final
class NothingShape(TypedDict):
    """No field: nothing was sealed."""


@facts
class CountedNameFacts(DocumentFacts):
    """A class or a level, and its rows."""

    name: str
    rows: int


@facts
class FeatureFacts(DocumentFacts):
    """A column of the development rows: quartiles of numbers, else the most frequent levels."""

    name: str
    kind: str
    missing: float
    different: int
    quartiles: Sequence[float] = ()
    dates: bool = False
    levels: Sequence[CountedNameFacts] = ()


@facts
class DataFacts(DocumentFacts):
    """The development rows, summed up; nothing of the test rows is in it. `target`: of numbers, as a column."""

    rows: int
    features: Sequence[FeatureFacts]
    not_shown: int
    kinds: Mapping[str, int]
    target: FeatureFacts | None = None
    classes: Sequence[CountedNameFacts]
    missing: float
    repeated_rows: int
    weighted: bool
    groups: int | None


@facts
class FoldsFacts(DocumentFacts):
    """The folds: which repeat each belongs to, and its numbers of rows."""

    repeats: int
    repeat: list[int]
    analysis: list[int]
    assessment: list[int]


@facts
class PairFacts(DocumentFacts):
    """Two candidates compared on the same folds: mean of `second` minus `first`, its interval, p-value and Holm's p-value."""

    first: str
    second: str
    difference: float
    low: float
    high: float
    p: float
    adjusted: float
    method: str


@facts
class DetailsFacts(DocumentFacts):
    """details.json."""

    command: Sequence[str] = ()
    ended: int = 0
    user: str = ""
    commit: str = ""
    environment: Mapping[str, str] = EMPTY
    data: DataFacts = DataFacts(
        rows=0, features=[], not_shown=0, kinds={}, classes=[], missing=0.0, repeated_rows=0, weighted=False, groups=None
    )
    audit: AuditReport | NothingShape = EMPTY
    pairs: Sequence[PairFacts] = ()
    folds: FoldsFacts | None = None  # older versions wrote none
    higher_is_better: bool = False
    shows: Mapping[str, Mapping[str, Any]] = EMPTY
    predict_1000_rows: Mapping[str, float] = EMPTY

    @property
    def known_folds(self) -> FoldsFacts:
        """The folds; KeyError in runs of versions that wrote none."""
        if self.folds is None:
            raise KeyError("folds")
        return self.folds

    @property
    def audited(self) -> AuditReport | None:
        """The audit of a run's test set; None where nothing was sealed, and of runs of older versions."""
        return AuditReport.read(self.audit) if "ledger" in self.audit else None


# explanation.json


@facts
class IntervalFacts(DocumentFacts):
    """A mean over folds with its interval; null where a fold has no score."""

    mean: Number
    low: Number
    high: Number


@facts
class DifferenceFacts(DocumentFacts):
    """A mean difference over folds with its interval."""

    mean: float
    low: float
    high: float


@facts
class LossFacts(DocumentFacts):
    """The loss of score by a permutation, over folds."""

    mean: float
    low: Number
    high: Number
    folds: list[Number]
    above_noise: bool | None = None


@facts
class ColumnLossFacts(LossFacts):
    """The importance of a column."""

    column: str


@facts
class ColumnsLossFacts(LossFacts):
    """The importance of columns that are permuted together."""

    columns: list[str]


@facts
class ImpurityFacts(DocumentFacts):
    """The impurity importance of a column in a forest."""

    column: str
    mean: float


@facts
class ImportancesFacts(DocumentFacts):
    """The importances of all columns."""

    repeats: int
    columns: list[ColumnLossFacts]
    together: list[ColumnsLossFacts]
    noise: LossFacts | None


@facts
class ImportanceFacts(DocumentFacts):
    """The importances of a candidate, or the reason why there are none."""

    candidate: str
    entry: str
    no_noise: str | None = None
    failed: str = ""
    repeats: int | None = None
    columns: Sequence[ColumnLossFacts] = ()
    together: Sequence[ColumnsLossFacts] = ()
    noise: LossFacts | None = None
    impurity: Sequence[ImpurityFacts] = ()


LinesShape = TypedDict("LinesShape", {"class": NotRequired[str], "scores": list[list[float]]})


@facts
class DependenceFacts(DocumentFacts):
    """Class scores, or predicted numbers, along the values of a column: means, and some single rows."""

    column: str
    kind: str
    dates: bool
    grid: list[float]
    levels: list[str]
    mean: list[list[float]]
    lines: LinesShape


@facts
class CandidateCurveFacts(DocumentFacts):
    """A candidate's scores by share of the rows; `doubling` is what the second half of the rows brought."""

    candidate: str
    entry: str
    points: list[IntervalFacts]
    doubling: IntervalFacts


@facts
class CurveFacts(DocumentFacts):
    """The learning curve: shares, mean numbers of rows, scores."""

    shares: list[float]
    rows: list[float]
    candidates: list[CandidateCurveFacts]


@facts
class ErrorsFacts(DocumentFacts):
    """Errors among some rows. `mae`: of numbers, their mean absolute error."""

    rows: int
    wrong: int
    rate: Number
    mae: Number = None


@facts
class TestedErrorsFacts(ErrorsFacts):
    """Errors in a part of the rows, with their interval and p against the other rows; null where rows stand in groups."""

    low: Number
    high: Number
    p: Number


@facts
class NamedErrorsFacts(TestedErrorsFacts):
    """Errors in a slice."""

    slice: str
    column: str | None = None


@facts
class SliceFacts(NamedErrorsFacts):
    """Errors in a slice; no interval where rows stand in groups. `mae`: of numbers, their mean absolute error."""

    adjusted: Number


@facts
class SlicesFacts(DocumentFacts):
    """The rows that were counted, and the slices of them; of numbers those off by more than `tolerance` are wrong."""

    rows: int
    wrong: int
    tolerance: float | None = None
    mae: Number = None
    slices: list[SliceFacts]


@facts
class SetsFacts(DocumentFacts):
    """From how many folds prediction sets are made, whether the choice was made anew in each, or why there are none."""

    folds: int | None = None
    nested: bool = False
    failed: str | None = None


@facts
class GrownAndBestFacts(DocumentFacts):
    """Shares of wrong weight in training: of the grown tree, of the best found of its size, and the proven bound."""

    grown: float
    optimal: float
    bound: float


@facts
class UnseenFacts(DocumentFacts):
    """Shares of wrong weight on unseen rows; λ and mean leaves of the best trees; folds whose search `ended`."""

    grown: float
    optimal: float
    leaves: float
    prices: list[float]
    ended: int
    folds: int
    difference: DifferenceFacts | None = None


@facts
class WholeTreeFacts(DocumentFacts):
    """The tree that was chosen, where it is deeper than what was searched and was held to that depth."""

    depth: int
    leaves: int
    training: float
    out_of_fold: float


@facts
class TrainingSizeFacts(DocumentFacts):
    """Size and training errors of a tree beside the best of its size; `unlike`: why the bound is none for its tests."""

    depth: int
    leaves: int
    training: GrownAndBestFacts
    proven: bool
    unlike: str | None = None


@facts
class OptimalFacts(DocumentFacts):
    """A tree beside the best of its size; `unlike`: why the bound is none for its tests."""

    candidate: str
    entry: str
    depth: int = UNSTATED
    leaves: int = UNSTATED
    training: GrownAndBestFacts = UNSTATED
    proven: bool = False
    out_of_fold: UnseenFacts = UNSTATED
    unlike: str = ""
    whole: WholeTreeFacts | None = None
    failed: str = ""


@facts
class ExplanationFacts(DocumentFacts):
    """explanation.json: what was asked for."""

    importance: Sequence[ImportanceFacts] = ()
    dependence: Sequence[DependenceFacts] = ()
    curve: CurveFacts | None = None
    weak_slices: SlicesFacts | None = None
    declared_slices: SlicesFacts | None = None
    sets: SetsFacts = SetsFacts()
    optimal: Sequence[OptimalFacts] = ()
