"""Estimate a plan's cost by measuring: some of its batches are tried for half a second, on generated rows.

    seconds ≈ folds · Σ over batches (fit + members · answer) / speed-up of threads on the dearest kind
    bytes   ≈ what fits leave with the task + max(workers · the largest cell, the loss matrix + what is summed over it)

The rows have the task's features, classes and gaps and a class that leans on the features; no row of the task is fitted.
Agreement within a factor of two is what can be hoped for, since how deep trees grow depends on the data. What was measured
is kept for the machine (see `kept`): a plan of the same batches on such rows measures nothing.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, cycle
from math import gcd
from pathlib import Path
from statistics import fmean, median

from modelsel.core.types import Candidate, Integers, Resampling, Task
from modelsel.planning.batch import Batch
from modelsel.planning.make import Plan
from modelsel.planning.trial import Trial, Trier

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
    """The same in another order: the first few stand for all, where neighbours are alike (steps of a sweep)."""
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
