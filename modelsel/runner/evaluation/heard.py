"""Warnings that learners give while they are fitted: gathered, so that a study says each once, with the number of folds.

Python's filters hold: what they hide stays hidden, what they make an error is one. Where several threads fit, each has its own.
"""

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_own = threading.local()
_lock = threading.Lock()
_blocks: list[Any] = []  # what restores the filters when the last open block of this process ends
_count = 0


@contextmanager
def collect_warnings() -> Iterator[list[str]]:
    """The distinct warnings of this thread within the block, which are not printed.

    >>> with collect_warnings() as said:
    ...     warnings.warn_explicit("too few rounds", UserWarning, "boosting.py", 1)
    >>> said
    ['UserWarning: too few rounds']
    """
    before, said = getattr(_own, "said", None), list[str]()
    _enter()
    _own.said = said
    try:
        yield said
    finally:
        _own.said = before
        _leave()


def _enter() -> None:
    """Begin to gather warnings; the first of several threads replaces `showwarning`."""
    global _count
    with _lock:
        _count += 1
        if _count == 1:
            context = warnings.catch_warnings()
            context.__enter__()
            _blocks.append(context)
            warnings.simplefilter("always", append=True)  # else a line of code speaks once per process
            warnings.showwarning = _hearing(warnings.showwarning)


def _leave() -> None:
    """Stop gathering; the last of several threads puts `showwarning` back."""
    global _count
    with _lock:
        _count -= 1
        if not _count:
            _blocks.pop().__exit__(None, None, None)


def _hearing(otherwise: Callable[..., None]) -> Callable[..., None]:
    """Wrap `showwarning`: a gathering thread keeps the text, others show it as before."""

    def show(message: Warning | str, category: type[Warning], *more: object, **named: object) -> None:
        said = getattr(_own, "said", None)
        if said is None:
            otherwise(message, category, *more, **named)
        elif (text := f"{category.__name__}: {message}") not in said:
            said.append(text)

    return show
