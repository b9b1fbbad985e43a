"""The nouns of a study: tables and tasks, the sealed part, candidates, folds, outputs of a path, the scoreboard.

Values are frozen and arrays read-only, so that every identity is the hash of a value.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Literal, Self, TypeVar, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from modelsel.core.fingerprint import array_digest, digest, short
from modelsel.core.folds import Unpacked, pack_folds
from modelsel.core.proposal import Proposal, is_bare
from modelsel.core.reading import Feature as Feature
from modelsel.core.reading import TableReading
from modelsel.core.source import Source
from modelsel.core.spec import flat, spec_of

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Codes = NDArray[np.int32]
Booleans = NDArray[np.bool_]
Strings = NDArray[np.str_]
Targets = NDArray[np.int32 | np.float64]  # class indices, or numbers
PROBABILITIES, DECISIONS, CLASSES = "probabilities", "decision values", "classes"  # what a learner's class scores are
TURNED = 4096  # rows
ABSENT = -2  # in a column of folds: a row that takes no part in that repeat


def scores_are(learner: object) -> str:
    """Say what a learner's (or model's) class scores are: probabilities, unless it says otherwise."""
    return str(getattr(learner, "scores_are", PROBABILITIES))


@dataclass(frozen=True, eq=False, kw_only=True)
class Table:
    """Features of rows, without labels.

    `values` is a column-major float64 matrix (rows × features): a number, or the index of a level, or NaN where missing.
    `rows` are the data rows of the source, from 0. A level that was not seen when the levels were declared has the code
    `len(levels)`: learners treat it as unseen.
    """

    name: str
    features: tuple[Feature, ...]
    values: Floats
    rows: Integers
    ids: Integers | None = None  # declared row identity (digest of the id columns)
    groups: Integers | None = None
    times: Floats | None = None
    units: Integers | None = None  # what is independent of each other, where that is declared: else groups, else rows
    unit: str = ""  # what a unit is called
    source: Source | None = None  # the columns in their own types, for estimators that read those; `rows` are positions in it
    uncapped: Mapping[str, Codes] = field(default_factory=dict)  # columns as they were before rare levels became one, likewise

    def __post_init__(self) -> None:
        """Make arrays read-only, and `values` column by column in memory."""
        for name, array in vars(self).items():
            if isinstance(array, np.ndarray):
                if name == "values" and not array.flags.f_contiguous:
                    array = by_columns(array)
                    object.__setattr__(self, name, array)
                array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> Floats:
        """The values of a feature by name; KeyError when there is none."""
        for index, feature in enumerate(self.features):
            if feature.name == name:
                return self.values[:, index]
        raise KeyError(name)

    def with_features(self, features: tuple[Feature, ...], values: Floats) -> Self:
        """Return these rows described by other features, as a preparer does."""
        return replace(self, features=features, values=values)

    @property
    def by_row(self) -> Floats | None:
        """Values row by row, where they came so and were not turned."""
        return None

    @property
    def checked(self) -> bool:
        """Say whether infinite values have been looked for already."""
        return True

    @cached_property
    def schema_fingerprint(self) -> str:
        """Digest of names, kinds and levels of the features (costs are no part of the data)."""
        return digest([[f.name, f.kind, f.levels, *(["text"] if f.text else [])] for f in self.features])


AnyTable = TypeVar("AnyTable", bound=Table)


class RowTable(Table):
    """A table to be predicted that came row by row; its columns are made when `values` is first read."""

    def __post_init__(self) -> None:
        given = np.ascontiguousarray(vars(self).pop("values")).view()
        given.flags.writeable = False
        vars(self)["_by_row"] = given

    @property
    def by_row(self) -> Floats:
        array: Floats = vars(self)["_by_row"]
        return array

    @cached_property
    def values(self) -> Floats:
        columns = by_columns(self.by_row)
        columns.flags.writeable = False
        return columns


class UncheckedRows(RowTable):
    """A table of rows in which infinite values are looked for only when all values are read."""

    @property
    def checked(self) -> bool:
        """Say that infinite values are still to be looked for."""
        return False


@dataclass(frozen=True)
class Weighing:
    """What the weights of a study are, decided once: `weights` of its tasks are those of its source, divided by `factor`."""

    are: Literal["repeats", "relative", "given"]  # given: by a study of a time that decided nothing, which is done as it was
    factor: float = 1.0


@dataclass(frozen=True, eq=False, kw_only=True)
class Task(Table):
    """A table with its target: what can be learnt from. It is a `ClassTask` or a `NumberTask`.

    Called by itself it makes the one that its arguments describe, as `pathlib.Path` does: with `classes` a `ClassTask`.
    """

    target: Targets
    weights: Floats | None = None  # None: one each
    weighing: Weighing | None = None  # what was decided about them (`dataset.weights`)
    folds: Integers | None = None  # for the `predefined` scheme: a column, or one per repeat
    held_out: Booleans | None = None  # a column (or second file) for `split=predefined`
    reading: TableReading | None = None  # how the source's cells were read; None: there are none, it was made as it is

    def __new__(cls, **given: object) -> Self:
        """Make a task of the kind that is described."""
        if cls is Task:
            return object.__new__(cast(type[Self], ClassTask if "classes" in given else NumberTask))
        return object.__new__(cls)

    def take(self, rows: Integers) -> Self:
        """The task of some of its rows, in the order given (features, classes and levels stay); of all, itself."""
        if len(rows) == len(self) and rows.dtype != np.bool_ and np.array_equal(rows, np.arange(len(rows))):
            return self
        cut: dict[str, Any] = {name: _take_rows(array, rows) for name, array in vars(self).items() if _per_row(name)}
        taken = replace(self, **cut)
        vars(taken).update({name: vars(self)[name] for name in ("schema_fingerprint",) if name in vars(self)})
        return taken

    @property
    def row_weights(self) -> Floats:
        """Weights, ones where none are declared."""
        return np.ones(len(self)) if self.weights is None else self.weights

    @property
    def repeats(self) -> Floats | None:
        """How often each row stands there, where weights say that; None where they are relative, or none."""
        return self.weights if self.weighing is not None and self.weighing.are == "repeats" else None

    @property
    def kind(self) -> "TaskKind":
        """Kind of the target: one of classes, or a number."""
        raise NotImplementedError

    @property
    def class_names(self) -> tuple[str, ...]:
        """The classes; none where the target is a number."""
        return ()

    @property
    def class_count(self) -> int:
        """Number of classes; 0 where the target is a number."""
        return len(self.class_names)

    @property
    def meaning(self) -> object:
        """Meaning of the target, as far as a fit depends on it."""
        raise NotImplementedError

    @cached_property
    def fingerprint(self) -> str:
        """Digest of all that a fit may depend on: schema, values, target, weights, groups (not the name, not row numbers)."""
        return self._digest(self.weights)

    @cached_property
    def draw_fingerprint(self) -> str:
        """The same without the weights: what folds, resamples and fits are drawn by, so that weights move no draw."""
        as_drawn = self.weights if self.weighing is not None and self.weighing.are == "given" else None
        return self.fingerprint if as_drawn is self.weights else self._digest(as_drawn)

    def _digest(self, weights: Floats | None) -> str:
        apart = () if self.units is None else (self.units,)
        data = array_digest(self.values, self.target, weights, self.groups, self.times, self.folds, *apart)
        return digest([self.schema_fingerprint, self.meaning, [f.cost for f in self.features], data])


TaskKind = Literal["classes", "numbers"]
CLASS_TASKS: tuple[TaskKind, ...] = ("classes",)  # what a part reads, when it says nothing else
NUMBER_TASKS: tuple[TaskKind, ...] = ("numbers",)
BOTH_TASKS: tuple[TaskKind, ...] = ("classes", "numbers")


@dataclass(frozen=True, eq=False, kw_only=True)
class ClassTask(Task):
    """A task whose target is a class: `target` holds indices into `classes`."""

    classes: tuple[str, ...]
    target: Codes
    drop_rare: bool = False  # a class that the outer split leaves too few development rows loses its rows

    @property
    def kind(self) -> TaskKind:
        return "classes"

    @property
    def class_names(self) -> tuple[str, ...]:
        return self.classes

    @property
    def meaning(self) -> tuple[str, ...]:
        """The classes, in their order."""
        return self.classes


@dataclass(frozen=True, eq=False, kw_only=True)
class NumberTask(Task):
    """A task whose target is a number, in some unit of measurement."""

    target: Floats
    measured_in: str = ""  # the target's unit, for words

    @property
    def kind(self) -> TaskKind:
        return "numbers"

    @property
    def meaning(self) -> str:
        """State that the target is a number; its unit changes no fit."""
        return "numbers"


AnyTask = Any  # a ClassTask or a NumberTask: a part's `reads` says which of them it is handed


class Sealed(Table):
    """The test rows: features freely, labels only through the gate.

    The labels are no field: they are not compared, copied or pickled, and `guard.gate` is the only module that asks
    for them (an architecture test says so). A pickled or copied handle has lost them.
    """

    def __reduce_ex__(self, protocol: object) -> tuple[object, ...]:
        return _unsealed_copy, ({field.name: getattr(self, field.name) for field in fields(self)},)


Labels = Callable[[], tuple[tuple[str, ...], Targets]]  # classes and the class of each row; or no classes, and numbers
_LABELS: WeakKeyDictionary["Sealed", tuple[Labels, Floats | None]] = WeakKeyDictionary()


def seal(task: Task) -> Sealed:
    """Take the labels off a task; what is left can be passed around without giving anything away."""
    sealed = Sealed(name=task.name, features=task.features, values=task.values, rows=task.rows,
                    ids=task.ids, groups=task.groups, times=task.times, units=task.units, unit=task.unit,
                    source=task.source, uncapped=task.uncapped)  # fmt: skip
    classes, target = task.class_names, task.target
    return seal_unread(sealed, lambda: (classes, target), task.weights)


def seal_unread(sealed: Sealed, read: Labels, weights: Floats | None = None) -> Sealed:
    """Sealed rows whose labels are read where they are opened, and not before (encrypted ones, for example)."""
    _LABELS[sealed] = (read, weights)
    return sealed


def open_labels(sealed: Sealed) -> tuple[tuple[str, ...], Targets, Floats | None]:
    """Classes (none of numbers), labels and weights of sealed rows. Called by `modelsel.guard.gate` alone.

    Raises KeyError for a copied handle.
    """
    read, weights = _LABELS[sealed]
    return (*read(), weights)


def weights_of(sealed: Sealed) -> Floats | None:
    """The weights of sealed rows, which are part of the question, without their labels."""
    return _LABELS[sealed][1]


def holds_labels(sealed: Sealed) -> bool:
    """Say whether this is the handle that was sealed; a copy of it is not."""
    return sealed in _LABELS


def _unsealed_copy(values: dict[str, Any]) -> Sealed:
    return Sealed(**values)


@dataclass(frozen=True)
class Partition:
    """The outer split: positions of the development rows and of the test rows in the task."""

    development: Integers
    test: Integers


@dataclass(frozen=True, eq=False)
class Fold:
    """One (analysis, assessment) pair: positions in the development task. A row may repeat in a bootstrap's analysis part."""

    index: int
    repeat: int
    analysis: Integers
    assessment: Integers

    @cached_property
    def fingerprint(self) -> str:
        return array_digest(self.analysis, self.assessment)

    @cached_property
    def analysed(self) -> int:
        """Distinct rows of the analysis part."""
        rows = self.analysis
        if len(rows) < 2 or bool((rows[1:] > rows[:-1]).all()):
            return len(rows)
        return int(np.count_nonzero(np.bincount(rows)))

    @cached_property
    def judges_itself(self) -> bool:
        """The rows that are analysed are those that are assessed, by what has not seen them (out of bag)."""
        return np.array_equal(self.analysis, self.assessment)


