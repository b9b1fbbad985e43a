"""Top-k error: the weighted share of rows whose true class is not among the k classes of highest score.

Where equal scores cross the limit, the chance to be left out when they are ordered at random: (k − higher) / tied are in.
A model that gives all classes the same score so has 1 − k / K, and not 0.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from modelsel.core.spec import whole
from modelsel.core.types import ClassTask, Codes, Floats, Outputs, Resampling
from modelsel.measure.base import SHARE, OverRows, class_scores


@dataclass(frozen=True)
class TopKError(OverRows):
    """Lower is better; `k` is less than the number of classes, or there is no error to make.

    >>> scores = np.array([[[0.5, 0.3, 0.2], [0.5, 0.3, 0.2], [0.4, 0.3, 0.3]]])
    >>> TopKError().losses(np.array([1, 2, 2], np.int32), Outputs(np.zeros((1, 3), np.int32), scores), 3).tolist()
    [[0.0, 1.0, 0.5]]
    """

    between = SHARE
    k: int = whole(2, least=1, help="how many classes of highest score may hold the true one")

    needs_scores = True

    def problems(self, task: ClassTask, resampling: Resampling) -> Iterator[str]:
        if self.k >= len(task.classes):
            yield f"measure.k={self.k}: with {len(task.classes)} classes the true one is always among the top {self.k}"

    def losses(self, truth: Codes, outputs: Outputs, classes: int) -> Floats:
        scores = class_scores(outputs)
        true = scores[:, np.arange(len(truth)), truth][..., None]
        higher, tied = (scores > true).sum(axis=-1), (scores == true).sum(axis=-1)
        inside = np.clip((self.k - higher) / np.maximum(tied, 1), 0.0, 1.0)
        return np.where(np.isnan(scores).any(axis=-1), np.nan, 1.0 - inside)
