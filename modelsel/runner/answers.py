"""What a cell found out: arrays over its candidates, and the record that the journal keeps of it.

Predicted classes are kept in the smallest unsigned type that holds them; candidates that did not end `ok` have a status,
a reason, and zeros or NaN in the arrays, which nobody reads. In very large spaces rows are not kept: then `score` holds the
measure of each candidate, and `measure` says which measure that is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Candidate, Floats, Outputs, Status

STATUSES: tuple[Status, ...] = get_args(Status)
CODE: dict[str, int] = {status: code for code, status in enumerate(STATUSES)}
OK = CODE["ok"]


@dataclass(frozen=True, eq=False)
class Answers:
    """`predicted` is candidates × assessment rows, `scores` candidates × rows × classes where the measure reads them."""

    ids: NDArray[np.uint64]
    status: NDArray[np.int8]
    predicted: NDArray[Any]
    scores: Floats | None
    complexity: Floats
    training_error: Floats
    held_back: Floats  # AUC on analysis rows that neither fitted nor chose, where a learner keeps such rows; else NaN
    seconds: float
    reasons: Mapping[int, str]  # by position, of those that are not ok
    traceback: str = ""  # of the first failure
    score: Floats | None = None
    measure: str = ""

    @property
    def has_rows(self) -> bool:
        return bool(self.predicted.shape[1])

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def outputs(self) -> Outputs:
        return Outputs(self.predicted.astype(np.int32), self.scores)

    def arrays(self) -> dict[str, NDArray[Any]]:
        names = ("ids", "status", "predicted", "scores", "complexity", "training_error", "held_back", "score")
        return {name: array for name in names if (array := getattr(self, name)) is not None}

    def facts(self) -> dict[str, Any]:
        reasons = {str(position): reason for position, reason in self.reasons.items()}
        return {"seconds": self.seconds, "reasons": reasons, "traceback": self.traceback, "measure": self.measure}


def restored(facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Answers:
    """Answers as they were recorded. Raises KeyError when something is missing."""
    return Answers(
        ids=arrays["ids"],
        status=arrays["status"],
        predicted=arrays["predicted"],
        scores=arrays.get("scores"),
        complexity=arrays["complexity"],
        training_error=arrays["training_error"],
        held_back=arrays.get("held_back", np.full(len(arrays["ids"]), np.nan)),
        seconds=float(facts["seconds"]),
        reasons={int(position): str(reason) for position, reason in facts["reasons"].items()},
        traceback=str(facts["traceback"]),
        score=arrays.get("score"),
        measure=str(facts["measure"]),
    )


def failed(candidates: Sequence[Candidate], status: Status, reason: str, rows: int = 0) -> Answers:
    """The record of candidates that left nothing but a reason (a killed worker, a limit, a deadline)."""
    count = len(candidates)
    return Answers(
        ids=numbers(candidates),
        status=np.full(count, CODE[status], np.int8),
        predicted=np.zeros((count, rows), np.uint8),
        scores=None,
        complexity=np.full(count, np.nan),
        training_error=np.full(count, np.nan),
        held_back=np.full(count, np.nan),
        seconds=0.0,
        reasons=dict.fromkeys(range(count), reason),
    )


def numbers(candidates: Sequence[Candidate]) -> NDArray[np.uint64]:
    """Candidate ids as 64-bit numbers."""
    return np.array([int(candidate.id, 16) for candidate in candidates], np.uint64)
