"""What is seen while code is watched: fits, predictions and scores on sealed rows, warned of, put on record, or refused."""

import hashlib
import os
import sys
import threading
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from modelsel.core.errors import Problem, RefusedError
from modelsel.core.types import Finding
from modelsel.guard.face import (
    Home,
    LedgerSession,
    OutsideFit,
    OutsideScore,
    Recogniser,
    SealedRows,
    is_plain_list,
    library_of,
    names_of_sets,
    open_session,
    outside_fit,
    outside_look,
    recogniser,
    refuses,
    row_findings,
)
from modelsel.record.mlflow.own_runs import tag_open_run
from modelsel.watcher.failures import note_failure, program
from modelsel.watcher.passing import INTERNAL

# Predictions for sealed rows, and whether a metric's arguments are one of them.
#
# A prediction is known by its values in their order, whole or a column of it (a class's probability), and the part of it that
# is about sealed rows; classes and probabilities that one fitted model gave for the same rows are one prediction. Where a
# metric is given something else of the same length (a threshold was put on by hand), it is taken for the last prediction of
# sealed rows of that length, unless other rows of that length were predicted too. Values that were predicted for other rows,
# too, accuse nobody.


COLUMNS = 20  # of a prediction that are known by themselves
KEPT = 10_000  # digests that are kept in mind
SHORT = 20_000  # rows up to which predictions for other rows are kept in mind by their values, too


@dataclass(eq=False)
class Prediction:
    """An estimator's predictions for sealed rows; `scored` once a metric was computed on it."""

    rows: SealedRows
    estimator: str
    digest: str
    tainted: bool = False  # its model was fitted on some of these rows
    scored: bool = False


@dataclass(eq=False)
class PredictionMemory:
    """The predictions of a process; none of their values is kept, but digests."""

    _known: OrderedDict[bytes, tuple[Prediction, bool]] = field(default_factory=OrderedDict)  # are the rows all sealed
    _tainted: dict[int, tuple[weakref.ref[object], set[str]]] = field(
        default_factory=dict
    )  # models, and the sets that they were fitted on
    _last: dict[int, Prediction] = field(default_factory=dict)  # by length
    _lengths: set[int] = field(default_factory=set)  # of predictions for other rows
    _others: OrderedDict[bytes, None] = field(default_factory=OrderedDict)  # digests of predictions for other rows
    _by: dict[int, tuple[weakref.ref[object], list[Prediction]]] = field(
        default_factory=dict
    )  # the predictions of each fitted model

    def other(self, made: object, n: int) -> None:
        """Keep in mind that other rows, so many, were predicted, and what."""
        self._lengths.add(n)
        values = _array(made) if n <= SHORT or n in self._last else None
        if values is not None and len(values) == n:
            self._others.update(dict.fromkeys(_names(values)))
            while len(self._others) > KEPT:
                self._others.popitem(last=False)

    def fitted(self, model: object, rows: SealedRows) -> None:
        """Forget what a model predicted, for it is another one now, and keep in mind which sealed rows it is fitted on."""
        name = id(model)
        self._by.pop(name, None)
        self._tainted.pop(name, None)
        if rows:
            with suppress(TypeError):
                self._tainted[name] = weakref.ref(model, lambda _: self._tainted.pop(name, None)), set(rows.rows)

    def take(self, made: object, rows: SealedRows, model: object) -> None:
        """Keep in mind what a model predicted for sealed rows."""
        values = _array(made)
        if values is None or len(values) != rows.n:
            return
        mask = rows.mask
        owner, sets = self._tainted.get(id(model), (None, set()))
        tainted = owner is not None and owner() is model and bool(sets & rows.rows.keys())
        prediction = self._of(model, rows) or Prediction(rows, type(model).__name__, _digest(values[mask]).hex(), tainted)
        self._note(model, prediction)
        for part, sealed in ((values, rows.whole), *([] if mask.all() else [(values[mask], True)])):
            for name in _names(part):
                prediction, _ = self._known.setdefault(name, (prediction, sealed))
            if sealed:
                self._last[len(part)] = prediction
        while len(self._known) > KEPT:
            self._known.popitem(last=False)

    def _of(self, model: object, rows: SealedRows) -> Prediction | None:
        """What this fitted model is known to have predicted for the same rows."""
        owner, made = self._by.get(id(model), (None, []))
        same = (one for one in made if owner is not None and owner() is model and _is_same(one.rows, rows))
        return next(same, None)

    def _note(self, model: object, prediction: Prediction) -> None:
        """Keep in mind that a prediction is this model's."""
        name = id(model)
        owner, made = self._by.get(name, (None, []))
        if owner is None or owner() is not model:
            with suppress(TypeError):
                self._by[name] = weakref.ref(model, lambda _: self._by.pop(name, None)), [prediction]
        elif prediction not in made:
            made.append(prediction)

    def meant(self, arguments: list[object]) -> tuple[Prediction, bool] | None:
        """The prediction that is among a metric's arguments, and whether its rows there are sealed ones (and few others)."""
        if not self._known:
            return None
        arrays = [array for array in map(_array, arguments) if array is not None]
        for array in arrays:
            name = _digest(array)
            found = self._known.get(name)
            if found is not None:
                return None if name in self._others else found
        lengths = [len(array) for array in arrays if len(array) in self._last and len(array) not in self._lengths]
        return (self._last[lengths[0]], True) if lengths else None


