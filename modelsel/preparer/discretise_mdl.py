"""Entropy-based discretisation with the minimum description length principle (Fayyad & Irani 1993): see `_mdl`.

It reads the classes, so that cuts made on all rows would leak: here they are made on analysis rows only.
"""

from dataclasses import dataclass

import numpy as np

from modelsel.core.spec import one_of
from modelsel.core.types import Description, Feature, Floats, Integers, Kind, Task
from modelsel.preparer.base import BasePreparer
from modelsel.preparer.binning import Binned, distinct_columns, mdl_cuts, per_column, restore_cuts


@dataclass(frozen=True)
class DiscretiseMdl(BasePreparer):
    """A column without an accepted cut becomes one interval, `all`: it tells nothing about the class by itself."""

    levels: Kind = one_of("nominal", "ordered", help="what the intervals become; trees cut ordered ones by threshold")

    def fit_key(self) -> dict[str, object]:
        return {"kind": "discretise_mdl"}

    def fit_path(self, task: Task, rows: Integers, rng: np.random.Generator) -> "Cuts":
        return Cuts(task.features, {column: mdl_cuts(own) for column, own in distinct_columns(task, rows).items()})

    def fit(self, task: Task, rows: Integers, rng: np.random.Generator) -> Binned:
        return self.fit_path(task, rows, rng).prepared(self)

    @staticmethod
    def restore(description: Description) -> Binned:
        return restore_cuts(description)


@dataclass(frozen=True, eq=False)
class Cuts:
    """The accepted cuts per numeric column."""

    features: tuple[Feature, ...]
    cuts: dict[int, Floats]

    def prepared(self, preparer: DiscretiseMdl) -> Binned:
        return Binned("discretise_mdl", per_column(self.features, self.cuts.items()), preparer.levels)
