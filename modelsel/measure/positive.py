"""Settings and checks of measures that read one class against the rest."""

from collections.abc import Iterator

import numpy as np

from modelsel.core.types import Resampling, Task


def out_of_range(positive: int | None, task: Task) -> Iterator[str]:
    """The task has no class of this index."""
    if positive is not None and positive >= len(task.classes):
        yield f"measure.positive={positive}: the task has classes 0 to {len(task.classes) - 1}"


def without(name: str, positive: int, task: Task, resampling: Resampling) -> Iterator[str]:
    """Folds that assess no row of the class."""
    if positive >= len(task.classes):
        return
    empty = [fold.index for fold in resampling.folds if not np.any(task.target[fold.assessment] == positive)]
    if empty:
        yield (
            f"{name} is not defined on {len(empty)} folds that assess no row of class {task.classes[positive]!r} "
            f"(fold {empty[0]}): use fewer or stratified folds"
        )


def only_one_class(name: str, task: Task, resampling: Resampling) -> Iterator[str]:
    """Folds that assess rows of a single class."""
    single = [fold.index for fold in resampling.folds if not np.ptp(task.target[fold.assessment])]
    if single:
        yield f"{name} is not defined on {len(single)} folds that assess one class only (fold {single[0]}): use fewer folds"
