"""Bootstrap resampling: n rows drawn with replacement are analysed, those never drawn (about 36.8 %) are assessed.

The out-of-bag score is pessimistic, because only about .632 n distinct rows are analysed. Source: Efron (1983);
Efron & Tibshirani (1997).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from modelsel.core.fingerprint import generator
from modelsel.core.spec import kind_of, whole
from modelsel.core.types import Fold, Integers, Resampling, Task
from modelsel.scheme.base import BaseScheme
from modelsel.scheme.partition import groups_ignored, too_many_folds


@dataclass(frozen=True)
class Bootstrap(BaseScheme):
    """`repeats` resamples; each is a repeat of its own."""

    repeats: int = whole(50, least=1, help="number of resamples")
    seed: int | None = whole(None, least=0, help="none: the study's seed")

    def problems(self, task: Task) -> Iterator[str]:
        yield from too_many_folds(task, 2)
        yield from groups_ignored(task, self, dealt=True)

    def instantiate(self, task: Task, seed: int) -> Resampling:
        own = seed if self.seed is None else self.seed
        folds = tuple(_resample(task, own, index) for index in range(self.repeats))
        return Resampling(kind_of(self), task.fingerprint, folds)


def _units(task: Task) -> Integers:
    """What is drawn: rows, or declared units (whole groups)."""
    if task.units is None or task.groups is None:
        return np.arange(len(task))
    return np.unique(task.groups, return_inverse=True)[1].astype(np.int64)


def _resample(task: Task, seed: int, index: int) -> Fold:
    """Draw a bootstrap sample of rows or declared units; one that leaves none out is drawn again."""
    rng, unit = generator(seed, task.draw_fingerprint, f"repeat {index}"), _units(task)
    many = int(unit.max()) + 1
    while True:  # all units drawn: a chance of n! / nⁿ, real only for a handful of them
        times = np.bincount(rng.integers(many, size=many), minlength=many)[unit]
        drawn, left = np.repeat(np.arange(len(unit)), times), np.flatnonzero(times == 0)
        if len(left):
            drawn.flags.writeable = left.flags.writeable = False
            return Fold(index, index, drawn, left)
