"""A fitted estimator as a model: what it says of rows, and what is written down of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from modelsel.core.fingerprint import array_digest
from modelsel.core.spec import spec_of
from modelsel.core.types import (
    DECISIONS,
    ClassOutputs,
    Codes,
    Description,
    Floats,
    Integers,
    NumberOutputs,
    NumberTask,
    Outputs,
    Table,
    Targets,
    Task,
    positions,
)
from modelsel.foreign import shrinkage
from modelsel.foreign.interface import decides, decisions, scores_of
from modelsel.foreign.libraries import (
    ValidationRows,
    as_wanted,
    fitted_to_stop,
    fitted_with,
    made_to_stop,
    made_with,
    rounds_kept,
    takes_nan,
    told_on_sparse,
)
from modelsel.foreign.optimum import fit_logistic, is_logistic
from modelsel.foreign.parameters import settle_parameters
from modelsel.foreign.stored import FILES, SKOPS, NotStoredError, dump, load
from modelsel.learner.base import FittedModel
from modelsel.learner.columns import (
    BranchColumns,
    ColumnEncoding,
    Columns,
    TargetColumns,
    matrix_for,
    matrix_to_fit,
    read_columns,
    write_columns,
)
from modelsel.sharing.adapter import Adapter, Answer

KIND = "estimator"


@dataclass(frozen=True, eq=False)
class Answering:
    """A fitted estimator behind the matrix that it reads.

    `own` are the classes that it knows, among `classes`; a regressor knows none, and `classes` is 0.
    """

    estimator: Any
    adapter: Adapter | None
    columns: Columns
    nominal: tuple[int, ...]  # columns of the matrix that hold categories
    own: Integers
    classes: int
    labels: NDArray[np.generic] | None = (
        None  # of the classes, where the estimator was fitted on labels; else on their positions in `own`
    )
    rounds: int | None = None  # that it kept, where it stopped early
    gradient: float | None = None  # of a logistic regression: the largest entry where it stopped, 0 at the optimum

    def outputs(self, values: Sequence[object], table: Table, rows: Integers, scores: bool) -> Outputs:
        """Return the answers of a fit with each value of the path parameter (None where there is none) for some rows."""
        if not self.classes:
            return NumberOutputs(self._numbers(values, table, rows))
        predicted = np.empty((len(values), len(rows)), np.int32)
        shares = np.zeros((len(values), len(rows), self.classes)) if scores else None
        if not len(rows):
            return ClassOutputs(predicted, shares)
        matrix = self._matrix(table, rows)
        distinct = list(dict.fromkeys(values))
        found = dict(zip(distinct, self._ask(distinct, matrix, scores), strict=True))
        for place, value in enumerate(values):
            said, own = found[value]
            predicted[place] = self._class_codes(said)
            if shares is not None:
                shares[place] = self._shares(own, predicted[place])
        return ClassOutputs(predicted, shares)

    def _numbers(self, values: Sequence[object], table: Table, rows: Integers) -> Floats:
        """Predicted numbers of a fit with each value of the path parameter, values × rows."""
        if not len(rows):
            return np.empty((len(values), 0))
        matrix = self._matrix(table, rows)
        distinct = list(dict.fromkeys(values))
        found = dict(zip(distinct, self._ask(distinct, matrix, scores=False), strict=True))
        return np.array([np.asarray(found[value][0], np.float64).ravel() for value in values])

    def cut(self, value: object) -> "Answering":
        """The fit with this value of the path parameter alone."""
        if self.adapter is None or value == self.adapter.value(_params(self.estimator, self.adapter)):
            return replace(self, adapter=None)
        return replace(self, estimator=self.adapter.cut(self.estimator, value), adapter=None)

    def size(self, value: object) -> float:
        """Measured complexity in the learner's unit."""
        if self.rounds is not None:
            return float(self.rounds)
        if self.adapter is not None:
            return self.adapter.size(self.estimator, value)
        return float(getattr(self.estimator, "n_features_in_", len(self.columns.features)))

    def decisions(self, table: Table) -> Floats:
        """Compute decision values of all rows, rows × classes."""
        matrix = self._matrix(table, positions(table))
        return decisions(self.estimator, matrix, self.own, self.classes)

    def _matrix(self, table: Table, rows: Integers) -> Any:
        """Some rows as the estimator reads them."""
        return as_wanted(type(self.estimator), matrix_for(self.estimator, self.columns, table, rows), self.nominal)

    def _ask(self, values: Sequence[object], matrix: object, scores: bool) -> Any:
        """Ask the estimator for classes, and for scores where it has them, once per value of the path."""
        has_shares = scores and hasattr(self.estimator, "predict_proba")
        if self.adapter is not None:
            return self.adapter.answers(self.estimator, values, matrix, has_shares)
        own = self.estimator.predict_proba(matrix) if has_shares else None
        if scores and self._decides:
            own = decisions(self.estimator, matrix, self.own, self.classes)
        answer: Answer = (self.estimator.predict(matrix), own)
        return [answer] * len(values)

    def _class_codes(self, said: object) -> Integers:
        """The class of each answer."""
        if self.labels is None:
            return self.own[np.asarray(said).ravel().astype(np.int64)]
        return places_of(self.labels, np.asarray(said).ravel())

    @property
    def _decides(self) -> bool:
        """Its class scores are decision values; one that knows a single class has none."""
        return len(self.own) > 1 and scores_of(self.estimator) == DECISIONS

    def _shares(self, own: Floats | None, predicted: Codes) -> Floats:
        """Spread the scores over all classes; without scores the predicted class has 1."""
        if own is not None and self._decides:
            return own
        shares = np.zeros((len(predicted), self.classes))
        if own is None or len(self.own) == 1:
            shares[np.arange(len(predicted)), predicted] = 1.0
            return shares
        shares[:, self.own] = own
        total: Floats = shares.sum(axis=1, keepdims=True)
        return shares / total


