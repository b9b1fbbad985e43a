"""Gower's distance: the mean difference over the features known in both rows.

    d(x, y) = Σ t_f / (features known in both),   t_f = |x_f − y_f| / (max_f − min_f), or 0 and 1 for names

A range of 0 counts no difference. Rows that share no known feature are at distance 1. Ranks count as numbers.
Source: Gower (1971), Biometrics 27; as R's cluster::daisy.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from modelsel.core.types import Integers, Table, Task
from modelsel.distance.base import FittedDistance
from modelsel.distance.scale import minkowski_metric


@dataclass(frozen=True)
class Gower:
    """Leaving a missing feature out may bring two rows nearer than knowing it would: no triangle inequality then."""

    own_scale: ClassVar[bool] = True

    def problems(self, task: Table | None = None) -> Iterable[str]:
        return ()

    def fit(self, task: Task, rows: Integers, normalise: str) -> FittedDistance:
        scaled = minkowski_metric(task, rows, "range", power=1.0)
        return replace(scaled, missing=np.full(len(task.features), np.nan), known_only=True)
