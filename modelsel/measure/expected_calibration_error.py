"""Expected calibration error: how far, bin by bin, the mean score is from the share of rows that it came true for.

ECE = Σ_b |Σ_{i in b} w_i (s_i − y_i)| / Σ w_i, over bins of equal weight by score; rows of equal score share a bin. s_i is the
highest class score and y_i whether that class is the true one; with `positive`, that class's score and whether it is true.

It is biased upwards: a calibrated model has about √(2/π) Σ_b √(p_b (1 − p_b) n_b) / n and not 0, and more of it the smaller
the folds and the more the bins, since a fold is scored by itself. It also leaves out what cancels within a bin. So compare
models on the same folds and bins, and read no single value as "calibrated"; `brier` and `log_loss` have neither flaw.
Source: Naeini, Cooper & Hauskrecht (2015); equal bins and bias: Nguyen & O'Connor (2015), Roelofs et al. (2022).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from modelsel.core.spec import whole
from modelsel.core.types import ClassTask, Codes, Floats, Outputs, Resampling
from modelsel.measure.base import SHARE, BaseMeasure, probabilities
from modelsel.measure.one_class import out_of_range
from modelsel.statistics.auc import SortedScores


@dataclass(frozen=True)
class ExpectedCalibrationError(BaseMeasure):
    """Lower is better; 0 … 1. Biased upwards, the more the fewer rows a bin has.

    >>> outputs = Outputs(np.ones((1, 4), np.int32), np.array([[[0.4, 0.6]] * 2 + [[0.1, 0.9]] * 2]))
    >>> ExpectedCalibrationError(bins=2).score(np.array([1, 0, 1, 1], np.int32), outputs, None, 2).round(4).tolist()
    [0.1]
    """

    between = SHARE
    bins: int = whole(10, least=1, help="bins of equal size: more have less in each, and more bias upwards")
    positive: int | None = whole(None, least=0, help="index of the class whose score is judged; none: the highest score")

    higher_is_better = False
    needs_scores = True
    needs_probabilities = True

    def problems(self, task: ClassTask, resampling: Resampling) -> Iterator[str]:
        yield from out_of_range(self.positive, task)
        least = min((len(fold.assessment) for fold in resampling.folds), default=self.bins)
        if least < self.bins:
            yield f"measure.bins={self.bins}: a fold assesses {least} rows, fewer than bins: use fewer folds or bins"

    def score(self, truth: Codes, outputs: Outputs, weights: Floats | None, classes: int) -> Floats:
        scores = probabilities(outputs)
        said, true = self._judged_scores(scores, truth)
        weight = np.broadcast_to(np.ones(len(truth)) if weights is None else weights, said.shape)
        if not np.any(weight):
            return np.full(len(said), np.nan)
        cell = self._bins(said, weight) + np.arange(len(said))[:, None] * self.bins
        away = np.bincount(cell.ravel(), (weight * (said - true)).ravel(), minlength=len(said) * self.bins)
        found = np.abs(away.reshape(len(said), self.bins)).sum(axis=1) / weight[0].sum()
        return np.where(np.isnan(said).any(axis=1), np.nan, found)

    def _judged_scores(self, scores: Floats, truth: Codes) -> tuple[Floats, Floats]:
        """The scores that are judged, and 1 where they came true (candidates × rows)."""
        if self.positive is not None:
            own = scores[..., self.positive]
            return own, np.broadcast_to((truth == self.positive).astype(np.float64), own.shape)
        return scores.max(axis=2), (scores.argmax(axis=2) == truth).astype(np.float64)

    def _bins(self, said: Floats, weight: Floats) -> Codes:
        """The bin per candidate and row: where the middle of the rows of its score lies in the whole weight."""
        ranked = SortedScores.of(said)
        each = np.take_along_axis(weight, ranked.order, axis=1)
        upto = np.cumsum(each, axis=1)
        start = np.take_along_axis(upto - each, ranked.first, axis=1)
        middle = (start + np.take_along_axis(upto, ranked.last, axis=1)) / (2.0 * upto[:, -1:])
        place = np.empty(said.shape, np.int32)
        np.put_along_axis(place, ranked.order, np.minimum(middle * self.bins, self.bins - 1).astype(np.int32), axis=1)
        return place
