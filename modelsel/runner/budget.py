"""A deadline is kept and yields an answer: what each batch costs is measured on few rows, and what cannot end is not begun.

    seconds of a cell ≈ seconds on a sample of rows · (rows / rows of the sample)^p,    1 ≤ p ≤ 2.5 from two sizes of the sample

Where all folds of all batches fit, the cheap come first. Where they do not, the cheapest come first, so that there is an
answer, then the others by what they scored on the sample, equal within one standard error the cheaper first; who would not
end, with the winner's fit on all rows to come, is skipped by name. The sample is drawn from the first fold, by class, of whole
units: of a large table it is so small a part that scores over all rows hardly know of it. What is measured while cells are
computed corrects what is expected of the next.
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import ceil, log

import numpy as np

from modelsel.core.types import ClassTask, Floats, Fold, Integers, Resampling, Task
from modelsel.planning.make import make
from modelsel.runner.evaluation.context import RunContext

WARM_UP = 200  # rows on which what all need is loaded
FEW, FACTOR = 2_000, 3  # rows of the smaller sample, and how much larger the other one is
FEWEST = 50  # rows of the smaller sample, below which there is none
PROBING = 0.15  # share of the seconds that the last sample may be expected to take; the one before it twice that
POWERS = 1.0, 2.5  # of rows, between which the cost of a cell grows
CHEAP = 0.03  # share of what is left: a batch that takes no more is worth knowing
CAREFUL = 1.15  # what is expected counts so much more
ENDING = 2.5, 1.2e-6  # seconds after the last cell, and per entry of the table: the winner's answers, the look, the record
SPIN = 0.03  # seconds of a processor, by which it is seen how many others use it


@dataclass(frozen=True)
class Sample:
    """Few rows of the first fold as a table of their own, and the share of a cell's rows that they are."""

    work: RunContext
    share: float


