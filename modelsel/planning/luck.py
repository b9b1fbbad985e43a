"""By how much guesses differ among themselves in a measure: what the best of many owes to luck, on the measure's own scale.

Guesses draw classes by their shares, and class scores as the shares times independent exponential variables. Their standard
deviation on m rows times the expected best of K normal variables (Blom 1958) is the most by which the best of K may flatter.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from modelsel.core.protocols.evaluation import Measure
from modelsel.core.types import Codes, Floats, Outputs, Task

GUESSES, ROWS = 200, 2000


@dataclass(frozen=True)
class Luck:
    """`spread` of a guess's score, and how far guessing is from a perfect answer."""

    spread: float
    reach: float


def of_guesses(measure: Measure, task: Task) -> Luck:
    """The same whenever it is asked. Above `ROWS` rows it is computed on as many and scaled.

    >>> from modelsel.dataset.bundled.sklearn_bundled import SklearnBundled
    >>> from modelsel.measure.auc import Auc
    >>> luck = of_guesses(Auc(), SklearnBundled(which="breast_cancer").read())
    >>> round(luck.reach, 1), round(luck.spread, 2)  # sqrt((212 + 357 + 1) / (12 · 212 · 357)) = .025
    (0.5, 0.03)
    """
    rng = np.random.default_rng(0)
    rows = rng.permutation(len(task))[:ROWS]
    truth, classes = task.target[rows], len(task.classes)
    weights = None if task.weights is None else task.weights[rows]
    shares = np.bincount(truth, weights, classes) / (len(rows) if weights is None else weights.sum())
    scores = shares * rng.exponential(size=(GUESSES, len(rows), classes)) + 1e-300
    guesses = Outputs(rng.choice(classes, (GUESSES, len(rows)), p=shares).astype(np.int32), _normal(scores))
    found = _finite(measure.score(truth, guesses, weights, classes))
    perfect = measure.score(truth, _right(truth, classes), weights, classes)[0]
    if len(found) < GUESSES // 2 or not np.isfinite(perfect):
        return Luck(0.0, 0.0)
    return Luck(float(found.std()) * sqrt(len(rows) / len(task)), abs(float(perfect - found.mean())))


def _right(truth: Codes, classes: int) -> Outputs:
    return Outputs(truth[None, :], np.eye(classes)[truth][None, :, :])


def _normal(scores: Floats) -> Floats:
    return np.asarray(scores / scores.sum(axis=2, keepdims=True))


def _finite(values: Floats) -> Floats:
    return np.asarray(values[np.isfinite(values)])
