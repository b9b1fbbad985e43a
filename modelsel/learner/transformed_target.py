"""A learner of numbers that is fitted on a transformed target, and answers in the unit of the target.

    log: ŷ = exp(f(x)), f fitted on log y, y > 0        log1p: ŷ = exp(f(x)) − 1, f fitted on log(1 + y), y > −1

Errors then count by their ratio while f is fitted; what is chosen and reported is judged in the unit of the target. exp of a
mean of logs is a geometric mean, which lies below the mean: nothing is added for it. It is the same as scikit-learn's
`TransformedTargetRegressor` with `func` and `inverse_func`.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from modelsel.core.parts import ModelRecipe
from modelsel.core.spec import class_of, kind_of, one_of, part, plain, spec_of
from modelsel.core.types import (
    NUMBER_TASKS,
    Description,
    Floats,
    Integers,
    NumberOutputs,
    NumberTask,
    Table,
    Targets,
    Task,
    TaskKind,
)
from modelsel.learner.base import BaseLearner, FittedModel, Path, training_error
from modelsel.learner.inner import nest_descriptions, part_of

NONE, LOG, LOG1P = "none", "log", "log1p"


@dataclass(frozen=True)
class Transform:
    """A function of the target that rises, its inverse, and what the target has to be above."""

    forward: Callable[[Floats], Floats]
    backward: Callable[[Floats], Floats]
    above: float
    another: str  # what may be done where the target is not above it


TRANSFORMS = {
    LOG: Transform(np.log, np.exp, 0.0, f"set target.transform={LOG1P}, which takes 0, or leave it out"),
    LOG1P: Transform(np.log1p, np.expm1, -1.0, "leave target.transform out"),
}


@dataclass(frozen=True)
class TargetSettings:
    """The target that a learner is fitted on in the place of its own."""

    transform: str = one_of(NONE, LOG, LOG1P, help="of the target while it is fitted; scores are in the unit of the target")

    nested: ClassVar[bool] = True


@dataclass(frozen=True)
class TransformedTarget(BaseLearner):
    """Written as `target.transform: log` among the settings of any learner of numbers; path parameters are the base's."""

    base: BaseLearner = part("learner", "knn")
    target: TargetSettings = plain(TargetSettings(LOG))

    reads: ClassVar[tuple[TaskKind, ...]] = NUMBER_TASKS

    def __post_init__(self) -> None:
        """Take the base alone; its preparation steps stand before the whole."""
        if isinstance(self.base, tuple):  # a configuration gives it with its preparation steps
            object.__setattr__(self, "base", self.base[0])

    @property
    def transform(self) -> Transform:
        """The function and its inverse."""
        return TRANSFORMS[self.target.transform]

    @property
    def unit(self) -> str:  # type: ignore[override]  # as its base has it
        """The unit of the base's complexity."""
        return str(self.base.unit)

    @property
    def holds_gil(self) -> bool:  # type: ignore[override]  # as its base does
        """True where the base holds the interpreter lock."""
        return bool(self.base.holds_gil)

    @property
    def is_family(self) -> bool:
        """True where the base stands for several strengths of pruning."""
        return bool(getattr(self.base, "is_family", False))

    def mattering(self, kinds: frozenset[str], scores: bool) -> object:
        """Return itself without settings of the base that do nothing on columns of these kinds."""
        known = getattr(self.base, "mattering", None)
        return self if known is None else replace(self, base=known(kinds, scores))

    def apart(self) -> dict[str, object]:
        """Return what of the base is worth a cell of its own."""
        found: dict[str, object] = getattr(self.base, "apart", dict)()
        return found

    def problems(self, task: Table | None = None) -> Iterable[str]:
        """Reasons of the base; an object; numbers that the transform does not take."""
        yield from self.base.problems(task)
        if "numbers" not in getattr(self.base, "reads", ()):
            yield f"target.transform is about numbers, and {kind_of(self.base)} predicts classes"
        if getattr(self.base, "of_others", False):
            yield "target.transform behind an ensemble does nothing: write it among its members' settings"
        if getattr(self.base, "reads_source", False):
            yield "target.transform does not reach into an object: hand over TransformedTargetRegressor(...) in its place"
        if isinstance(task, NumberTask):
            yield from self._outside(task)

    def _outside(self, task: NumberTask) -> Iterable[str]:
        """Yield the reason against a target with numbers that have no transform."""
        counts = task.row_weights > 0
        low = int((task.target[counts] <= self.transform.above).sum())
        if low:
            what = (
                f"needs numbers above {self.transform.above:g}, and {low} of {int(counts.sum())} development rows have others"
            )
            yield f"target.transform={self.target.transform} {what}: {self.transform.another}"

    def specification(self) -> dict[str, object]:
        """Return the specification as it is written: the base's settings with the transform among them."""
        return {**spec_of(self.base), "target": {"transform": self.target.transform}}

    def fit_key(self) -> dict[str, object]:
        """Return what the base's fit depends on, and the transform."""
        return {"base": [kind_of(self.base), self.base.fit_key()], "target": self.target.transform}

    def refusal(self, task: Task, rows: Integers) -> str | None:
        return self.base.refusal(task, rows)

    def fit_path(self, task: NumberTask, rows: Integers, rng: np.random.Generator) -> "TransformedPath":
        path = self.base.fit_path(_transform_target(task, self.target.transform), rows, rng)
        return TransformedPath(path, self.transform, task, rows)

    def fit(self, task: NumberTask, rows: Integers, rng: np.random.Generator) -> "TransformedModel":
        return self.fit_path(task, rows, rng).model(self)

    @staticmethod
    def restore(description: Description) -> "TransformedModel":
        """Rebuild the model of the base behind the inverse."""
        base, name = part_of(description, "base"), str(description.facts["transform"])
        if name not in TRANSFORMS:
            raise ValueError(f"no transform {name!r}")
        model = class_of("learner", base.kind).restore(base)  # type: ignore[attr-defined]
        made = TransformedRecipe if hasattr(model, "refit") else TransformedModel
        return made(base.kind, model, name)


