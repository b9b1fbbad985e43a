"""The book of a run: which candidates of which cell are answered, by which record of the journal, and with which scores.

What older journals know is copied in before the first cell; what is missing becomes the list of jobs, with the reason why.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from modelsel.core.errors import Problem, StoreError
from modelsel.core.types import (
    Booleans,
    Candidate,
    Floats,
    Fold,
    Integers,
    Status,
    round_to_scale,
)
from modelsel.measure.base import BaseMeasure
from modelsel.measure.beside import confusion_measures, of_matrices
from modelsel.planning.make import Cell
from modelsel.runner.evaluation.cell_result import (
    CODE,
    COLUMNS,
    MEASURED,
    NOTHING,
    OK,
    STATUSES,
    UNFINISHED,
    CellKey,
    CellResult,
    failing,
    numbers,
)
from modelsel.runner.evaluation.context import CellJob, RunContext
from modelsel.runner.execution.worker import CompletedJob
from modelsel.runner.journal import Journal, RecordLocation, record_of
from modelsel.runner.spare_scores import SpareScores


@dataclass(frozen=True, eq=False)
class IndexedResult:
    """A record that answers `members` of the plan for a cell; `rows` are their positions in the record."""

    place: RecordLocation
    rows: Integers
    members: Integers


class RunIndex:
    """Kept by the parent alone. `which` are the candidates (positions in the plan) that it is about; all unless said."""

    def __init__(
        self, work: RunContext, journal: Journal, retry_failed: bool = False, which: Sequence[int] | None = None,
        spare: SpareScores | None = None,
    ) -> None:  # fmt: skip
        """Begin with no cell answered."""
        self.work, self.journal = work, journal
        self.which = np.zeros(len(work.plan.candidates), bool)
        self.which[range(len(self.which)) if which is None else list(which)] = True
        self.scores = ScoreMatrix(len(work.plan.candidates), work.plan.folds, work.beside, work.task.class_count)
        self.parts: dict[Cell, list[IndexedResult]] = {cell: [] for cell in work.plan.cells}
        self.out = np.zeros(
            len(self.which), bool
        )  # candidates that left a race: nothing more is looked up or computed for them
        self.reused = 0  # cells that were answered without computing anything
        self.asked = 0  # cells that were looked up
        self.why: Counter[str] = Counter()  # reason -> cells that have to be computed
        self.of_others = tuple(at for at, candidate in enumerate(work.plan.candidates) if candidate.of_others)
        self.scores.of_others = self.of_others
        self.formed: dict[int, Candidate] = {}  # ensembles with their members
        self._made: list[tuple[Fold, int, CellResult]] = []  # and what they say
        self._retry, self._spare = retry_failed, spare or SpareScores()
        self._ids = numbers(work.plan.candidates)

    def look_up(self, cells: Sequence[Cell] | None = None) -> list[CellJob]:
        """Enter what the journals know of some cells (all unless said), and return what is missing."""
        asked = [
            cell for cell in (self.work.plan.cells if cells is None else cells) if not self.out[list(self._members(cell))].all()
        ]
        jobs = [job for cell in asked if (job := self._missing(cell)) is not None]
        self.asked += len(asked)
        self.reused += len(asked) - len(jobs)
        return jobs

    def add(self, done: CompletedJob) -> None:
        """Enter a finished job."""
        assert done.place is not None, "a job without a record"
        members = np.array(done.job.members)
        self.journal.note(self.work.key(done.job.cell), done.place)
        self._spare.keep(self.work.key(done.job.cell), done.result)
        self.parts[done.job.cell].append(IndexedResult(done.place, np.arange(len(members)), members))
        self.scores.add(done.job.cell.fold, members, done.result)

    def seconds_spent(self) -> Floats:
        """Seconds of each batch's cells that are on record, all folds together."""
        spent = np.zeros(len(self.work.plan.batches))
        for cell, parts in self.parts.items():
            found = (self.journal.load(part.place) for part in parts)
            spent[cell.batch] += sum(one.seconds for one in found if one is not None)
        return spent

    def form(self, position: int, ensemble: Candidate, said: Sequence[CellResult]) -> None:
        """Enter an ensemble, and what it says on each fold."""
        self.formed[position] = ensemble
        for fold, result in zip(self.work.resampling.folds, said, strict=True):
            self._made.append((fold, position, result))
            self.scores.add(fold.index, np.array([position]), self.work.with_scores(fold.index, result))

    def recover(self, job: CellJob) -> CompletedJob | None:
        """Return the completed job if its record was written before the worker died, else None."""
        self.journal.refresh()
        key, ids = self.work.key(job.cell), self._ids[list(job.members)]
        for place in reversed(self.journal.own_places(key)):
            result = self.journal.load(place)
            if result is not None and np.array_equal(result.ids, ids):
                return CompletedJob(job, self.work.with_scores(job.cell.fold, result), place)
        return None

    def records(self, which: Sequence[int] | Integers) -> Iterator[tuple[Fold, Integers, CellResult]]:
        """The results of some candidates, by cell in the order of folds. StoreError for a record that has gone bad."""
        wanted = np.zeros(len(self.work.plan.candidates), bool)
        wanted[list(which)] = True
        for cell, parts in self.parts.items():
            for part in parts:
                if (take := np.flatnonzero(wanted[part.members])).size:
                    result = self.journal.load(part.place)
                    if result is None:
                        raise StoreError(Problem("MSEL-602", "a record of this run can no longer be read", part.place.path,
                                                 "check the disk, then run the same command again"))  # fmt: skip
                    yield self.work.resampling.folds[cell.fold], part.members[take], result.take(part.rows[take])
        yield from ((fold, np.array([position]), result) for fold, position, result in self._made if wanted[position])

    def afresh(self, which: Sequence[int]) -> Iterator[tuple[Fold, Integers, CellResult]]:
        """The results of candidates that the book is not about, computed here and now."""
        for member in (member for member in which if not self.which[member]):
            batch = next(number for number, batch in enumerate(self.work.plan.batches) if member in batch.members)
            for number, fold in enumerate(self.work.resampling.folds):
                yield fold, np.array([member]), self.work.evaluate(CellJob(Cell(number, batch), (member,)))

    def leading(self, most: int) -> list[int]:
        """The best eligible candidates, and the best of every space entry: those whose rows are worth keeping."""
        scores, sign = self.scores, -1.0 if self.work.measure.higher_is_better else 1.0
        cost = np.where(scores.eligible, round_to_scale(sign * scores.mean("score"), self.work.scale), np.inf)
        order = np.lexsort((scores.mean("complexity"), cost))[: int(scores.eligible.sum())]
        first: dict[str, int] = {}
        for position in order:
            first.setdefault(self.work.plan.candidates[position].entry, int(position))
        return sorted({*map(int, order[:most]), *first.values()})

    def _members(self, cell: Cell) -> tuple[int, ...]:
        return self.work.plan.batches[cell.batch].members

    def _missing(self, cell: Cell) -> CellJob | None:
        """Look a cell up in the journals; return the job for what is missing, None where nothing is."""
        key, members = self.work.key(cell), np.array(self._members(cell))
        open_ = members[self.which[members] & ~self.out[members]]
        wanted, lacking, read = len(open_), "", False
        for place, own in self.journal.records_of(key):
            if not len(open_):
                break
            result = self.journal.load(place)
            if result is not None and self.work.needs_scores and result.scores is None:
                place, result = self._complete(key, result, open_) or (place, result)
            if result is None or (lacking := self.work.lacking(result)):
                continue
            rows, taken = self._usable(result, open_)
            read = True
            mine = place if own or not len(taken) else self.journal.adopt(key, place)
            if mine is not None and len(taken):
                self._enter(cell, IndexedResult(mine, rows, open_[taken]), result)
                open_ = np.delete(open_, taken)
        if not len(open_):
            return None
        partial = f"{wanted - len(open_)} of {wanted} candidates were known" if read else ""
        self.why[partial or lacking or self.journal.why(key)] += 1
        return CellJob(cell, tuple(int(member) for member in open_))

    def _complete(self, key: CellKey, result: CellResult, open_: Integers) -> tuple[RecordLocation, CellResult] | None:
        """Write down what a record and the class scores that were kept say of the open members, as a fit of theirs would be."""
        found = self._spare.complete(key, result) if result.has_rows else None
        if found is None or not len(rows := found.find(self._ids[open_])[0]):
            return None
        whole = found.take(rows)
        place = self.journal.own.append(*record_of(key, whole))
        self.journal.note(key, place)
        return place, whole

    def _enter(self, cell: Cell, part: IndexedResult, result: CellResult) -> None:
        self.parts[cell].append(part)
        self.scores.add(cell.fold, part.members, self.work.with_scores(cell.fold, result.take(part.rows)))

    def _usable(self, result: CellResult, open_: Integers) -> tuple[Integers, Integers]:
        """Rows of the record, and positions among the open members, that it answers (failures only if they are not retried)."""
        rows, taken = result.find(self._ids[open_])
        good = (result.status[rows] == OK) | (not self._retry)
        return rows[good], taken[good]


