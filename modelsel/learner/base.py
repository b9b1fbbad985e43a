"""Bases of learners and their models: a new one is a frozen dataclass with settings and `fit`.

    @dataclass(frozen=True)
    class NearestCentroid(BaseLearner):
        shrink: float = number(0.0, least=0, most=1)

        def fit(self, task, rows, rng) -> Centroids: ...

    @dataclass(frozen=True, eq=False)
    class Centroids(FittedModel):
        means: Floats

        def scores(self, table): ...

What it may offer besides, each with a default: `problems` and `refusal` (where it cannot be used), `complexity` and `unit`
(what ties are broken by), `fit_key` and `fit_path` (one fit answers many candidates), `describe` and `restore` (models whose
fields are more than arrays and plain values), `holds_gil`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from modelsel.core.described import Described, stored_numbers
from modelsel.core.fittable import Compiled, Fittable
from modelsel.core.types import (
    NUMBER_TASKS,
    AnyTask,
    ClassOutputs,
    ClassTask,
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
    TaskKind,
    positions,
)


class FittedModel(Described):
    """Base of fitted learners. A new one defines `scores`; one of numbers `predict`.

    What it can beside predicting it offers by methods of these names, or by functions of the module that `abilities` names
    (loaded when asked): `draw`, `picture`, `rules`, `structure`, `to_dot`, `to_sql`, `to_onnx`. Reports and exports ask for
    them by `ability`; each takes what `exports.shipped` describes, `rules` how many lines at `most`, `to_sql` the table's name.

    Examples
    --------
    >>> from modelsel.dataset.play_tennis import PlayTennis
    >>> from modelsel.learner.majority import Majority
    >>> task = PlayTennis().read()
    >>> model = Majority().fit(task, np.arange(14), np.random.default_rng(0))
    >>> model.predict(task)[:3].tolist()
    [1, 1, 1]
    """

    abilities: ClassVar[str] = ""

    def scores(self, table: Table) -> Floats:
        """Compute class scores of the rows of a table.

        Parameters
        ----------
        table : Table
            Rows of the features that it was fitted on.

        Returns
        -------
        Floats
            Rows × classes, each row at least 0 and of sum 1.
        """
        raise NotImplementedError

    def predict(self, table: Table) -> Targets:
        """Return the index of the class with the largest score per row; ties: the first class.

        A model of numbers says this, and no `scores`.

        Parameters
        ----------
        table : Table
            Rows of the features that it was fitted on.

        Returns
        -------
        Codes or Floats
            A class index per row; of a model of numbers, a number.
        """
        predicted: NDArray[np.int32] = np.argmax(self.scores(table), axis=1).astype(np.int32)
        return predicted


def ability(model: object, name: str) -> Callable[..., Any] | None:
    """Return what a fitted model can beside predicting, by name.

    Parameters
    ----------
    model : FittedModel
        The model.
    name : str
        `draw`, `picture`, `rules`, `structure`, `to_dot`, `to_sql` or `to_onnx`.

    Returns
    -------
    callable or None
        Its method, or the function of the module that its `abilities` name; None where it has neither.

    Examples
    --------
    >>> ability(FittedModel(), "to_sql") is None
    True
    """
    own: Callable[..., Any] | None = getattr(model, name, None)
    module = getattr(model, "abilities", "")
    return own if own or not module else getattr(import_module(module), name, None)


class BaseLearner(Compiled, Fittable):
    """Base of learners without path parameters: every candidate is a fit. A new one defines `fit`.

    Class attributes: `unit` names what `complexity` counts; `holds_gil`, False where the fit releases the interpreter lock.

    Examples
    --------
    >>> from modelsel.learner.majority import Majority
    >>> list(Majority().problems())
    []
    """

    unit: ClassVar[str] = "stored numbers"
    holds_gil: ClassVar[bool] = True
    drawable: ClassVar[bool] = False  # its models can `draw`: the report loads them to show them

    def refusal(self, task: AnyTask, rows: Integers) -> str | None:
        """Say why it cannot be fitted on just these rows: then the candidate is skipped on them.

        Parameters
        ----------
        task : Task
            The task.
        rows : Integers
            Positions of the analysis rows.

        Returns
        -------
        str or None
            The reason; None where it can be fitted.
        """
        return None if task.row_weights[rows].sum() > 0 else "no analysis row has weight"

    def complexity(self, model: Any) -> float:
        """Compute the size of a fitted model in the learner's `unit`.

        Parameters
        ----------
        model : FittedModel
            What `fit` gave.

        Returns
        -------
        float
            At least 0; of candidates with equal scores the smaller is simpler.
        """
        return stored_numbers(model)

    def alone(self, fitted: Any, task: AnyTask, rows: Integers) -> "SingleFit":
        return SingleFit(self, fitted, task, rows)


class Path(Protocol):
    """A fit that answers every learner which differs from it only in path parameters.

    `complexity`, `training_error`, `held_back` and `never_judged` are the measured columns of a cell's result: a path may
    leave any of them out.

    Examples
    --------
    >>> from modelsel.dataset.play_tennis import PlayTennis
    >>> from modelsel.learner.knn import Knn
    >>> task, rows = PlayTennis().read(), np.arange(14)
    >>> path = Knn().fit_path(task, rows, np.random.default_rng(0))
    >>> path.outputs([Knn(k=1), Knn(k=3), Knn(k=14)], task, rows, scores=False).predicted.shape
    (3, 14)
    """

    def outputs(self, learners: Sequence[Any], table: Table, rows: Integers, scores: bool) -> Outputs:
        """Return what each learner, fitted alone, would answer: classes equal, scores to 1e-12.

        Parameters
        ----------
        learners : sequence of BaseLearner
            Learners of the same `fit_key`.
        table : Table
            A table of the features that the path was fitted on.
        rows : Integers
            Positions of the rows that are asked about.
        scores : bool
            True where class scores are asked for too.

        Returns
        -------
        Outputs
            Learners × rows.
        """
        ...

    def complexity(self, learners: Sequence[Any]) -> Floats:
        """Compute the size of each learner's model.

        Parameters
        ----------
        learners : sequence of BaseLearner
            Learners of the same `fit_key`.

        Returns
        -------
        Floats
            A number per learner, at least 0, in the learner's `unit`.
        """
        ...

    def training_error(self, learners: Sequence[Any]) -> Floats:
        """Compute each learner's weighted share of misclassified analysis rows; of numbers, the root mean squared error.

        Parameters
        ----------
        learners : sequence of BaseLearner
            Learners of the same `fit_key`.

        Returns
        -------
        Floats
            From 0 to 1; NaN where it would cost another fit. The learner's `no_training_error` then tells the report why.
        """
        ...

    def model(self, learner: Any) -> FittedModel:
        """Return the model that the learner's `fit` would return.

        Parameters
        ----------
        learner : BaseLearner
            One of the learners that the path answers for.

        Returns
        -------
        FittedModel
            Its model.
        """
        ...


@runtime_checkable
class SubsetPath(Path, Protocol):
    """A path that also answers for fewer features: one fit on all of them serves every `SelectedColumns` before the learner.

    Examples
    --------
    >>> from modelsel.dataset.play_tennis import PlayTennis
    >>> from modelsel.learner.naive_bayes import NaiveBayes
    >>> path = NaiveBayes().fit_path(PlayTennis().read(), np.arange(14), np.random.default_rng(0))
    >>> isinstance(path, SubsetPath)
    True
    """

    def subset(self, columns: Integers) -> Path:
        """Return the path that a fit on just these columns would give.

        Parameters
        ----------
        columns : Integers
            Positions of the features that stay.

        Returns
        -------
        Path
            Its `outputs` still read tables with all columns; its models read tables with just these.
        """
        ...


@dataclass(frozen=True, eq=False)
class SingleFit:
    """A path of one fitted model, which answers for its learner alone."""

    learner: BaseLearner
    fitted: FittedModel
    task: Task
    seen: Integers

    def outputs(self, learners: Sequence[object], table: Table, rows: Integers, scores: bool) -> Outputs:
        """Return the model's answers for some rows, once per learner."""
        asked = Table(
            name=table.name, features=table.features, values=table.values[rows], rows=table.rows[rows], source=table.source
        )
        if isinstance(self.task, NumberTask):
            return NumberOutputs(np.tile(np.asarray(self.fitted.predict(asked), np.float64), (len(learners), 1)))
        predicted = np.asarray(self.fitted.predict(asked), np.int32)
        found = np.asarray(self.fitted.scores(asked), np.float64) if scores else None
        return ClassOutputs(
            np.tile(predicted, (len(learners), 1)), None if found is None else np.tile(found, (len(learners), 1, 1))
        )

    def complexity(self, learners: Sequence[object]) -> Floats:
        """Size of the model."""
        return np.full(len(learners), float(self.learner.complexity(self.fitted)))

    def training_error(self, learners: Sequence[object]) -> Floats:
        """Weighted share of analysis rows that the model misclassifies; of numbers, the root mean squared error."""
        said = self.outputs([self.learner], self.task, self.seen, scores=False).predicted[0]
        return np.full(len(learners), training_error(self.task, self.seen, said))

    def model(self, learner: object) -> FittedModel:
        """The model that `fit` gave."""
        return self.fitted


