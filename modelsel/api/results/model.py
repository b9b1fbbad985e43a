"""The final model of a study as a scikit-learn estimator: columns of a table matched by name, labels as they came in."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from modelsel.core.reading import TableReading
from modelsel.core.types import Feature, Table
from modelsel.dataset.frame import rows_of_frame
from modelsel.dataset.in_memory import is_frame
from modelsel.estimator import Classifier, Regressor, with_source
from modelsel.runner.final_fit import Final


class ReadsAsItsStudy:
    """An estimator that reads tables as its study did."""

    def _table_of(self, X: object) -> Table:
        """Read the columns of X as the study read its data; an array is taken by position."""
        check_is_fitted(self)
        if not getattr(self, "by_name_", False):
            return super()._table_of(X)  # type: ignore[misc,no-any-return]
        reading: TableReading = self._reading  # type: ignore[attr-defined]
        frame = X if is_frame(X) else _by_position(X, reading.features)
        return with_source(rows_of_frame(frame, reading, by_name=True), frame, self.final_)  # type: ignore[attr-defined]


class StudyClassifier(ReadsAsItsStudy, Classifier):
    """A fitted `Classifier` that reads tables as its study did; `fit` makes it an ordinary one.

    Examples
    --------
    >>> outcome.model.classes_.tolist()
    ['No', 'Yes']
    """

    def predict(self, X: object) -> NDArray[Any]:
        """Predict the label of each row.

        Parameters
        ----------
        X : table or array
            Rows; a table's columns are found by name, and others left aside.

        Returns
        -------
        array
            Labels, one per row.

        Raises
        ------
        ValueError
            Where columns are missing, or values do not fit.

        Examples
        --------
        >>> outcome.model.predict(frame.head(3)).tolist()
        ['No', 'No', 'Yes']
        """
        return super().predict(X)


class StudyRegressor(ReadsAsItsStudy, Regressor):
    """A fitted `Regressor` that reads tables as its study did; `fit` makes it an ordinary one."""


def fitted_estimator(
    final: Final, spec: Mapping[str, object], seed: int, labels: NDArray[np.generic], by_estimator: bool = False,
) -> StudyClassifier | StudyRegressor:  # fmt: skip
    """An estimator around a model that is fitted already; `by_estimator`: on a table that was read as estimators do."""
    made: StudyClassifier | StudyRegressor
    if final.classes:
        made = StudyClassifier(dict(spec), None, seed)
        made.classes_ = labels
    else:
        made = StudyRegressor(dict(spec), None, seed)
    made.final_ = final
    made.n_features_in_ = len(final.features)
    names = [feature.name for feature in final.features]
    if not by_estimator or names != [f"x{index}" for index in range(len(names))]:  # what columns without names are called
        made.feature_names_in_ = np.array(names, object)
    made.by_name_ = not by_estimator
    return made


def _by_position(X: object, features: Sequence[Feature]) -> object:
    """Give an array the names of the columns that the model was fitted on."""

    import pandas as pd

    given = np.asarray(X)
    table = given if given.dtype.kind in "biuf" else np.asarray(X, object)
    if table.ndim != 2 or table.shape[1] != len(features):
        raise ValueError(f"X has shape {table.shape}, but the model was fitted on {len(features)} features.")
    if table.dtype == object and all(feature.is_number for feature in features):
        table = table.astype(np.float64)
    return pd.DataFrame(table, columns=[feature.name for feature in features]).infer_objects()
