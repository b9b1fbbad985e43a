"""The book of a run: which candidates of which cell are answered, and by which record of the journal.

What older journals know is copied in before the first cell; what is missing becomes the list of jobs, with the reason why.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from modelsel.core.errors import Problem, StoreError
from modelsel.core.types import Fold, Integers
from modelsel.plan.make import Cell
from modelsel.runner.answers import OK, Answers, numbers
from modelsel.runner.desk import Done
from modelsel.runner.journal import Journal
from modelsel.runner.segment import Place
from modelsel.runner.tally import Tally, positions_of
from modelsel.runner.work import Job, Work


@dataclass(frozen=True, eq=False)
class Part:
    """A record that answers `members` of the plan for a cell; `rows` are their positions in the record."""

    place: Place
    rows: Integers
    members: Integers


class Book:
    """Kept by the parent alone."""

    def __init__(self, work: Work, journal: Journal, retry_failed: bool = False) -> None:
        self.work, self.journal = work, journal
        self.tally = Tally(len(work.plan.candidates), work.plan.folds)
        self.parts: dict[Cell, list[Part]] = {cell: [] for cell in work.plan.cells}
        self.reused = 0  # cells that were answered without computing anything
        self.why: Counter[str] = Counter()  # reason -> cells that have to be computed
        self._retry = retry_failed
        self._ids = numbers(work.plan.candidates)

    def look_up(self) -> list[Job]:
        """Enter what the journals know, and return what is missing."""
        jobs = [job for cell in self.work.plan.cells if (job := self._missing(cell)) is not None]
        self.reused = len(self.parts) - len(jobs)
        return jobs

    def add(self, done: Done) -> None:
        """Enter a finished job."""
        assert done.place is not None, "a record that nobody has written"
        members = np.array(done.job.members)
        self.parts[done.job.cell].append(Part(done.place, np.arange(len(members)), members))
        self.tally.add(done.job.cell.fold, members, done.summary)

    def recovered(self, job: Job) -> Done | None:
        """A job whose record was written although the worker died before it could say so."""
        self.journal.refresh()
        key, ids = self.work.key(job.cell), self._ids[list(job.members)]
        for place in reversed(self.journal.own_places(key)):
            answers = self.journal.load(place)
            if answers is not None and np.array_equal(answers.ids, ids):
                return Done(job, self.work.summary(job.cell.fold, answers), place)
        return None

    def records(self, which: Sequence[int]) -> Iterator[tuple[Fold, Integers, Answers]]:
        """The answers of some candidates, by cell in the order of folds. StoreError for a record that has gone bad."""
        wanted = np.zeros(len(self.work.plan.candidates), bool)
        wanted[list(which)] = True
        for cell, parts in self.parts.items():
            for part in parts:
                if (take := np.flatnonzero(wanted[part.members])).size:
                    answers = self.journal.load(part.place)
                    if answers is None:
                        raise StoreError(Problem("MSEL-602", "a record of this run can no longer be read", part.place.path,
                                                 "check the disk, then run the same command again"))  # fmt: skip
                    yield self.work.resampling.folds[cell.fold], part.members[take], chosen(answers, part.rows[take])

    def _missing(self, cell: Cell) -> Job | None:
        key, open_ = self.work.key(cell), np.array(self.work.plan.batches[cell.batch].members)
        wanted = len(open_)
        lacking = ""
        for place in reversed(self.journal.own_places(key)):
            open_, lacking = self._use(cell, place, open_, lacking)
        for place in self.journal.older_places(key) if len(open_) else ():
            answers = self.journal.load(place)
            if answers is not None and len(self._usable(answers, open_)[1]) and (mine := self.journal.adopt(key, place)):
                open_, lacking = self._use(cell, mine, open_, lacking)
        if not len(open_):
            return None
        partial = f"{wanted - len(open_)} of {wanted} candidates were known" if len(open_) < wanted else ""
        self.why[partial or lacking or self.journal.why(key)] += 1
        return Job(cell, tuple(int(member) for member in open_))

    def _use(self, cell: Cell, place: Place, open_: Integers, lacking: str) -> tuple[Integers, str]:
        """Enter what a record says about the open members; those that stay open, and why the record did not serve."""
        answers = self.journal.load(place)
        if answers is None:
            return open_, lacking
        if self.work.measure.needs_scores and answers.scores is None:
            return open_, "the measure reads class scores, which were not kept"
        rows, taken = self._usable(answers, open_)
        if len(taken):
            part = Part(place, rows, open_[taken])
            self.parts[cell].append(part)
            answers = chosen(answers, rows)
            self.tally.add(cell.fold, part.members, self.work.summary(cell.fold, answers))
        return np.delete(open_, taken), lacking

    def _usable(self, answers: Answers, open_: Integers) -> tuple[Integers, Integers]:
        """Rows of the record, and positions among the open members, that it answers (failures only if they are not retried)."""
        rows, taken = positions_of(answers.ids, self._ids[open_])
        good = (answers.status[rows] == OK) | (not self._retry)
        return rows[good], taken[good]


def chosen(answers: Answers, rows: NDArray[np.int64]) -> Answers:
    """The answers for some candidates of a record, in the order of `rows`."""
    if np.array_equal(rows, np.arange(len(answers))):
        return answers
    at = {int(row): position for position, row in enumerate(rows)}
    return replace(
        answers,
        ids=answers.ids[rows],
        status=answers.status[rows],
        predicted=answers.predicted[rows],
        scores=None if answers.scores is None else answers.scores[rows],
        complexity=answers.complexity[rows],
        training_error=answers.training_error[rows],
        reasons={at[row]: reason for row, reason in answers.reasons.items() if row in at},
    )
