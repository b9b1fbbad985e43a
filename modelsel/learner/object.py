"""An estimator object as a candidate, just as it was made: any pipeline, a stack of estimators, a class of a notebook.

It is cloned and fitted on the columns of the source in their own types (`Table.source`) and on the labels as the target's
column held them; nothing is encoded or filled before it. `identity` names the object in this process (`foreign.objects`),
`params` are set on its clone by the names that `set_params` takes. A `random_state` that is None becomes a number of the
fit's generator.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from modelsel.core.fingerprint import array_digest, digest
from modelsel.core.spec import plain
from modelsel.core.types import (
    BOTH_TASKS,
    PROBABILITIES,
    Description,
    Feature,
    Integers,
    Outputs,
    Table,
    Task,
    TaskKind,
)
from modelsel.foreign import objects, shared_steps
from modelsel.foreign.allowed import near
from modelsel.foreign.asking import asking_about, is_sharing
from modelsel.foreign.identity import identity, sources
from modelsel.foreign.interface import decides, scores_of
from modelsel.foreign.libraries import is_pairwise, kinds_read
from modelsel.foreign.parameters import Params
from modelsel.learner.base import BaseLearner, FittedModel
from modelsel.learner.fitted_estimator import Answering, EstimatorModel, EstimatorPath, places_of
from modelsel.sharing.adapter import Adapter, find

NOT_HERE = "is in the memory of the process in which it was made, and not of this one: hand it over again in Python"


class ExactParams(Params):
    """Parameters among which 1 and 1.0 are two: one feature, and all of them."""

    def __hash__(self) -> int:
        return hash(identity(dict(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mapping) and identity(dict(self)) == identity(dict(other))


@dataclass(frozen=True)
class Object(BaseLearner):
    """The path parameter is that of the class's sharing adapter, where the object is one estimator and its conditions hold."""

    identity: str = plain("", help="of the object that was handed over in Python")
    estimator: str = plain("", help="what it is, for people")
    params: Mapping[str, Any] = plain(ExactParams({}), help="parameters by the names that set_params takes")

    holds_gil: ClassVar[bool] = True
    portable: ClassVar[bool] = False
    reads_source: ClassVar[bool] = True
    plugins: ClassVar[tuple[str, ...]] = ()
    no_training_error: ClassVar[str] = "every analysis row would have to be asked again of every candidate for it"

    def __post_init__(self) -> None:
        object.__setattr__(self, "params", ExactParams(self.params))

    def __reduce__(self) -> Any:
        """The object travels with its candidate to our own workers, as the same bytes for all that are made of it."""
        known = [name for name in (self.identity, *objects.names(self.params)) if objects.is_held(name)]
        return _receive_object, (
            self.identity,
            self.estimator,
            dict(self.params),
            {name: objects.pack_object(name) for name in known},
        )

    def specification(self) -> dict[str, Any]:
        """The settings as plain data; 1.0 is written as a text, since ids do not tell it from 1."""
        exact = {
            name: str(value) if type(value) is float and value.is_integer() else value for name, value in self.params.items()
        }
        return {"kind": "object", "identity": self.identity, "estimator": self.estimator, "params": exact}

    def fresh(self) -> object:
        """The object's clone with this candidate's parameters. KeyError where it is not here, ValueError for a parameter."""
        made = objects.copy_unfitted(objects.held_object(self.identity))
        given = {name: objects.read_parameter(value) for name, value in self.params.items()}
        given = {name: objects.copy_unfitted(one) if _is_object(one) else one for name, one in given.items()}
        return made.set_params(**given) if given else made

    @cached_property
    def made(self) -> Any:
        """The object, kept to be asked and never fitted."""
        return self.fresh()

    @cached_property
    def adapter(self) -> Adapter | None:
        """The adapter that shares this candidate's fit with others; None where its conditions do not hold."""
        if not objects.is_held(self.identity):
            return None  # a record is read where the object is not
        found = find(type(self.made))
        usual = type(self.made)().get_params(deep=False) if found else {}
        given = {name: value for name, value in self.made.get_params(deep=False).items() if not _same(usual.get(name), value)}
        return found if found and found.shares(given) else None

    def with_value(self, value: object) -> "Object":
        """Return the learner with another value of the path parameter."""
        assert self.adapter is not None
        return replace(self, params={**self.params, self.adapter.parameter: value})

    def value(self) -> Any:
        """The value of the path parameter."""
        assert self.adapter is not None
        return self.adapter.value(self.made.get_params(deep=False))

    def fit_key(self) -> dict[str, object]:
        """Return the settings but for the path parameter, which a fit does not depend on."""
        spec = self.specification()
        if self.adapter is None:
            return spec
        spec["params"] = {name: value for name, value in spec["params"].items() if name != self.adapter.parameter}
        side = self.adapter.side(self.made.get_params(deep=False))
        return {**spec, "shared": self.adapter.parameter, **({"side": side} if side else {})}

    @cached_property
    def source(self) -> str:
        """The distributions, with their versions, that the object's code comes from."""
        known = (self.identity, *objects.names(self.params))
        return ", ".join(sorted({each for name in known for each in sources(objects.held_object(name))}))

    @property
    def unit(self) -> str:  # type: ignore[override]  # as its class has it
        """Trees of an ensemble, leaves of a tree, else columns."""
        return self.adapter.unit if self.adapter else "columns"

    @property
    def reads(self) -> tuple[TaskKind, ...]:
        """A classifier reads classes, a regressor numbers; what says neither is asked to fit whatever there is."""
        return BOTH_TASKS if any(True for _ in self.problems()) else kinds_read(self.made) or BOTH_TASKS

    @property
    def scores_are(self) -> str:
        """Probabilities, decision values or classes; of what cannot be made (`problems` tells why) nothing is known."""
        return PROBABILITIES if any(True for _ in self.problems()) else scores_of(self.made)

    @property
    def decides(self) -> bool:
        """True where it has decision values, beside probabilities or without."""
        return decides(self.made)

    def problems(self, task: Table | None = None) -> Iterable[str]:
        """Yield what is wrong with the object or its parameters, and which of its columns the table does not have."""
        missing = [name for name in (self.identity, *objects.names(self.params)) if not objects.is_held(name)]
        if missing:
            yield f"the object {self.estimator or self.identity} {NOT_HERE}"
            return
        try:
            made = self.made
        except Exception as error:
            yield f"{self.estimator}: {error}"
            return
        yield from objects.refusals(made)
        if not _has(made, "predict") or not _has(made, "fit"):
            yield f"{self.estimator} cannot be fitted and asked to predict"
        if isinstance(task, Task):
            yield from self._unfit(made, task)

    def _unfit(self, made: object, task: Task) -> Iterator[str]:
        """Yield why the object cannot be fitted on this task."""
        if task.kind not in self.reads:
            said = ("numbers", "has classes") if task.kind == "classes" else ("classes", "is a number")
            yield f"{self.estimator} predicts {said[0]}, and the target {said[1]}"
        if task.weights is not None and objects.weights_name(made) is None:
            yield f"{self.estimator} takes no weights, and this task has some"
        known = None if task.source is None else task.source.columns
        for name in _columns(made) if known is not None else ():
            if known is not None and name not in known:
                yield f"{self.estimator} reads a column {name!r} that is not there{near(name, [str(one) for one in known])}"

    def refusal(self, task: Task, rows: Integers) -> str | None:
        return None

    def fit_path(self, task: Task, rows: Integers, rng: np.random.Generator) -> "ObjectPath":
        path = ObjectPath(self, task, rows, int(rng.integers(2**31 - 1)))
        if (kept := _KEPT.get()) is not None:
            kept.append(path)
        return path

    def fit(self, task: Task, rows: Integers, rng: np.random.Generator) -> "ObjectModel":
        return self.fit_path(task, rows, rng).model(self)

    @staticmethod
    def restore(description: Description) -> object:
        """Read back how it was fitted; the object itself is never read from a record."""
        facts = description.facts
        said = facts["learner"]
        learner = Object(str(said["identity"]), str(said["estimator"]), dict(said["params"]))
        return ObjectRecipe(learner, int(facts["random_state"]), str(facts["rows"]), str(facts["version"]))