def _is_same(one: SealedRows, other: SealedRows) -> bool:
    return one.n == other.n and one.rows.keys() == other.rows.keys() and np.array_equal(one.mask, other.mask)


def _names(values: NDArray[np.generic]) -> Iterator[bytes]:
    """The digests by which a prediction, or a column of it, is known."""
    yield _digest(values)
    if values.ndim == 2 and values.shape[1] <= COLUMNS:
        for place in range(values.shape[1]):
            yield _digest(values[:, place])


def _array(made: object) -> NDArray[np.generic] | None:
    """Values of one or two dimensions; None for what is none, or would have to be computed to be read."""
    if not (isinstance(made, np.ndarray) or library_of(made) or is_plain_list(made)):
        return None
    with suppress(ValueError, TypeError):
        values = np.asarray(made)
        return values if values.ndim in (1, 2) and len(values) and values.dtype.kind in "fiubOUST" else None
    return None


def _digest(values: NDArray[np.generic]) -> bytes:
    """The digest of values in their order: numbers as floats, others as texts, a matrix of one column as that column."""
    flat = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    with suppress(ValueError, TypeError):
        raw = np.ascontiguousarray(flat, np.float64).tobytes()
        return hashlib.blake2b(raw, digest_size=16, person=f"numbers {flat.ndim}".encode()).digest()
    raw = "\0".join(map(str, flat.ravel().tolist())).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(raw, digest_size=16, person=f"texts {flat.ndim}".encode()).digest()


# Watching.

RESAMPLING = "_fit_and_score"  # scikit-learn's function that fits and scores one fold


class SealedRowsWarning(UserWarning):
    """Code that is watched did something with sealed rows."""


