"""One fit of an estimator, which answers every candidate that its sharing adapter can read off it.

It is fitted when it is first asked, with the value that answers all who ask; a later question that goes further fits again,
from the same seed, so that the first rounds are the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from modelsel.core.fingerprint import array_digest
from modelsel.core.types import Floats, Integers, Outputs, Table, Task
from modelsel.foreign.native import as_wanted, fitted_with, made_with
from modelsel.foreign.parameters import settled
from modelsel.foreign.tags import takes_nan
from modelsel.learner.estimators.model import Answering, EstimatorModel
from modelsel.learner.inputs.encoding import ColumnEncoding
from modelsel.learner.inputs.target_encoding import TargetColumns


@dataclass(eq=False)
class EstimatorPath:
    """Fits of an estimator on some rows, shared by its candidates (a path is used by one thread)."""

    learner: Any  # an Estimator; those that are asked about differ in the path parameter only
    task: Task
    rows: Integers
    seed: int
    _fitted: dict[Any, Any] = field(default_factory=dict)  # the widest fit so far, under its value

    def outputs(self, learners: Sequence[Any], table: Table, rows: Integers, scores: bool) -> Outputs:
        """Compute answers; without `predict_proba` the predicted class has the whole score."""
        answering, values = self._answering(learners), [self._value(learner) for learner in learners]
        return answering.outputs(values, table, rows, scores)

    def complexity(self, learners: Sequence[Any]) -> Floats:
        answering = self._answering(learners)
        return np.array([answering.size(self._value(learner)) for learner in learners])

    def training_error(self, learners: Sequence[Any]) -> Floats:
        """NaN: see `Estimator.no_training_error`."""
        return np.full(len(learners), np.nan)

    def model(self, learner: Any) -> EstimatorModel:
        value, answering = self._value(learner), self._answering([learner])
        return EstimatorModel(learner, answering.cut(value), self.seed, self.digest)

    @cached_property
    def digest(self) -> str:
        """Of what the fit reads of its rows."""
        rows, task = self.rows, self.task
        return array_digest(task.values[rows], task.target[rows], task.row_weights[rows])

    @cached_property
    def _columns(self) -> tuple[ColumnEncoding | TargetColumns, Floats]:
        """The encoding of rows as a matrix, and the matrix of the analysis rows."""
        learner, missing = self.learner, _missing(self.learner)
        if learner.coded == "target":
            return TargetColumns.of(self.task, self.rows, missing, learner.scale, self.seed)
        columns = ColumnEncoding.of(self.task, self.rows, learner.coded, missing, learner.scale)
        return columns, columns.matrix(self.task, self.rows)

    def _value(self, learner: Any) -> Any:
        adapter = self.learner.adapter
        return None if adapter is None else adapter.value(learner.params)

    def _answering(self, learners: Sequence[Any]) -> Answering:
        """Return the fit that answers all these learners, which is the one of the widest value so far."""
        adapter = self.learner.adapter
        if adapter is None:
            return self._fit(None, self.learner)
        values = [*self._fitted, *(self._value(learner) for learner in learners)]
        widest = adapter.widest(values)
        return self._fit(widest, self.learner.with_value(widest))

    def _fit(self, value: Any, learner: Any) -> Answering:
        """Return the fit of a value; only the last one is kept."""
        if value not in self._fitted:
            made = self._fitted_now(learner)
            self._fitted.clear()
            self._fitted[value] = made
        found: Answering = self._fitted[value]
        return found

    def _fitted_now(self, learner: Any) -> Answering:
        """Fit the estimator on the matrix of the analysis rows."""
        task, rows, kind, (columns, matrix) = self.task, self.rows, learner.cls, self._columns
        nominal = columns.nominal if learner.coded == "native" else ()
        classes, target = np.unique(task.target[rows], return_inverse=True)
        made = kind(**settled(kind, {**learner.params, **made_with(kind, nominal, matrix.shape[1])}, self.seed))
        weights = {} if task.weights is None else {"sample_weight": task.weights[rows]}
        made.fit(as_wanted(kind, matrix, nominal), target, **weights, **fitted_with(kind, nominal))
        return Answering(made, learner.adapter, columns, nominal, classes.astype(np.int64), len(task.classes))


def _missing(learner: Any) -> str:
    if learner.missing != "auto":
        return str(learner.missing)
    return "keep" if takes_nan(learner.cls(**settled(learner.cls, learner.params, 0))) else "median"
