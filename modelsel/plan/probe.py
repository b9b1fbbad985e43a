"""What a plan will cost, measured instead of guessed: some of its batches are tried for half a second, on generated rows.

    seconds ≈ folds · Σ over batches (fit + members · answer) / speed-up of threads on the dearest batch

Fit and answer are measured per kind of learner, at n and n/2 rows where the task has more than n: the growth between the two
is extrapolated. The rows have the task's features, classes and gaps and a class that leans on the features; no row of the
task is fitted. Agreement within a factor of two is what can be hoped for, since how deep trees grow depends on the data.
"""

import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import chain, cycle
from math import log2
from statistics import fmean, median
from typing import Any

import numpy as np

from modelsel.core.types import Candidate, Feature, Floats, Integers, Resampling, Task, positions
from modelsel.plan.make import Plan

ROWS = 5_000  # tried at most
MEMBERS = 500  # answers asked for in a trial, at most
BUDGET = 0.5  # seconds, after compilation
OVERHEAD = 0.002  # seconds per cell for journal, scores and dispatch
START = 0.05  # seconds per run
TURNS = 3


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
    share = fmean(len(fold.analysis) / len(task) for fold in resampling.folds)
    try_, trials, spent = _Trier(task, share, scores), defaultdict[type, list[Trial]](list), 0.0
    kinds = {type(candidate.learner) for candidate in plan.candidates}
    for members in _by_turns(plan):
        if spent >= budget and len(trials) == len(kinds):
            break
        trial, seconds = try_(members)
        trials[type(members[0].learner)].append(trial)
        spent += seconds
    costs = [_seconds(trials[type(plan.candidates[batch.members[0]].learner)], len(batch.members)) for batch in plan.batches]
    dearest = plan.batches[int(np.argmax(costs))].members
    speed = _speed_up(try_, tuple(plan.candidates[member] for member in dearest), workers)
    return Estimate(START + plan.folds * sum(costs) / speed, _memory(plan, task, share, scores, workers), workers)


def _speed_up(try_: "_Trier", members: Sequence[Candidate], workers: int) -> float:
    """How much more so many threads get done than one: they share the interpreter lock, the memory bus and the machine."""
    if workers == 1:
        return 1.0
    with ThreadPoolExecutor(workers) as pool:
        ratios = []
        for _ in range(TURNS):
            alone = try_(members)[1]
            start = time.perf_counter()
            list(pool.map(try_, [members] * workers))
            ratios.append(workers * alone / (time.perf_counter() - start))
    return min(max(median(ratios), 1.0), float(workers))


def _seconds(trials: Sequence[Trial], members: int) -> float:
    """Of one cell; medians forgive what else the machine did."""
    return median(trial.fit for trial in trials) + members * median(trial.answer for trial in trials) + OVERHEAD


def _memory(plan: Plan, task: Task, share: float, scores: bool, workers: int) -> float:
    """Bytes: predictions of the largest cell per worker, and the loss matrix in single precision."""
    rows = len(task) * (1 - share)
    largest = max(len(batch.members) for batch in plan.batches)
    each = 5 + (16 * len(task.classes) if scores else 0)
    return workers * largest * rows * each + 4.0 * len(task) * min(len(plan.candidates), 10_000)


def _by_turns(plan: Plan) -> Iterator[tuple[Candidate, ...]]:
    """Members of the batches without end, kinds of learners by turns, so that every kind is tried early."""
    queues: dict[type, list[tuple[int, ...]]] = defaultdict(list)
    for batch in plan.batches:
        queues[type(plan.candidates[batch.members[0]].learner)].append(batch.members)
    for members in chain.from_iterable(zip(*map(cycle, queues.values()), strict=False)):
        yield tuple(plan.candidates[member] for member in members)


class _Trier:
    """Tries a batch on generated rows; a kind's first trial is preceded by a small one that compiles and warms up."""

    def __init__(self, task: Task, share: float, scores: bool) -> None:
        most = min(len(task), ROWS)
        sizes = (most,) if most == len(task) else (most // 2, most)
        self._trials = [_split(like(task, size), share) for size in sizes]
        self._growth = len(task) / most
        self._small = _split(like(task, min(60, most)), share)
        self._scores = scores
        self._warm: set[type] = set()

    def __call__(self, members: Sequence[Candidate]) -> tuple[Trial, float]:
        """The trial, and the seconds it took (compilation left out)."""
        some = members[:: -(-len(members) // MEMBERS)]
        if type(some[0].learner) not in self._warm:
            self._warm.add(type(some[0].learner))
            self._try(some[:2], *self._small)
        start = time.perf_counter()
        tried = [self._try(some, *trial) for trial in self._trials]
        trial = Trial(self._grown([one.fit for one in tried]), self._grown([one.answer for one in tried]))
        return trial, time.perf_counter() - start

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
            learners = [own for one in learners for own in (path.members(one) if getattr(one, "is_family", False) else (one,))]
            path.outputs(learners, task, assessment, self._scores)
            path.complexity(learners)
            path.training_error(learners)
        except Exception:  # the run will say what is wrong; a plan only cannot tell its cost
            return Trial(0.0, 0.0)
        return Trial(fitted - start, (time.perf_counter() - fitted) / len(members))


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
    """Levels alike; numbers about as coarse as the first thousand are; gaps in proportion."""
    if feature.kind == "numeric":
        distinct = len(np.unique(like_[:1000]))
        drawn = rng.normal(size=rows)
        drawn = np.round(drawn * distinct / 5) if distinct < 100 else drawn
    else:
        drawn = rng.integers(max(len(feature.levels), 1), size=rows).astype(np.float64)
    drawn[rng.random(rows) < np.isnan(like_).mean()] = np.nan
    return drawn


def _split(task: Task, share: float) -> tuple[Task, Integers, Integers]:
    """As a fold would: analysis and assessment rows."""
    rows = positions(task)
    cut = min(max(1, round(share * len(task))), len(task) - 1)
    return task, rows[:cut], rows[cut:]
