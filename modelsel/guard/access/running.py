"""Tell looks that are still being made from those that died without an answer, which are charged at their highest price.

An answer is on record before it is shown, and another look's predictions are on record before that: they cannot depend on an
answer that is still to come. A look of this home holds a lock for as long as its process lives; one of another home, whose
locks nobody here sees, is believed to be at work for a minute after its intent.
"""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from modelsel.guard.history.history import PastLook
from modelsel.ledger.home import Home

LEASE = 60.0  # seconds
NAMED = "at_work"


@contextmanager
def at_work(home: Home) -> Iterator[str]:
    """Hold a lock of this home while a look is made; its name goes into the intent."""
    name = secrets.token_hex(8)
    place = _place(home, name)
    place.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(place):
        yield name
    with suppress(OSError):
        place.unlink()


def alive(home: Home, look: PastLook, own: bool) -> bool:
    """Say whether a look is still being made; `own`: it was begun by this home."""
    name = look.facts.get(NAMED)
    if look.status != "open" or not isinstance(name, str) or not name.isalnum():
        return False
    return _held(_place(home, name)) if own else 0 <= _age(str(look.facts.get("at"))) <= LEASE


def _held(place: Path) -> bool:
    """Say whether another process holds a lock."""
    if not place.exists():
        return False
    try:
        with FileLock(place, timeout=0):
            return False
    except Timeout:
        return True


def _age(at: str) -> float:
    """Seconds since a stated time; none where it states none."""
    try:
        return (datetime.now(UTC) - datetime.fromisoformat(at)).total_seconds()
    except (ValueError, TypeError):
        return -1.0


def _place(home: Home, name: str) -> Path:
    return home.folder / "at_work" / name