def places_of(labels: NDArray[np.generic], said: NDArray[np.generic]) -> Integers:
    """The place of each label among `labels`; ValueError for one that is none of them.

    >>> places_of(np.array(["no", "yes"]), np.array(["yes", "yes", "no"])).tolist()
    [1, 1, 0]
    """
    distinct, inverse = np.unique(said, return_inverse=True)
    place = {label: index for index, label in enumerate(labels.tolist())}
    strange = [label for label in distinct.tolist() if label not in place]
    if strange:
        raise ValueError(f"it predicts {strange[0]!r}, which is not a class")
    found: Integers = np.array([place[label] for label in distinct.tolist()], np.int64)[inverse.ravel()]
    return found


def _params(estimator: object, adapter: Adapter) -> dict[str, object]:
    told = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    return {name: value for name, value in told.items() if name == adapter.parameter}


@dataclass(frozen=True, eq=False)
class EstimatorModel(FittedModel):
    """A model of one fitted estimator."""

    abilities: ClassVar[str] = "modelsel.exports.of_estimators"

    learner: Any
    answering: Answering
    random_state: int
    rows: str  # digest of the analysis rows

    @property
    def estimator(self) -> Any:
        """The fitted estimator itself."""
        return self.answering.estimator

    @property
    def scores_are(self) -> str:
        """Probabilities, decision values or classes."""
        return scores_of(self.estimator)

    @property
    def decides(self) -> bool:
        """True where it has decision values, beside probabilities or without."""
        return decides(self.estimator)

    def decisions(self, table: Table) -> Floats:
        """Compute decision values of all rows, rows × classes."""
        return self.answering.decisions(table)

    def predict(self, table: Table) -> Targets:
        predicted: Targets = self.answering.outputs([None], table, positions(table), scores=False).predicted[0]
        return predicted

    def scores(self, table: Table) -> Floats:
        """Compute class scores of all rows."""
        shares = self.answering.outputs([None], table, positions(table), scores=True).scores
        assert shares is not None
        own: Floats = shares[0]
        return own

    def describe(self) -> Description:
        facts, arrays = store_estimator(self.answering, self.learner.plugins)
        recipe = describe_recipe(self.learner, self.random_state, self.rows, self.learner.source)
        return Description(KIND, {**recipe, **facts}, arrays)