@dataclass(frozen=True, eq=False)
class Resampling:
    """A scheme instantiated on a task: it keeps the fingerprint of its rows and is refused for others."""

    scheme: str
    task_fingerprint: str
    folds: Sequence[Fold]

    def __reduce__(self) -> tuple[object, ...]:
        """Folds travel as labels: see `core.folds`."""
        names = [(fold.index, fold.repeat) for fold in self.folds]
        contents = pack_folds([repeat for _, repeat in names], [(fold.analysis, fold.assessment) for fold in self.folds])
        return _with_unpacked, (self.scheme, self.task_fingerprint, names, contents)

    @cached_property
    def fingerprint(self) -> str:
        return digest([self.task_fingerprint, [fold.fingerprint for fold in self.folds]])

    def drawn_by(self, task: Task) -> str:
        """The fingerprint on the rows of a task without their weights, by which something is drawn for these folds."""
        if task.draw_fingerprint == task.fingerprint:
            return self.fingerprint
        return digest([task.draw_fingerprint, [fold.fingerprint for fold in self.folds]])

    @property
    def repeats(self) -> int:
        return 1 + max((fold.repeat for fold in self.folds), default=0)

    @property
    def ratio(self) -> float:
        """Mean over folds of n_test / n_train, as the corrected resampled variance wants it; a row drawn twice is one row."""
        return float(np.mean([len(fold.assessment) / fold.analysed for fold in self.folds]))


