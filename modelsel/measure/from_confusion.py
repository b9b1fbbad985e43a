"""Measures computed from the confusion matrix N (N_ij: weight of class i predicted as j); they are no means over rows."""

from collections.abc import Iterator

import numpy as np

from modelsel.core.types import Codes, Floats, Outputs, Resampling, Task


def confusion(truth: Codes, predicted: Codes, weights: Floats | None, classes: int) -> Floats:
    """Weighted counts, candidates × true class × predicted class.

    >>> confusion(np.array([0, 0, 1], np.int32), np.array([[0, 1, 1]], np.int32), None, 2)[0].tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    candidates = len(predicted)
    cell = (np.arange(candidates)[:, None] * classes + truth) * classes + predicted
    each = None if weights is None else np.broadcast_to(weights, predicted.shape).ravel()
    counts = np.bincount(cell.ravel(), each, minlength=candidates * classes * classes)
    return counts.astype(np.float64).reshape(candidates, classes, classes)


class FromConfusion:
    """The score is a function of the confusion matrices."""

    higher_is_better = True
    needs_scores = False
    over_rows = False

    def problems(self, task: Task, resampling: Resampling) -> Iterator[str]:
        yield from ()

    def of(self, matrices: Floats) -> Floats:
        """One number per confusion matrix (candidates × classes × classes)."""
        raise NotImplementedError

    def score(self, truth: Codes, outputs: Outputs, weights: Floats | None, classes: int) -> Floats:
        return self.of(confusion(truth, outputs.predicted, weights, classes))

    def losses(self, truth: Codes, outputs: Outputs, classes: int) -> Floats:
        raise TypeError(f"{type(self).__name__} is no mean over rows")


def ratio(above: Floats, below: Floats, otherwise: float) -> Floats:
    """above / below, `otherwise` where below is 0."""
    return np.divide(above, below, out=np.full_like(above, otherwise), where=below != 0)