@dataclass(eq=False)
class Watch:
    """Everything that was seen since code is watched.

    Parameters
    ----------
    strict : bool
        Whether an outside look and a fit on sealed rows raise, before a number is returned. Rows that were sealed under
        `guard=strict` always do.

    Examples
    --------
    >>> Watch().findings
    []
    """

    strict: bool = False
    findings: list[Finding] = field(default_factory=list)
    looks: int = 0
    _lock: AbstractContextManager[bool] = field(default_factory=threading.RLock)
    _told: set[tuple[str, str]] = field(default_factory=set)
    _memory: PredictionMemory = field(default_factory=PredictionMemory)
    _own: threading.local = field(default_factory=threading.local)
    _sessions: dict[int, LedgerSession] = field(default_factory=dict)
    failures: int = 0

    @cached_property
    def recogniser(self) -> Recogniser:
        return recogniser()

    def refresh(self) -> None:
        """Take in rows that were sealed since."""
        with self._lock:
            self.__dict__.pop("recogniser", None)

    def failed(self, error: Exception) -> None:
        """Count what failed in a hook: the program goes on, and `modelsel watch status` says so."""
        self.failures += 1
        with suppress(Exception):
            note_failure(Home.find(), program(), error)

    def forked(self) -> None:
        """Begin anew in a forked process: another thread may have held the lock."""
        self._lock = threading.RLock()
        self._own = threading.local()

    # What hooks tell.

    @contextmanager
    def calling(self) -> Iterator[None]:
        """Within a call, and those that it makes, each table is tried once; before the next one it may be changed."""
        depth = getattr(self._own, "depth", 0)
        if depth == 0:
            self._own.known = {}
        self._own.depth = depth + 1
        try:
            yield
        finally:
            self._own.depth = depth

    def seen(self, table: object, begins: bool = False) -> SealedRows:
        """The sealed rows of a table; within a call (or one that `begins`) what was found of it first."""
        known = getattr(self._own, "known", {})
        if begins and getattr(self._own, "depth", 0) == 0:
            known = self._own.known = {}
        there = known.get(id(table))
        if there is not None and there[0]() is table:
            found: SealedRows = there[1]
            return found
        with self._lock:
            found = self.recogniser.sealed_in(table)
        with suppress(TypeError):
            known[id(table)] = weakref.ref(table), found
        return found

    def fitted(self, model: object, table: object) -> None:
        """A model is about to be fitted on a table."""
        rows = self.seen(table, begins=True)
        with self._lock:
            self._memory.fitted(model, rows)
        if rows:
            self._in_development(rows, type(model).__name__)

    def predicted(self, model: object, table: object, made: object) -> None:
        """A model has predicted a table."""
        rows = self.seen(table)
        with self._lock:
            if rows:
                self._memory.take(made, rows, model)
            else:
                self._memory.other(made, _rows_of(made))

    def transformed(self, table: object, made: object) -> None:
        """A table was transformed: what was made of sealed rows is sealed."""
        rows = self.seen(table)
        if rows and made is not table:
            with self._lock:
                self.recogniser.derive(made, rows)

    def scored(self, metric: str, arguments: list[object]) -> None:
        """A metric is about to be computed on labels and these arguments."""
        with self._lock:
            prediction, sealed = self._memory.meant(arguments) or (None, False)
            if prediction is None:
                return
            resampled = self._resampled()
            if prediction.tainted or not sealed or resampled:
                self._in_development(resampled or prediction.rows, prediction.estimator, among=True)
            elif not prediction.scored or self._refuses(prediction.rows.testset):
                self._look(metric, prediction)
                prediction.scored = True

    # What comes of it.

    def _look(self, metric: str, prediction: Prediction) -> None:
        """Put an outside look on record, say so, and raise where that is asked for."""
        session, rows = self._session, prediction.rows
        key = session.home.own().secret
        said = hashlib.blake2b(prediction.digest.encode(), digest_size=16, key=key, person=b"modelsel.outside").hexdigest()
        score = OutsideScore(rows.testset, rows.count, metric, said, prediction.estimator, program())
        found = None
        with self._before_refusing(rows.testset):
            found = outside_look(session, score)
        if found is not None:
            self.looks += 1
            self.findings.append(found)
            tag_open_run({"modelsel.testset": rows.testset, "modelsel.look": "outside", "modelsel.metric": metric})
        if self._refuses(rows.testset):
            what = found.message if found else f"{metric} on sealed rows was refused or computed before"
            raise RefusedError(Problem("MSEL-840", what, "strict", "judge by cross-validation on development rows"))
        if found is not None:
            self._warn(found)

    def _resampled(self) -> SealedRows | None:
        """The sealed rows of a table with others that scikit-learn is cross-validating on, where it is."""
        frame = sys._getframe(1)
        while frame.f_back is not None:
            frame = frame.f_back
            if frame.f_code.co_name == RESAMPLING and frame.f_globals.get("__name__", "").startswith("sklearn."):
                rows = self.seen(frame.f_locals.get("X"))
                return rows if rows and rows.count < rows.n else None
        return None

    def _in_development(self, rows: SealedRows, by: str, among: bool = False) -> None:
        """Say once that a table for fitting holds sealed rows (`among` others, or alone), and put that on record."""
        for testset, mask in rows.rows.items():
            count = int(mask.sum())
            alone = count == rows.n and not among
            code = (row_findings.SEALED_ROWS_FITTED if alone else row_findings.SEALED_ROWS_IN_DEVELOPMENT).code
            refused = self._refuses(testset)
            with self._lock:
                if (testset, code) in self._told and not refused:
                    continue
                self._told.add((testset, code))
            name = names_of_sets(self._session, [testset]).get(testset)
            if name is None:  # its seal is not on record in this home
                continue
            found = (
                row_findings.sealed_rows_fitted(count, name, by)
                if alone
                else row_findings.sealed_rows_in_development(count, rows.n, name, by)
            )
            with self._before_refusing(testset):
                outside_fit(self._session, OutsideFit(testset, count, rows.n, by, program()), found)
            self.findings.append(found)
            if refused:
                raise RefusedError(Problem("MSEL-841", found.message, "strict", found.do))
            self._warn(found)

    def _refuses(self, testset: str) -> bool:
        return self.strict or refuses(self._session, testset)

    @property
    def _session(self) -> LedgerSession:
        """The home's ledger, opened when there is something to write; a forked process opens its own."""
        if os.getpid() not in self._sessions:
            self._sessions.clear()
            self._sessions[os.getpid()] = open_session(Path("runs"))
        return self._sessions[os.getpid()]

    @contextmanager
    def _before_refusing(self, testset: str) -> Iterator[None]:
        """Where it is refused anyway, a ledger that cannot be written hinders no refusal."""
        try:
            yield
        except Exception as error:
            if not self._refuses(testset):
                raise
            self.failed(error)

    def _warn(self, found: Finding) -> None:
        """Warn at the person's own line; a program that turns warnings into errors goes on, and the words go to stderr."""
        words = f"{found.code}: {found.message}; {found.do}"
        try:
            warnings.warn(words, SealedRowsWarning, stacklevel=_level())
        except SealedRowsWarning:
            sys.stderr.write(f"SealedRowsWarning: {words}\n")


def _rows_of(made: object) -> int:
    array = _array(made)
    return -1 if array is None else len(array)


def _level() -> int:
    """The depth of the first caller that is neither modelsel's nor scikit-learn's: the person's own line, as warnings count."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in ("modelsel", "sklearn"):
        frame = frame.f_back
        level += frame.f_code.co_filename != INTERNAL
    return level