def describe_recipe(learner: Any, random_state: int, rows: str, version: str) -> dict[str, object]:
    """The recipe as facts."""
    settings = {key: value for key, value in spec_of(learner).items() if key != "kind"}
    return {
        "learner": {**settings, "plugins": list(learner.plugins)}, "random_state": random_state, "rows": rows,
        "version": version,
    }  # fmt: skip


# One fit of an estimator, which answers every candidate that its sharing adapter can read off it.
#
# It is fitted when it is first asked, with the value that answers all who ask; a later question that goes further fits again,
# from the same seed, so that the first rounds are the same.


@dataclass(eq=False)
class EstimatorPath:
    """Fits of an estimator on some rows, shared by its candidates (a path is used by one thread)."""

    learner: Any  # an Estimator; those that are asked about differ in the path parameter only
    task: Task
    rows: Integers
    seed: int
    _fitted: dict[Any, Any] = field(default_factory=dict)  # the widest fit so far, under its value

    def outputs(self, learners: Sequence[object], table: Table, rows: Integers, scores: bool) -> Outputs:
        """Compute answers; without `predict_proba` scores are decision values, else the predicted class has the whole score."""
        answering, values = self._answering(learners), [self._value(learner) for learner in learners]
        return answering.outputs(values, table, rows, scores)

    def complexity(self, learners: Sequence[object]) -> Floats:
        """Compute effective parameters of a linear fit, else what the fit itself tells of its size."""
        answering = self._answering(learners)
        if self.learner.unit == shrinkage.UNIT:
            return np.full(len(learners), self._parameters(answering.estimator))
        return np.array([answering.size(self._value(learner)) for learner in learners])

    def _parameters(self, made: object) -> float:
        """Count parameters of a linear fit by what its penalty leaves of them."""
        _, target = _code_classes(self.task, self.rows)
        return shrinkage.parameters_left(made, self._columns[1], target, self.task.row_weights[self.rows])

    def training_error(self, learners: Sequence[object]) -> Floats:
        """NaN: see `Estimator.no_training_error`."""
        return np.full(len(learners), np.nan)

    def model(self, learner: object) -> EstimatorModel:
        value, answering = self._value(learner), self._answering([learner])
        return EstimatorModel(learner, answering.cut(value), self.seed, self.digest)

    @cached_property
    def digest(self) -> str:
        """Of what the fit reads of its rows."""
        rows, task = self.rows, self.task
        return array_digest(task.values[rows], task.target[rows], task.row_weights[rows])

    @cached_property
    def _divided(self) -> tuple[Integers, Integers | None]:
        """The analysis rows that are fitted on, and those that say when to stop; None where all are fitted on."""
        holding = self.learner.holding
        return (self.rows, None) if holding is None else holding.divide(self.task, np.asarray(self.rows))

    @cached_property
    def _columns(self) -> tuple[Columns, Any]:
        """The encoding of rows as a matrix, and the matrix of the rows that are fitted on."""
        learner, (rows, _) = self.learner, self._divided
        if learner.steps:
            return BranchColumns.of(self.task, rows, learner.steps, self.seed, learner.plugins)
        missing = _missing(learner)
        if learner.coded == "target":
            return TargetColumns.of(self.task, rows, missing, learner.scale, self.seed)
        columns = ColumnEncoding.of(self.task, rows, learner.coded, missing, learner.scale)
        return columns, matrix_to_fit(learner, columns, self.task, rows)

    def _value(self, learner: Any) -> object:
        adapter = self.learner.adapter
        return None if adapter is None else adapter.value(learner.params)

    def _answering(self, learners: Sequence[object]) -> Answering:
        """Return the fit that answers all these learners, which is the one of the widest value so far."""
        adapter = self.learner.adapter
        if adapter is None:
            return self._fit(None, self.learner)
        values = [*self._fitted, *(self._value(learner) for learner in learners)]
        widest = adapter.widest(values)
        return self._fit(widest, self.learner.with_value(widest))

    def _fit(self, value: object, learner: object) -> Answering:
        """Return the fit of a value; only the last one is kept."""
        if value not in self._fitted:
            made = self._fitted_now(learner)
            self._fitted.clear()
            self._fitted[value] = made
        found: Answering = self._fitted[value]
        return found

    def _fitted_now(self, learner: Any) -> Answering:
        """Fit the estimator on the matrix of the analysis rows, or of those that are not held back to stop it."""
        task, kind, (columns, matrix), (rows, held) = self.task, learner.cls, self._columns, self._divided
        nominal = columns.nominal if learner.coded == "native" and not learner.steps else ()
        classes, target = _code_classes(task, rows)
        told, more = made_with(kind, nominal, matrix.shape[1]), fitted_with(kind, nominal)
        if hasattr(matrix, "nnz") and not learner.steps:
            told |= told_on_sparse(kind, learner.params)
        if held is not None:
            X = as_wanted(kind, matrix_to_fit(learner, columns, task, held), nominal)
            validation = ValidationRows(X, _target(task, held, classes), None if task.weights is None else task.weights[held])
            told |= made_to_stop(kind, learner.early_stopping)
            more |= fitted_to_stop(kind, learner.early_stopping, validation, nominal)
        made = kind(**settle_parameters(kind, {**learner.params, **told}, self.seed))
        X, weights = as_wanted(kind, matrix, nominal), None if task.weights is None else task.weights[rows]
        if is_logistic(kind):
            left = fit_logistic(made, learner.params, X, target, weights)
            return Answering(made, learner.adapter, columns, nominal, classes, task.class_count, gradient=left)
        made.fit(X, target, **({} if weights is None else {"sample_weight": weights}), **more)
        rounds = None if held is None else rounds_kept(made)
        return Answering(made, learner.adapter, columns, nominal, classes, task.class_count, rounds=rounds)


