"""A cell: the candidates of one batch on one fold, as a pure function of task, rows, candidates and seed.

    generator of the fit = f(study seed, digest of the analysis rows, digest of the growing specification)

so that a candidate draws the same numbers alone, in a batch, in a larger space and in a replay. A failure is a record: when
a batch fails it is halved until the guilty candidate stands alone.
"""

import errno
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from time import perf_counter
from typing import Any

import numpy as np

from modelsel.core.errors import DataError
from modelsel.core.fingerprint import generator
from modelsel.core.protocols import Path
from modelsel.core.types import Candidate, Fold, Integers, Outputs, Status, Task
from modelsel.kernels.stop import Stopped
from modelsel.runner.answers import CODE, OK, Answers, numbers
from modelsel.runner.limits import Late, Overtime, unlimited
from modelsel.runner.prepared import prepare, rows_digest

CHUNK = 1 << 26  # bytes of class scores asked for at a time: the grid is fixed, whatever the machine
Limited = Callable[[], AbstractContextManager[None]]


def answer(
    task: Task,
    fold: Fold,
    candidates: Sequence[Candidate],
    growing: str,
    seed: int,
    scores: bool,
    limited: Limited = unlimited,
) -> Answers:
    """What every candidate of the batch says about the fold's assessment rows. Raises nothing for a candidate's sake.

    Raises DataError, OSError for a full disk, and KeyboardInterrupt: they end the study.
    """
    assert not np.isin(fold.analysis, fold.assessment).any(), "a row stands in both halves of a fold"
    sheet = _Sheet(task, fold, candidates, scores)
    start = perf_counter()
    everyone = tuple(range(len(candidates)))
    rng = lambda: generator(seed, rows_digest(task, fold.analysis), growing)  # noqa: E731
    try:
        with limited():
            _, ready = prepare(candidates[0].preparers, task, fold.analysis, seed)
            invited = _invited(sheet, ready, fold, everyone)
    except BaseException as problem:
        _raise_if_final(problem)
        sheet.fail(everyone, problem)
    else:
        _fill(sheet, ready, fold, invited, rng, limited)
    return sheet.answers(perf_counter() - start)


def _invited(sheet: "_Sheet", task: Task, fold: Fold, members: Sequence[int]) -> tuple[int, ...]:
    """Those that can be fitted on just these rows; the others are skipped, with their reason."""
    reasons = {member: sheet.learners[member].refusal(task, fold.analysis) for member in members}
    for member, reason in reasons.items():
        if reason is not None:
            sheet.mark(member, "skipped", reason)
    return tuple(member for member, reason in reasons.items() if reason is None)


def _fill(
    sheet: "_Sheet", task: Task, fold: Fold, members: tuple[int, ...], rng: Callable[[], np.random.Generator], limited: Limited
) -> None:
    """Answer for the members with one fit; where that fails, with one fit for each half of them."""
    if not members:
        return
    try:
        with limited():
            path = sheet.learners[members[0]].fit_path(task, fold.analysis, rng())
            for chunk in _chunks(members, sheet.bytes_each):
                sheet.write(chunk, path, task, fold.assessment)
    except BaseException as problem:
        _raise_if_final(problem)
        if len(members) == 1:
            sheet.fail(members, problem)
            return
        middle = len(members) // 2
        for half in (members[:middle], members[middle:]):
            _fill(sheet, task, fold, half, rng, limited)


def _chunks(members: Sequence[int], bytes_each: int) -> Iterator[Sequence[int]]:
    size = max(1, CHUNK // bytes_each)
    return (members[start : start + size] for start in range(0, len(members), size))


def _raise_if_final(problem: BaseException) -> None:
    """Interrupts, a requested stop, data errors and a full disk are not the candidate's."""
    full = isinstance(problem, OSError) and problem.errno in (errno.ENOSPC, errno.EDQUOT)
    if full or isinstance(problem, KeyboardInterrupt | DataError | Stopped | Late):
        raise problem


class _Sheet:
    """The answers while they are being filled in, a row per candidate."""

    def __init__(self, task: Task, fold: Fold, candidates: Sequence[Candidate], scores: bool) -> None:
        count, rows, classes = len(candidates), len(fold.assessment), len(task.classes)
        self.learners = [candidate.learner for candidate in candidates]
        self.ids = numbers(candidates)
        self.classes = classes
        self.status = np.zeros(count, np.int8)
        self.predicted = np.zeros((count, rows), np.min_scalar_type(max(classes - 1, 1)))
        self.scores = np.zeros((count, rows, classes)) if scores else None
        self.complexity = np.full(count, np.nan)
        self.training_error = np.full(count, np.nan)
        self.reasons: dict[int, str] = {}
        self.traceback = ""
        self.bytes_each = max(1, rows * (8 * classes if scores else 4))

    def write(self, members: Sequence[int], path: Path, task: Task, rows: Integers) -> None:
        learners = [self.learners[member] for member in members]
        outputs = path.outputs(learners, task, rows, self.scores is not None)
        where = np.array(members)
        wrong = _unusable(outputs, (len(members), len(rows)), self.classes, self.scores is not None)
        self.predicted[where[~wrong]] = outputs.predicted[~wrong] if wrong.any() else outputs.predicted
        if self.scores is not None:
            self.scores[where] = outputs.scores
        self.complexity[where] = path.complexity(learners)
        self.training_error[where] = path.training_error(learners)
        self.status[where] = OK
        for member in where[wrong]:
            self.mark(int(member), "invalid_score", "classes or class scores are not finite")

    def mark(self, member: int, status: Status, reason: str) -> None:
        self.status[member] = CODE[status]
        self.reasons[member] = reason

    def fail(self, members: Sequence[int], problem: BaseException) -> None:
        self.traceback = self.traceback or "".join(traceback.format_exception(problem))
        status, reason = _verdict(problem)
        for member in members:
            self.mark(member, status, reason)

    def answers(self, seconds: float) -> Answers:
        return Answers(self.ids, self.status, self.predicted, self.scores, self.complexity, self.training_error,
                       seconds, self.reasons, self.traceback)  # fmt: skip


def _verdict(problem: BaseException) -> tuple[Status, str]:
    if isinstance(problem, Overtime):
        return "timeout", str(problem)
    if isinstance(problem, MemoryError):
        return "memory", f"MemoryError: {problem}" if str(problem) else "MemoryError"
    return "error", f"{type(problem).__name__}: {problem}"


def _unusable(outputs: Outputs, shape: tuple[int, int], classes: int, scores: bool) -> Any:
    """Which candidates said something that is no class or no number. Raises ValueError when the shapes are wrong."""
    predicted = outputs.predicted
    if predicted.shape != shape:
        raise ValueError(f"predicted classes have the shape {predicted.shape}, not {shape}")
    wrong = ~((predicted >= 0) & (predicted < classes)).all(axis=1)  # NaN is neither
    if scores:
        if outputs.scores is None or outputs.scores.shape != (*shape, classes):
            raise ValueError(f"class scores were asked for, with the shape {(*shape, classes)}")
        wrong |= ~np.isfinite(outputs.scores).all(axis=(1, 2))
    return wrong
