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
from modelsel.planning.make import Cell
from modelsel.runner.answers import OK, Answers, numbers
from modelsel.runner.desk import Done
from modelsel.runner.journal import Journal
from modelsel.runner.record import Place
from modelsel.runner.tally import Tally, positions_of
from modelsel.runner.work import Job, Work


@dataclass(frozen=True, eq=False)
class Part:
    """A record that answers `members` of the plan for a cell; `rows` are their positions in the record."""

    place: Place
    rows: Integers
    members: Integers


class Book:
    """Kept by the parent alone. `which` are the candidates (positions in the plan) that it is about; all unless said."""

    def __init__(self, work: Work, journal: Journal, retry_failed: bool = False, which: Sequence[int] | None = None) -> None:
        self.work, self.journal = work, journal
        self.which = np.zeros(len(work.plan.candidates), bool)
        self.which[range(len(self.which)) if which is None else list(which)] = True
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
        self.journal.note(self.work.key(done.job.cell), done.place)
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

    def records(self, which: Sequence[int] | Integers) -> Iterator[tuple[Fold, Integers, Answers]]:
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

    def afresh(self, which: Sequence[int]) -> Iterator[tuple[Fold, Integers, Answers]]:
        """The answers of candidates that the book is not about, computed here and now."""
        for member in (member for member in which if not self.which[member]):
            batch = next(number for number, batch in enumerate(self.work.plan.batches) if member in batch.members)
            for number, fold in enumerate(self.work.resampling.folds):
                yield fold, np.array([member]), self.work.answers(Job(Cell(number, batch), (member,)))

    def leading(self, most: int) -> list[int]:
        """The best eligible candidates, and the best of every space entry: those whose rows are worth keeping."""
        tally, sign = self.tally, -1.0 if self.work.measure.higher_is_better else 1.0
        cost = np.where(tally.eligible, np.round(sign * tally.mean(tally.score), 12), np.inf)
        order = np.lexsort((tally.mean(tally.complexity), cost))[: int(tally.eligible.sum())]
        first: dict[str, int] = {}
        for position in order:
            first.setdefault(self.work.plan.candidates[position].entry, int(position))
        return sorted({*map(int, order[:most]), *first.values()})

    def _missing(self, cell: Cell) -> Job | None:
        key, members = self.work.key(cell), np.array(self.work.plan.batches[cell.batch].members)
        open_ = members[self.which[members]]
        wanted, lacking = len(open_), ""
        for place, own in self.journal.known(key):
            if not len(open_):
                break
            answers = self.journal.load(place)
            if answers is None or (lacking := self.work.lacking(answers)):
                continue
            rows, taken = self._usable(answers, open_)
            mine = place if own or not len(taken) else self.journal.adopt(key, place)
            if mine is not None and len(taken):
                self._enter(cell, Part(mine, rows, open_[taken]), answers)
                open_ = np.delete(open_, taken)
        if not len(open_):
            return None
        partial = f"{wanted - len(open_)} of {wanted} candidates were known" if len(open_) < wanted else ""
        self.why[partial or lacking or self.journal.why(key)] += 1
        return Job(cell, tuple(int(member) for member in open_))

    def _enter(self, cell: Cell, part: Part, answers: Answers) -> None:
        self.parts[cell].append(part)
        self.tally.add(cell.fold, part.members, self.work.summary(cell.fold, chosen(answers, part.rows)))

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
        held_back=answers.held_back[rows],
        score=None if answers.score is None else answers.score[rows],
        reasons={at[row]: reason for row, reason in answers.reasons.items() if row in at},
    )
