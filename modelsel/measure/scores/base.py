"""Measures of how one class's scores rank its rows before the rest, and their mean over classes.

Two classes: the second one, as for `auc`, unless `positive` says another. More classes: the mean over those that have rows.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from modelsel.core.spec import one_of, whole
from modelsel.core.types import Booleans, Codes, Floats, Outputs, Resampling, Task
from modelsel.measure.base import BaseMeasure, class_scores
from modelsel.measure.positive import out_of_range, without
from modelsel.statistics.auc import SortedScores


@dataclass(frozen=True)
class OneAgainstRest(BaseMeasure):
    """Higher is better. `of` is what a new one has to say."""

    average: str = one_of("macro", "weighted", help="mean over more than two classes: plain, or by class share")
    positive: int | None = whole(
        None, least=0, help="index of the class that is looked for; none: the second of two, the mean over more"
    )

    needs_scores = True

    def problems(self, task: Task, resampling: Resampling) -> Iterator[str]:
        yield from out_of_range(self.positive, task)
        for one in self._classes(len(task.classes)) if self.positive is not None or len(task.classes) == 2 else ():
            yield from without(str(getattr(self, "kind", type(self).__module__.rpartition(".")[2])), one, task, resampling)

    def of(self, falling: SortedScores, positive: Booleans, weights: Floats) -> Floats:
        """One number per candidate; `falling` has the rows by falling score, and at least one weighs and is positive."""
        raise NotImplementedError

    def score(self, truth: Codes, outputs: Outputs, weights: Floats | None, classes: int) -> Floats:
        return self.reweighted(truth, outputs, classes)(weights)

    def reweighted(self, truth: Codes, outputs: Outputs, classes: int) -> Callable[[Floats | None], Floats]:
        """The score as a function of the weights, the scores sorted once."""
        scores = class_scores(outputs)
        falling = {one: SortedScores.of(-scores[..., one]) for one in self._classes(classes)}
        return lambda weights: self._mean(truth, falling, np.ones(len(truth)) if weights is None else weights, len(scores))

    def _classes(self, classes: int) -> tuple[int, ...]:
        if self.positive is not None:
            return (self.positive,)
        return (1,) if classes == 2 else tuple(range(classes))

    def _mean(self, truth: Codes, falling: dict[int, SortedScores], weights: Floats, candidates: int) -> Floats:
        """Average one-against-rest values over the classes that have rows; NaN where there are none."""
        shares = np.array([weights[truth == one].sum() for one in falling])
        there = [one for one, share in zip(falling, shares, strict=True) if share > 0]
        if not there:
            return np.full(candidates, np.nan)
        each = np.stack([self._one(falling[one], truth == one, weights) for one in there], axis=-1)
        share = shares[shares > 0] if self.average == "weighted" else np.ones(len(there))
        return np.asarray(np.einsum("...c,c->...", each, share) / share.sum())

    def _one(self, falling: SortedScores, positive: Booleans, weights: Floats) -> Floats:
        return np.where(falling.undefined, np.nan, self.of(falling, positive, weights))
