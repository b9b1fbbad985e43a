"""A double that may stand for several, as `alpha: path` does: which ones, only a fit can tell."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from modelsel.core.spec import number
from modelsel.core.types import Task
from tests.doubles import Double, DoublePath


@dataclass(frozen=True)
class Family(Double):
    """With `cut: path` it stands for a cut at each quarter of the deviation that its rows have."""

    cut: float | Literal["path"] = number(0.0)
    kind = "family"

    @property
    def is_family(self) -> bool:
        return self.cut == "path"

    def fit_path(self, task: Task, rows: np.ndarray, rng: np.random.Generator) -> "FamilyPath":
        path = super().fit_path(task, rows, rng)
        return FamilyPath(path.mean, path.rows, path.task, path.classes)


class FamilyPath(DoublePath):
    def members(self, learner: Any) -> Sequence[Any]:
        spread = float(self.task.values[self.rows, 0].std())
        return tuple(replace(learner, cut=spread * part / 4) for part in range(1, 5))