def training_error(task: Task, rows: Integers, said: Targets) -> float:
    """Weighted share of rows that are misclassified; of numbers, the root mean squared error.

    Parameters
    ----------
    task : Task
        The task.
    rows : Integers
        Positions of the rows.
    said : Codes or Floats
        What was predicted of them.

    Returns
    -------
    float
        In the unit of the target where that is a number.

    Examples
    --------
    >>> from modelsel.dataset.play_tennis import PlayTennis
    >>> task = PlayTennis().read()
    >>> training_error(task, np.arange(14), np.ones(14, np.int32))  # "Yes" for all: five days are missed
    0.35714285714285715
    """
    weights, truth = task.row_weights[rows], task.target[rows]
    if isinstance(task, NumberTask):
        return float(np.sqrt(weights @ np.square(said - truth) / weights.sum()))
    return float(weights @ (said != truth) / weights.sum())


# A model that is one learner of a path: the path's answers for all rows of a table, for this learner alone.


# Rows taken in parts, so that what is computed for them at a time stays small.

CELLS = 1 << 22  # numbers held at a time


def chunks(rows: int, each: int) -> list[slice]:
    """Slices of rows such that `each` numbers per row stay within CELLS: a fixed grid, whatever the machine.

    >>> chunks(5, 1 << 21)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 6, None)]
    """
    size = max(1, CELLS // max(1, each))
    return [slice(start, start + size) for start in range(0, rows, size)]


@dataclass(frozen=True, eq=False)
class PathModel(FittedModel):
    """The base of models whose path holds all that they need; `learner` has every path parameter fixed."""

    path: Path
    learner: BaseLearner

    def predict(self, table: Table) -> Codes:
        return np.asarray(self.path.outputs([self.learner], table, positions(table), scores=False).predicted[0], np.int32)

    def scores(self, table: Table) -> Floats:
        """Compute this learner's class scores of all rows by its path."""
        shares = self.path.outputs([self.learner], table, positions(table), scores=True).scores
        assert shares is not None
        own: Floats = shares[0]
        return own


def path_errors(path: Path, learners: Sequence[object], task: ClassTask, rows: Integers) -> Floats:
    """Weighted share of the rows that each learner misses; the rows are asked for in parts. NaN where they weigh nothing."""
    weights, missed = task.row_weights[rows], np.empty((len(learners), len(rows)), bool)
    for block in chunks(len(rows), len(learners) * len(task.classes)):
        missed[:, block] = path.outputs(learners, task, rows[block], scores=False).predicted != task.target[rows[block]]
    total = weights.sum()
    if not total > 0:
        return np.full(len(learners), np.nan)
    wrong = np.array([weights[own].sum() for own in missed])  # each by itself: the same in any company
    return np.asarray(wrong / total)


# Learners that look at no feature, and what they fit.


@dataclass(frozen=True)
class BaseFloor(BaseLearner):
    """A learner that looks at no feature and has nothing to set. A new one says `fit`."""

    unit: ClassVar[str] = "rules"
    holds_gil: ClassVar[bool] = False
    looks_at_nothing: ClassVar[bool] = True  # of the features

    def fit_path(self, task: Any, rows: Integers, rng: np.random.Generator) -> Any:
        return self.fit(task, rows, rng)


@dataclass(frozen=True)
class FloorModel(FittedModel):
    """A model that is its own path, as there are no parameters."""

    def complexity(self, learners: Sequence[object]) -> Floats:
        return np.zeros(len(learners))

    def model(self, learner: object) -> Self:
        return self


@dataclass(frozen=True)
class BaseConstant(BaseFloor):
    """A learner of numbers that says the same of every row. A new one says `fit`."""

    reads: ClassVar[tuple[TaskKind, ...]] = NUMBER_TASKS

    @staticmethod
    def restore(description: Description) -> "ConstantModel":
        """Rebuild the model; ValueError where it is not whole."""
        value = description.facts["value"]
        if not isinstance(value, int | float) or not np.isfinite(value):
            raise ValueError("not a whole constant model: it has to say a finite number")
        return ConstantModel(float(value))


@dataclass(frozen=True, eq=False)
class ConstantModel(FloorModel):
    """A model of one number."""

    value: float
    task: NumberTask | None = None  # what it was fitted on, for its training error
    rows: Integers | None = None

    def predict(self, table: Table) -> Floats:
        return np.full(len(table), self.value)

    def describe(self) -> Description:
        return Description("constant", {"value": self.value})

    def outputs(self, learners: Sequence[object], table: Table, rows: Integers, scores: bool) -> NumberOutputs:
        return NumberOutputs(np.full((len(learners), len(rows)), self.value))

    def training_error(self, learners: Sequence[object]) -> Floats:
        if self.task is None or self.rows is None:
            return np.full(len(learners), np.nan)
        return np.full(len(learners), training_error(self.task, self.rows, np.full(len(self.rows), self.value)))

    def model(self, learner: object) -> "ConstantModel":  # without the rows that it was fitted on
        return ConstantModel(self.value)