def _receive_object(name: str, estimator: str, params: Mapping[str, object], data: Mapping[str, bytes]) -> Object:
    for each, packed in data.items():
        objects.unpack_object(each, packed)
    return Object(name, estimator, params)


def _model_arrived(learner: Object, answering: bytes, random_state: int, rows: str) -> "ObjectModel":
    return ObjectModel(learner, objects.receive_fitted(answering), random_state, rows)


def _has(made: object, method: str) -> bool:
    """Say whether an estimator, a pipeline's last one, has a method, be it one that some have only when they are fitted."""
    last = steps[-1][1] if (steps := getattr(made, "steps", None)) else made
    return hasattr(last, method) or hasattr(type(last), method)


def _is_object(value: object) -> bool:
    return hasattr(value, "get_params") and not isinstance(value, type)


def _same(one: object, other: object) -> bool:
    return type(one) is type(other) and repr(one) == repr(other)


def _columns(made: object) -> Iterator[str]:
    """Columns that a ColumnTransformer which stands first, alone or inside unions and pipelines, reads by name."""
    if (steps := getattr(made, "steps", None)) is not None:
        yield from _columns(steps[0][1])
    elif (parts := getattr(made, "transformer_list", None)) is not None:
        for _, part in parts:
            yield from _columns(part)
    elif (columns := getattr(made, "transformers", None)) is not None:
        for *_, named in columns:
            listed = [named] if isinstance(named, str) else named if isinstance(named, list | tuple) else ()
            yield from (name for name in listed if isinstance(name, str))


