"""What a plan will cost, measured instead of guessed: some of its batches are tried for half a second, on generated rows.

    seconds ≈ folds · Σ over batches (fit + members · answer) / speed-up of the workers

Fit and answer are measured per kind of learner, at n and n/2 rows where the task has more than n: the growth between the two
is extrapolated. The rows have the task's features, classes and gaps and a class that leans on the features; no row of the
task is fitted. Agreement within a factor of two is what can be hoped for, since how deep trees grow depends on the data.
"""

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log2
from statistics import fmean
from typing import Any

import numpy as np

from modelsel.core.types import Candidate, Feature, Floats, Integers, Resampling, Task, positions
from modelsel.plan.make import Plan

ROWS = 2_000  # tried at most
BUDGET = 0.5  # seconds, after compilation
OVERHEAD = 0.002  # seconds per cell for journal, scores and dispatch
SHARED = 0.6  # what a further worker adds: the interpreter lock and the memory bus are shared


@dataclass(frozen=True)
class Estimate:
    """Wall-clock seconds with so many workers, and bytes beyond the data."""

    seconds: float
    memory: float
    workers: int


@dataclass(frozen=True)
class Trial:
    """Seconds of one fit, and of one candidate's answer, on a fold of the whole task."""

    fit: float
    answer: float


def estimate(plan: Plan, task: Task, resampling: Resampling, scores: bool, workers: int, budget: float = BUDGET) -> Estimate:
    """Try batches of every kind of learner until the budget is spent."""
    trials: dict[type, list[Trial]] = defaultdict(list)
    share = fmean(len(fold.analysis) / len(task) for fold in resampling.folds)
    trial = _Trier(task, share, scores)
    spent = 0.0
    for members in _by_turns(plan):
        kind = type(members[0].learner)
        if spent < budget or not trials[kind]:
            start = time.perf_counter()
            trials[kind].append(trial(members))
            spent += time.perf_counter() - start
    work = sum(_seconds(trials[type(plan.candidates[batch.members[0]].learner)], len(batch.members)) for batch in plan.batches)
    return Estimate(plan.folds * work / (1 + SHARED * (workers - 1)), _memory(plan, task, share, scores, workers), workers)


def _seconds(trials: Sequence[Trial], members: int) -> float:
    return fmean(trial.fit for trial in trials) + members * fmean(trial.answer for trial in trials) + OVERHEAD


def _memory(plan: Plan, task: Task, share: float, scores: bool, workers: int) -> float:
    """Bytes: predictions of the largest cell per worker, and the loss matrix in single precision."""
    rows = len(task) * (1 - share)
    largest = max(len(batch.members) for batch in plan.batches)
    each = 5 + (16 * len(task.classes) if scores else 0)
    return workers * largest * rows * each + 4.0 * len(task) * min(len(plan.candidates), 10_000)


def _by_turns(plan: Plan) -> Iterator[tuple[Candidate, ...]]:
    """Members of the batches, kinds of learners by turns, so that every kind is tried early."""
    queues: dict[type, list[tuple[int, ...]]] = defaultdict(list)
    for batch in plan.batches:
        queues[type(plan.candidates[batch.members[0]].learner)].append(batch.members)
    for turn in range(max(map(len, queues.values()))):
        for queue in queues.values():
            if turn < len(queue):
                yield tuple(plan.candidates[member] for member in queue[turn])


class _Trier:
    """Tries a batch on generated rows; a kind's first trial is preceded by a small one that compiles and warms up."""

    MEMBERS = 64  # answers asked for in a trial

    def __init__(self, task: Task, share: float, scores: bool) -> None:
        most = min(len(task), ROWS)
        sizes = (most,) if most == len(task) else (most // 2, most)
        self._trials = [_split(like(task, size), share) for size in sizes]
        self._growth = len(task) / most
        self._small = _split(like(task, min(60, most)), share)
        self._scores = scores
        self._warm: set[type] = set()

    def __call__(self, members: Sequence[Candidate]) -> Trial:
        some = members[:: max(1, len(members) // self.MEMBERS)]
        if type(some[0].learner) not in self._warm:
            self._warm.add(type(some[0].learner))
            self._try(some[:2], *self._small)
        tried = [self._try(some, *trial) for trial in self._trials]
        return Trial(self._grown([trial.fit for trial in tried]), self._grown([trial.answer for trial in tried]))

    def _grown(self, seconds: Sequence[float]) -> float:
        """Extrapolate by the power of n that lies between the two sizes, from constant to cubic."""
        if len(seconds) == 1:
            return seconds[0]
        power = min(max(log2(max(seconds[1], 1e-9) / max(seconds[0], 1e-9)), 0.0), 3.0)
        return float(seconds[1] * self._growth**power)

    def _try(self, members: Sequence[Candidate], task: Task, analysis: Integers, assessment: Integers) -> Trial:
        """NaN-free even where this candidate cannot be fitted on generated rows: then it costs nothing."""
        learners, start = [candidate.learner for candidate in members], time.perf_counter()
        try:
            for step in members[0].preparers:
                task = step.fit(task.take(analysis), np.arange(len(analysis)), np.random.default_rng(0)).apply(task)
            path: Any = learners[0].fit_path(task, analysis, np.random.default_rng(0))
            fitted = time.perf_counter()
            path.outputs(learners, task, assessment, self._scores)
            path.complexity(learners)
            path.training_error(learners)
        except Exception:  # the run will say what is wrong; a plan only cannot tell its cost
            return Trial(0.0, 0.0)
        return Trial(fitted - start, (time.perf_counter() - fitted) / len(learners))


def like(task: Task, rows: int, seed: int = 0) -> Task:
    """Generated rows with the task's features, classes and gaps; the class leans on up to five features, with noise."""
    rng = np.random.default_rng(seed)
    columns = [_column(feature, task.values[:, at], rows, rng) for at, feature in enumerate(task.features)]
    values = np.asfortranarray(np.column_stack(columns)) if columns else np.zeros((rows, 0))
    known = np.nan_to_num(values[:, :5])
    lean = ((known - known.mean(axis=0)) / (known.std(axis=0) + 1e-9)).sum(axis=1) + rng.normal(size=rows)
    ranks = np.argsort(np.argsort(lean))
    target = (ranks * len(task.classes) // rows).astype(np.int32)
    weights = None if task.weights is None else np.ones(rows)
    return Task(name="generated", features=task.features, values=values, rows=np.arange(rows, dtype=np.int64),
                classes=task.classes, target=target, weights=weights)  # fmt: skip


def _column(feature: Feature, like_: Floats, rows: int, rng: np.random.Generator) -> Floats:
    distinct = len(np.unique(like_[:1000]))
    drawn = (
        rng.normal(size=rows)
        if feature.kind == "numeric"
        else rng.integers(max(len(feature.levels), 1), size=rows).astype(float)
    )
    if feature.kind == "numeric" and distinct < 100:
        drawn = np.round(drawn * distinct / 5)
    drawn[rng.random(rows) < np.isnan(like_).mean()] = np.nan
    return drawn


def _split(task: Task, share: float) -> tuple[Task, Integers, Integers]:
    """As a fold would: analysis and assessment rows."""
    rows = positions(task)
    cut = min(max(1, round(share * len(task))), len(task) - 1)
    return task, rows[:cut], rows[cut:]
