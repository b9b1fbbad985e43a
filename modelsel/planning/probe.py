"""Estimate a plan's cost by measuring: some of its batches are tried for half a second, on generated rows.

    seconds ≈ folds · Σ over batches (fit + members · answer) / speed-up of threads on the dearest kind
    bytes   ≈ what fits leave with the task + max(workers · the largest cell, the loss matrix + what is summed over it)

The rows have the task's features, classes and gaps and a class that leans on the features; no row of the task is fitted.
Agreement within a factor of two is what can be hoped for, since how deep trees grow depends on the data. What was measured
is kept for the machine (see `kept`): a plan of the same batches on such rows measures nothing.
"""

import json
import math
import os
import platform
import time
import tracemalloc
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache
from importlib import metadata
from itertools import chain, cycle
from math import gcd, log2
from pathlib import Path
from statistics import fmean, median
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np

from modelsel.core.fingerprint import digest
from modelsel.core.system.machine import cores
from modelsel.core.types import Candidate, ClassTask, Feature, Floats, Integers, NumberTask, Resampling, Task, positions
from modelsel.learner.base import BaseLearner
from modelsel.planning.make import Batch, Plan
from modelsel.planning.sources import own_digest

# Trials of a batch on generated rows: seconds of this thread and bytes, at the size of the task.

ROWS = 5_000  # tried at most
MEMBERS = 500  # answers asked for in a trial, at most
WEIGHED = 100  # and in one whose memory is followed, which slows it
TURNS = 3


@dataclass(frozen=True)
class Trial:
    """Seconds of one fit, and of one candidate's answer, on a fold of the whole task."""

    fit: float
    answer: float


