"""What a study costs, measured on few of its rows: a cell of each batch on samples of two sizes, and how it grew between them.

    seconds of a cell ≈ seconds on a sample of rows · (rows / rows of the sample)^p,    1 ≤ p ≤ 2.5 from two sizes of the sample

A sample is drawn from the first fold, by class, of whole units, so that cells are computed on it as they are on all rows. A
plan tries few batches of each kind, by a processor's seconds, and reads off memory too; under a deadline all batches are tried
by the clock, and their scores read (`runner.budget`).
"""

import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from math import ceil, log, sqrt
from statistics import fmean

import numpy as np
from threadpoolctl import threadpool_limits

from modelsel.core.spec import kind_of
from modelsel.core.types import ClassTask, Floats, Fold, Integers, Resampling, Task
from modelsel.planning.make import Batch, Cell, Estimate, make
from modelsel.runner.evaluation.context import CellJob, RunContext
from modelsel.runner.execution.executors import IN_THIS_PROCESS, Pool
from modelsel.runner.families import is_family, resolve

# Samples of the rows, and what grows between them.

WARM_UP = 200  # rows on which what all need is loaded
FEW, FACTOR = 2_000, 3  # rows of the smaller sample, and how much larger the other one is
FEWEST = 50  # rows of the smaller sample, below which there is none
ENTRIES, LEAST = 200_000, 0.05  # of the smaller sample of a wide table, unless that is less than this share of its rows
POWERS = 1.0, 2.5  # of rows, between which the cost of a cell grows
ENDING = 5e-3, 1e-6  # seconds per root of the table's entries, and per entry: sealing, answers, the look, the record
SPIN = 0.03  # seconds of a processor, by which it is seen how many others use it


@dataclass(frozen=True)
class Sample:
    """Few rows of the first fold as a table of their own, and the share of a cell's rows that they are."""

    work: RunContext
    share: float


