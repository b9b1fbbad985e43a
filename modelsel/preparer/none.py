"""No preparation: the features as they are. A choice among others, so that a space can ask whether preparing pays."""

from dataclasses import dataclass

import numpy as np

from modelsel.core.types import AnyTable, Description, Integers, Task
from modelsel.preparer.base import BasePreparer


@dataclass(frozen=True)
class None_(BasePreparer):  # noqa: N801
    """Specification, ranking and fitted step in one, as there is nothing to know."""

    def fit_key(self) -> dict[str, object]:
        return {"kind": "none"}

    def fit_path(self, task: Task, rows: Integers, rng: np.random.Generator) -> "None_":
        return self

    def fit(self, task: Task, rows: Integers, rng: np.random.Generator) -> "None_":
        return self

    def prepared(self, preparer: "None_") -> "None_":
        return self

    def apply(self, table: AnyTable) -> AnyTable:
        return table

    def describe(self) -> Description:
        return Description("none", {})

    @staticmethod
    def restore(description: Description) -> "None_":
        if description.arrays:
            raise ValueError("none: nothing was fitted, so nothing can be restored")
        return None_()
