"""Check the conditions of prediction sets by CV+: rows drawn alike, each assessed by just one fold."""

from collections.abc import Iterator

import numpy as np

from modelsel.core.types import Resampling, Task


def refusal(task: Task, resampling: Resampling) -> Iterator[str]:
    """Yield reasons against prediction sets: rows that are not exchangeable, or folds that do not assess each row once."""
    for what, values in (("groups", task.groups), ("times", task.times), ("weights", task.weights)):
        if values is not None:
            yield f"prediction sets take rows for drawn alike, and these have {what}"
    times = np.zeros(len(task), np.int64)
    for fold in resampling.folds:
        times[fold.assessment] += 1
    if len(resampling.folds) < 2 or (times != 1).any():
        yield "prediction sets need folds that assess every row once: kfold, stratified_kfold or leave_one_out"
