"""What a cell found out: the one type that goes from the fit to the journal, the scores and the choice.

`CellResult` has a column per thing known of a candidate. A column is declared once, by `column` in the class below; builder,
journal, score matrix and means go by the declarations, so that a new one changes this file alone. What a fit measures beside
its predictions is a column of `measured`: the path is asked by the column's name, and one that has no such method leaves NaN.

Predicted classes are kept in the smallest unsigned type that holds them. A candidate that did not end `ok` has a status and a
reason, and zeros or NaN elsewhere, which nobody reads. In very large spaces rows are not kept: then only scores are.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self, get_args

import numpy as np
from numpy.typing import NDArray

from modelsel.core.protocols import Measure
from modelsel.core.types import Booleans, Candidate, Codes, Floats, Integers, Outputs, Status

STATUSES: tuple[Status, ...] = get_args(Status)
CODE: dict[str, int] = {status: code for code, status in enumerate(STATUSES)}
OK = CODE["ok"]
UNFINISHED = -1
UNDEFINED = "the measure is not defined on this fold"


@dataclass(frozen=True)
class ResultColumn:
    """A number per candidate: its type, what stands where it is not known, and whether the path is asked for it."""

    dtype: type
    unknown: float
    measured: bool = False


def column(dtype: type, unknown: float) -> Any:
    """Declare a number per candidate."""
    return field(metadata={"column": ResultColumn(dtype, unknown)})


def measured() -> Any:
    """Declare a number per candidate that `path.<name of the column>(learners)` gives, NaN where the path has none."""
    return field(metadata={"column": ResultColumn(np.float64, np.nan, measured=True)})


@dataclass(frozen=True, eq=False)
class CellResult:
    """Columns over the candidates of a cell.

    `predicted` is candidates × assessment rows, `scores` candidates × rows × classes where the measure reads class scores.
    `score` is what the run's measure says; where no rows are kept beside it, `measure` is its digest.
    """

    ids: NDArray[np.uint64]
    predicted: NDArray[Any]
    scores: Floats | None
    status: NDArray[np.int8] = column(np.int8, UNFINISHED)
    score: Floats = column(np.float64, np.nan)
    complexity: Floats = measured()  # in the learner's unit
    training_error: Floats = measured()  # weighted share of analysis rows misclassified
    held_back: Floats = measured()  # AUC on analysis rows that neither fitted nor chose
    seconds: float = 0.0
    reasons: Mapping[int, str] = field(default_factory=dict)  # by position, of those that are not ok
    traceback: str = ""  # of the first failure
    measure: str = ""

    @classmethod
    def failed(cls, candidates: Sequence[Candidate], status: Status, reason: str, rows: int = 0) -> Self:
        """Candidates that left nothing but a reason (a killed worker, a limit, a deadline)."""
        arrays = blank(candidates, rows, classes=2, scores=False)
        arrays["status"][:] = CODE[status]
        return cls(**arrays, reasons=dict.fromkeys(range(len(candidates)), reason))

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def has_rows(self) -> bool:
        """Are predictions kept, and not only what the measure says of them?"""
        return bool(self.predicted.shape[1])

    @property
    def ok(self) -> Integers:
        """Positions of the candidates that answered."""
        return np.flatnonzero(self.status == OK)

    def outputs(self, which: Integers) -> Outputs:
        """Predictions of some candidates, in the types that measures read."""
        everyone = len(which) == len(self)
        predicted = self.predicted if everyone else self.predicted[which]
        scores = self.scores if everyone or self.scores is None else self.scores[which]
        return Outputs(predicted.astype(np.int32), scores)

    def find(self, ids: NDArray[np.uint64]) -> tuple[Integers, Integers]:
        """Positions (here, in `ids`) of the candidates that both hold, ordered by position in `ids`."""
        order = np.argsort(self.ids, kind="stable")
        at = np.minimum(np.searchsorted(self.ids, ids, sorter=order), len(self) - 1)
        found = np.flatnonzero(self.ids[order[at]] == ids)
        return order[at[found]], found

    def take(self, which: Integers) -> Self:
        """The result of some candidates, in the order of `which`."""
        if np.array_equal(which, np.arange(len(self))):
            return self
        at = {int(position): place for place, position in enumerate(which)}
        reasons = {at[position]: reason for position, reason in self.reasons.items() if position in at}
        return replace(self, **{name: array[which] for name, array in self._arrays().items()}, reasons=reasons)

    def scored(self, measure: Measure, truth: Codes, weights: Floats | None, classes: int) -> Self:
        """What the measure makes of it: numbers per candidate, no rows.

        A candidate whose score is not finite has the status `invalid_score`; one that was not ok has the score NaN.
        """
        score, ok = np.full(len(self), np.nan), self.ok
        if len(ok):
            score[ok] = measure.score(truth, self.outputs(ok), weights, classes)
        status, reasons = self.status, self.reasons
        if len(undefined := ok[~np.isfinite(score[ok])]):
            status, reasons = status.copy(), {**reasons, **dict.fromkeys(undefined.tolist(), UNDEFINED)}
            status[undefined], score[undefined] = CODE["invalid_score"], np.nan
        no_rows = np.zeros((len(self), 0), self.predicted.dtype)
        return replace(self, score=score, status=status, reasons=reasons, predicted=no_rows, scores=None)

    def encode(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Facts and arrays, as the journal keeps them."""
        arrays = self._arrays()
        if self.has_rows:
            del arrays["score"]  # any measure can be computed from them
        reasons = {str(position): reason for position, reason in self.reasons.items()}
        return {"seconds": self.seconds, "reasons": reasons, "traceback": self.traceback, "measure": self.measure}, arrays

    @classmethod
    def decode(cls, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """A result as it was recorded; what a record does not have, its version did not know.

        Raises KeyError when ids, statuses, predictions or facts are missing, ValueError for columns of different length.
        """
        ids = arrays["ids"]
        known = {name: arrays[name] for name in COLUMNS if name in arrays or name == "status"}
        if not len(ids) or any(len(array) != len(ids) for array in (*known.values(), arrays["predicted"])):
            raise ValueError("columns are empty or of different length")
        unknown = _unknown(len(ids), [name for name in COLUMNS if name not in known])
        return cls(
            ids=ids, predicted=arrays["predicted"], scores=arrays.get("scores"), **known, **unknown,
            seconds=float(facts["seconds"]), traceback=str(facts["traceback"]), measure=str(facts["measure"]),
            reasons={int(position): str(reason) for position, reason in facts["reasons"].items()},
        )  # fmt: skip

    def _arrays(self) -> dict[str, Any]:
        return {name: array for name in _ARRAYS if (array := getattr(self, name)) is not None}


COLUMNS: dict[str, ResultColumn] = {
    each.name: each.metadata["column"] for each in fields(CellResult) if "column" in each.metadata
}
MEASURED = tuple(name for name, each in COLUMNS.items() if each.measured)
_ARRAYS = ("ids", "predicted", "scores", *COLUMNS)


def blank(candidates: Sequence[Candidate], rows: int, classes: int, scores: bool) -> dict[str, Any]:
    """The arrays of a result in which nothing is known yet, to be filled in."""
    count = len(candidates)
    predicted = np.zeros((count, rows), np.min_scalar_type(max(classes - 1, 1)))
    class_scores = np.zeros((count, rows, classes)) if scores else None
    return {"ids": numbers(candidates), "predicted": predicted, "scores": class_scores, **_unknown(count, COLUMNS)}


def failing(status: NDArray[np.int8]) -> Booleans:
    """Which statuses are failures: a candidate that was skipped is none."""
    return np.asarray((status > OK) & (status != CODE["skipped"]))


def numbers(candidates: Sequence[Candidate]) -> NDArray[np.uint64]:
    """Candidate ids as 64-bit numbers."""
    return np.array([int(candidate.id, 16) for candidate in candidates], np.uint64)


def _unknown(count: int, names: Iterable[str]) -> dict[str, Any]:
    return {name: np.full(count, COLUMNS[name].unknown, COLUMNS[name].dtype) for name in names}
