"""The exam service for askers, whether they come by HTTP or by the Model Context Protocol.

The service is the only one that has the exam: answers one at a time, and of others nothing but what the board shows.
"""

import hashlib
import json
import secrets
import tempfile
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TypeVar

from modelsel.core.errors import REFUSED, ConfigurationError, DataError, ModelselError, Problem, RefusedError
from modelsel.core.system.disk import lock_file
from modelsel.dataset.files import packing
from modelsel.guard.face import Home, write_whole
from modelsel_exam.board import AskerUse, ExamStatus, NextInterval, PublicLine, PublicState, board, status
from modelsel_exam.proposals import GateClose, GateProposal, GateStatus, LoopSession
from modelsel_exam.sit import NAME, ExamSession, HandedAnswer, Shown
from modelsel_exam.terms import Terms, no_answer

# Askers and their limits: tokens that the server gives out, budgets in looks and nats, rates.
#
# A token is 32 random bytes, shown once; its SHA-256 is kept beside the asker's name. A name is the server's: what somebody
# else calls himself counts for nothing.


PREFIX, MINUTE = "msx_", 60.0


@dataclass(frozen=True)
class Asker:
    """A name with its budget; None: what the terms say."""

    name: str
    looks: int | None = None
    nats: float | None = None

    def objection(self, own: Sequence[HandedAnswer], worst: float) -> str:
        """Say why the asker's budget does not allow another answer; empty where it does."""
        if self.looks is not None and len(own) >= self.looks:
            return f"{self.name} has handed in {len(own)} answers, and the token allows {self.looks}"
        spent = sum(answer.charge for answer in own)
        if self.nats is not None and spent + worst > self.nats:
            return f"{self.name} has spent {spent:.2f} nats; this may cost {worst:.2f}, and the token allows {self.nats:g}"
        return ""


class Askers:
    """The askers of an exam, in a file of its store."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "askers.json"

    def admit(self, name: str, looks: int | None = None, nats: float | None = None) -> str:
        """A new token for a name, in place of the one it had; ConfigurationError for what is no name."""
        if not NAME.fullmatch(name):
            fix = "use letters, digits, and . @ + - _, up to 64"
            raise ConfigurationError(Problem("MSEL-960", f"not a name: {name[:40]!r}", "--admit", fix))
        ConfigurationError.raise_if(no_answer(nats))
        token = PREFIX + secrets.token_urlsafe(32)
        with lock_file(self._path.with_suffix(".lock")):
            known = {digest: asker for digest, asker in self._read().items() if asker.name != name}
            known[_digest(token)] = Asker(name, looks, nats)
            write_whole(self._path, json.dumps({digest: asdict(asker) for digest, asker in known.items()}).encode())
        return token

    def of(self, token: str | None) -> Asker | None:
        """Find the asker of a token, None for an unknown one. Compares digests, so that timing reveals nothing of the token."""
        return self._read().get(_digest(token)) if token else None

    def _read(self) -> dict[str, Asker]:
        """Read the askers on record, by the digests of their tokens; none where there is no file yet."""
        try:
            return {digest: Asker(**stated) for digest, stated in json.loads(self._path.read_text("utf-8")).items()}
        except FileNotFoundError:
            return {}


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


class Rates:
    """At most so many calls a minute for each of whoever calls."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._calls: dict[str, deque[float]] = defaultdict(deque)

    def take(self, who: str, now: float | None = None) -> float:
        """0 where the call is allowed (and counted), else the seconds to wait.

        >>> rates = Rates(2)
        >>> [rates.take("ann", at) for at in (0.0, 1.0, 2.0, 60.5)], rates.take("bob", 2.0)
        ([0.0, 0.0, 58.0, 0.0], 0.0)
        """
        at = time.monotonic() if now is None else now
        if len(self._calls) > 10_000:  # strangers come and go
            self._calls = defaultdict(deque, {name: calls for name, calls in self._calls.items() if calls[-1] > at - MINUTE})
        calls = self._calls[who]
        while calls and calls[0] <= at - MINUTE:
            calls.popleft()
        if len(calls) >= self._most:
            return calls[0] + MINUTE - at
        calls.append(at)
        return 0.0


# The service.

PER_ROW = 100  # bytes of an answer, for each row and class


T = TypeVar("T")


@dataclass(frozen=True)
class AskerBudget:
    """An asker's budget: what is used, what is left, and how wide the interval of one more answer is."""

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
    """An exam and its askers. `rate` is the number of answers a minute that a token may hand in, `calls` of all calls."""

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

    def propose(self, asker: Asker, data: bytes, veto: bool = False) -> GateProposal:
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
