"""Settings and checks of measures that read one class against the rest."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from modelsel.core.spec import one_of, whole
from modelsel.core.types import Booleans, ClassTask, Codes, Floats, Outputs, Resampling
from modelsel.measure.base import BaseMeasure, FromConfusion, class_scores, ratio
from modelsel.statistics.auc import SortedScores


def out_of_range(positive: int | None, task: ClassTask) -> Iterator[str]:
    """The task has no class of this index."""
    if positive is not None and positive >= len(task.classes):
        yield f"measure.positive={positive}: the task has classes 0 to {len(task.classes) - 1}"


def without(name: str, positive: int, task: ClassTask, resampling: Resampling) -> Iterator[str]:
    """Folds that assess no row of the class."""
    if positive >= len(task.classes):
        return
    empty = [fold.index for fold in resampling.folds if not np.any(task.target[fold.assessment] == positive)]
    if empty:
        yield (
            f"{name} is not defined on {len(empty)} folds that assess no row of class {task.classes[positive]!r} "
            f"(fold {empty[0]}): use fewer or stratified folds"
        )


def only_one_class(name: str, task: ClassTask, resampling: Resampling) -> Iterator[str]:
    """Folds that assess rows of a single class."""
    single = [fold.index for fold in resampling.folds if not np.ptp(task.target[fold.assessment])]
    if single:
        yield f"{name} is not defined on {len(single)} folds that assess one class only (fold {single[0]}): use fewer folds"


# Measures of one class against the rest from the confusion matrix, and their mean over classes.
#
# A class counts where it has rows or is predicted, and where the measure is defined for it; NaN when none counts.


@dataclass(frozen=True)
class PerClass(FromConfusion):
    """Higher is better. `each` is what a new one has to say."""

    average: str = one_of("macro", "weighted", help="mean over classes: plain, or by class share")
    positive: int | None = whole(None, least=0, help="index of the one class that counts; none: the mean over classes")

    def problems(self, task: ClassTask, resampling: Resampling) -> Iterator[str]:
        yield from out_of_range(self.positive, task)

    def each(self, matrices: Floats) -> Floats:
        """Candidates × classes, from candidates × true class × predicted class; NaN where not defined."""
        raise NotImplementedError

    def of(self, matrices: Floats) -> Floats:
        each = self.each(matrices)
        if self.positive is not None:
            return np.asarray(each[:, self.positive])
        truly, said = matrices.sum(axis=2), matrices.sum(axis=1)
        weight = truly if self.average == "weighted" else (truly + said > 0).astype(np.float64)
        weight = np.where(np.isnan(each), 0.0, weight)
        return ratio((np.nan_to_num(each) * weight).sum(axis=1), weight.sum(axis=1), np.nan)


def right(matrices: Floats) -> Floats:
    """N_ii, candidates × classes."""
    return np.asarray(np.einsum("cii->ci", matrices).copy())


# Measures of how one class's scores rank its rows before the rest, and their mean over classes.
#
# Two classes: the second one, as for `auc`, unless `positive` says another. More classes: the mean over those that have rows.


@dataclass(frozen=True)
class OneAgainstRest(BaseMeasure):
    """Higher is better. `of` is what a new one has to say."""

    average: str = one_of("macro", "weighted", help="mean over more than two classes: plain, or by class share")
    positive: int | None = whole(
        None, least=0, help="index of the class that is looked for; none: the second of two, the mean over more"
    )

    needs_scores = True

    def problems(self, task: ClassTask, resampling: Resampling) -> Iterator[str]:
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