def _with_unpacked(scheme: str, task_fingerprint: str, names: list[tuple[int, int]], contents: list[object]) -> Resampling:
    return Resampling(scheme, task_fingerprint, Unpacked(names, contents, Fold))


@dataclass(frozen=True)
class Candidate:
    """A learner with every hyper-parameter fixed, and the preparation steps before it.

    `id` is the hash of the resolved specification: two entries of a space that say the same are one candidate.
    """

    learner: Any  # learner.base.BaseLearner
    preparers: tuple[Any, ...] = ()
    entry: str = ""  # the space entry that declared it
    family: str = ""  # "alpha: path" before it is resolved; then the family it came from
    trial: int = field(default=0, compare=False)  # at which it was drawn from its entry, from 1; 0: it was declared
    rows: str = field(default="", compare=False)  # the number of development rows that its entry asks for: `<= 100000`

    @property
    def steps(self) -> tuple[Any, ...]:
        """The preparation steps, also where the learner fits them itself (inside inner folds)."""
        return self.preparers or getattr(self.learner, "prepared_by", ())

    @property
    def of_others(self) -> bool:
        """Say whether it is made of the answers of other candidates (an ensemble): no fit of its own answers for it."""
        return bool(getattr(self.learner, "of_others", False))

    @cached_property
    def spec(self) -> dict[str, object]:
        return {**spec_of(self.learner), "preparer": [spec_of(step) for step in self.steps]}

    @cached_property
    def id(self) -> str:
        return short(self.spec)

    @cached_property
    def parameters(self) -> dict[str, object]:
        """Dotted hyper-parameters, as in candidates.csv; a second step of one kind has the number 2."""
        spec = flat(spec_of(self.learner))
        kinds: list[str] = []
        for step in self.steps:
            own = flat(spec_of(step))
            kinds.append(str(own.pop("kind")))
            again = f"_{kinds.count(kinds[-1])}" if kinds.count(kinds[-1]) > 1 else ""
            spec |= {f"preparer.{kinds[-1]}{again}.{name}": value for name, value in own.items()}
        return spec | ({"preparer": ", ".join(kinds)} if kinds else {})


