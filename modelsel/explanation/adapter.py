"""A fitted model as scikit-learn's `inspection` sees an estimator: a matrix of the task's numbers in, what it says out."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from modelsel.core.types import Floats, Outputs, Table, positions
from modelsel.measure.base import BaseMeasure
from modelsel.runner.final_fit import Final, outputs

Scorer = Callable[..., float]


class FittedEstimator(BaseEstimator):  # type: ignore[misc]
    """A model over a task's columns. Rows of a matrix hold what `Table.values` holds: numbers, level codes, NaN."""

    def __init__(self, model: Final, like: Table) -> None:
        """Keep the model with a table that has its columns."""
        self.model = model
        self.like = like
        self.n_features_in_ = len(like.features)

    def fit(self, X: object, y: object) -> "FittedEstimator":
        """Return itself: the model is fitted already."""
        return self

    def predict(self, X: Floats) -> NDArray[Any]:
        """Index of the predicted class per row, or the predicted number."""
        return self.model.predict(self.table(X))

    def answers(self, X: Floats) -> Floats:
        """Class scores, rows × classes; of numbers what is predicted, rows × 1."""
        return self.model.scores(self.table(X)) if self.model.classes else self.predict(X)[:, None]

    def outputs(self, X: Floats, scores: bool) -> Outputs:
        """Return the outputs that a measure reads."""
        return outputs(self.model, self.table(X), scores)

    def table(self, X: Floats) -> Table:
        """The matrix as a table of the task's features."""
        blank = replace(_plain(self.like), values=np.asfortranarray(X, np.float64), rows=np.arange(len(X), dtype=np.int64))
        assert len(positions(blank)) == len(X)
        return blank


def scorer(measure: BaseMeasure) -> Scorer:
    """The measure as scikit-learn calls one: higher is better, `scorer(estimator, X, y, sample_weight)`."""
    sign = 1.0 if measure.higher_is_better else -1.0

    def score(estimator: FittedEstimator, X: Floats, y: NDArray[Any], sample_weight: Floats | None = None) -> float:
        said = estimator.outputs(np.asarray(X, np.float64), measure.needs_scores)
        return sign * float(measure.score(y, said, sample_weight, len(estimator.model.classes))[0])

    return score


def _plain(like: Table) -> Table:
    """Return an empty table of these features."""
    return Table(name=like.name, features=like.features, values=like.values[:0], rows=like.rows[:0])
