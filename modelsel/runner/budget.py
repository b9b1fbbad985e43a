"""A deadline is kept and yields an answer: what each batch costs is measured on few rows, and what cannot end is not begun.

Where all folds of all batches fit, the cheap come first. Where they do not, the cheapest come first, so that there is an
answer, then the others by what they scored on the sample, equal within one standard error the cheaper first; who would not
end, with the winner's fit on all rows to come, is skipped by name. The sample is drawn from the first fold, by class, of whole
units: of a large table it is so small a part that scores over all rows hardly know of it. What is measured while cells are
computed corrects what is expected of the next.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil

import numpy as np

from modelsel.core.types import Floats
from modelsel.runner.costs import FACTOR, after_cells, extrapolate
from modelsel.runner.evaluation.context import RunContext

PROBING = 0.15  # share of the seconds that the last sample may be expected to take; the one before it twice that
CHEAP = 0.03  # share of what is left: a batch that takes no more is worth knowing
RESERVE = 1.7  # seconds for what ends a study later than expected
CAREFUL = 1.15  # what is expected counts so much more


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
        self.after = after_cells(self.work.task, RESERVE)
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
        """Take in the seconds of each batch on the samples, and each candidate's score on the last."""
        if not measured:
            return
        self.cells = extrapolate(measured, shares)
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
