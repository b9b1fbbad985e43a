"""Get all jobs done although workers die: bisect a crashed batch, and exclude only the candidate that crashes it.

When a worker is killed, a pool loses everything unfinished. What had started and not finished is suspect. A suspect that
dies alone was asked candidate by candidate, and the one that it had reached is guilty; where no mark tells (the fit itself
kills, workers of another machine), it is halved until the guilty candidate stands alone. That one is `crashed` (or `timeout`,
when it had used up its seconds), and is not tried on other folds, where it could only kill again.
"""

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field, replace

from modelsel.core.types import Status
from modelsel.runner.evaluation.cell_result import CellResult
from modelsel.runner.evaluation.context import CellJob, RunContext
from modelsel.runner.execution.executors import JobExecutor
from modelsel.runner.execution.worker import CompletedJob, WorkerDied, job_name
from modelsel.runner.journal import Journal, record_of

Started = Callable[[], dict[str, float]]  # job name -> when it began, of jobs that this pool's workers began
Reached = Callable[[str], int | None]  # job name -> the candidate that it had come to


@dataclass
class CrashRecovery:
    """Do the jobs of one run on one pool, and keep account of the candidates that kill their workers."""

    work: RunContext
    journal: Journal
    each: JobExecutor
    recover: Callable[[CellJob], CompletedJob | None]  # a record that was written although its report was lost
    started: Started | None  # None: unknown, and whatever was on its way is suspect
    reached: Reached = lambda _job: None  # where the workers' marks cannot be read
    condemned: dict[int, str] = field(default_factory=dict)  # candidate -> why it is not tried again
    since: float = field(default_factory=time.monotonic)  # marks of before are those of an earlier run

    def done(self, jobs: Sequence[CellJob]) -> Iterator[CompletedJob]:
        """Yield every job once it is done, in any order."""
        waiting = {job_name(job): job for job in jobs}
        if self.condemned:  # in an earlier round
            yield from self._without_condemned(waiting)
        while waiting:
            sent: list[str] = []
            try:
                for result in self.each(self._send(tuple(waiting.values()), sent)):
                    del waiting[job_name(result.job)]
                    yield result
            except WorkerDied:
                yield from self._after_death(waiting, sent)

    def _send(self, jobs: Sequence[CellJob], names: list[str]) -> Iterator[CellJob]:
        for job in jobs:
            names.append(job_name(job))
            yield job

    def _after_death(self, waiting: dict[str, CellJob], sent: Sequence[str]) -> Iterator[CompletedJob]:
        """Settle the jobs that the dead worker may have been busy with; the others stay in `waiting`."""
        for name in [name for name in sent if name in waiting]:
            if (found := self.recover(waiting[name])) is not None:
                del waiting[name]
                yield found
        began = self.started() if self.started is not None else dict.fromkeys(sent, time.monotonic())
        for name in [name for name in began if name in waiting]:
            job = waiting.pop(name)
            suspect = yield from self._without_excluded(job)
            if suspect is job:
                yield from self._run_alone(suspect, began[name] >= self.since and self.work.limits.has_outlasted(began[name]))
            elif suspect is not None:  # whoever was condemned explains it
                waiting[job_name(suspect)] = suspect
        yield from self._without_condemned(waiting)

    def _without_condemned(self, waiting: dict[str, CellJob]) -> Iterator[CompletedJob]:
        """Yield a result for each candidate already known to crash, and keep the rest of its job waiting."""
        for name in list(waiting):
            kept = yield from self._without_excluded(waiting.pop(name))
            if kept is not None:
                waiting[job_name(kept)] = kept

    def _without_excluded(self, job: CellJob) -> Generator[CompletedJob, None, CellJob | None]:
        """Return the job without candidates excluded on another fold, which are skipped; None where all are."""
        for member in job.members:
            if member in self.condemned:
                yield self._record_failure(replace(job, members=(member,)), "skipped", self.condemned[member])
        kept = tuple(member for member in job.members if member not in self.condemned)
        if kept == job.members:
            return job
        return replace(job, members=kept) if kept else None

    def _run_alone(self, job: CellJob, overdue: bool) -> Iterator[CompletedJob]:
        """Run a suspect batch by itself; where its worker dies, exclude the candidate reached, or halve the batch."""
        careful = replace(job, one_by_one=len(job.members) > 1)
        if not (overdue and len(job.members) == 1):
            sent = time.monotonic()
            try:
                yield from self.each((careful,), at_once=1)
                return
            except WorkerDied:
                overdue = self._overdue(job_name(careful), sent)
        if len(job.members) == 1:
            yield self._condemn(job, overdue)
            return
        guilty = None if overdue else self.reached(job_name(careful))
        if guilty in job.members:
            yield self._condemn(replace(job, members=(guilty,)), False)
            yield from self._run_alone(replace(job, members=tuple(member for member in job.members if member != guilty)), False)
            return
        middle = len(job.members) // 2
        for half in (job.members[:middle], job.members[middle:]):
            yield from self._run_alone(replace(job, members=half), False)

    def _condemn(self, job: CellJob, overdue: bool) -> CompletedJob:
        """Exclude the only candidate of a job, and record that it crashed or took too long."""
        status: Status = "timeout" if overdue else "crashed"
        reason = f"more than {self.work.limits.seconds:g} s" if overdue else "it killed its worker twice"
        self.condemned[job.members[0]] = f"{reason} on fold {job.cell.fold}"
        return self._record_failure(job, status, reason)

    def _record_failure(self, job: CellJob, status: Status, reason: str) -> CompletedJob:
        """Record the failure of a job's candidates."""
        rows = len(self.work.resampling.folds[job.cell.fold].assessment)
        result = CellResult.of_failure(self.work.candidates(job), status, reason, rows)
        place = self.journal.own.append(*record_of(self.work.key(job.cell), result))
        return CompletedJob(job, self.work.with_scores(job.cell.fold, result), place)

    def _overdue(self, name: str, sent: float) -> bool:
        """Say whether a job that was sent then had used up its seconds; a worker's start is no part of them."""
        began = sent if self.started is None else self.started().get(name, -1.0)  # −1: no worker came to it
        return began >= sent and self.work.limits.has_outlasted(began)