def samples(work: RunContext) -> Iterator[Sample]:
    """Sizes of the samples: one to warm up, a small and a large one; none where a fold is hardly larger."""
    fold = work.resampling.folds[0]
    wide = max(ENTRIES // max(1, work.task.values.shape[1]), int(LEAST * len(fold.analysis)))
    few = min(FEW, len(fold.analysis) // FACTOR**2, wide)
    if few >= FEWEST:
        halves = [np.flatnonzero(np.bincount(rows)) for rows in (fold.analysis, fold.assessment)]
        for most in (min(WARM_UP, few // 2), few, FACTOR * few):
            yield _sample(work, fold, halves, most)


def _sample(work: RunContext, fold: Fold, halves: Sequence[Integers], most: int) -> Sample:
    """Rows of both halves of a fold (ascending, each once) in its proportions, the class shares kept."""
    rng = np.random.default_rng([work.seed, most])
    share = most / len(fold.analysis)
    analysis = _some(work.task, halves[0], share, rng)
    assessment = analysis[:0] if fold.judges_itself else _some(work.task, halves[1], share, rng)
    task = work.task.take(np.concatenate([analysis, assessment]))
    places = np.split(np.arange(len(task)), [len(analysis)])
    own = Fold(0, 0, places[0], places[0] if fold.judges_itself else places[1])
    folds = Resampling(work.resampling.scheme, task.fingerprint, (own,))
    plan = replace(work.plan, folds=1, rows=len(task), resampling=folds.fingerprint)
    return Sample(replace(work, task=task, resampling=folds, plan=plan), share)


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
    target = task.target[order]
    classes = [order[target == label] for label in np.flatnonzero(np.bincount(target))]
    return np.sort(np.concatenate([one[: max(1, ceil(share * len(one)))] for one in classes]))


def extrapolate(measured: Sequence[Floats], shares: Sequence[float]) -> Floats:
    """Seconds of a cell of each batch on all rows, from those on the samples (NaN where it was not asked).

    How they grow is read off the two larger samples: the first one loads what all need.
    """
    last = np.array(measured[0])
    found, power = last / shares[0] ** POWERS[0], np.full(len(last), POWERS[0])
    for place in range(1, len(measured)):
        now, there = measured[place], np.isfinite(measured[place])
        if place > 1:
            grown = np.maximum(now, 1e-9) / np.maximum(last, 1e-9)
            power = np.where(there, np.clip(np.log(grown) / log(shares[place] / shares[place - 1]), *POWERS), power)
        found, last = np.where(there, now * shares[place] ** -power, found), np.where(there, now, last)
    return np.asarray(found)


def after_cells(task: Task, reserve: float = 0.0) -> float:
    """Seconds that a study takes after its last cell, but for the winner's fit, as busy as the machine is."""
    return (reserve + ENDING[0] * sqrt(task.values.size) + ENDING[1] * task.values.size) * slowness()


def slowness() -> float:
    """Seconds that pass while this thread has a second of a processor: 1 on a free machine."""
    began, spent = time.perf_counter(), time.thread_time()
    while time.thread_time() - spent < SPIN:
        pass
    return max(1.0, (time.perf_counter() - began) / (time.thread_time() - spent))


# The cost of a plan.

BUDGET, SHARE = 0.8, 0.05  # seconds that trials may take once all is loaded, or this share of what the fits are expected to
SHORT = 0.1  # seconds of a cell up to which the first of its kind is timed twice; on the larger sample if they
LEAPT = FACTOR**0.5  # times as long as their rows alone would make them
PER_CELL = 0.002  # seconds of a cell for journal and dispatch
LIGHT = 0.2  # of the largest kind's bytes on the smallest sample, below which a kind is not weighed again
MEMBERS = 500  # candidates of a batch that are tried, at most
STAND_INS = 5  # batches tried of a kind, at most
TOGETHER = 0.8  # power of the workers by which they are faster than one: they share the memory's bus and the interpreter
BASE, PROCESS = float(1 << 20), 150.0 * (1 << 20)  # bytes of a run of any size, and of a worker process
KEPT, KEPT_SCORE = 1, 8  # bytes per row and candidate while a cell is answered: its class, and the score of each class
SAID, SCORED = 18, 24  # and when it is written: as kept, as written, as a measure reads it, its loss; per class
SUMMED = 12.0 * (1 << 20)  # bytes of the block in which standard errors are summed, at most
ROWS_FOR_ALL, ROWS_FOR_BEST = 10_000, 1_000  # candidates whose rows are kept, as in the runner


def estimate(work: RunContext, pool: Pool) -> Estimate:
    """Seconds of a plan's fits and bytes beyond the data, by trying few batches of each kind."""
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # of few rows: the folds will say what is so of the study's
        trials = Trials(work, pool)
        trials.run()
        return Estimate(trials.seconds(), trials.memory(), pool.jobs)


@dataclass(frozen=True)
class Weighed:
    """Bytes on a sample: the most that the largest batch of each kind held beside what stays with the task, and that."""

    peaks: dict[str, float]
    answered: dict[str, int]  # members of it
    stays: float


class Trials:
    """Few batches of each kind of a plan, computed on samples of the rows."""

    def __init__(self, work: RunContext, pool: Pool) -> None:
        """Choose the batches that stand for their kinds."""
        self._work, self._pool = work, pool
        self._samples = tuple(samples(work)) or (Sample(work, 1.0),) * 2
        self._kinds: dict[str, list[int]] = {}
        for place, batch in enumerate(work.plan.batches):
            first = work.plan.candidates[batch.members[0]]
            self._kinds.setdefault(f"{first.entry} {kind_of(first.learner)}", []).append(place)
        self._tried = [at for own in self._kinds.values() for at in own[:: -(-len(own) // STAND_INS)]]
        self._kind_of = {at: kind for kind, own in self._kinds.items() for at in own}
        self._leading = [own[0] for own in self._kinds.values()]
        self._measured: list[Floats] = []
        self._shares: list[float] = []
        self._weighed: list[Weighed] = []

    def run(self) -> None:
        """Load all on the smallest sample, then compute batches on one after the other, as long as that is worth it."""
        until = np.inf
        for place, sample in enumerate(self._samples):
            spent = np.full(len(self._work.plan.batches), np.nan)
            begun: set[str] = set()  # kinds
            for at in self._in_turn(place):
                last = self._measured[-1][at] * sample.share / self._shares[-1] if place > 1 else 0.0
                if (at in self._leading and place < 2) or last <= until - time.thread_time():
                    leap = LEAPT * last if place > 0 and self._kind_of[at] not in begun else np.inf
                    spent[at] = self._timed(sample, at, leap)
                    begun.add(self._kind_of[at])
            self._measured.append(self._alike(spent) if place > 1 else spent)
            self._shares.append(sample.share)
            if place == 1 or (place == 0 and sample.share < self._samples[1].share):
                self._weighed.append(self._weigh(sample))
            if place == 0:
                loaded, until = time.thread_time(), time.thread_time() + BUDGET
            elif place == 1:
                until = loaded + max(BUDGET, SHARE * self.seconds())

    def seconds(self) -> float:
        """Seconds of all fits: families, cells, and the winner's."""
        if not self._measured:
            return 0.0
        each = extrapolate(self._measured, self._shares)
        if len(self._measured) > 1:  # what was tried on the smallest alone is known by its kind: loading was most of it
            each[np.isnan(self._measured[1])] = np.nan
        for own in self._kinds.values():
            each[own] = np.where(np.isfinite(each[own]), each[own], np.nanmean(each[own]))
        families = sum(each[at] for at, batch in enumerate(self._work.plan.batches) if self._is_family(batch))
        most = float(each.max(initial=0.0))
        at_once = max(1, min(self._pool.jobs, len(self._work.plan.cells))) ** TOGETHER
        return float((each + PER_CELL).sum() * self._work.plan.folds / at_once + families + most)

    def memory(self) -> float:
        """Bytes: what fits leave with the task, and of each worker the largest cell, or the loss matrix and its sums."""
        work, processes = self._work, self._pool.kind not in IN_THIS_PROCESS
        rows = fmean(len(fold.assessment) for fold in work.resampling.folds)
        scored = work.task.class_count if work.needs_scores else 0
        kept, said = rows * (KEPT + KEPT_SCORE * scored), rows * (SAID + SCORED * scored)
        cell, left = 0.0, self._at_size([one.stays for one in self._weighed])
        for kind, own in self._kinds.items():
            most = max(len(work.plan.batches[at].members) for at in own)
            weighed = [one for one in self._weighed if kind in one.peaks]
            peak, tried = self._at_size([one.peaks[kind] for one in weighed]), weighed[-1].answered[kind]
            cell = max(cell, peak + max(most - tried, 0) * kept, max(most, tried) * said)
        columns = len(work.plan.candidates) if len(work.plan.candidates) <= ROWS_FOR_ALL else ROWS_FOR_BEST
        matrix = float(len(work.task) * columns)
        each = cell + (left + PROCESS if processes else 0.0)
        return BASE + left + max(self._pool.jobs * each, 4 * matrix + min(12 * matrix, SUMMED))

    def _timed(self, sample: Sample, at: int, leap: float) -> float:
        """Seconds of a batch; of a short one that took longer than `leap` the second time: the first may have loaded much."""
        work, jobs = self._jobs(sample, at)
        took = _answer(work, jobs)
        if leap < took < SHORT:
            took = min(took, _answer(work, jobs))
        return took * max(1.0, len(self._work.plan.batches[at].members) / MEMBERS)

    def _in_turn(self, place: int) -> list[int]:
        """Batches to be tried: one of each kind, then several, then of each kind the two that took longest."""
        if place < 2:
            return [*self._leading, *(at for at in self._tried if place and at not in self._leading)]
        last = np.nan_to_num(self._measured[-1])
        dearest = [sorted(set(own) & set(self._tried), key=lambda at: -last[at])[:2] for own in self._kinds.values()]
        return sorted((at for own in dearest for at in own), key=lambda at: -last[at])

    def _alike(self, spent: Floats) -> Floats:
        """What was not tried on a sample grew as others of its kind."""
        grown = spent / np.maximum(self._measured[-1], 1e-9)
        for own in self._kinds.values():
            spent[own] = np.where(np.isfinite(spent[own]), spent[own], self._measured[-1][own] * np.nanmean(grown[own]))
        return spent

    def _jobs(self, sample: Sample, at: int) -> tuple[RunContext, list[CellJob]]:
        """The context of a sample and the jobs that answer a batch's members there, families by what they are on it."""
        work, batch = sample.work, self._work.plan.batches[at]
        some = [work.plan.candidates[member] for member in batch.members[:: -(-len(batch.members) // MEMBERS)]]
        with suppress(Exception):  # a family that has no members on few rows costs what it costs as one
            some = list(resolve(some, work.task, work.seed, None, work.needs_scores))
        plan = make(some, work.task, work.resampling)
        jobs = [CellJob(Cell(0, place), one.members) for place, one in enumerate(plan.batches)]
        return replace(work, plan=plan), jobs

    def _is_family(self, batch: Batch) -> bool:
        return any(is_family(self._work.plan.candidates[member]) for member in batch.members)

    def _weigh(self, sample: Sample) -> Weighed:
        """Follow the bytes while the largest batch of each kind is computed, of a table of whose rows nothing is known yet.

        On the second sample only of those kinds that were not light on the first: the others will not hold the most.
        """
        fresh = replace(sample, work=replace(sample.work, task=replace(sample.work.task)))
        peaks, answered, stays = {}, {}, 0.0
        before = self._weighed[0].peaks if self._weighed else dict.fromkeys(self._kinds, 0.0)
        heavy = {kind: own for kind, own in self._kinds.items() if before[kind] >= LIGHT * max(before.values())}
        with _follow_memory() as held:
            for kind, own in heavy.items():
                work, jobs = self._jobs(fresh, max(own, key=lambda at: len(self._work.plan.batches[at].members)))
                tracemalloc.reset_peak()
                _answer(work, jobs)
                stays, peak = held()
                peaks[kind], answered[kind] = peak - stays, sum(len(job.members) for job in jobs)
        return Weighed(peaks, answered, stays)

    def _at_size(self, bytes_: Sequence[float]) -> float:
        """A part that is there at any size and one that grows with it, on a line through two samples."""
        small, large = bytes_[0], bytes_[-1]
        first, last = self._shares[0], self._shares[min(1, len(self._shares) - 1)]
        if first == last:
            return large / last
        return large + max(large - small, 0.0) * (1 - last) / (last - first)


def _answer(work: RunContext, jobs: Sequence[CellJob]) -> float:
    """Compute jobs, and return a processor's seconds.

    What cannot be computed on few rows costs nothing: the run will say what is wrong.
    """
    began = time.thread_time()
    for job in jobs:
        with suppress(Exception):
            work.with_scores(job.cell.fold, work.evaluate(job))
    return time.thread_time() - began


@contextmanager
def _follow_memory() -> Iterator[Callable[[], tuple[float, float]]]:
    """Tells the bytes held now, and the most held at once since it began."""
    already = tracemalloc.is_tracing()
    if not already:
        tracemalloc.start()
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]

    def held() -> tuple[float, float]:
        now, peak = tracemalloc.get_traced_memory()
        return float(max(now - before, 0)), float(max(peak - before, 0))

    try:
        yield held
    finally:
        if not already:
            tracemalloc.stop()
