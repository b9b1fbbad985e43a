"""Leave-one-out cross-validation: as many folds as rows; deterministic, nearly unbiased, of high variance.

Source: Stone (1974); Efron (1983) on its variance.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Resampling, Task
from modelsel.scheme.base import BaseScheme
from modelsel.scheme.partition import groups_ignored, resampling

MOST = 5_000  # rows: the folds alone hold rows² positions


@dataclass(frozen=True)
class LeaveOneOut(BaseScheme):
    """Row i is assessed in fold i."""

    def problems(self, task: Task) -> Iterator[str]:
        if len(task) > MOST:
            yield f"leave_one_out on {len(task)} rows: at most {MOST}, use scheme=stratified_kfold"
        yield from groups_ignored(task, self)

    def instantiate(self, task: Task, seed: int) -> Resampling:
        return resampling(self, task, seed, 1, lambda rng: np.arange(len(task), dtype=np.int64))
