"""What is seen while code is watched: fits, predictions and scores on sealed rows, warned of, put on record, or refused."""

import hashlib
import os
import sys
import threading
import warnings
import weakref
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from pathlib import Path

from modelsel.core.errors import Problem, RefusedError
from modelsel.core.types import Finding
from modelsel.guard.face import (
    Home,
    LedgerSession,
    OutsideFit,
    OutsideScore,
    Recogniser,
    SealedRows,
    look_findings,
    names_of_sets,
    open_session,
    outside_fit,
    outside_look,
    recogniser,
    refuses,
    row_findings,
)
from modelsel.record.mlflow.own_runs import tag_open_run
from modelsel_watch.evidence import SURE, Values
from modelsel_watch.failures import note_failure, program
from modelsel_watch.passing import INTERNAL
from modelsel_watch.predictions import Meant, Prediction, PredictionMemory

OURS = ("modelsel", "modelsel_watch", "sklearn")  # whose lines are not the person's own
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
    labels: dict[str, Values] = field(default_factory=dict)
    _evaluated: dict[tuple[str, str, str], str | None] = field(default_factory=dict)  # None: it is on record
    _own: threading.local = field(default_factory=threading.local)
    _sessions: dict[int, LedgerSession] = field(default_factory=dict)
    failures: int = 0

    @cached_property
    def _memory(self) -> PredictionMemory:
        return PredictionMemory(self.labels)

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

    def predicted(self, model: object, table: object, made: object, method: str) -> None:
        """A model has predicted a table."""
        rows = self.seen(table)
        if rows:
            with self._lock:
                self._memory.take(made, rows, model, method)

    def transformed(self, table: object, made: object) -> None:
        """A table was transformed: what was made of sealed rows is sealed."""
        rows = self.seen(table)
        if rows and made is not table:
            with self._lock:
                self.recogniser.derive(made, rows)

    def scored(self, metric: str, truth: object, arguments: Sequence[object]) -> None:
        """A metric is about to be computed on what is called the truth and these arguments."""
        with self._lock:
            meant = self._memory.meant(arguments)
            if meant is None and self._memory.very(truth) is not None:  # given the other way round
                (truth, *_), meant = arguments, self._memory.meant([truth])
            if meant is not None and self._memory.is_of_labels(truth, meant):
                self._judge(metric, truth, meant)

    def scored_by(self, model: object, rows: SealedRows, metric: str, truth: object) -> None:
        """A scorer has judged a model on sealed rows, and is about to return its number."""
        with self._lock:
            prediction = self._memory.prediction_of(model, rows)
            meant = Meant(prediction, rows.whole, inf) if prediction is not None else None
            if meant is not None and self._memory.is_of_labels(truth, meant):
                self._judge(metric, truth, meant)

    def evaluated(self, model: object, table: object, settings: str = "") -> None:
        """A model is about to be judged on a table and its labels while it is fitted; `settings` tell it from others."""
        if getattr(self._own, "judged", False):  # the fit that is under way has told
            return
        rows, by = self.seen(table, begins=True), type(model).__name__
        with self._lock:
            if rows and not rows.whole:
                self._in_development(rows, by, among=True)
            elif rows:
                name = (rows.testset, by, settings or str(id(model)))
                digest = self._evaluated.setdefault(name, _digest_of(settings))
                if digest is not None or self._refuses(rows.testset):
                    self._evaluated[name] = None
                    self._look("evaluation set", Prediction(rows, by, digest or ""))

    @contextmanager
    def judging(self, told: bool) -> Iterator[None]:
        """Within a fit whose evaluation sets were told, what it calls tells nothing of them."""
        before = getattr(self._own, "judged", False)
        self._own.judged = before or told
        try:
            yield
        finally:
            self._own.judged = before

    # What comes of it.

    def _judge(self, metric: str, truth: object, meant: Meant) -> None:
        """Say what a metric of a prediction is: a look, rows that helped to choose, or perhaps one of them."""
        prediction, resampled = meant.prediction, self._resampled()
        if meant.nats < SURE:
            self._possible(metric, prediction)
        elif prediction.tainted or not meant.sealed or resampled:
            self._in_development(resampled or prediction.rows, prediction.estimator, among=True)
        elif not prediction.scored or self._refuses(prediction.rows.testset):
            self._memory.looked(truth)
            self._look(metric, prediction)
            prediction.scored = True

    def _possible(self, metric: str, prediction: Prediction) -> None:
        """Say once that this may have been a look; nothing is put on record, and no certificate is withdrawn."""
        testset = prediction.rows.testset
        name = names_of_sets(self._session, [testset]).get(testset)
        if name is not None and (testset, "possible") not in self._told:
            self._told.add((testset, "possible"))
            self.findings.append(look_findings.possible_outside_look(metric, prediction.rows.count, name))

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


def _digest_of(settings: str) -> str:
    """What stands for predictions where none is seen: of equal settings the same, of none a new one."""
    raw = settings.encode("utf-8", "surrogatepass") or os.urandom(16)
    return hashlib.blake2b(raw, digest_size=16).hexdigest()


def _level() -> int:
    """The depth of the first caller that is neither modelsel's nor scikit-learn's: the person's own line, as warnings count."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in (
        "modelsel",
        "modelsel_watch",
        "sklearn",
    ):
        frame = frame.f_back
        level += frame.f_code.co_filename != INTERNAL
    return level
