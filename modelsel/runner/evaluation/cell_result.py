"""The result of a cell: the one type that goes from the fit to the journal, the scores and the choice.

`CellResult` has a column per thing known of a candidate. A number is declared once, by `column` in the class below; builder,
journal, score matrix and means go by the declarations, so that a new one changes this file alone. What a fit measures beside
its predictions is `measured`: the path is asked by the column's name, and one that has no such method leaves NaN.

Predicted classes are kept in the smallest unsigned type that holds them, predicted numbers in double precision; in the journal
classes have the bits that tell them apart, and numbers that recur, as those of trees and class scores, are places in a table
of the different ones, to the last bit. A candidate that did not end `ok` has a status and a reason, and zeros or NaN
elsewhere, which nobody reads. In very large spaces rows are not kept: then only scores are.
"""

import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from importlib import metadata
from typing import Any, Self, get_args

import numpy as np
from numpy.typing import NDArray

from modelsel.core.errors import ModelselError
from modelsel.core.fingerprint import digest
from modelsel.core.types import (
    Booleans,
    Candidate,
    Floats,
    Integers,
    Outputs,
    Status,
    Targets,
    Task,
    outputs_of,
)
from modelsel.kernels.compiler import load
from modelsel.kernels.stop import Stopped
from modelsel.learner.base import Path
from modelsel.measure.base import BaseMeasure, confusion
from modelsel.measure.beside import confusion_measures, score_beside
from modelsel.runner.evaluation.limits import CellTimeout

STATUSES: tuple[Status, ...] = get_args(Status)
CODE: dict[str, int] = {status: code for code, status in enumerate(STATUSES)}
OK = CODE["ok"]
UNFINISHED = -1
UNDEFINED = "the measure is not defined on this fold"
NOTHING: Mapping[str, BaseMeasure] = {}


def column(measured: bool = False) -> Any:
    """Declare a number per candidate, NaN where it is not known; `measured`: `path.<name>(learners)` gives it."""
    return field(metadata={"measured": measured})


