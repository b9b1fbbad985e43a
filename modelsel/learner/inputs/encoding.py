"""A table as scikit-learn wants it: one matrix of numbers, columns fitted on analysis rows.

Nominal: one column per declared level and one for a missing value (`one_hot`; an undeclared level is all zeros), or the
level's index (`ordinal`; missing −1, undeclared one past the last; `native`, for estimators that take categories themselves:
missing and undeclared are NaN). Ordered: the rank. Numeric and ordered: a missing value becomes the median of the analysis
rows, or stays NaN for estimators that take it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Feature, Floats, Integers, Table, Task

ENCODINGS = ("one_hot", "ordinal", "native")


@dataclass(frozen=True, eq=False)
class ColumnEncoding:
    """`middle`, `center` and `scale` have an entry per feature and matter for numbers and ranks only.

    `places` are the positions of the features in the table.
    """

    features: tuple[Feature, ...]
    encoding: str
    middle: Floats
    center: Floats
    scale: Floats
    places: tuple[int, ...]

    @classmethod
    def of(
        cls, task: Task, rows: Integers, encoding: str, missing: str, scale: str, places: Sequence[int] | None = None
    ) -> "ColumnEncoding":
        """Read medians, means and deviations (population form) from the analysis rows; of all features, or of some."""
        places = tuple(range(len(task.features)) if places is None else places)
        values, count = task.values[rows][:, list(places)], len(places)
        known = [column[~np.isnan(column)] for column in values.T]
        middle = np.array([np.median(column) if len(column) else 0.0 for column in known])
        center, spread = np.zeros(count), np.ones(count)
        if scale == "deviation":
            center = np.array([column.mean() if len(column) else 0.0 for column in known])
            spread = np.array([column.std() if len(column) else 0.0 for column in known])
        keep = np.full(count, np.nan) if missing == "keep" else middle
        features = tuple(task.features[place] for place in places)
        return cls(features, encoding, keep, center, np.where(spread > 0, spread, 1.0), places)

    @property
    def nominal(self) -> tuple[int, ...]:
        """Columns of the matrix that hold level indices, where each feature is one column."""
        return tuple(index for index, feature in enumerate(self.features) if feature.kind == "nominal")

    def matrix(self, table: Table, rows: Integers) -> Floats:
        """Rows × columns, in C order."""
        blocks = [self._block(index, table.values[rows, place]) for index, place in enumerate(self.places)]
        return np.ascontiguousarray(np.concatenate([np.empty((len(rows), 0)), *blocks], axis=1))

    def _block(self, index: int, values: Floats) -> Floats:
        """Encode one feature: filled and scaled numbers, level codes, or a column per level."""
        feature = self.features[index]
        if feature.kind != "nominal":
            filled = np.where(np.isnan(values), self.middle[index], values)
            scaled: Floats = (filled - self.center[index]) / self.scale[index]
            return scaled[:, None]
        if self.encoding == "native":
            return np.where(values < len(feature.levels), values, np.nan)[:, None]
        if self.encoding == "ordinal":
            return np.where(np.isnan(values), -1.0, values)[:, None]
        levels = np.arange(len(feature.levels), dtype=np.float64)
        return np.column_stack([values[:, None] == levels, np.isnan(values)]).astype(np.float64)
