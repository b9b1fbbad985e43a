"""Nominal features as means of the classes (Micci-Barreca 2001), by scikit-learn's TargetEncoder, behind all other columns.

The rows that are fitted on get the means of the other parts of an inner cross-validation, so that no row's own class stands in
its features; any other row gets those of all analysis rows. A level that the analysis rows do not have gets the overall mean.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from modelsel.core.types import Feature, Floats, Integers, Table, Task
from modelsel.learner.inputs.encoding import ColumnEncoding


@dataclass(frozen=True, eq=False)
class TargetColumns:
    """`plain` columns as they are, then those that the encoder makes of the level indices in `coded`."""

    plain: ColumnEncoding
    coded: ColumnEncoding
    encoder: Any

    @classmethod
    def of(cls, task: Task, rows: Integers, missing: str, scale: str, seed: int) -> tuple["TargetColumns", Floats]:
        """Fitted on the analysis rows, and their matrix."""
        nominal = [place for place, feature in enumerate(task.features) if feature.kind == "nominal"]
        others = [place for place in range(len(task.features)) if place not in nominal]
        plain = ColumnEncoding.of(task, rows, "one_hot", missing, scale, others)
        coded = ColumnEncoding.of(task, rows, "ordinal", missing, scale, nominal)
        encoder = _encoder(seed) if nominal else None
        made = cls(plain, coded, encoder)
        if encoder is None:
            return made, plain.matrix(task, rows)
        means = encoder.fit_transform(coded.matrix(task, rows), task.target[rows])
        return made, np.column_stack([plain.matrix(task, rows), means])

    @property
    def features(self) -> tuple[Feature, ...]:
        """All features, as the matrix has them."""
        return (*self.plain.features, *self.coded.features)

    @property
    def nominal(self) -> tuple[int, ...]:
        """No column holds level indices."""
        return ()

    def matrix(self, table: Table, rows: Integers) -> Floats:
        """Rows × columns, in C order."""
        plain = self.plain.matrix(table, rows)
        if self.encoder is None or not len(rows):
            return plain
        means = self.encoder.transform(self.coded.matrix(table, rows))
        return np.ascontiguousarray(np.column_stack([plain, means]))


def _encoder(seed: int) -> Any:
    """Five inner folds, shuffled; from scikit-learn 1.9 on the folds are said, and no longer the seed."""
    import sklearn
    from sklearn.model_selection import StratifiedKFold
    from sklearn.preprocessing import TargetEncoder

    if tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 9):
        return TargetEncoder(cv=StratifiedKFold(5, shuffle=True, random_state=seed))
    return TargetEncoder(random_state=seed)
