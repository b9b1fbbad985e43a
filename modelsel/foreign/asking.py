"""In which cell, and about which rows, an estimator is asked: what is made for one may then serve another (`shared_steps`)."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_SHARING: ContextVar[bool] = ContextVar("sharing", default=False)
_ROWS: ContextVar[str] = ContextVar("rows", default="")


@contextmanager
def share_fitted_steps() -> Iterator[None]:
    """Remember fitted steps within the block, in this thread, and find them again."""
    token = _SHARING.set(True)
    try:
        yield
    finally:
        _SHARING.reset(token)


def is_sharing() -> bool:
    """Say whether fits are those of a study's cells."""
    return _SHARING.get()


@contextmanager
def asking_about(rows: str) -> Iterator[None]:
    """Say which rows are asked about within the block: a name that is theirs alone."""
    token = _ROWS.set(rows)
    try:
        yield
    finally:
        _ROWS.reset(token)


def current_rows() -> str:
    """The name of the rows that are asked about; empty where nobody said it."""
    return _ROWS.get()