def _target(task: Task, rows: Integers, classes: Integers) -> NDArray[np.generic]:
    """Numbers; or the place of each row's class among those that are fitted on, which all have."""
    return task.target[rows] if isinstance(task, NumberTask) else np.searchsorted(classes, task.target[rows])


def _code_classes(task: Task, rows: Integers) -> tuple[Integers, NDArray[np.generic]]:
    """The classes that the rows have and the place of each row's among them; of numbers no class, and the numbers."""
    if isinstance(task, NumberTask):
        return np.zeros(0, np.int64), task.target[rows]
    classes, target = np.unique(task.target[rows], return_inverse=True)
    return classes.astype(np.int64), target


def _missing(learner: Any) -> str:
    if learner.missing != "auto":
        return str(learner.missing)
    return "keep" if takes_nan(learner.cls(**settle_parameters(learner.cls, learner.params, 0))) else "median"


# Recipe of an estimator that cannot be stored: all that is needed to fit it again.


@dataclass(frozen=True)
class EstimatorRecipe(FittedModel):
    """A recipe to fit it again: `rows` is the digest of the analysis rows, `version` the library's; `why` it was not stored."""

    learner: Any
    random_state: int
    rows: str
    version: str
    why: str = ""

    def __str__(self) -> str:
        return f"{self.learner.estimator} ({self.version})"

    def refit(self, task: Task, rows: Integers) -> EstimatorModel:
        """Fit again on the same rows. Raises ValueError when the rows are others, or the library is another version."""
        path = EstimatorPath(self.learner, task, rows, self.random_state)
        if path.digest != self.rows:
            raise ValueError("these are not the rows that the model was fitted on")
        if self.learner.source != self.version:
            raise ValueError(f"the model was fitted with {self.version}, this is {self.learner.source}")
        return path.model(self.learner)

    def describe(self) -> Description:
        facts = describe_recipe(self.learner, self.random_state, self.rows, self.version)
        return Description(KIND, {**facts, "unstored": self.why})

    def predict(self, table: Table) -> Targets:
        raise ValueError("only the recipe of this model was kept: refit it on the development rows")

    def scores(self, table: Table) -> Floats:
        raise ValueError("only the recipe of this model was kept: refit it on the development rows")


