"""Equal frequency: intervals that hold about the same weight of analysis rows.

The i-th cut is the boundary between neighbouring distinct values whose weight below is nearest to i / bins of the whole
(the lower one of two equally near); equal values are never parted, so that heavy ties leave fewer intervals.
"""

from dataclasses import dataclass

import numpy as np

from modelsel.core.spec import one_of, whole
from modelsel.core.types import Description, Feature, Floats, Integers, Kind, Task
from modelsel.preparer.base import BasePreparer
from modelsel.preparer.binning import Binned, Distinct, distinct_columns, per_column, restore_cuts


@dataclass(frozen=True)
class DiscretiseFrequency(BasePreparer):
    """Path parameters: all."""

    bins: int = whole(10, least=1, help="intervals of about equally many rows")
    levels: Kind = one_of("nominal", "ordered", help="what the intervals become; trees cut ordered ones by threshold")

    def fit_key(self) -> dict[str, object]:
        return {"kind": "discretise_frequency"}

    def fit_path(self, task: Task, rows: Integers, rng: np.random.Generator) -> "Weights":
        return Weights(task.features, distinct_columns(task, rows))

    def fit(self, task: Task, rows: Integers, rng: np.random.Generator) -> Binned:
        return self.fit_path(task, rows, rng).prepared(self)

    @staticmethod
    def restore(description: Description) -> Binned:
        return restore_cuts("discretise_frequency", description)


@dataclass(frozen=True, eq=False)
class Weights:
    """The distinct values of every numeric column with their weights."""

    features: tuple[Feature, ...]
    columns: dict[int, Distinct]

    def prepared(self, preparer: DiscretiseFrequency) -> Binned:
        cuts = ((column, frequency_cuts(own, preparer.bins)) for column, own in self.columns.items())
        return Binned("discretise_frequency", per_column(self.features, cuts), preparer.levels)


def frequency_cuts(column: Distinct, bins: int) -> Floats:
    """Cuts of one column."""
    below = np.cumsum(column.weights.sum(axis=1))
    if len(below) < 2:
        return np.empty(0)
    wanted = below[-1] * np.arange(1, bins) / bins
    off = np.abs(below[None, :-1] - wanted[:, None])
    return column.between(np.unique(np.argmin(off, axis=1)) + 1)
