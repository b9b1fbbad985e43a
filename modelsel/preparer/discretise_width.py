"""Equal width: the range of the analysis rows is cut into intervals of the same length.

cut_i = min + i (max − min) / bins,   i = 1 … bins − 1
"""

from dataclasses import dataclass

import numpy as np

from modelsel.core.spec import one_of, whole
from modelsel.core.types import Description, Feature, Floats, Integers, Kind, Task
from modelsel.preparer.base import BasePreparer
from modelsel.preparer.binning import Binned, distinct_columns, per_column, restore_cuts


@dataclass(frozen=True)
class DiscretiseWidth(BasePreparer):
    """Path parameters: all. A single far value makes most intervals empty: see discretise_frequency."""

    bins: int = whole(10, least=1, help="intervals of equal width")
    levels: Kind = one_of("nominal", "ordered", help="what the intervals become; trees cut ordered ones by threshold")

    def fit_key(self) -> dict[str, object]:
        return {"kind": "discretise_width"}

    def fit_path(self, task: Task, rows: Integers, rng: np.random.Generator) -> "Ranges":
        ranges = {c: (own.values[0], own.values[-1]) for c, own in distinct_columns(task, rows).items() if len(own.values)}
        return Ranges(task.features, ranges)

    def fit(self, task: Task, rows: Integers, rng: np.random.Generator) -> Binned:
        return self.fit_path(task, rows, rng).prepared(self)

    @staticmethod
    def restore(description: Description) -> Binned:
        return restore_cuts("discretise_width", description)


@dataclass(frozen=True, eq=False)
class Ranges:
    """Least and largest known value per numeric column."""

    features: tuple[Feature, ...]
    limits: dict[int, tuple[float, float]]

    def prepared(self, preparer: DiscretiseWidth) -> Binned:
        cuts = {column: equal_cuts(low, high, preparer.bins) for column, (low, high) in self.limits.items()}
        known = {c: cuts.get(c, np.empty(0)) for c, f in enumerate(self.features) if f.kind == "numeric"}
        return Binned("discretise_width", per_column(self.features, known.items()), preparer.levels)


def equal_cuts(low: float, high: float, bins: int) -> Floats:
    """Inner ends of equal intervals; none when there is no width.

    >>> equal_cuts(0.0, 1.0, 4).tolist()
    [0.25, 0.5, 0.75]
    """
    cuts = np.unique(low + (high - low) * np.arange(1, bins) / bins)
    return cuts[(cuts > low) & (cuts < high)]
