"""Classes with fewer rows than folds: some folds assess none of their rows, which is said before the run."""

from collections.abc import Iterator

import numpy as np

from modelsel.core.types import Finding, Resampling, Task


def fewer_rows_than_folds(task: Task, resampling: Resampling) -> Iterator[Finding]:
    """A finding that names the classes with their rows; nothing for schemes of one or two folds."""
    folds = sum(fold.repeat == 0 for fold in resampling.folds)
    if folds <= 2 or folds >= len(task):  # leaving one out, every class has fewer rows than folds
        return
    counts = np.bincount(task.target, minlength=len(task.classes)).tolist()
    few = [f"{name} ({n})" for name, n in zip(task.classes, counts) if 0 < n < folds]
    if few:
        message = f"classes with fewer development rows than the {folds} folds: {', '.join(few)}"
        do = "fewer folds, or dataset.rare=merge or drop with dataset.rare_below"
        yield Finding("FEWER_ROWS_THAN_FOLDS", "medium", message, do)
