"""A cell: the candidates of one batch on one fold, as a pure function of task, rows, candidates and seed.

    generator of the fit = f(study seed, digest of the analysis rows, digest of the growing specification)

so that a candidate draws the same numbers alone, in a batch, in a larger space and in a replay. A failure is a record: of all
where the preparation fails that all share, of one where only its own selection of features does or it cannot say whether it
fits these rows; when the fit of a batch fails, or its answers, it is halved until the guilty candidate stands alone.
"""

import errno
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from time import perf_counter
from typing import cast

import numpy as np

from modelsel.core.errors import DataError, original_error
from modelsel.core.fingerprint import generator
from modelsel.core.lru_cache import LRUCache
from modelsel.core.system.interrupts import Interrupted
from modelsel.core.types import Candidate, Fold, Integers, Task
from modelsel.distance.search import share_searches
from modelsel.foreign.asking import share_fitted_steps
from modelsel.kernels.stop import Stopped
from modelsel.learner.base import Path, SubsetPath
from modelsel.planning.make import preparation
from modelsel.preparer.base import BasePreparer
from modelsel.runner.evaluation.cell_result import CellResult, CellResultBuilder
from modelsel.runner.evaluation.heard import collect_warnings
from modelsel.runner.evaluation.limits import DeadlineExceeded, no_limits
from modelsel.runner.evaluation.preprocessing import columns_left, prepare, rows_digest

CHUNK = 1 << 26  # bytes of class scores asked for at a time: the grid is fixed, whatever the machine
SEEN: LRUCache[str] = LRUCache(1024)  # digests of the analysis rows of folds
Limited = Callable[[], AbstractContextManager[None]]
Reached = Callable[[int], None]  # told the place of a candidate before it answers


def evaluate(
    task: Task,
    fold: Fold,
    candidates: Sequence[Candidate],
    growing: str,
    seed: int,
    scores: bool,
    limited: Limited = no_limits,
    reached: Reached | None = None,
    spare: bool = False,
) -> CellResult:
    """Compute every candidate's answers for the fold's assessment rows. Raises nothing for a candidate's sake.

    With `spare` class scores that no measure reads are kept beside the answers. With `reached` candidates answer one by one, so
    that somebody knows whose answer took the process along.
    Raises DataError, OSError for a full disk, Stopped, and Interrupted: they end the study.
    """
    with collect_warnings() as warned:
        result = _evaluate(task, fold, candidates, (growing, seed), (scores, spare), limited, reached)
    return result.with_warnings(warned)


def _evaluate(
    task: Task, fold: Fold, candidates: Sequence[Candidate], identity: tuple[str, int], scores: tuple[bool, bool],
    limited: Limited, reached: Reached | None,
) -> CellResult:  # fmt: skip
    """Set up the batch and let each candidate answer; what fails becomes a status."""
    start = perf_counter()
    (growing, seed), rows = identity, _check_rows(task, fold)
    builder = CellResultBuilder(candidates, len(fold.assessment), task.class_count, *scores)
    everyone = tuple(range(len(candidates)))
    try:
        with limited():
            bench = PreparedBatch.set_up(task, fold, candidates, (seed, rows, growing))
    except BaseException as problem:
        builder.fail(everyone, unless_final(problem))
    else:
        invited = tuple(member for member in everyone if _can_be_fitted(builder, bench, member, limited))
        with share_searches(), share_fitted_steps():
            _fill(builder, bench, invited, limited, reached)
    return builder.result(perf_counter() - start)


