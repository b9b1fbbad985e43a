"""The bootstrap's .632 and .632+ estimates of the winner's error, beside its out-of-bag mean.

Both are optimistic here: the winner was picked among many by the very out-of-bag errors that they start from.
"""

from dataclasses import replace
from typing import TypedDict

import numpy as np

from modelsel.core.selection import Selection
from modelsel.core.types import Codes, Finding, Task
from modelsel.statistics.bootstrap import no_information_error, point632, point632_plus


def is_defined(scheme: str, measure: str) -> bool:
    """Say whether .632 estimates are defined: for error rates judged out of bag."""
    return scheme == "bootstrap" and measure == "error"


def with_point632(selection: Selection, task: Task, predicted: Codes) -> Selection:
    """The selection with both estimates beside the corrected one; `predicted` by the winner fitted on all rows, for them."""
    if selection.corrected is None:
        return selection
    found = estimates(task, predicted, float(selection.board.mean[selection.winner]))
    many = int(selection.board.eligible.sum())
    if many < 2:
        return replace(selection, corrected={**selection.corrected, **found})
    message = f".632 and .632+ are those of the best of {many:,} candidates by the same out-of-bag errors: they are optimistic"
    finding = Finding("OPTIMISTIC_632", "info", message, "read the corrected estimate, or the test")
    return replace(selection, corrected={**selection.corrected, **found}, findings=(*selection.findings, finding))


class Estimates632(TypedDict):
    """Both estimates."""

    point632: float
    point632_plus: float


def estimates(task: Task, predicted: Codes, out_of_bag: float) -> Estimates632:
    """Compute both estimates; `predicted` are the answers of the winner fitted on all rows."""
    training = float(np.average(predicted != task.target, weights=task.weights))
    gamma = no_information_error(np.asarray(task.target, np.int32), predicted, task.class_count, task.weights)
    return {"point632": point632(training, out_of_bag), "point632_plus": point632_plus(training, out_of_bag, gamma)}
