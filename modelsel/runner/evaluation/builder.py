"""Fill in the result of a cell, candidate by candidate; what is no answer becomes a status with a reason."""

import traceback
from collections.abc import Sequence
from typing import Any

import numpy as np

from modelsel.core.protocols.learner import Path
from modelsel.core.types import Candidate, Integers, Outputs, Status, Task
from modelsel.runner.evaluation.cell_result import CODE, MEASURED, OK, CellResult, blank
from modelsel.runner.evaluation.limits import CellTimeout


class CellResultBuilder:
    """The result of a cell while its candidates answer, in any order."""

    def __init__(self, candidates: Sequence[Candidate], rows: int, classes: int, scores: bool) -> None:
        """Begin with no answer."""
        self.learners = [candidate.learner for candidate in candidates]
        self.classes = classes
        self.bytes_each = max(1, rows * (8 * classes if scores else 4))
        self._arrays = blank(candidates, rows, classes, scores)
        self._reasons: dict[int, str] = {}
        self._traceback = ""

    def write(self, members: Sequence[int], path: Path, task: Task, rows: Integers) -> None:
        """Ask the path what some members say of the rows, and what it measured of them."""
        arrays, learners, where = self._arrays, [self.learners[member] for member in members], np.array(members)
        scores = arrays["scores"] is not None
        outputs = path.outputs(learners, task, rows, scores)
        wrong = _unusable(outputs, (len(members), len(rows)), self.classes, scores)
        arrays["predicted"][where[~wrong]] = outputs.predicted[~wrong] if wrong.any() else outputs.predicted
        if scores:
            arrays["scores"][where] = outputs.scores
        for name in MEASURED:
            if (ask := getattr(path, name, None)) is not None:
                arrays[name][where] = ask(learners)
        arrays["status"][where] = OK
        for member in where[wrong]:
            self.mark(int(member), "invalid_score", "classes or class scores are not finite")

    def mark(self, member: int, status: Status, reason: str) -> None:
        """Say why a member has no answer."""
        self._arrays["status"][member] = CODE[status]
        self._reasons[member] = reason

    def fail(self, members: Sequence[int], problem: BaseException) -> None:
        """Say what a member's code raised."""
        self._traceback = self._traceback or "".join(traceback.format_exception(problem))
        status, reason = verdict(problem)
        for member in members:
            self.mark(member, status, reason)

    def result(self, seconds: float) -> CellResult:
        """Return the result as filled in."""
        return CellResult(**self._arrays, seconds=seconds, reasons=self._reasons, traceback=self._traceback)


def verdict(problem: BaseException) -> tuple[Status, str]:
    """Status and reason of a candidate whose code raised this."""
    if isinstance(problem, CellTimeout):
        return "timeout", str(problem)
    if isinstance(problem, MemoryError):
        return "memory", f"MemoryError: {problem}" if str(problem) else "MemoryError"
    return "error", f"{type(problem).__name__}: {problem}"


def _unusable(outputs: Outputs, shape: tuple[int, int], classes: int, scores: bool) -> Any:
    """Mask the candidates whose output is no class or no number. Raises ValueError when the shapes are wrong."""
    predicted = outputs.predicted
    if predicted.shape != shape:
        raise ValueError(f"predicted classes have the shape {predicted.shape}, not {shape}")
    wrong = ~((predicted >= 0) & (predicted < classes)).all(axis=1)  # NaN is neither
    if scores:
        if outputs.scores is None or outputs.scores.shape != (*shape, classes):
            raise ValueError(f"class scores were asked for, with the shape {(*shape, classes)}")
        wrong |= ~np.isfinite(outputs.scores).all(axis=(1, 2))
    return wrong
