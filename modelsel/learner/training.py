"""Training error: the weighted share of the analysis rows that a path's own answers miss.

e_T = Σ w_i [predicted_i ≠ class_i] / Σ w_i over the rows of the fit, exactly 0 where every row is answered rightly.
"""

from collections.abc import Sequence

import numpy as np

from modelsel.core.types import ClassTask, Floats, Integers
from modelsel.learner.base import Path
from modelsel.learner.chunks import chunks


def training_error(path: Path, learners: Sequence[object], task: ClassTask, rows: Integers) -> Floats:
    """One number per learner; the rows are asked for in parts. NaN where they weigh nothing."""
    weights, missed = task.row_weights[rows], np.empty((len(learners), len(rows)), bool)
    for block in chunks(len(rows), len(learners) * len(task.classes)):
        missed[:, block] = path.outputs(learners, task, rows[block], scores=False).predicted != task.target[rows[block]]
    total = weights.sum()
    if not total > 0:
        return np.full(len(learners), np.nan)
    wrong = np.array([weights[own].sum() for own in missed])  # each by itself: the same in any company
    return np.asarray(wrong / total)
