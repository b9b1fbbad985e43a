"""Askers and their limits: tokens that the server gives out, budgets in looks and nats, rates.

A token is 32 random bytes, shown once; its SHA-256 is kept beside the asker's name. A name is the server's: what somebody else
calls himself counts for nothing.
"""

import hashlib
import json
import secrets
import time
from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.system.disk import locked
from modelsel.examination.sit import NAME, HandedAnswer
from modelsel.examination.terms import no_answer
from modelsel.ledger.home import write_whole

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
        with locked(self._path.with_suffix(".lock")):
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