@dataclass(frozen=True, eq=False)
class SourceColumns:
    """The columns of the source, which the object reads itself."""

    features: tuple[Feature, ...]
    against: Integers | None = (
        None  # rows of the source that the columns stand for, where the object reads kernels or distances
    )

    def matrix(self, table: Table, rows: Integers) -> Any:
        """Some rows of the source of a table."""
        if table.source is None:
            raise ValueError("the object reads the columns of a frame in their own types, and only their numbers are here")
        found = table.source.take(np.asarray(table.rows[rows]))
        return found if self.against is None or found.shape[1] != len(table.source.data) else found[:, self.against]


class SharedAnswering(Answering):
    """A fitted object behind shared steps, whose output for the rows that are asked about is remembered."""

    def outputs(self, values: Sequence[object], table: Table, rows: Integers, scores: bool) -> Outputs:
        """As any fit answers."""
        if not is_sharing() or table.source is None:
            return super().outputs(values, table, rows, scores)
        try:
            with asking_about(digest([table.source.token, array_digest(table.rows[rows])])):
                return super().outputs(values, table, rows, scores)
        except ValueError as error:
            if "read-only" not in str(error):
                raise
            return super().outputs(values, table, rows, scores)


class ObjectPath(EstimatorPath):
    """Fits of an object on some rows of the source, shared by its candidates."""

    @cached_property
    def _columns(self) -> tuple[Any, Any]:
        against = np.asarray(self.task.rows[self.rows]) if is_pairwise(self.learner.made) else None
        columns = SourceColumns(self.task.features, against)
        return columns, columns.matrix(self.task, self.rows)

    def _value(self, learner: Any) -> object:
        return None if self.learner.adapter is None else learner.value()

    def _fitted_now(self, learner: Any) -> Answering:
        """Fit a clone on the analysis rows of the source."""
        task, rows, (columns, X) = self.task, self.rows, self._columns
        assert task.source is not None
        labels, y = task.source.classes, task.source.labels(task.rows[rows], task.target[rows])
        name = objects.weights_name(learner.made) if task.weights is not None else None
        made = self._fit_clone(learner, X, y, {name: task.row_weights[rows]} if name else {})
        if labels is None:
            return SharedAnswering(made, learner.adapter, columns, (), np.zeros(0, np.int64), 0)
        seen = getattr(made, "classes_", None)
        own = np.unique(task.target[rows]) if seen is None else places_of(labels, np.asarray(seen))
        return SharedAnswering(made, learner.adapter, columns, (), own.astype(np.int64), len(task.class_names), labels)

    def _fit_clone(self, learner: BaseLearner, X: object, y: object, weights: Mapping[str, object]) -> object:
        """Fit a clone; in a cell it shares its steps with others, unless its last step would write into what is theirs."""
        made = self._clone(learner, shares=is_sharing())
        try:
            made.fit(X, y, **weights)
        except ValueError as error:
            if not is_sharing() or "read-only" not in str(error):
                raise
            made = self._clone(learner, shares=False)
            made.fit(X, y, **weights)
        return made

    def _clone(self, learner: Any, shares: bool) -> Any:
        """A clone with seeds in it."""
        fresh = learner.fresh()
        free = shared_steps.unseeded_parts(fresh) if shares else frozenset()
        made = objects.set_seeds(fresh, self.seed)
        if not shares:
            return made
        assert self.task.source is not None
        fold = digest([self.task.source.token, self.task.fingerprint, array_digest(self.task.rows[self.rows])])
        return shared_steps.share(made, fold, free)

    def model(self, learner: object) -> "ObjectModel":
        value, answering = self._value(learner), self._answering([learner])
        shared_steps.plain(answering.estimator)
        return ObjectModel(learner, answering.cut(value), self.seed, self.digest)


