"""Missing values replaced by what is usual: mean or median of a number, the most frequent level of a name.

Taken from analysis rows. A column without any known value is left as it is. Equal frequencies: the first level.
"""

from dataclasses import dataclass

import numpy as np

from modelsel.core.spec import one_of
from modelsel.core.types import AnyTable, Description, Floats, Integers, Task
from modelsel.preparer.base import BasePreparer, FittedPreparer

WORDS = ("median", "mean")


@dataclass(frozen=True)
class Impute(BasePreparer):
    """Path parameters: all. What was missing can no longer be told from what was usual: trees can use missing values."""

    numeric: str = one_of(*WORDS)

    def fit_key(self) -> dict[str, object]:
        return {"kind": "impute"}

    def fit_path(self, task: Task, rows: Integers, rng: np.random.Generator) -> "Usual":
        """Compute each column's usual values: middles of a number, the most frequent level of a name."""
        values, weights = task.values[rows], task.row_weights[rows]
        usual = np.full((len(WORDS), len(task.features)), np.nan)
        for column, feature in enumerate(task.features):
            known = ~np.isnan(values[:, column])
            if feature.is_number:
                usual[:, column] = _middles(values[known, column], weights[known])
            else:
                usual[:, column] = _mode(values[known, column], weights[known], len(feature.levels))
        return Usual(usual)

    def fit(self, task: Task, rows: Integers, rng: np.random.Generator) -> "Imputed":
        return self.fit_path(task, rows, rng).prepared(self)

    @staticmethod
    def restore(description: Description) -> "Imputed":
        """Rebuild the step: one number per column, NaN where nothing was known."""
        usual = np.asarray(description.arrays["usual"], np.float64)
        if usual.ndim != 1 or np.isinf(usual).any():
            raise ValueError("impute: one number per column is needed")
        return Imputed(usual)


@dataclass(frozen=True, eq=False)
class Usual:
    """Per word of WORDS, what replaces a missing value of each column."""

    values: Floats

    def prepared(self, preparer: Impute) -> "Imputed":
        return Imputed(self.values[WORDS.index(preparer.numeric)])


@dataclass(frozen=True, eq=False)
class Imputed(FittedPreparer):
    """The value that replaces a missing one, per column; NaN leaves it."""

    usual: Floats

    def apply(self, table: AnyTable) -> AnyTable:
        return table.with_features(table.features, np.where(np.isnan(table.values), self.usual, table.values))

    def describe(self) -> Description:
        return Description("impute", {}, {"usual": self.usual})


def _middles(values: Floats, weights: Floats) -> tuple[float, float]:
    """Weighted median (of two middle ones the lower) and mean."""
    if not weights.sum() > 0:
        return np.nan, np.nan
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weights[order])
    middle = values[order][np.searchsorted(below, below[-1] / 2)]
    return float(middle), float(weights @ values / weights.sum())


def _mode(values: Floats, weights: Floats, levels: int) -> float:
    """Return the level with the most weight; NaN where no level is known."""
    known = values < levels
    if not weights[known].sum() > 0:
        return np.nan
    return float(np.argmax(np.bincount(values[known].astype(np.int64), weights[known])))
