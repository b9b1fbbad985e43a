"""A model that says one number of every row, and the base of the learners that fit one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from modelsel.core.types import NUMBER_TASKS, Description, Floats, Integers, NumberOutputs, NumberTask, Table, TaskKind
from modelsel.learner.base import BaseLearner, FittedModel, training_error


@dataclass(frozen=True)
class BaseConstant(BaseLearner):
    """A learner that looks at no feature. A new one says `fit`."""

    reads: ClassVar[tuple[TaskKind, ...]] = NUMBER_TASKS
    unit: ClassVar[str] = "rules"
    holds_gil: ClassVar[bool] = False
    looks_at_nothing: ClassVar[bool] = True  # of the features

    def fit_path(self, task: NumberTask, rows: Integers, rng: np.random.Generator) -> "ConstantModel":
        model: ConstantModel = self.fit(task, rows, rng)
        return model


@dataclass(frozen=True, eq=False)
class ConstantModel(FittedModel):
    """A model of one number; model and path in one, as there are no parameters."""

    value: float
    task: NumberTask | None = None  # what it was fitted on, for its training error
    rows: Integers | None = None

    def predict(self, table: Table) -> Floats:
        return np.full(len(table), self.value)

    def describe(self) -> Description:
        return Description("constant", {"value": self.value})

    def outputs(self, learners: Sequence[object], table: Table, rows: Integers, scores: bool) -> NumberOutputs:
        return NumberOutputs(np.full((len(learners), len(rows)), self.value))

    def complexity(self, learners: Sequence[object]) -> Floats:
        return np.zeros(len(learners))

    def training_error(self, learners: Sequence[object]) -> Floats:
        if self.task is None or self.rows is None:
            return np.full(len(learners), np.nan)
        return np.full(len(learners), training_error(self.task, self.rows, np.full(len(self.rows), self.value)))

    def model(self, learner: BaseLearner) -> "ConstantModel":
        return ConstantModel(self.value)


def restore_constant(description: Description) -> ConstantModel:
    """The model; ValueError where it is not whole."""
    value = description.facts["value"]
    if not isinstance(value, int | float) or not np.isfinite(value):
        raise ValueError("not a whole constant model: it has to say a finite number")
    return ConstantModel(float(value))