@dataclass(frozen=True, eq=False)
class Outputs:
    """Answers of some candidates for some rows: `ClassOutputs` or `NumberOutputs`."""

    predicted: Targets  # candidates × rows
    scores: Floats | None = None  # candidates × rows × classes, each row summing to 1; of numbers there are none


@dataclass(frozen=True, eq=False)
class ClassOutputs(Outputs):
    """Classes, and class scores where a measure asks for them."""

    predicted: Codes


@dataclass(frozen=True, eq=False)
class NumberOutputs(Outputs):
    """Predicted numbers, in the unit of the target."""

    predicted: Floats


def outputs_of(predicted: Targets, scores: Floats | None = None) -> Outputs:
    """Predictions as measures read them: whole numbers are classes, real ones the numbers that were predicted.

    >>> type(outputs_of(np.zeros((1, 2)))).__name__, type(outputs_of(np.zeros((1, 2), np.int32))).__name__
    ('NumberOutputs', 'ClassOutputs')
    """
    if predicted.dtype.kind == "f":
        return NumberOutputs(np.asarray(predicted, np.float64))
    return ClassOutputs(np.asarray(predicted, np.int32), scores)


Status = Literal["ok", "error", "timeout", "memory", "crashed", "skipped", "invalid_score", "dropped"]


@dataclass(frozen=True, eq=False)
class Scoreboard:
    """The scores that a rule chooses from: arrays over candidates in declared order.

    `complexity` is the mean over folds; `unit` names what it counts (leaves, neighbourhoods, ...). Only candidates that
    finished every fold with a finite score are `eligible`.
    """

    ids: tuple[str, ...]
    folds: Floats  # candidates × folds, NaN where unfinished
    mean: Floats
    se: Floats
    complexity: Floats
    unit: tuple[str, ...]
    eligible: Booleans
    higher_is_better: bool = False
    beside: Mapping[str, Floats] = field(default_factory=dict)  # means of other measures, which a rule may set bounds to
    scale: float = 1.0  # of the score, to which rounding is relative: 1 for classes, the floor's score for numbers

    @property
    def cost(self) -> Floats:
        """Means as something to minimise, rounded to 1e-12 of the scale so that ties are ties; infinite where not eligible."""
        sign = -1.0 if self.higher_is_better else 1.0
        return np.where(self.eligible, self.rounded(sign * self.mean), np.inf)

    def rounded(self, values: object) -> Any:
        """Scores, or differences of scores, rounded to 1e-12 of the scale."""
        return round_to_scale(values, self.scale)


