"""The bootstrap's .632 and .632+ estimates of the winner's error, beside its out-of-bag mean.

Both are optimistic here: the winner was picked among many by the very out-of-bag errors that they start from.
"""

from dataclasses import replace
from typing import TypedDict

import numpy as np

from modelsel.core.selection import Selection
from modelsel.core.types import Codes, Finding, Floats, Task


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
        return replace(selection, corrected=selection.corrected.but(**found))
    message = f".632 and .632+ are those of the best of {many:,} candidates by the same out-of-bag errors: they are optimistic"
    finding = Finding("OPTIMISTIC_632", "info", message, "read the corrected estimate, or the test")
    return replace(selection, corrected=selection.corrected.but(**found), findings=(*selection.findings, finding))


class Estimates632(TypedDict):
    """Bootstrap error estimates by the .632 and the .632+ rule."""

    point632: float
    point632_plus: float


def estimates(task: Task, predicted: Codes, out_of_bag: float) -> Estimates632:
    """Compute both estimates; `predicted` are the answers of the winner fitted on all rows."""
    training = float(np.average(predicted != task.target, weights=task.weights))
    gamma = no_information_error(np.asarray(task.target, np.int32), predicted, task.class_count, task.weights)
    return {"point632": point632(training, out_of_bag), "point632_plus": point632_plus(training, out_of_bag, gamma)}


# The .632 and .632+ corrections of the bootstrap's out-of-bag error, pessimistic as only 63.2 % of the rows are analysed.
#
#     .632  = .368 ē + .632 e₁
#     .632+ = .632 + (e₁' − ē) .368 · .632 R / (1 − .368 R),   R = (e₁' − ē) / (γ − ē) in [0, 1],   e₁' = min(e₁, γ)
#
# ē is the training error, e₁ the out-of-bag error, γ the error if features and classes were independent: Σ_c p_c (1 − q_c),
# with p_c the share of class c and q_c the share of rows that the rule, fitted on all rows, predicts as c. Only what corrects
# .632 is bounded by γ, not .632 itself. For the winner of a selection both are optimistic: it was picked by e₁.
# Source: Efron (1983); Efron & Tibshirani (1997), equations 24, 27 to 32.


DRAWN = 1 - np.exp(-1)  # chance that a row is drawn at least once: .632…


def point632(training: float, out_of_bag: float) -> float:
    """Compute the .632 estimate, (1 − .632…) · training + .632… · out-of-bag error.

    >>> round(point632(0.0, 0.5), 3)  # memorised random labels: .632 is fooled
    0.316
    """
    return float((1 - DRAWN) * training + DRAWN * out_of_bag)


def point632_plus(training: float, out_of_bag: float, no_information: float) -> float:
    """Compute the .632+ estimate, which weighs the out-of-bag error by the relative overfitting.

    >>> round(point632_plus(0.0, 0.5, 0.5), 12)  # and .632+ is not
    0.5
    >>> round(point632_plus(0.1, 0.55, 0.5), 4)  # e₁ above γ: .3844 + .1472
    0.5316
    """
    bounded = min(out_of_bag, no_information)
    overfit = 0.0
    if bounded > training and no_information > training:
        overfit = (bounded - training) / (no_information - training)
    more = (bounded - training) * (1 - DRAWN) * DRAWN * overfit / (1 - (1 - DRAWN) * overfit)
    return point632(training, out_of_bag) + float(more)


def no_information_error(truth: Codes, predicted: Codes, classes: int, weights: Floats | None = None) -> float:
    """γ: the error of these predictions if they had nothing to do with the truth.

    >>> no_information_error(np.array([0, 1, 1, 1]), np.array([1, 1, 1, 1]), 2)
    0.25
    """
    total = len(truth) if weights is None else weights.sum()
    p = np.bincount(truth, weights, minlength=classes) / total
    q = np.bincount(predicted, weights, minlength=classes) / total
    return float(np.sum(p * (1 - q)))
