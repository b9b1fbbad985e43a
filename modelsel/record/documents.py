"""What stands in details.json and explanation.json, key by key: what writes them and what reads them share these types.

`object` stands for a value whose shape depends on the study: what an experiment shows, say.
"""

from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict, final

from modelsel.core.outcome import Number
from modelsel.guard.reporting.report import AuditShape


@final
class NothingShape(TypedDict):
    """No field: nothing was sealed."""


class CountedNameShape(TypedDict):
    """A class or a level, and its rows."""

    name: str
    rows: int


class FeatureShape(TypedDict):
    """A column of the development rows: quartiles of numbers, else the most frequent levels."""

    name: str
    kind: str
    missing: float
    different: int
    quartiles: NotRequired[list[float]]
    dates: NotRequired[bool]
    levels: NotRequired[list[CountedNameShape]]


class NumbersShape(TypedDict, total=False):
    """Of numbers: the target, as a column."""

    target: FeatureShape


class DataShape(NumbersShape):
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


class PairShape(TypedDict):
    """Two candidates compared on the same folds: mean of `second` minus `first`, its interval, p-value and Holm's p-value."""

    first: str
    second: str
    difference: float
    low: float
    high: float
    p: float
    adjusted: float
    method: str


class DetailsShape(TypedDict):
    """details.json."""

    command: list[str]
    ended: int
    user: str
    commit: str
    environment: Mapping[str, str]
    data: DataShape
    audit: AuditShape | NothingShape
    pairs: list[PairShape]
    folds: NotRequired[FoldsShape]  # older versions wrote none
    higher_is_better: bool
    shows: Mapping[str, Mapping[str, Any]]
    predict_1000_rows: Mapping[str, float]


def audit_of(details: DetailsShape) -> AuditShape | None:
    """The audit of a run's test set; None where nothing was sealed, and of runs of older versions."""
    audit = details.get("audit")
    return audit if audit is not None and "ledger" in audit else None


# explanation.json


class IntervalShape(TypedDict):
    """A mean over folds with its interval; null where a fold has no score."""

    mean: Number
    low: Number
    high: Number


class DifferenceShape(TypedDict):
    """A mean difference over folds with its interval."""

    mean: float
    low: float
    high: float


class LossShape(TypedDict):
    """The loss of score by a permutation, over folds."""

    mean: float
    low: Number
    high: Number
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


class ImportancesShape(TypedDict):
    """The importances of all columns."""

    repeats: int
    columns: list[ColumnLossShape]
    together: list[ColumnsLossShape]
    noise: LossShape | None


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
    kind: str
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


class ErrorsShape(TypedDict):
    """Errors among some rows. `mae`: of numbers, their mean absolute error."""

    rows: int
    wrong: int
    rate: Number
    mae: NotRequired[Number]


class TestedErrorsShape(ErrorsShape):
    """Errors in a part of the rows, with their interval and p against the other rows; null where rows stand in groups."""

    low: Number
    high: Number
    p: Number


class NamedErrorsShape(TestedErrorsShape):
    """Errors in a slice."""

    slice: str
    column: NotRequired[str]


class SliceShape(NamedErrorsShape):
    """Errors in a slice; no interval where rows stand in groups. `mae`: of numbers, their mean absolute error."""

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
    difference: NotRequired[DifferenceShape]


class WholeTreeShape(TypedDict):
    """The tree that was chosen, where it is deeper than what was searched and was held to that depth."""

    depth: int
    leaves: int
    training: float
    out_of_fold: float


class TrainingSizeShape(TypedDict):
    """Size and training errors of a tree beside the best of its size; `unlike`: why the bound is none for its tests."""

    depth: int
    leaves: int
    training: GrownAndBestShape
    proven: bool
    unlike: NotRequired[str]


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