def round_to_scale(values: Any, scale: float = 1.0) -> Any:
    """Numbers rounded to 1e-12 of a scale, so that what differs by the order of sums alone is equal.

    >>> float(round_to_scale(0.1 + 0.2)), bool(round_to_scale(3e-9 + 1e-9, 1e-9) == round_to_scale(4e-9, 1e-9))
    (0.3, True)
    """
    return np.round(values, 12) if scale == 1.0 else np.round(np.divide(values, scale), 12) * scale


Severity = Literal["info", "low", "medium", "high", "critical"]


@dataclass(frozen=True)
class Finding:
    """Something a person should know: a stable code, how grave it is, what it says, what to do.

    `proposes` are the settings that `do` names, the best first.
    """

    code: str
    severity: Severity
    message: str
    do: str = ""
    proposes: tuple[Proposal, ...] = field(default=(), compare=False)

    @classmethod
    def read(cls, stated: Mapping[str, Any]) -> Self:
        """Read a finding from a record; TypeError where it is none."""
        return cls(**stated)


@dataclass(frozen=True, eq=False)
class Loaded:
    """A task with everything that a person should know about how it was read.

    What it *looks* like (`dataset.profile`) is asked of the development rows, because it reads labels.
    """

    task: Task
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Description:
    """A fitted model or preparation as data: JSON-able facts and arrays, from which its kind restores it."""

    kind: str
    facts: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]] = field(default_factory=dict)


_NOT_PER_ROW = {"name", "unit", "source", "uncapped", "features", "classes", "reading", "drop_rare", "measured_in", "weighing"}


def _per_row(name: str) -> bool:
    return name not in _NOT_PER_ROW and not name.startswith("_") and "fingerprint" not in name


def _take_rows(array: NDArray[np.generic] | None, rows: Integers) -> NDArray[np.generic] | None:
    """Some rows; of a matrix column by column, as it stands in memory, without another copy of it."""
    if array is None or array.ndim == 1:
        return None if array is None else array[rows]
    places = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
    found = np.empty((len(places), array.shape[1]), array.dtype, order="F")
    for column in range(array.shape[1]):
        found[:, column] = array[:, column][places]
    return found


def by_columns(rows: NDArray[np.generic]) -> Floats:
    """Copy a matrix into column order, so many rows at a time as stay near (three times as fast as at once)."""
    columns: Floats = np.empty(rows.shape, rows.dtype, order="F")
    for start in range(0, len(rows), TURNED):
        columns[start : start + TURNED] = rows[start : start + TURNED]
    return columns


def positions(table: Table) -> Integers:
    """All positions of a table, 0 to n − 1."""
    return np.arange(len(table), dtype=np.int64)


def without_levels(features: Sequence[Feature]) -> tuple[Feature, ...]:
    """Features as a model keeps them: texts without those of the table that it was fitted on."""
    return tuple(replace(feature, levels=()) if feature.text else feature for feature in features)


def of_texts(feature: Feature, texts: Sequence[str | None]) -> tuple[Feature, Floats]:
    """A feature of texts with the levels that some rows have, and their codes; None is missing.

    >>> of_texts(Feature("note", "nominal", text=True), ["late", None, "in time"])[1].tolist()
    [1.0, nan, 0.0]
    """
    levels = tuple(sorted({text for text in texts if text is not None}))
    place: dict[str | None, float] = {None: np.nan, **{text: float(code) for code, text in enumerate(levels)}}
    return replace(feature, levels=levels), np.array([place[text] for text in texts], np.float64)


def readable(table: AnyTable) -> AnyTable:
    """The table without its columns of texts: its numbers and levels."""
    kept = [place for place, feature in enumerate(table.features) if not feature.text]
    if len(kept) == len(table.features):
        return table
    return table.with_features(tuple(table.features[place] for place in kept), table.values[:, kept])


def dates(table: Table) -> str:
    """Name the features that are dates, as settings; COLUMN where there are none."""
    found = [feature.name for feature in table.features if feature.dates] or ["COLUMN"]
    proposed = [str(Proposal("dataset.time", name)) for name in found]
    return f"dataset.time={' or '.join(found)}" if all(map(is_bare, found)) else " or ".join(proposed)


def names(features: Sequence[Feature]) -> tuple[str, ...]:
    """Return the names of features."""
    return tuple(feature.name for feature in features)