class Trier:
    """Tries a batch on generated rows; a kind's first trial is preceded by a small one that compiles and warms up."""

    def __init__(self, task: Task, rows: int, share: float, scores: bool, folder: Path | None) -> None:
        """`rows` are those of a fold, both halves together, and `share` is the analysed part of them."""
        most = min(rows, ROWS)
        sizes = (most,) if most == rows else (most // 2, most)
        self._trials = [split_as_fold(like(task, size), share) for size in sizes]
        self._growth = rows / most
        self._small = split_as_fold(like(task, min(60, most)), share)
        self._scores = scores
        self._warm: set[type] = set()
        sizes_of = [[trial.fingerprint, len(analysis)] for trial, analysis, _ in self._trials]
        self.figures = ProbeCache(folder, digest([sizes_of, rows, scores]))

    def __call__(self, members: Sequence[Candidate]) -> tuple[Trial, float]:
        """The trial, and the seconds it took (compilation left out)."""
        some = _evenly_spaced(members, MEMBERS)
        fit, answer, seconds = self.figures.get(_name(some), lambda: self._measure(some))
        return Trial(fit, answer), seconds

    def memory(self, members: Sequence[Candidate]) -> tuple[float, float]:
        """Bytes that a cell of so many members holds at its peak, beside what it says; and what is left with the task."""
        some = _evenly_spaced(members, WEIGHED)
        each = self.figures.get(
            f"{_name(some)} bytes", lambda: tuple(chain.from_iterable(map(self._weigh(some), self._trials)))
        )
        fit, both, left = (self._at_size(each[which::3]) for which in range(3))
        return max(fit - left, 0.0) + max(both - fit, 0.0) * len(members) / len(some), left

    def speed_up(self, members: Sequence[Candidate], workers: int) -> float:
        """Measure how much more work so many threads do than one.

        They share the interpreter lock, the memory bus and the machine.
        """
        some = _evenly_spaced(members, MEMBERS)
        if workers == 1:
            return 1.0
        return self.figures.get(f"{_name(some)} {workers}", lambda: (self._sped_up(some, workers),))[0]

    def _measure(self, some: Sequence[Candidate]) -> tuple[float, float, float]:
        """Time the trials and extrapolate them to the task; the third number is the seconds that they took."""
        self._warm_up(some)
        start = time.perf_counter()
        tried = [self._try(some, *trial) for trial in self._trials]
        fit, answer = self._extrapolate([one.fit for one in tried]), self._extrapolate([one.answer for one in tried])
        return fit, answer, time.perf_counter() - start

    def _warm_up(self, some: Sequence[Candidate]) -> None:
        if type(some[0].learner) not in self._warm:
            self._warm.add(type(some[0].learner))
            self._try(some[:2], *self._small)

    def _weigh(self, some: Sequence[Candidate]) -> Callable[[tuple[Task, Integers, Integers]], tuple[float, float, float]]:
        """Peak bytes of the fit, and of fit and answers, of a trial on rows that nothing is known of yet; and what is left."""

        def weighed(trial: tuple[Task, Integers, Integers]) -> tuple[float, float, float]:
            marks: list[float] = []
            task, analysis, assessment = trial
            task = replace(task)
            with _follow_memory() as held:
                self._try(some, task, analysis, assessment, between=lambda: marks.append(held()[1]))
                now, peak = held()
            return (marks or [peak])[0], peak, now

        self._warm_up(some)
        return weighed

    def _at_size(self, of: Sequence[float]) -> float:
        """A part that is there at any size and one that grows with it, on a line through both trials."""
        if len(of) == 1:
            return of[0]
        return of[1] + 2.0 * max(of[1] - of[0], 0.0) * (self._growth - 1.0)

    def _sped_up(self, some: Sequence[Candidate], workers: int) -> float:
        """Measure how much faster so many workers are than one; between 1 and their number."""
        self._warm_up(some)
        with ThreadPoolExecutor(workers) as pool:
            ratios, began = list[float](), time.perf_counter()
            while len(ratios) < TURNS and (not ratios or time.perf_counter() - began < BUDGET):
                alone, together = self._work(some), time.perf_counter()
                list(pool.map(self._work, [some] * workers))
                ratios.append(workers * alone / (time.perf_counter() - together))
        return min(max(median(ratios), 1.0), float(workers))

    def _work(self, some: Sequence[Candidate]) -> float:
        """Seconds of a trial of the smaller size."""
        start = time.perf_counter()
        self._try(some, *self._trials[0])
        return time.perf_counter() - start

    def _extrapolate(self, seconds: Sequence[float]) -> float:
        """Extrapolate by the power of n that lies between the two sizes, from constant to cubic."""
        if len(seconds) == 1:
            return seconds[0]
        power = min(max(log2(max(seconds[1], 1e-9) / max(seconds[0], 1e-9)), 0.0), 3.0)
        return float(seconds[1] * self._growth**power)

    def _try(
        self, members: Sequence[Candidate], task: Task, analysis: Integers, assessment: Integers,
        between: Callable[[], None] = lambda: None,
    ) -> Trial:  # fmt: skip
        """NaN-free even where this candidate cannot be fitted on generated rows: then it costs nothing."""
        learners, start = [_shorten_search(candidate.learner) for candidate in members], time.thread_time()
        try:
            for step in members[0].preparers:
                task = step.fit(task.take(analysis), np.arange(len(analysis)), np.random.default_rng(0)).apply(task)
            path: Any = learners[0].fit_path(task, analysis, np.random.default_rng(0))
            fitted = time.thread_time()
            between()
            learners = [own for one in learners for own in (path.members(one) if getattr(one, "is_family", False) else (one,))]
            searched = _search_seconds(path, learners[0])
            path.outputs(learners, task, assessment, self._scores)
            sizes = path.complexity(learners)
            path.training_error(learners)
        except Exception:  # the run will say what is wrong; a plan only cannot tell its cost
            return Trial(0.0, 0.0)
        answered = time.thread_time() - fitted + searched * (_times(members[0].learner, sizes) - 1.0)
        return Trial(fitted - start, answered / len(members))


@contextmanager
def _follow_memory() -> Iterator[Callable[[], tuple[float, float]]]:
    """Tells the bytes held now, and the most held at once since it began."""
    already = tracemalloc.is_tracing()
    if not already:
        tracemalloc.start()
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    try:
        yield lambda: (_since(before, 0), _since(before, 1))
    finally:
        if not already:
            tracemalloc.stop()


def _since(before: int, which: int) -> float:
    """Bytes held now (0) or at the peak (1), beyond those held before."""
    return float(max(tracemalloc.get_traced_memory()[which] - before, 0))


def _shorten_search(learner: object) -> Any:
    """Cut a learner's search short where trying it would take too long."""
    return learner.shortened() if hasattr(learner, "shortened") else learner


def _search_seconds(path: Any, learner: BaseLearner) -> float:
    """Seconds of the search that was cut short, which all members share; 0 for a learner that makes none."""
    if not getattr(learner, "apart", dict)():
        return 0.0
    start = time.thread_time()
    path.model(learner)
    return time.thread_time() - start


def _times(learner: object, sizes: Floats) -> float:
    """Return the ratio of the whole learner's time to the tried one's, on models of these sizes."""
    return float(learner.times_as_long(float(sizes.mean()))) if hasattr(learner, "times_as_long") else 1.0


def _evenly_spaced(members: Sequence[Candidate], most: int) -> Sequence[Candidate]:
    """Take evenly spaced items, at most so many."""
    return members[:: -(-len(members) // most)]


def _name(members: Sequence[Candidate]) -> str:
    return digest([member.id for member in members])


# Generated rows that are like a task's and none of them: what a probe is made on.


def like(task: Task, rows: int, seed: int = 0) -> Task:
    """Generated rows with the task's features, classes and gaps; the target leans on up to five features, with noise."""
    rng = np.random.default_rng(seed)
    columns = [_column(feature, task.values[:, at], rows, rng) for at, feature in enumerate(task.features)]
    values = np.asfortranarray(np.column_stack(columns)) if columns else np.zeros((rows, 0))
    known = np.nan_to_num(values[:, :5])
    lean = ((known - known.mean(axis=0)) / (known.std(axis=0) + 1e-9)).sum(axis=1) + rng.normal(size=rows)
    ranks = np.argsort(np.argsort(lean))
    common: dict[str, Any] = {
        "name": "generated", "features": task.features, "values": values, "rows": np.arange(rows, dtype=np.int64),
        "weights": None if task.weights is None else np.ones(rows),
    }  # fmt: skip
    if isinstance(task, ClassTask):
        target = (ranks * task.class_count // rows).astype(np.int32)
        return ClassTask(**common, classes=task.classes, target=target)
    return NumberTask(**common, target=np.sort(np.asarray(task.target, np.float64))[ranks * len(task) // rows], measured_in="")


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


def split_as_fold(task: Task, share: float) -> tuple[Task, Integers, Integers]:
    """Divide rows as a fold would, into analysis and assessment rows."""
    rows = positions(task)
    cut = min(max(1, round(share * len(task))), len(task) - 1)
    return task, rows[:cut], rows[cut:]


# Figures of a probe, kept per machine: what was tried once on rows like these is not tried again.
#
#     <cache>/probes/<machine>/<shape>.json = {"machine", "shape", "figures": {key: [numbers]}, "sum"}
#
# `machine` is the digest of host, processor, cores, package versions and the source of everything that fits; `shape` that of
# the generated rows. A file that is torn, altered, or of another machine or shape is as good as none: the probe is made anew.

PACKAGES = ("modelsel", "numpy", "scipy", "numba")
Numbers = tuple[float, ...]


class ProbeCache:
    """Measured costs for rows of one shape, kept in a folder. Without a folder nothing is kept."""

    def __init__(self, folder: Path | None, shape: str) -> None:
        """Read the figures kept for this machine and shape."""
        self._machine, self._shape = machine(), shape
        self._path = None if folder is None else folder / self._machine / f"{shape}.json"
        self._known = self._read_kept()
        self._fresh = False

    def get(self, key: str, measure: Callable[[], Numbers]) -> Numbers:
        """The figures of a key, measured when they are not known."""
        if key not in self._known:
            self._known[key], self._fresh = measure(), True
        return self._known[key]

    def keep(self) -> None:
        """Write down what is new. A cache that cannot be written costs the next plan half a second and nothing else."""
        if self._path is None or not self._fresh:
            return
        body = {"machine": self._machine, "shape": self._shape, "figures": self._known}
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with NamedTemporaryFile("w", dir=self._path.parent, suffix=".new", delete=False) as file:
                file.write(json.dumps({**body, "sum": digest(body)}))
            os.replace(file.name, self._path)

    def _read_kept(self) -> dict[str, Numbers]:
        """Read the kept figures; a file that is damaged or of another machine is passed over."""
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            said: dict[str, Any] = json.loads(self._path.read_text()) if self._path else {}
            body = {name: said[name] for name in ("machine", "shape", "figures")}
            if (body["machine"], body["shape"], digest(body)) == (self._machine, self._shape, said["sum"]):
                return _numbers(body["figures"])
        return {}


def _numbers(figures: Mapping[str, Any]) -> dict[str, Numbers]:
    """Raises TypeError or ValueError for what is not a list of finite numbers."""
    found = {str(key): tuple(float(number) for number in numbers) for key, numbers in figures.items()}
    if not all(math.isfinite(number) and number >= 0 for numbers in found.values() for number in numbers):
        raise ValueError("a figure is not a number of seconds")
    return found


@cache
def machine() -> str:
    """Digest of what a figure depends on beside the work itself."""
    versions = [f"{name} {metadata.version(name)}" for name in PACKAGES]
    kernels = os.environ.get("MODELSEL_KERNELS", "")
    return digest([platform.node(), _processor(), cores(), platform.python_version(), versions, kernels,
                   own_digest()])  # fmt: skip


def _processor() -> str:
    with suppress(OSError, StopIteration), open("/proc/cpuinfo") as lines:
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return platform.processor() or platform.machine()


Kind = tuple[type, str]
Queued = tuple[Kind, tuple[int, ...]]
BUDGET = 0.5  # seconds, after compilation
OVERHEAD = 0.002  # seconds per cell for journal, scores and dispatch
START = 0.05  # seconds per run
DEAR = 5  # batches tried of a dear kind at least: a search over the widths of a large tree takes many times that of a small one
BASE = float(1 << 20)  # bytes of a run of any size: threads, journal, descriptions
KEPT, KEPT_SCORE = 1, 8  # bytes per row and candidate while a cell is answered: its class, and the score of each class
SAID, SCORED = 18, 24  # and when it is written: as kept, as written, as a measure reads it, its loss; per class
SUMMED = 12.0 * (1 << 20)  # bytes of the block in which standard errors are summed, at most
ROWS_FOR_ALL, ROWS_FOR_BEST = 10_000, 1_000  # candidates whose rows are kept, as in the runner


@dataclass(frozen=True)
class Estimate:
    """Wall-clock seconds with so many workers, and bytes beyond the data."""

    seconds: float
    memory: float
    workers: int


def estimate(
    plan: Plan, task: Task, resampling: Resampling, scores: bool, workers: int, budget: float = BUDGET,
    folder: Path | None = None,
) -> Estimate:  # fmt: skip
    """Try batches of every kind of learner until the budget is spent; figures are kept in the folder, where one is given."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of generated rows: the folds will say what is so of the study's
        return _estimate(plan, task, resampling, scores, workers, budget, folder)


def _estimate(
    plan: Plan, task: Task, resampling: Resampling, scores: bool, workers: int, budget: float, folder: Path | None
) -> Estimate:
    """Try batches of each kind in turn until the budget is spent, and put their seconds down for the others of the kind."""
    analysed, assessed = (fmean(len(half) for half in halves) for halves in _halves(resampling))
    share = analysed / (analysed + assessed)
    try_ = Trier(task, round(analysed + assessed), share, scores, folder)
    trials, spent = defaultdict[Kind, list[Trial]](list), 0.0
    of_kind = Counter(_kind(plan, batch) for batch in plan.batches)
    wanted = {kind: min(DEAR, many) if kind[1] else 1 for kind, many in of_kind.items()}
    for kind, members in _by_turns(plan):
        if spent >= budget and all(len(trials[each]) >= wanted[each] for each in wanted):
            break
        if spent >= budget and len(trials[kind]) >= wanted[kind]:
            continue
        trial, seconds = try_(members)
        trials[kind].append(trial)
        spent += seconds
    costs = [_seconds(trials[_kind(plan, batch)], len(batch.members), bool(batch.apart)) for batch in plan.batches]
    speed = try_.speed_up(_candidates(plan, _dearest(plan, costs).members), workers)
    memory = _memory(plan, task, assessed, scores, workers, try_)
    try_.figures.keep()
    return Estimate(START + plan.folds * sum(costs) / speed, memory, workers)


def _dearest(plan: Plan, costs: Sequence[float]) -> Batch:
    """The dearest batch of the kind that takes most of the time."""
    of_kind = defaultdict[Kind, list[int]](list)
    for position, batch in enumerate(plan.batches):
        of_kind[_kind(plan, batch)].append(position)
    most = max(of_kind.values(), key=lambda positions: sum(costs[position] for position in positions))
    return plan.batches[max(most, key=lambda position: costs[position])]


def _seconds(trials: Sequence[Trial], members: int, dear: bool) -> float:
    """Estimate the seconds of one cell: medians of usual batches, means of costly ones, which differ in earnest."""
    middle = fmean if dear else median
    return median(trial.fit for trial in trials) + members * middle(trial.answer for trial in trials) + OVERHEAD


def _memory(plan: Plan, task: Task, rows: float, scores: bool, workers: int, try_: Trier) -> float:
    """Bytes, where the largest batch of each kind stands for its kind; `rows` are assessed in a cell."""
    largest: dict[Kind, Sequence[int]] = {}
    for batch in plan.batches:
        kind = _kind(plan, batch)
        largest[kind] = max(largest.get(kind, ()), batch.members, key=len)
    scored = task.class_count if scores else 0
    kept, said = rows * (KEPT + KEPT_SCORE * scored), rows * (SAID + SCORED * scored)
    weighed = {kind: (*try_.memory(_candidates(plan, members)), len(members)) for kind, members in largest.items()}
    cell = max(max(peak + many * kept, many * said) for peak, _, many in weighed.values())
    columns = len(plan.candidates) if len(plan.candidates) <= ROWS_FOR_ALL else ROWS_FOR_BEST
    matrix = float(len(task) * columns)
    return BASE + max(left for _, left, _ in weighed.values()) + max(workers * cell, 4 * matrix + min(12 * matrix, SUMMED))


def _by_turns(plan: Plan) -> Iterator[tuple[Kind, tuple[Candidate, ...]]]:
    """Kinds and members of the batches without end, kinds by turns, so that every kind is tried early."""
    queues: dict[Kind, list[tuple[Kind, tuple[int, ...]]]] = defaultdict(list)
    for batch in plan.batches:
        queues[_kind(plan, batch)].append((_kind(plan, batch), batch.members))
    for kind, members in chain.from_iterable(zip(*(cycle(_spread(queue)) for queue in queues.values()), strict=False)):
        yield kind, _candidates(plan, members)


def _spread(queue: Sequence[Queued]) -> Iterator[Queued]:
    """Put candidates into an order whose first few stand for all, where neighbours are alike (steps of a sweep)."""
    stride = next(step for step in range(round(0.382 * len(queue)) + 1, 2 * len(queue) + 2) if gcd(step, len(queue)) == 1)
    return (queue[k * stride % len(queue)] for k in range(len(queue)))


def _kind(plan: Plan, batch: Batch) -> Kind:
    """Batches of a kind cost alike per member: those of a learner, and apart from them its dear ones, entry by entry."""
    first = plan.candidates[batch.members[0]]
    return type(first.learner), f"dear {first.entry}" if batch.apart else ""


def _halves(resampling: Resampling) -> Iterator[list[Integers]]:
    yield [fold.analysis for fold in resampling.folds]
    yield [fold.assessment for fold in resampling.folds]


def _candidates(plan: Plan, members: Sequence[int]) -> tuple[Candidate, ...]:
    return tuple(plan.candidates[member] for member in members)