# The fits of a cell, for a search whose scorers ask more of an estimator than classes and scores.

_KEPT: ContextVar[list[ObjectPath] | None] = ContextVar("kept", default=None)


@contextmanager
def keeping() -> Iterator[list[ObjectPath]]:
    """The fits of objects that are made in this context, which live for as long as their list."""
    kept: list[ObjectPath] = []
    token = _KEPT.set(kept)
    try:
        yield kept
    finally:
        _KEPT.reset(token)


class ObjectModel(EstimatorModel):
    """A fitted object."""

    def __reduce__(self) -> Any:
        """It comes back from our own worker with the code of a script or notebook that it is made of."""
        return _model_arrived, (self.learner, objects.send_fitted(self.answering), self.random_state, self.rows)

    def describe(self) -> Description:
        """How it was fitted: what it is made of cannot be written down."""
        return ObjectRecipe(self.learner, self.random_state, self.rows, self.learner.source).describe()


@dataclass(frozen=True)
class ObjectRecipe(FittedModel):
    """How an object was fitted: on which rows (a digest), from which seed, by which versions."""

    learner: Object
    random_state: int
    rows: str
    version: str

    def __str__(self) -> str:
        return f"{self.learner.estimator} ({self.version})"

    def refit(self, task: Task, rows: Integers) -> ObjectModel:
        """Fit again on the same rows. Raises ValueError where the object, its rows or its versions are others."""
        if reason := next(iter(self.learner.problems()), None):
            raise ValueError(reason)
        for name in (self.learner.identity, *objects.names(self.learner.params)):
            if identity(objects.held_object(name)) != name:
                raise ValueError(f"{self.learner.estimator} has changed since the study, or what its code reads has")
        path = ObjectPath(self.learner, task, rows, self.random_state)
        if path.digest != self.rows:
            raise ValueError("these are not the rows that the model was fitted on")
        if self.learner.source != self.version:
            raise ValueError(f"the model was fitted with {self.version}, this is {self.learner.source}")
        return path.model(self.learner)

    def describe(self) -> Description:
        said = {"identity": self.learner.identity, "estimator": self.learner.estimator, "params": dict(self.learner.params)}
        why = "an object that was made in Python is never read from a record"
        facts = {
            "learner": said,
            "random_state": self.random_state,
            "rows": self.rows,
            "version": self.version,
            "unstored": why,
        }
        return Description("object", facts)

    def scores(self, table: Table) -> Any:
        raise ValueError("only the recipe of this model was kept: refit it on the development rows")
