"""Folds of a scikit-learn splitter as a resampling."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from modelsel.core.types import Fold, Resampling, Task

GIVEN = "given"  # the scheme's name of folds that a splitter made


def given(task: Task, splits: Sequence[tuple[Any, Any]]) -> Resampling:
    """Folds of a splitter; rows of weight 0 take no part. A row that is assessed again belongs to a further repeat."""
    times, counts = np.zeros(len(task), np.int64), task.row_weights > 0
    if not counts.any():
        raise ValueError("All sample weights are zero: no row is left to fit on.")
    folds: list[Fold] = []
    for analysis, assessment in splits:
        rows, others = (np.arange(len(task))[part] for part in (assessment, analysis))
        rows, others = rows[counts[rows]], others[counts[others]]
        if len(rows) and len(others):
            folds.append(Fold(len(folds), int(times[rows].max()), others, rows))
            times[rows] += 1
    return Resampling(GIVEN, task.fingerprint, tuple(folds))