# Scores: every column of the cells' results, as candidates × folds.
#
# A cell that has not answered is `UNFINISHED`. Partial folds are never averaged: only a candidate that is ok on all folds is
# eligible, and its mean is the unweighted mean of its fold scores.


NOT_DONE = "not every fold was finished"


@dataclass(frozen=True)
class FitWarning:
    """A warning of a learner: in how many folds, and the first candidate (position in the plan) whose batch it stood in."""

    text: str
    folds: int
    candidate: int


class ScoreMatrix:
    """Filled in as cells finish, in any order: the numbers do not depend on it. `columns` are those of `CellResult`."""

    def __init__(self, candidates: int, folds: int, beside: Mapping[str, BaseMeasure] = NOTHING, classes: int = 0) -> None:
        """Begin with no score."""
        shape = candidates, folds
        self._later = confusion_measures(beside, classes)
        self._order = tuple(beside)
        self._beside = {name: np.full(shape, np.nan) for name in beside if name not in self._later}  # other measures
        self._matrices = np.full((*shape, classes, classes), np.nan) if self._later else None
        self.status = np.full(shape, UNFINISHED, np.int8)
        self.columns = {name: np.full(shape, np.nan) for name in COLUMNS}
        self.score = self.columns["score"]
        self.dropped: dict[int, str] = {}  # candidates that left a race, and when
        self.not_begun: dict[int, str] = {}  # candidates that nobody asked for, and why
        self.of_others: tuple[int, ...] = ()  # candidates that no cell computes
        self._reasons: dict[tuple[int, int], str] = {}
        self._tracebacks: dict[int, str] = {}  # first failure per fold
        self._warned: dict[str, tuple[set[int], set[int]]] = {}  # folds and candidates of each warning

    def add(self, fold: int, members: NDArray[np.int64], result: CellResult) -> None:
        """Enter the scored result of some candidates (positions in the plan) on a fold."""
        self.status[members, fold] = result.status
        for name, column in self.columns.items():
            column[members, fold] = getattr(result, name)
        if result.beside is not None:
            for place, own in enumerate(self._beside.values()):
                own[members, fold] = result.beside[:, place]
        if result.matrices is not None and self._matrices is not None:
            self._matrices[members, fold] = result.matrices
        self._reasons |= {(int(members[position]), fold): text for position, text in result.reasons.items()}
        for text in result.warnings:
            folds, warned = self._warned.setdefault(text, (set(), set()))
            folds.add(fold)
            warned.update(members.tolist())
        if result.traceback:
            self._tracebacks.setdefault(fold, result.traceback)

    @cached_property
    def beside(self) -> dict[str, Floats]:
        """Other measures, candidates × folds by name; asked for when all cells have been entered."""
        found = {**self._beside, **({} if self._matrices is None else of_matrices(self._later, self._matrices))}
        return {name: found[name] for name in self._order}

    @property
    def eligible(self) -> Booleans:
        """A mask of the candidates that are ok on all folds."""
        return np.asarray((self.status == OK).all(axis=1))

    def hopeless(self, fold: int) -> bool:
        """True when all candidates have answered on a fold, and every one of them failed."""
        status = np.delete(self.status[:, fold], self.of_others)
        return bool((status > OK).all() and (status != CODE["skipped"]).any())

    def best(self, higher_is_better: bool) -> float | None:
        """Best mean so far among candidates that finished all folds."""
        done = self.score[self.eligible]
        if not len(done):
            return None
        means = done.mean(axis=1)
        return float(means.max() if higher_is_better else means.min())

    def verdicts(self) -> tuple[tuple[Status, ...], tuple[str, ...]]:
        """Status and reason per candidate: those of the first fold that failed, before those of a fold that was skipped."""
        found = [("ok", "") if ok else self._verdict(member) for member, ok in enumerate(self.eligible)]
        return tuple(status for status, _ in found), tuple(reason for _, reason in found)  # type: ignore[misc]

    def _verdict(self, member: int) -> tuple[Status, str]:
        """Say how a candidate without a valid score ended, and why."""
        if member in self.dropped:
            return "dropped", self.dropped[member]
        statuses = self.status[member]
        failed = np.flatnonzero(failing(statuses))
        where = failed if len(failed) else np.flatnonzero(statuses == CODE["skipped"])
        if not len(where):
            return "skipped", self.not_begun.get(member, NOT_DONE)
        fold = int(where[0])
        reason = self._reasons.get((member, fold), "")
        return STATUSES[statuses[fold]], f"{reason} (fold {fold})"

    def tracebacks(self) -> tuple[str, ...]:
        """Distinct tracebacks of first failures, in the order of folds."""
        return tuple(dict.fromkeys(self._tracebacks[fold] for fold in sorted(self._tracebacks)))

    def fit_warnings(self) -> tuple[FitWarning, ...]:
        """List the warnings of learners, by their text."""
        return tuple(FitWarning(text, len(folds), min(members)) for text, (folds, members) in sorted(self._warned.items()))

    def mean(self, name: str) -> Floats:
        """Mean over folds of a column, NaN where a fold is missing."""
        return np.asarray(self.columns[name].mean(axis=1))

    def means(self) -> dict[str, Floats]:
        """Mean over folds of what was measured beside the score."""
        return {name: self.mean(name) for name in MEASURED}
