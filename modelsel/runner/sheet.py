"""The answers of a cell while they are being filled in, a row per candidate; what is no answer becomes a status."""

import traceback
from collections.abc import Sequence
from typing import Any

import numpy as np

from modelsel.core.protocols import Path
from modelsel.core.types import Candidate, Integers, Outputs, Status, Task
from modelsel.runner.answers import CODE, OK, Answers, numbers
from modelsel.runner.limits import Overtime


class Sheet:
    """The answers while they are being filled in, a row per candidate."""

    def __init__(self, candidates: Sequence[Candidate], rows: int, classes: int, scores: bool) -> None:
        count = len(candidates)
        self.learners = [candidate.learner for candidate in candidates]
        self.ids = numbers(candidates)
        self.classes = classes
        self.status = np.zeros(count, np.int8)
        self.predicted = np.zeros((count, rows), np.min_scalar_type(max(classes - 1, 1)))
        self.scores = np.zeros((count, rows, classes)) if scores else None
        self.complexity = np.full(count, np.nan)
        self.training_error = np.full(count, np.nan)
        self.held_back = np.full(count, np.nan)
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
        if (judged := getattr(path, "held_back", None)) is not None:
            self.held_back[where] = judged(learners)
        self.status[where] = OK
        for member in where[wrong]:
            self.mark(int(member), "invalid_score", "classes or class scores are not finite")

    def mark(self, member: int, status: Status, reason: str) -> None:
        self.status[member] = CODE[status]
        self.reasons[member] = reason

    def fail(self, members: Sequence[int], problem: BaseException) -> None:
        self.traceback = self.traceback or "".join(traceback.format_exception(problem))
        status, reason = verdict(problem)
        for member in members:
            self.mark(member, status, reason)

    def answers(self, seconds: float) -> Answers:
        return Answers(self.ids, self.status, self.predicted, self.scores, self.complexity, self.training_error,
                       self.held_back, seconds, self.reasons, self.traceback)  # fmt: skip


def verdict(problem: BaseException) -> tuple[Status, str]:
    """Status and reason of a candidate whose code raised this."""
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