_TASKS: WeakKeyDictionary[NumberTask, dict[str, NumberTask]] = WeakKeyDictionary()


def _transform_target(task: NumberTask, name: str) -> NumberTask:
    """The task with its target transformed, made once; rows without weight may have no transform, and take no part."""
    known = _TASKS.setdefault(task, {})
    if name not in known:
        with np.errstate(invalid="ignore", divide="ignore"):
            known[name] = replace(task, target=np.nan_to_num(TRANSFORMS[name].forward(task.target)))
    return known[name]


@dataclass(frozen=True, eq=False)
class TransformedPath:
    """The answers of the base's path, turned back."""

    path: Path
    transform: Transform
    task: NumberTask
    rows: Integers

    def outputs(self, learners: Sequence[TransformedTarget], table: Table, rows: Integers, scores: bool) -> NumberOutputs:
        """Return what each learner says of some rows, in the unit of the target."""
        said = self.path.outputs([learner.base for learner in learners], table, rows, scores)
        return NumberOutputs(back(self.transform, said.predicted))

    def complexity(self, learners: Sequence[TransformedTarget]) -> Floats:
        """The complexity of the base."""
        return self.path.complexity([learner.base for learner in learners])

    def training_error(self, learners: Sequence[TransformedTarget]) -> Floats:
        """Root mean squared error on the analysis rows, in the unit of the target; NaN where the base has none."""
        known = np.isfinite(self.path.training_error([learner.base for learner in learners]))
        found = np.full(len(learners), np.nan)
        if known.any():
            own = [learner for learner, one in zip(learners, known, strict=True) if one]
            said = self.outputs(own, self.task, self.rows, scores=False).predicted
            found[known] = [training_error(self.task, self.rows, one) for one in said]
        return found

    def members(self, learner: TransformedTarget) -> tuple[TransformedTarget, ...]:
        """The strengths of pruning that a family of the base stands for."""
        path: Any = self.path
        return tuple(replace(learner, base=base) for base in path.members(learner.base))

    def model(self, learner: TransformedTarget) -> "TransformedModel":
        """The base's model behind the inverse."""
        return TransformedModel(kind_of(learner.base), self.path.model(learner.base), learner.target.transform)


def back(transform: Transform, said: Targets) -> Floats:
    """Numbers in the unit of the target; what is too large for that is infinite, and no valid answer."""
    with np.errstate(over="ignore"):
        return np.asarray(transform.backward(np.asarray(said, np.float64)), np.float64)


@dataclass(frozen=True, eq=False)
class TransformedModel(FittedModel):
    """`kind` is that of the base."""

    abilities: ClassVar[str] = "modelsel.exports.refused"

    kind: str
    base: FittedModel
    name: str

    def predict(self, table: Table) -> Floats:
        """Predict the number of each row."""
        return back(TRANSFORMS[self.name], self.base.predict(table))

    def describe(self) -> Description:
        said = self.base.describe()
        facts, arrays = nest_descriptions({"base": Description(self.kind, said.facts, said.arrays)})
        return Description("transformed_target", {**facts, "transform": self.name}, arrays)


class TransformedRecipe(TransformedModel):
    """Of a base of which only the recipe was kept: it answers once it is fitted again."""

    def refit(self, task: NumberTask, rows: Integers) -> TransformedModel:
        """The base fitted again on the development rows. ValueError where these, or the versions, are others."""
        assert isinstance(self.base, ModelRecipe)
        return TransformedModel(self.kind, self.base.refit(_transform_target(task, self.name), rows), self.name)

    def __str__(self) -> str:
        return str(self.base)
