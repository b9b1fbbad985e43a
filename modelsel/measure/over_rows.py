"""Measures that are means over rows: score = Σ w_i loss_i / Σ w_i."""

from collections.abc import Iterator

import numpy as np

from modelsel.core.types import Codes, Floats, Outputs, Resampling, Task


class OverRows:
    """The score is the weighted mean of `losses`; lower is better."""

    higher_is_better = False
    needs_scores = False
    over_rows = True

    def problems(self, task: Task, resampling: Resampling) -> Iterator[str]:
        yield from ()

    def losses(self, truth: Codes, outputs: Outputs, classes: int) -> Floats:
        raise NotImplementedError

    def score(self, truth: Codes, outputs: Outputs, weights: Floats | None, classes: int) -> Floats:
        losses = np.ascontiguousarray(self.losses(truth, outputs, classes))  # sums are the same in any company, so no BLAS
        if weights is None:
            return np.asarray(losses.mean(axis=-1))
        return np.asarray(np.einsum("...r,r->...", losses, weights / weights.sum()))


def class_scores(outputs: Outputs) -> Floats:
    """The class scores, candidates × rows × classes; ValueError when the cell did not ask for them."""
    if outputs.scores is None:
        raise ValueError("this measure reads class scores, and the outputs hold predicted classes only")
    return outputs.scores