def samples(work: RunContext) -> Iterator[Sample]:
    """One to load everything on, the smaller one, and the larger; none where a fold is itself hardly larger."""
    fold = work.resampling.folds[0]
    few = min(FEW, len(fold.analysis) // FACTOR**2)
    if few >= FEWEST and not fold.judges_itself:
        for most in (min(WARM_UP, few), few, FACTOR * few):
            yield _sample(work, fold, most)


def _sample(work: RunContext, fold: Fold, most: int) -> Sample:
    """Rows of both halves of a fold in its proportions, the class shares kept."""
    rng = np.random.default_rng([work.seed, most])
    share = most / len(fold.analysis)
    halves = [_some(work.task, np.unique(half), share, rng) for half in (fold.analysis, fold.assessment)]
    task = work.task.take(np.concatenate(halves))
    places = np.split(np.arange(len(task)), [len(halves[0])])
    folds = Resampling(work.resampling.scheme, task.fingerprint, (Fold(0, 0, *places),))
    return Sample(replace(work, task=task, resampling=folds, plan=make(work.plan.candidates, task, folds)), share)


def _some(task: Task, rows: Integers, share: float, rng: np.random.Generator) -> Integers:
    """A share of rows, of each class as much as of any, at least one; of units all rows or none."""
    units = task.groups if task.units is None else task.units
    if units is not None:
        every = np.unique(units[rows])
        taken = rng.choice(every, max(1, round(share * len(every))), replace=False)
        return rows[np.isin(units[rows], taken)]
    order = rng.permutation(rows)
    if not isinstance(task, ClassTask):
        return np.sort(order[: max(2, round(share * len(rows)))])
    classes = [order[task.target[order] == label] for label in np.unique(task.target[rows])]
    return np.sort(np.concatenate([one[: max(1, ceil(share * len(one)))] for one in classes]))


def after_cells(task: Task) -> float:
    """Seconds that a study takes after its last cell, but for the winner's fit, as busy as the machine is."""
    return (ENDING[0] + ENDING[1] * task.values.size) * slowness()


def slowness() -> float:
    """Seconds that pass while this thread has a second of a processor: 1 on a free machine."""
    began, spent = time.perf_counter(), time.thread_time()
    while time.thread_time() - spent < SPIN:
        pass
    return max(1.0, (time.perf_counter() - began) / (time.thread_time() - spent))


@dataclass
class Budget:
    """What each batch is expected to cost and to score, and the seconds that are left."""

    work: RunContext
    seconds: float
    workers: int
    began: float = field(default_factory=time.monotonic)
    cells: Floats = field(init=False)  # seconds of a cell of each batch; 0 where nothing was measured
    scores: Floats = field(init=False)  # the best score of each batch on the sample, less is better
    slack: float = 0.0  # one standard error of such a score
    ratio: float = 1.0  # by which cells took longer than was expected
    finished: set[int] = field(default_factory=set)
    after: float = field(init=False)  # seconds after the last cell

    def __post_init__(self) -> None:
        """Start with nothing known."""
        self.after = after_cells(self.work.task)
        self.cells = np.zeros(len(self.work.plan.batches))
        self.scores = np.zeros(len(self.work.plan.batches))

    @property
    def left(self) -> float:
        """Seconds until the deadline."""
        return self.seconds - (time.monotonic() - self.began)

    def may_probe(self, place: int) -> bool:
        """Say whether there is time for a sample: always for the first, on which all is loaded."""
        spent = time.monotonic() - self.began
        return place == 0 or (spent if place == 1 else FACTOR * spent) < (2 if place == 1 else 1) * PROBING * self.seconds

    def learn(self, measured: Sequence[Floats], shares: Sequence[float], scores: Floats) -> None:
        """Take in the seconds of each batch on the samples, and each candidate's score on the last.

        How they grow is read off the two larger samples: the first one loads what all need.
        """
        if not measured:
            return
        power = np.full(len(self.cells), POWERS[0])
        if len(measured) > 2:
            grown = np.maximum(measured[2], 1e-9) / np.maximum(measured[1], 1e-9)
            power = np.clip(np.log(grown) / log(shares[2] / shares[1]), *POWERS)
        self.cells = measured[-1] * shares[-1] ** -power
        sign = -1.0 if self.work.measure.higher_is_better else 1.0
        for at, batch in enumerate(self.work.plan.batches):
            known = sign * scores[list(batch.members)]
            self.scores[at] = np.nanmin(known) if np.isfinite(known).any() else np.inf
        rows = max(1.0, shares[-1] * len(self.work.resampling.folds[0].assessment))
        best = float(np.min(self.scores, initial=np.inf))
        self.slack = float(np.sqrt(max(best * (1 - best), 0.0) / rows)) if 0 < best < 1 else 0.0

    def order(self) -> list[int]:
        """Batches as they are begun."""
        cheap = [int(at) for at in np.argsort(self.cells, kind="stable")]
        if not self.cells.any() or sum(map(self.needs, cheap)) + self.ending(cheap[-1]) < self.left:
            return cheap
        first = [at for at in cheap if at == cheap[0] or self.needs(at) < CHEAP * self.left]
        best = np.min(self.scores)
        tier = np.floor((self.scores - best) / self.slack) if self.slack > 0 and np.isfinite(best) else self.scores
        return [*first, *sorted((at for at in cheap if at not in first), key=lambda at: (tier[at], self.cells[at]))]

    def needs(self, batch: int) -> float:
        """Seconds that all folds of a batch are expected to take."""
        rounds = ceil(self.work.plan.folds / self.workers)
        return float(CAREFUL * self.ratio * self.cells[batch] * rounds)

    def ending(self, batch: int) -> float:
        """Seconds after the last cell, should one of this batch win, or the dearest so far."""
        dearest = max(self.cells[[batch, *self.finished]])
        return self.after + 1.3 * self.ratio * float(dearest)

    def fits(self, batch: int) -> bool:
        """Say whether a batch can end in time; the first always may try."""
        return not self.finished or self.needs(batch) + self.ending(batch) <= self.left

    def refusal(self, batch: int) -> str:
        """Why a batch was not begun."""
        wanted = f"all folds and the winner's fit would take some {self.needs(batch) + self.ending(batch):.0f} s"
        return f"not begun: {wanted}, and {max(self.left, 0.0):.0f} s of the deadline were left"

    def correct(self, batch: int, seconds: Sequence[float]) -> None:
        """Compare what the cells of a batch took with what was expected."""
        self.finished.add(batch)
        if seconds and self.cells[batch] > 0.05:
            self.ratio = float(np.clip(np.mean(seconds) / self.cells[batch], 0.05, 4.0))
        if seconds:
            self.cells[batch] = float(np.mean(seconds)) / self.ratio
