"""The shapes of details.json and explanation.json, as types; those of other outputs are in `shapes`."""

from collections.abc import Mapping
from typing import Literal, NotRequired, TypedDict

from modelsel.manual.shapes import AuditShape, Number
from modelsel.record.content.study_record import Pair


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


LinesShape = TypedDict("LinesShape", {"class": str, "scores": list[list[float]]})


class DependenceShape(TypedDict):
    """Class scores along the values of a column: means, and some single rows."""

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
    """Errors in a part of the rows; no interval where rows stand in groups."""

    slice: str
    column: NotRequired[str]
    rows: int
    wrong: int
    rate: Number
    low: Number
    high: Number
    p: Number
    adjusted: Number


class SlicesShape(TypedDict):
    """The rows that were counted, and the slices of them."""

    rows: int
    wrong: int
    slices: list[SliceShape]


class SetsShape(TypedDict):
    """From how many folds prediction sets are made, or the reason why there are none."""

    folds: NotRequired[int]
    failed: NotRequired[str]


class ExplanationShape(TypedDict):
    """explanation.json: what was asked for."""

    importance: NotRequired[list[ImportanceShape]]
    dependence: NotRequired[list[DependenceShape]]
    curve: NotRequired[CurveShape]
    weak_slices: NotRequired[SlicesShape]
    declared_slices: NotRequired[SlicesShape]
    sets: NotRequired[SetsShape]
