"""The exam service for askers, whether they come by HTTP or by the Model Context Protocol.

The service is the only one that has the exam: answers one at a time, and of others nothing but what the board shows.
"""

import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TypeVar

from modelsel.core.errors import REFUSED, DataError, ModelselError, Problem, RefusedError
from modelsel.dataset.files import packing
from modelsel.examination.board import AskerUse, ExamStatus, NextInterval, PublicLine, PublicState, board, status
from modelsel.examination.proposals import GateClose, GateStatus, LoopSession, Proposal
from modelsel.examination.server.askers import Asker, Askers, Rates
from modelsel.examination.sit import ExamSession, Shown
from modelsel.examination.terms import Terms
from modelsel.ledger.home import Home

PER_ROW = 100  # bytes of an answer, for each row and class


T = TypeVar("T")


@dataclass(frozen=True)
class AskerBudget:
    """What an asker has used, what is left, and how wide the interval of one more answer is."""

    asker: str
    state: str
    answers: int
    nats: float
    looks_left: int | None
    nats_left: float | None
    spent_by_all: float
    next: NextInterval | None


class UnknownTokenError(ModelselError):
    """The token is missing or unknown."""

    exit_code = REFUSED


class TooOftenError(ModelselError):
    """More calls than the rate allows."""

    exit_code = REFUSED


class ExamService:
    """One exam and its askers. `rate` is the number of answers a minute that a token may hand in, `calls` of all calls."""

    def __init__(self, folder: Path, rate: int = 20, calls: int = 240, home: Home | None = None) -> None:
        """Open the exam in a folder, with its askers and rates; None: the home of the environment."""
        self.exam = ExamSession(folder, home)
        self._read = ExamSession(folder, home)  # nobody who reads waits for those who hand in
        self.loop = None if self.exam.terms.loop is None else LoopSession(folder, home)  # a gate
        self.askers = Askers(self.exam.store.folder)
        self._turn, self._reading = threading.Lock(), threading.Lock()
        self._answers, self._calls, self._failures, self._strangers = Rates(rate), Rates(calls), Rates(30), Rates(calls)

    @property
    def terms(self) -> Terms:
        return self.exam.terms

    @property
    def largest(self) -> int:
        """Bytes from which an answer is too large to be one."""
        rows = self.terms.rows.development + self.terms.rows.questions
        return (1 << 20) + PER_ROW * rows * (1 + len(self.terms.classes))

    def asker_of(self, token: str | None, where: str = "") -> Asker:
        """The asker of a token. Raises UnknownTokenError, and TooOftenError where somebody tries many."""
        asker = self.askers.of(token)
        if asker is None:
            _wait(self._failures.take(where))
            raise UnknownTokenError(Problem("MSEL-961", "no such token", "Authorization", "ask the examiner for one"))
        return asker

    def crowded(self, token: str | None, where: str) -> float:
        """Seconds to wait before another call: an asker counts by his name, strangers by the machine that they ask from."""
        asker = self.askers.of(token)
        return self._calls.take(asker.name) if asker else self._strangers.take(where)

    def file(self, side: str) -> bytes:
        """The rows of one side, as they were given out."""
        return (self.exam.folder / self.terms.files[side].name).read_bytes()

    def answer(self, asker: Asker, data: bytes, forecast: tuple[float, float] | None = None) -> Shown:
        """Hand in the bytes of a CSV or Parquet file. Raises as `Exam.answer` does, and TooOftenError."""
        return self._hand_in_turn(asker, data, lambda path: self.exam.answer(path, asker.name, forecast, asker.objection))

    def propose(self, asker: Asker, data: bytes, veto: bool = False) -> Proposal:
        """Propose the bytes of a CSV or Parquet file to a gate. Raises as `LoopSession.propose` does, and TooOftenError."""
        return self._hand_in_turn(asker, data, lambda path: self._gate.propose(path, asker.name, (), veto))

    def gate_status(self) -> GateStatus:
        """The state of a gate."""
        with self._turn:
            return self._gate.status()

    def close(self) -> GateClose:
        """End a gate."""
        with self._turn:
            return self._gate.close()

    @property
    def _gate(self) -> LoopSession:
        assert self.loop is not None  # its tools are offered for gates alone
        return self.loop

    def _hand_in_turn(self, asker: Asker, data: bytes, hand_in: Callable[[Path], T]) -> T:
        """Hand in a file of an asker, in turn."""
        _wait(self._answers.take(asker.name))
        if len(data) > self.largest:
            fix = "hand in a line for each row: its token, and what is predicted"
            raise DataError(Problem("MSEL-962", f"an answer of {len(data):,} bytes", "predictions", fix))
        if packed := packing(data):  # a few bytes may stand for any number of rows
            raise DataError(
                Problem("MSEL-966", f"the answer is packed ({packed})", "predictions", "hand in plain CSV or Parquet")
            )
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / ("answer.parquet" if data.startswith(b"PAR1") else "answer.csv")
            path.write_bytes(data)
            try:
                with self._turn:
                    return hand_in(path)
            except DataError as error:  # where the server has put the file is nobody's business
                raise DataError(
                    *(replace(one, where=one.where.replace(folder, "").lstrip("/")) for one in error.problems)
                ) from None

    def budget(self, asker: Asker) -> AskerBudget:
        """Return what an asker has used, what is left, and how wide the interval of one more answer is."""
        state = self._status()
        mine, limits = state.askers.get(asker.name, AskerUse(0, 0.0, None, None)), self.terms.per_asker
        looks = [limit for limit in (limits.looks, asker.looks) if limit is not None]
        nats = [limit for limit in (limits.nats, asker.nats) if limit is not None]
        return AskerBudget(
            asker=asker.name, state=state.state, answers=mine.answers, nats=mine.nats,
            looks_left=min(looks) - mine.answers if looks else None, nats_left=min(nats) - mine.nats if nats else None,
            spent_by_all=state.spent, next=state.next,
        )  # fmt: skip

    def board(self) -> list[PublicLine]:
        """The board without digests."""
        with self._reading:
            return [_part(PublicLine, line) for line in board(self._read)]

    def state(self) -> PublicState:
        """The state of the exam, without what each asker has used."""
        return _part(PublicState, self._status())

    def _status(self) -> ExamStatus:
        with self._reading:
            return status(self._read)


def _part(kind: type[T], facts: T) -> T:
    """The fields of a base alone."""
    return kind(**{field.name: getattr(facts, field.name) for field in fields(kind)})  # type: ignore[arg-type]  # a dataclass


def _wait(seconds: float) -> None:
    if seconds > 0:
        raise TooOftenError(Problem("MSEL-963", f"too many calls; wait {seconds:.0f} seconds", "the server", "ask less often"))


def error_facts(error: ModelselError) -> dict[str, str | int]:
    """An error as askers read it: what they did wrong in full, of what is wrong here nothing but that it is."""
    if isinstance(error, DataError | RefusedError | UnknownTokenError | TooOftenError) or error.exit_code == 2:
        return {"error": str(error), "exit_code": error.exit_code}
    return {"error": f"{error.code}: the examiner's side failed; nothing was shown", "exit_code": error.exit_code}
