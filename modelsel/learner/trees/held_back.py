"""Rows that prune what others have grown: a stratified share, drawn by row, so that repeats of a row stay together."""

import numpy as np

from modelsel.core.types import Integers, Task


def held_back(task: Task, rows: Integers, share: float | None, rng: np.random.Generator) -> tuple[Integers, Integers | None]:
    """Growing rows and pruning rows (None without a share). Each class gives its share, rounded, and keeps one row to grow."""
    if share is None:
        return rows, None
    distinct = np.flatnonzero(np.bincount(rows, minlength=len(task)))
    chosen = np.zeros(len(task), bool)
    for label in range(len(task.classes)):
        own = distinct[task.target[distinct] == label]
        take = min(round(share * len(own)), len(own) - 1)
        if take > 0:
            chosen[rng.permutation(own)[:take]] = True
    return rows[~chosen[rows]], rows[chosen[rows]]
