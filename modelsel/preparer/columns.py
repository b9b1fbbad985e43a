"""A table with some of its columns: what every selection of features fits."""

from dataclasses import dataclass

import numpy as np

from modelsel.core.types import AnyTable, Description, Integers
from modelsel.preparer.base import FittedPreparer


@dataclass(frozen=True, eq=False)
class Chosen(FittedPreparer):
    """`columns` in the order of the table, so that ties between features fall as they would without the selection."""

    kind: str
    columns: Integers

    def apply(self, table: AnyTable) -> AnyTable:
        features = tuple(table.features[column] for column in self.columns)
        return table.with_features(features, table.values[:, self.columns])

    def describe(self) -> Description:
        return Description(self.kind, {}, {"columns": self.columns})


def restore_columns(kind: str, description: Description) -> Chosen:
    """Read back; ValueError when the columns are not ascending from 0."""
    columns = np.asarray(description.arrays["columns"])
    if columns.ndim != 1 or columns.dtype.kind not in "iu" or (np.diff(columns) <= 0).any() or (columns < 0).any():
        raise ValueError(f"{kind}: columns must be ascending positions")
    return Chosen(kind, columns.astype(np.int64))