@dataclass(frozen=True, eq=False)
class PreparedBatch:
    """The data that a batch is fitted on: the prepared task, and per selection of features its columns and its task.

    A selection that failed stands there as its failure, so that it is tried once.
    """

    raw: Task
    task: Task
    fold: Fold
    candidates: Sequence[Candidate]
    selected: dict[tuple[BasePreparer, ...], tuple[Integers | None, Task] | BaseException]
    identity: tuple[int, str, str]  # what the fit's generator is derived from

    @classmethod
    def set_up(cls, task: Task, fold: Fold, candidates: Sequence[Candidate], identity: tuple[int, str, str]) -> "PreparedBatch":
        common = preparation(candidates[0])
        _, ready = prepare(common, task, fold.analysis, identity[0])
        return cls(task, ready, fold, candidates, {common: (None, ready)}, identity)

    def after_steps(self, steps: tuple[BasePreparer, ...]) -> tuple[Integers | None, Task]:
        """Columns (None: all) and task that a candidate's steps leave. Raises what they raise."""
        if steps not in self.selected:
            try:
                fitted, left = prepare(steps, self.raw, self.fold.analysis, self.identity[0])
                self.selected[steps] = columns_left(fitted[len(preparation(self.candidates[0])) :]), left
            except BaseException as problem:
                self.selected[steps] = problem
        found = self.selected[steps]
        if isinstance(found, BaseException):
            raise found
        return found

    def path(self, members: Sequence[int]) -> Path:
        """One fit for all members. Every fit of the batch begins with the same generator."""
        learner = self.candidates[members[0]].learner
        path: Path = learner.fit_path(self.task, self.fold.analysis, generator(*self.identity))
        return path.out_of_bag_path() if self.fold.judges_itself and hasattr(path, "out_of_bag_path") else path

    def paths_for(self, path: Path, members: Sequence[int]) -> Iterator[tuple[Path, tuple[int, ...]]]:
        """The path as each selection of features sees it, with the members that made this selection."""
        for steps in self.selected:
            own = tuple(member for member in members if self.candidates[member].preparers == steps)
            if own:
                columns, _ = self.after_steps(steps)
                yield path if columns is None else cast(SubsetPath, path).subset(columns), own


def _can_be_fitted(builder: CellResultBuilder, bench: PreparedBatch, member: int, limited: Limited) -> bool:
    """Say whether a candidate can be fitted on just these rows; otherwise mark it as skipped, or as failed."""
    candidate = bench.candidates[member]
    try:
        with limited():
            reason = candidate.learner.refusal(bench.after_steps(candidate.preparers)[1], bench.fold.analysis)
            if bench.fold.judges_itself and not unseen(candidate):
                reason = "it has seen every row that it would be judged on (scheme=out_of_bag)"
    except BaseException as problem:
        builder.fail((member,), unless_final(problem))
        return False
    if reason is not None:
        builder.mark(member, "skipped", reason)
    return reason is None


def _fill(
    builder: CellResultBuilder, bench: PreparedBatch, members: tuple[int, ...], limited: Limited, reached: Reached | None
) -> None:
    """Answer for the members with one fit; where that fails, with one fit for each half of them."""
    if not members:
        return
    try:
        with limited():
            for path, own in bench.paths_for(bench.path(members), members):
                for chunk in _chunks(own, CHUNK if reached else builder.bytes_each):
                    if reached:
                        reached(chunk[0])
                    builder.write(chunk, path, bench.task, bench.fold.assessment)
    except BaseException as problem:
        problem = unless_final(problem)
        if len(members) == 1:
            builder.fail(members, problem)
            return
        middle = len(members) // 2
        for half in (members[:middle], members[middle:]):
            _fill(builder, bench, half, limited, reached)


def unseen(candidate: Candidate) -> bool:
    """Say whether rows can be judged by a fit on themselves: out of bag, or by a learner that looks at no feature."""
    learner = candidate.learner
    return getattr(learner, "looks_at_nothing", False) or (
        not candidate.preparers and not getattr(learner, "in_every_bag", True)
    )


def _check_rows(task: Task, fold: Fold) -> str:
    """Digest of the analysis rows, none of which is an assessment row: looked at once per fold."""

    def look() -> str:
        assert fold.judges_itself or not _in_both(fold, len(task)), "a row stands in both halves of a fold"
        return rows_digest(task, fold.analysis)

    return SEEN.get((task.fingerprint, fold.fingerprint), look)


def _in_both(fold: Fold, rows: int) -> bool:
    assessed = np.zeros(rows, bool)
    assessed[fold.assessment] = True
    return bool(assessed[fold.analysis].any())


def _chunks(members: Sequence[int], bytes_each: int) -> Iterator[Sequence[int]]:
    size = max(1, CHUNK // bytes_each)
    return (members[start : start + size] for start in range(0, len(members), size))


def unless_final(problem: BaseException) -> BaseException:
    """Return an error that is the candidate's own, and raise any other.

    Interrupts, a requested stop, data errors and a full disk end the study. A KeyboardInterrupt that nobody sent is the
    candidate's own.
    """
    problem = original_error(problem)
    full = isinstance(problem, OSError) and problem.errno in (errno.ENOSPC, errno.EDQUOT)
    if full or isinstance(problem, Interrupted | DataError | Stopped | DeadlineExceeded):
        raise problem
    return problem