@dataclass(frozen=True, eq=False)
class CellResult:
    """Columns over the candidates of a cell.

    `predicted` is candidates × assessment rows, `scores` candidates × rows × classes where the measure reads class scores.
    `spare` are class scores that no measure of the run reads, NaN where there are none: they are never written down. `score` is
    what the run's measure says; where no rows are kept beside it, `measure` is its digest. `beside` is candidates × other
    measures, in the order of the run, but for those that are read off `matrices`.
    """

    ids: NDArray[np.uint64]
    predicted: Targets
    scores: Floats | None
    status: NDArray[np.int8]
    score: Floats = column()
    complexity: Floats = column(measured=True)  # in the learner's unit
    training_error: Floats = column(measured=True)  # weighted share of analysis rows misclassified; of numbers, their RMSE
    held_back: Floats = column(measured=True)  # AUC on analysis rows that neither fitted nor chose
    never_judged: Floats = column(measured=True)  # out of bag: rows that every tree has drawn
    seconds: float = 0.0
    reasons: Mapping[int, str] = field(default_factory=dict)  # by position, of those that are not ok
    traceback: str = ""  # of the first failure
    warnings: tuple[str, ...] = ()  # distinct ones that the learners gave
    measure: str = ""
    beside: Floats | None = None
    matrices: Floats | None = None  # candidates × true class × predicted class, for measures that are read off them
    spare: Floats | None = None

    @classmethod
    def of_failure(cls, candidates: Sequence[Candidate], status: Status, reason: str, rows: int = 0) -> Self:
        """Candidates that left nothing but a reason (a killed worker, a limit, a deadline)."""
        arrays = blank(candidates, rows, classes=2, scores=False)
        arrays["status"][:] = CODE[status]
        return cls(**arrays, reasons=dict.fromkeys(range(len(candidates)), reason))

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def has_rows(self) -> bool:
        """Say whether predictions are kept, and not only scores."""
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
        return outputs_of(predicted, scores)

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
        spare = None if self.spare is None else self.spare[which]
        return self._with(**{name: array[which] for name, array in self._arrays().items()}, reasons=reasons, spare=spare)

    def with_scores(
        self,
        measure: BaseMeasure,
        truth: Targets,
        weights: Floats | None,
        classes: int,
        beside: Mapping[str, BaseMeasure] = NOTHING,
    ) -> Self:
        """Score the answers by the measure, and by those beside it: numbers per candidate, no rows.

        A candidate whose score is not finite has the status `invalid_score`; one that was not ok has the score NaN.
        """
        score, ok = np.full(len(self), np.nan), self.ok
        later = confusion_measures(beside, classes)
        now = {name: one for name, one in beside.items() if name not in later}
        others = np.full((len(self), len(now)), np.nan)
        matrices = np.full((len(self), classes, classes), np.nan) if later else None
        if len(ok):
            outputs = self.outputs(ok)
            score[ok] = measure.score(truth, outputs, weights, classes)
            if now:
                others[ok] = score_beside(now, truth, outputs, weights, classes)
            if matrices is not None:
                matrices[ok] = confusion(truth, outputs.predicted, weights, classes)
        status, reasons = self.status, self.reasons
        if len(undefined := ok[~np.isfinite(score[ok])]):
            status, reasons = status.copy(), {**reasons, **dict.fromkeys(undefined.tolist(), UNDEFINED)}
            status[undefined], score[undefined] = CODE["invalid_score"], np.nan
        no_rows = np.zeros((len(self), 0), self.predicted.dtype)
        return self._with(
            score=score,
            status=status,
            reasons=reasons,
            predicted=no_rows,
            scores=None,
            beside=others if now else None,
            matrices=matrices,
        )

    def encode(self) -> tuple[dict[str, object], dict[str, NDArray[np.generic]]]:
        """Facts and arrays, as the journal keeps them."""
        arrays = self._arrays()
        if self.has_rows:
            del arrays["score"]  # any measure can be computed from them
            _shorten(arrays)
        reasons = {str(position): reason for position, reason in self.reasons.items()}
        warned = {"warnings": list(self.warnings)} if self.warnings else {}
        rows = {"rows": self.predicted.shape[1]} if "bits" in arrays else {}
        facts = {"seconds": self.seconds, "reasons": reasons, "traceback": self.traceback, "measure": self.measure}
        return {**facts, **warned, **rows}, arrays

    def with_warnings(self, said: Sequence[str]) -> Self:
        """Return the result with the warnings of its learners."""
        return self._with(warnings=tuple(said)) if said else self

    @classmethod
    def decode(cls, facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """A result as it was recorded; what a record does not have, its version did not know.

        Raises KeyError when ids, statuses, predictions or facts are missing, ValueError for a result of nobody.
        """
        ids = arrays["ids"]
        if not len(ids):
            raise ValueError("a result of no candidates")
        columns = {name: arrays[name] if name in arrays else np.full(len(ids), np.nan) for name in COLUMNS}
        predicted: Any = from_bits(arrays["bits"], int(facts["rows"])) if "bits" in arrays else _at_length(arrays, "predicted")
        if predicted is None:
            raise KeyError("predicted")
        return cls(
            ids=ids, status=arrays["status"], predicted=predicted, scores=_at_length(arrays, "scores"), **columns,
            beside=arrays.get("beside"), matrices=arrays.get("matrices"),
            seconds=float(facts["seconds"]), traceback=str(facts["traceback"]), measure=str(facts["measure"]),
            reasons={int(position): str(reason) for position, reason in facts["reasons"].items()},
            warnings=tuple(map(str, facts.get("warnings", ()))),
        )  # fmt: skip

    def _with(self, **changes: object) -> Self:
        """Replace fields without `dataclasses.replace`, whose checks take longer than a small cell."""
        other = object.__new__(type(self))
        vars(other).update(vars(self), **changes)
        return other

    def _arrays(self) -> dict[str, NDArray[np.generic]]:
        return {name: array for name in _ARRAYS if (array := getattr(self, name)) is not None}


COLUMNS = tuple(each.name for each in fields(CellResult) if "measured" in each.metadata)
MEASURED = tuple(each.name for each in fields(CellResult) if each.metadata.get("measured"))
_ARRAYS = ("ids", "status", "predicted", "scores", "beside", "matrices", *COLUMNS)


def blank(candidates: Sequence[Candidate], rows: int, classes: int, scores: bool) -> dict[str, Any]:
    """The arrays of a result in which nothing is known yet, to be filled in."""
    count = len(candidates)
    predicted = np.zeros((count, rows), np.min_scalar_type(max(classes - 1, 1)) if classes else np.float64)
    class_scores = np.zeros((count, rows, classes)) if scores else None
    status, columns = np.full(count, UNFINISHED, np.int8), np.full((len(COLUMNS), count), np.nan)
    named = {"ids": numbers(candidates), "status": status, "predicted": predicted, "scores": class_scores}
    return {**named, **dict(zip(COLUMNS, columns, strict=True))}


SHORT = {"predicted": ("places", "numbers"), "scores": ("score_places", "score_numbers")}  # what stands for which in a record


def _shorten(arrays: dict[str, NDArray[np.generic]]) -> None:
    """Put short forms in the place of predictions and class scores that have them."""
    if (predicted := arrays["predicted"]).dtype == np.uint8 and (bits := in_bits(predicted)) is not None:
        del arrays["predicted"]
        arrays["bits"] = bits
    for name, (places, different) in SHORT.items():
        if (whole := arrays.get(name)) is not None and whole.dtype == np.float64 and (told := in_few(whole)) is not None:
            del arrays[name]
            arrays[places], arrays[different] = told


def _at_length(arrays: Mapping[str, NDArray[Any]], name: str) -> NDArray[Any] | None:
    """The array of a record that this name or its short form has; None where there is neither."""
    places, different = SHORT[name]
    return arrays[different][arrays[places]] if places in arrays else arrays.get(name)


def in_bits(classes: NDArray[np.generic]) -> NDArray[np.uint8] | None:
    """Class numbers in as many bits as tell them apart, one array of bits for each; None for more than four.

    >>> bits = in_bits(np.array([[0, 2, 1], [1, 1, 0]], np.uint8))
    >>> bits.shape, from_bits(bits, 3).tolist()
    ((2, 2, 1), [[0, 2, 1], [1, 1, 0]])
    """
    count = max(1, int(classes.max(initial=0)).bit_length())
    if count > MOST_BITS:
        return None
    whole = np.asarray(classes, np.uint8)
    return np.stack([np.packbits(whole & np.uint8(1 << bit), axis=1) for bit in range(count)])


def from_bits(bits: NDArray[np.uint8], rows: int) -> NDArray[np.uint8]:
    """The class numbers that `in_bits` was given. ValueError where there are not as many rows."""
    if bits.ndim != 3 or bits.shape[2] != -(-rows // 8):
        raise ValueError(f"bits of the shape {bits.shape} are not those of {rows} rows")
    classes = np.zeros((bits.shape[1], rows), np.uint8)
    for bit, plane in enumerate(bits):
        classes |= np.unpackbits(plane, axis=1, count=rows) << np.uint8(bit)
    return classes


MOST_BITS = 4  # of a class number: with more, a byte is hardly longer
MANY = 1 << 16  # different numbers from which a table of them is not worth its places


def in_few(predicted: NDArray[np.generic]) -> tuple[NDArray[np.generic], Floats] | None:
    """Places, and the different numbers; None where these are many, or more than a quarter of all.

    >>> places, different = in_few(np.array([[0.5, 0.5, -0.0, 0.5, 0.5, -0.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]]))
    >>> places.dtype, different.tolist()
    (dtype('uint8'), [0.5, -0.0])
    """
    words = np.ascontiguousarray(predicted).view(np.uint64).ravel()
    most = min(MANY, len(words) // 4)
    places, table = np.empty(len(words), np.int32), np.empty(most, np.uint64)
    count = load("distinct").number(words, places, table)
    if count < 0:
        return None
    small = places.astype(np.min_scalar_type(max(count - 1, 1)))
    return small.reshape(predicted.shape), table[:count].copy().view(np.float64)


def failing(status: NDArray[np.int8]) -> Booleans:
    """Mask the statuses that are failures: a candidate that was skipped is none."""
    return np.asarray((status > OK) & (status != CODE["skipped"]))


def numbers(candidates: Sequence[Candidate]) -> NDArray[np.uint64]:
    """Candidate ids as 64-bit numbers."""
    return np.array([int(candidate.id, 16) for candidate in candidates], np.uint64)


# Fill in the result of a cell, candidate by candidate; what is not an answer becomes a status with a reason.


class CellResultBuilder:
    """The result of a cell while its candidates answer, in any order."""

    def __init__(self, candidates: Sequence[Candidate], rows: int, classes: int, scores: bool, spare: bool = False) -> None:
        """Begin without answers. `spare`: class scores are also asked for where no measure needs them, and may be absent."""
        self.learners = [candidate.learner for candidate in candidates]
        self.classes = classes
        self.bytes_each = max(1, rows * (8 * max(classes, 1) if scores or spare or not classes else 4))
        self._spare = np.full((len(candidates), rows, classes), np.nan) if spare and not scores else None
        self._arrays = blank(candidates, rows, classes, scores)
        self._reasons: dict[int, str] = {}
        self._traceback = ""

    def write(self, members: Sequence[int], path: Path, task: Task, rows: Integers) -> None:
        """Ask the path what some members say of the rows, and what it measured of them."""
        arrays, learners, where = self._arrays, [self.learners[member] for member in members], np.array(members)
        scores = arrays["scores"] is not None
        outputs = self._with_spare(where, path, task, rows) or path.outputs(learners, task, rows, scores)
        wrong = _unusable(outputs, (len(members), len(rows)), self.classes, scores)
        arrays["predicted"][where[~wrong]] = outputs.predicted[~wrong] if wrong.any() else outputs.predicted
        if scores:
            arrays["scores"][where] = outputs.scores
        for name in MEASURED:
            if (ask := getattr(path, name, None)) is not None:
                arrays[name][where] = ask(learners)
        arrays["status"][where] = OK
        for member in where[wrong]:
            what = "classes or class scores" if self.classes else "predicted numbers"
            self.mark(int(member), "invalid_score", f"{what} are not finite")

    def _with_spare(self, members: Integers, path: Path, task: Task, rows: Integers) -> Outputs | None:
        """What the path says with class scores, which are kept apart; None where these are not asked for or cannot be had."""
        if self._spare is None:
            return None
        try:
            outputs = path.outputs([self.learners[member] for member in members], task, rows, True)
        except (ModelselError, Stopped):
            raise
        except Exception:
            return None  # whoever asks for classes alone may be answered
        if outputs.scores is not None and outputs.scores.shape == (len(members), *self._spare.shape[1:]):
            self._spare[members] = outputs.scores
        return outputs_of(outputs.predicted)

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
        return CellResult(**self._arrays, seconds=seconds, reasons=self._reasons, traceback=self._traceback, spare=self._spare)


def verdict(problem: BaseException) -> tuple[Status, str]:
    """Status and reason of a candidate whose code raised this."""
    if isinstance(problem, CellTimeout):
        return "timeout", str(problem)
    if isinstance(problem, MemoryError):
        return "memory", f"MemoryError: {problem}" if str(problem) else "MemoryError"
    return "error", f"{type(problem).__name__}: {problem}"


def _unusable(outputs: Outputs, shape: tuple[int, int], classes: int, scores: bool) -> Any:
    """Mask the candidates whose output is neither a class nor a number. Raises ValueError when the shapes are wrong."""
    predicted = outputs.predicted
    if predicted.shape != shape:
        raise ValueError(f"predicted {'classes' if classes else 'numbers'} have the shape {predicted.shape}, not {shape}")
    if not classes:
        return ~np.isfinite(predicted).all(axis=1)
    wrong = ~((predicted >= 0) & (predicted < classes)).all(axis=1)  # NaN is neither
    if scores:
        if outputs.scores is None or outputs.scores.shape != (*shape, classes):
            raise ValueError(f"class scores were asked for, with the shape {(*shape, classes)}")
        wrong |= ~np.isfinite(outputs.scores).all(axis=(1, 2))
    return wrong


# The key under which the journal keeps a cell's result: a digest of everything that the result depends on.
#
#     key = digest(rows, fold, growing specification without path parameters, study seed, code, package version)
#
# Path parameters are no part: a record answers some candidates of the cell, and a larger space adds a second record.

WHAT_CHANGED = {
    "version": "another version of modelsel computed it",
    "code": "the code that a cell runs has changed since",
    "seed": "it was computed with another seed",
}  # in the order in which it is said


@dataclass(frozen=True)
class CellKey:
    """`place` (rows, fold, growing) says which cell it is, the other fields under which circumstances it was computed."""

    rows: str
    fold: str
    growing: str
    seed: int
    code: str
    version: str = metadata.version("modelsel")

    @cached_property
    def facts(self) -> dict[str, Any]:
        """The fields by name, as a record describes its cell."""
        return {name: getattr(self, name) for name in FIELDS}

    @cached_property
    def text(self) -> str:
        return digest(self.facts)

    @property
    def place(self) -> tuple[str, str, str]:
        return self.rows, self.fold, self.growing

    def difference(self, other: Mapping[str, object]) -> str:
        """Say why a record of the same place does not answer this key."""
        return next((why for field, why in WHAT_CHANGED.items() if other.get(field) != getattr(self, field)), "")


FIELDS = tuple(field.name for field in fields(CellKey))
