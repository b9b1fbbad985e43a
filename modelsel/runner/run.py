"""Running a plan: what is known is looked up, what is missing is computed, everything is written down, then added up."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import sqrt
from typing import Self

import numpy as np

from modelsel.config.settings import PoolSettings
from modelsel.core.errors import NoCandidateError, Problem
from modelsel.core.surroundings import Progress
from modelsel.core.system.interrupts import interruptible
from modelsel.core.system.memory import give_back
from modelsel.core.types import Floats, Resampling, Task
from modelsel.measure.base import BaseMeasure
from modelsel.planning.make import Plan
from modelsel.runner.budget import RESERVE, Budget
from modelsel.runner.costs import after_cells, samples
from modelsel.runner.ensembles import form_ensembles
from modelsel.runner.evaluation.cell_result import NOTHING, failing
from modelsel.runner.evaluation.context import CellJob, RunContext
from modelsel.runner.evaluation.limits import UNLIMITED, CellLimits, DeadlineExceeded, alarm
from modelsel.runner.execution.crash_recovery import CrashRecovery
from modelsel.runner.execution.executors import JobExecutor, Pool, choose_pool, open_executor
from modelsel.runner.execution.worker import CompletedJob
from modelsel.runner.journal import NEW, Journal, last_reached, start_times
from modelsel.runner.racing import Race, Racing
from modelsel.runner.results import Results, SeOf, gather
from modelsel.runner.run_index import RunIndex
from modelsel.runner.spare_scores import SpareScores

# A progress that nobody is shown.


class NullProgress:
    """A progress that says nothing."""

    def start(self, cells: int, candidates: int) -> None: ...

    def advance(self, cells: int = 1, best: float | None = None, failures: int = 0) -> None: ...

    def say(self, message: str) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None: ...


QUIET = NullProgress()


Order = Callable[[Sequence[CellJob]], Sequence[CellJob]]
ROWS_FOR_ALL = 10_000  # candidates up to which predictions are kept for all
ROWS_FOR_BEST = 1_000  # in larger spaces scores are kept for all, predictions for so many
WAVE = 8  # batches of trials that are begun together
LOOK_AGAIN = 0.2  # seconds between two looks at how the best candidate does


def run(
    plan: Plan,
    task: Task,
    resampling: Resampling,
    measure: BaseMeasure,
    pool: PoolSettings | Pool,
    journal: Journal,
    progress: Progress = QUIET,
    *,
    seed: int = 0,
    limits: CellLimits = UNLIMITED,
    retry_failed: bool = False,
    se_of: SeOf | None = None,
    deadline: float | None = None,
    order: Order | None = None,
    beside: Mapping[str, BaseMeasure] = NOTHING,
    race: Race | None = None,
    seconds: float | None = None,
    spare: SpareScores | None = None,
) -> Results:
    """Compute what the journal does not know yet and add everything up.

    `beside` are measures of which the means are kept too, by name; one that reads class scores makes all cells give them.
    `deadline` are seconds until the study should end: batches that cannot be finished by then are not begun
    (`runner.budget`), and what is begun is cut off. `order` may put the jobs in another order; the results do not depend on
    it. With a `race`
    candidates that cannot win any more are dropped between two folds. `spare` keeps class scores that no measure reads, and
    completes by them what another run of the same study has computed. `seconds` after which no further trial is begun. Raises
    ConfigurationError for a plan of other rows, a limit that the pool cannot hold or a deadline outside the main thread,
    StoreError when the journal cannot be written, DataError for a learner that finds the data unusable, NoCandidateError when
    every candidate fails on the first fold, KeyboardInterrupt with finished cells kept.
    """
    plan.check(task, resampling)
    crew = choose_pool(pool, limits, plan.candidates)
    work = RunContext(task, resampling, plan, measure, seed, limits, len(plan.candidates) <= ROWS_FOR_ALL, beside)
    work = replace(work, spare=frozenset() if spare is None else spare.serves(work))
    books = [RunIndex(work, journal, retry_failed, spare=spare)]
    try:
        with interruptible(), alarm(None if deadline is None else max(deadline - after_cells(task, RESERVE), deadline / 2)):
            if seconds is not None:
                _search_trials(books[0], crew, progress, seconds)
            elif race is None and deadline is not None and order is None:
                _spend(books[0], crew, progress, Budget(work, deadline, crew.jobs))
            elif race is None:
                _finish(books[0], crew, progress, order or tuple)
            else:
                _race(Racing(books[0], race, se_of), crew, progress)
            if not work.rows:
                books.append(RunIndex(replace(work, rows=True), journal, False, books[0].leading(ROWS_FOR_BEST)))
                _finish(books[1], crew, progress, order or tuple)
    except DeadlineExceeded:
        progress.say("the deadline came: candidates with unfinished folds are skipped")
    give_back()
    form_ensembles(books)
    return gather(books[0], books[-1], se_of)


def _finish(book: RunIndex, pool: Pool, progress: Progress, order: Order) -> None:
    """Compute what the journals do not know."""
    jobs = order(book.look_up())
    reporter = _Reporter(book, progress)
    with open_executor(pool, book.work, book.journal) as each:
        for done in _rescue(book, pool, each).done(jobs):
            book.add(done)
            reporter.report(done)
            _stop_if_hopeless(book, done)


def _spend(book: RunIndex, pool: Pool, progress: Progress, budget: Budget) -> None:
    """Batch after batch, as long as they can be finished in time; what cannot is not begun, and says so."""
    jobs: dict[int, list[CellJob]] = defaultdict(list)
    for job in book.look_up():
        jobs[job.cell.batch].append(job)
    reporter = _Reporter(book, progress)
    if jobs:
        _probe(book, pool, budget, progress)
    budget.finished = set(range(len(book.work.plan.batches))) - set(jobs)
    with open_executor(pool, book.work, book.journal) as each:
        rescue = _rescue(book, pool, each)
        for batch in budget.order():
            if batch in jobs and not budget.fits(batch):
                book.scores.not_begun |= dict.fromkeys(book.work.plan.batches[batch].members, budget.refusal(batch))
            elif batch in jobs:
                spent = []
                for done in rescue.done(jobs[batch]):
                    book.add(done)
                    reporter.report(done)
                    spent.append(done.result.seconds)
                budget.correct(batch, spent)
    if left := len(book.scores.not_begun):
        progress.say(f"deadline: {left} of {len(book.work.plan.candidates)} candidates were not begun: they would not end")


def _probe(book: RunIndex, pool: Pool, budget: Budget, progress: Progress) -> None:
    """Ask all batches on few rows, then on some more, and let the budget learn from it."""
    measured: list[Floats] = []
    shares: list[float] = []
    scores = np.empty(0)
    for place, sample in enumerate(samples(book.work)):
        if not budget.may_probe(place):
            break
        own = RunIndex(sample.work, book.journal, False)
        with open_executor(pool, sample.work, book.journal) as each:
            for done in _rescue(own, pool, each).done(own.look_up()):
                own.add(done)
        spent = own.seconds_spent()
        measured.append(spent)
        shares.append(sample.share)
        scores = own.scores.score[:, 0]
        rows = len(sample.work.task)
        progress.say(f"deadline: {len(spent)} batches were tried on {rows:,} rows to see what they cost")
    budget.learn(measured, shares, scores)


def _search_trials(book: RunIndex, pool: Pool, progress: Progress, seconds: float) -> None:
    """Perform trials in the order of their draws, some at a time, until the seconds are over; begun ones are finished.

    When it ends depends on the clock and not on a score, so that the best of those that were begun is corrected as ever.
    """
    plan, began = book.work.plan, time.monotonic()
    jobs: dict[int, list[CellJob]] = defaultdict(list)
    for job in book.look_up():
        jobs[job.cell.batch].append(job)
    reporter = _Reporter(book, progress)
    with open_executor(pool, book.work, book.journal) as each:
        rescue = _rescue(book, pool, each)
        for batches in waves(plan):
            some = sorted((job for batch in batches for job in jobs[batch]), key=lambda job: (job.cell.fold, job.cell.batch))
            if some and time.monotonic() - began > seconds:
                reason = f"not begun: search.seconds={seconds:g} were over"
                book.scores.not_begun |= {member: reason for batch in batches for member in plan.batches[batch].members}
                continue
            for done in rescue.done(some):
                book.add(done)
                reporter.report(done)
    if left := len(book.scores.not_begun):
        progress.say(f"search: {seconds:g} s were over before {left} of {len(plan.candidates)} candidates were begun")


def waves(plan: Plan) -> Sequence[Sequence[int]]:
    """Batches in the order of their first trials, some at a time; what was declared, and not drawn, comes before all."""
    first = {place: min(plan.candidates[member].trial for member in batch.members) for place, batch in enumerate(plan.batches)}
    declared, drawn = [place for place in first if not first[place]], sorted(filter(first.get, first), key=first.__getitem__)
    return [declared, *(drawn[start : start + WAVE] for start in range(0, len(drawn), WAVE))]


def _race(racing: Racing, pool: Pool, progress: Progress) -> None:
    """Perform round after round the cells that no journal has, for the candidates that may still win."""
    book, reporter = racing.book, None
    with open_executor(pool, book.work, book.journal) as each:
        rescue = _rescue(book, pool, each)
        for jobs in racing.rounds():
            reporter = reporter or _Reporter(book, progress)
            for done in rescue.done(jobs):
                book.add(done)
                reporter.report(done)
                _stop_if_hopeless(book, done)
    out, spared = len(book.scores.dropped), len(book.work.plan.cells) - book.asked
    progress.say(f"race: {out} candidates were dropped, {spared} of {len(book.work.plan.cells)} cells were not needed")


class _Reporter:
    """Tells the progress what happens, and looks only now and then at how the best candidate does."""

    def __init__(self, book: RunIndex, progress: Progress) -> None:
        """Tell how many cells there are, how many were found, and why others are computed."""
        self._book, self._progress = book, progress
        self._looked, self._left = 0.0, len(book.parts) - book.reused
        self._failed: set[int] = set()  # candidates that have failed on some fold
        cells = book.work.plan.cells
        progress.start(len(cells), len(book.work.plan.candidates))
        if book.reused:
            progress.say(f"{book.reused} of {len(cells)} cells were found in a journal")
            progress.advance(book.reused)
        if book.reused or set(book.why) != {NEW}:  # a first run needs no reasons
            for reason, count in book.why.most_common():
                progress.say(f"{count} to compute: {reason}")

    def report(self, done: CompletedJob) -> None:
        """Tell that a cell is finished, how many candidates failed in it, and now and then the best score."""
        best, scores, measure = None, self._book.scores, self._book.work.measure
        self._left -= 1
        if time.monotonic() - self._looked > LOOK_AGAIN or self._left <= 0:
            best, self._looked = scores.best(measure.higher_is_better), time.monotonic()
            best = sqrt(best) if best is not None and getattr(measure, "squared", False) else best
        fresh = {done.job.members[row] for row in np.flatnonzero(failing(done.result.status))} - self._failed
        self._failed |= fresh
        self._progress.advance(1, best, len(fresh))


def _rescue(book: RunIndex, pool: Pool, each: JobExecutor) -> CrashRecovery:
    """Worker processes of this machine leave marks in the journal's folder; of others only their reports are known."""
    if pool.kind != "processes":
        return CrashRecovery(book.work, book.journal, each, book.recover, None)
    folder = book.journal.folder
    return CrashRecovery(
        book.work, book.journal, each, book.recover, partial(start_times, folder), partial(last_reached, folder)
    )


def _stop_if_hopeless(book: RunIndex, done: CompletedJob) -> None:
    """Raise an error where every candidate failed on the first fold."""
    if done.job.cell.fold == 0 and book.scores.hopeless(0):
        _, reasons = book.scores.verdicts()
        found = [f"{reason} ({count} of {len(reasons)})" for reason, count in Counter(reasons).most_common(3)]
        what = "every candidate failed on the first fold: " + "; ".join(found)
        fix = "mend the cause, or declare candidates that can be fitted on these rows"
        raise NoCandidateError(Problem("MSEL-704", what, "space", fix))
