"""A fitted estimator as a model: what it says of rows, and what is written down of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from modelsel.core.spec import resolved
from modelsel.core.types import Codes, Description, Floats, Integers, Outputs, Table, positions
from modelsel.foreign.native import as_wanted
from modelsel.learner.estimators.written import stored
from modelsel.learner.inputs.encoding import ColumnEncoding
from modelsel.learner.inputs.target_encoding import TargetColumns
from modelsel.sharing.adapter import Adapter, Answer

KIND = "estimator"


@dataclass(frozen=True, eq=False)
class Answering:
    """A fitted estimator behind the matrix that it reads; `own` are the classes that it knows, among `classes`."""

    estimator: Any
    adapter: Adapter | None
    columns: ColumnEncoding | TargetColumns
    nominal: tuple[int, ...]  # columns of the matrix that hold categories
    own: Integers
    classes: int

    def outputs(self, values: Sequence[Any], table: Table, rows: Integers, scores: bool) -> Outputs:
        """Return the answers of a fit with each value of the path parameter (None where there is none) for some rows."""
        predicted = np.empty((len(values), len(rows)), np.int32)
        shares = np.zeros((len(values), len(rows), self.classes)) if scores else None
        if not len(rows):
            return Outputs(predicted, shares)
        matrix = as_wanted(type(self.estimator), self.columns.matrix(table, rows), self.nominal)
        distinct = list(dict.fromkeys(values))
        found = dict(zip(distinct, self._said(distinct, matrix, scores), strict=True))
        for place, value in enumerate(values):
            said, own = found[value]
            predicted[place] = self.own[np.asarray(said).ravel().astype(np.int64)]
            if shares is not None:
                shares[place] = self._shares(own, predicted[place])
        return Outputs(predicted, shares)

    def cut(self, value: Any) -> "Answering":
        """The fit with this value of the path parameter alone."""
        if self.adapter is None or value == self.adapter.value(_params(self.estimator, self.adapter)):
            return replace(self, adapter=None)
        return replace(self, estimator=self.adapter.cut(self.estimator, value), adapter=None)

    def size(self, value: Any) -> float:
        """Measured complexity in the learner's unit."""
        if self.adapter is not None:
            return self.adapter.size(self.estimator, value)
        return float(getattr(self.estimator, "n_features_in_", len(self.columns.features)))

    def _said(self, values: Sequence[Any], matrix: Any, scores: bool) -> Any:
        """Ask the estimator for classes, and for scores where it has them, once per value of the path."""
        has_shares = scores and hasattr(self.estimator, "predict_proba")
        if self.adapter is not None:
            return self.adapter.answers(self.estimator, values, matrix, has_shares)
        answer: Answer = (self.estimator.predict(matrix), self.estimator.predict_proba(matrix) if has_shares else None)
        return [answer] * len(values)

    def _shares(self, own: Floats | None, predicted: Codes) -> Floats:
        """Spread the scores over all classes; without scores the predicted class has 1."""
        shares = np.zeros((len(predicted), self.classes))
        if own is None or len(self.own) == 1:
            shares[np.arange(len(predicted)), predicted] = 1.0
            return shares
        shares[:, self.own] = own
        total: Floats = shares.sum(axis=1, keepdims=True)
        return shares / total


def _params(estimator: Any, adapter: Adapter) -> dict[str, Any]:
    told = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    return {name: value for name, value in told.items() if name == adapter.parameter}


@dataclass(frozen=True, eq=False)
class EstimatorModel:
    """One fitted estimator."""

    learner: Any
    answering: Answering
    random_state: int
    rows: str  # digest of the analysis rows

    @property
    def estimator(self) -> Any:
        """The fitted estimator itself."""
        return self.answering.estimator

    def predict(self, table: Table) -> Codes:
        predicted: Codes = self.answering.outputs([None], table, positions(table), scores=False).predicted[0]
        return predicted

    def scores(self, table: Table) -> Floats:
        """Compute class scores of all rows."""
        shares = self.answering.outputs([None], table, positions(table), scores=True).scores
        assert shares is not None
        own: Floats = shares[0]
        return own

    def describe(self) -> Description:
        facts, arrays = stored(self.answering, self.learner.plugins)
        recipe = described(self.learner, self.random_state, self.rows, self.learner.source)
        return Description(KIND, {**recipe, **facts}, arrays)


def described(learner: Any, random_state: int, rows: str, version: str) -> dict[str, Any]:
    """The recipe as facts."""
    settings = {key: value for key, value in resolved(learner).items() if key != "kind"}
    return {
        "learner": {**settings, "plugins": list(learner.plugins)}, "random_state": random_state, "rows": rows,
        "version": version,
    }  # fmt: skip