# A fitted estimator written down whole: its library's own format (else skops) beside the columns that it reads.
#
# The file stands in the model's folder under its own name, so that the library itself can read it. What no safe format takes is
# kept as its recipe alone, with the reason.


def restore_estimator(learner: object, description: Description) -> EstimatorModel | EstimatorRecipe:
    """The model, or its recipe where only that was kept. Raises ValueError for a description that is not whole."""
    facts = description.facts
    if not isinstance(facts["random_state"], int) or not isinstance(facts["rows"], str):
        raise ValueError("estimator: not a whole recipe")
    version, why = str(facts["version"]), str(facts.get("unstored", ""))
    recipe = EstimatorRecipe(learner, facts["random_state"], facts["rows"], version, why)
    if "stored" not in facts:
        return recipe
    return EstimatorModel(learner, _answering(learner, facts, description.arrays), recipe.random_state, recipe.rows)


def _answering(learner: Any, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[np.generic]]) -> Answering:
    """Check a stored estimator before it is read, and put it behind its columns."""
    name, own, classes = str(facts["stored"]), np.asarray(arrays["own"]), facts["classes"]
    if name not in FILES or own.dtype.kind != "i" or own.ndim != 1 or not isinstance(classes, int):
        raise ValueError("estimator: not a whole model")
    numbers = classes == 0 and len(own) == 0
    if not numbers and (len(own) == 0 or own.min() < 0 or own.max() >= classes or (np.diff(own) <= 0).any()):
        raise ValueError("estimator: its classes are not class indices")
    if name == SKOPS and _minor(str(facts["version"])) != _minor(learner.source):
        raise ValueError(f"it was stored by {facts['version']}, and this is {learner.source}: install that version")
    columns = {key.removeprefix(COLUMNS): array for key, array in arrays.items() if key.startswith(COLUMNS)}
    estimator = load(name, np.asarray(arrays[f"{FILE}{name}"], np.uint8).tobytes(), learner.plugins, numbers)
    if not hasattr(estimator, "predict"):
        raise ValueError("estimator: what is stored predicts nothing")
    nominal = tuple(int(column) for column in facts["nominal"])
    read = read_columns(facts["columns"], columns, learner.plugins)
    rounds = None if facts.get("rounds") is None else int(facts["rounds"])
    gradient = None if facts.get("gradient") is None else float(facts["gradient"])
    return Answering(estimator, None, read, nominal, own.astype(np.int64), classes, rounds=rounds, gradient=gradient)


def _minor(version: str) -> list[str]:
    """`scikit-learn 1.9.1` without its last number."""
    return version.split(".")[:2]


# Write a fitted estimator down in its library's own format, beside the columns that it reads.

COLUMNS, FILE = "columns/", "file:"


def store_estimator(answering: Any, plugins: tuple[str, ...]) -> tuple[dict[str, object], dict[str, NDArray[np.generic]]]:
    """Facts and arrays of the fitted estimator; the reason alone where it cannot be stored."""
    try:
        name, data = dump(answering.estimator, plugins)
        facts, arrays = write_columns(answering.columns)
    except NotStoredError as error:
        return {"unstored": str(error)}, {}
    more = {"stored": name, "columns": facts, "nominal": list(answering.nominal), "classes": answering.classes}
    more |= {} if answering.rounds is None else {"rounds": answering.rounds}
    more |= {} if answering.gradient is None or np.isnan(answering.gradient) else {"gradient": answering.gradient}
    own = {f"{COLUMNS}{key}": array for key, array in arrays.items()}
    return more, {**own, f"{FILE}{name}": np.frombuffer(data, np.uint8), "own": answering.own}
