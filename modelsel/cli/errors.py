"""Errors and exit codes of commands: `MSEL-xxx: what, where; how to fix` on stderr, never a traceback."""

import os
import re
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from modelsel.core.errors import INTERNAL, INTERRUPTED, ConfigurationError, ModelselError, Problem, meant
from modelsel.core.system.interrupts import interruptible, leave


def reported(command: Callable[[], int]) -> int:
    """The exit code of a command; whatever it raises is said in lines that a person can act on."""
    heard: list[int] = []
    try:
        with interruptible(INTERRUPTED) as heard:
            code = command()
            sys.stdout.flush()
            return code
    except BrokenPipeError:
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
        )  # the reader is gone: nothing to say, nobody to say it to
        return INTERNAL
    except (KeyboardInterrupt, Exception) as error:
        code = said(error)
        if heard:
            sys.stderr.flush()
            leave(code)  # with all workers; shutting down as usual could wait for what a thread is busy with
        return code


def said(error: BaseException) -> int:
    """Print an error and return the exit code that it stands for."""
    error = _named(meant(error))
    if isinstance(error, KeyboardInterrupt):
        print("interrupted; the same command goes on where it stopped", file=sys.stderr)
        return INTERRUPTED
    text = str(error) if isinstance(error, ModelselError) else str(_internal(error))
    print(clean("\n".join((text, *getattr(error, "__notes__", ())))), file=sys.stderr)
    if isinstance(error, ModelselError):
        print(read_up(error.problems), file=sys.stderr)
    return error.exit_code if isinstance(error, ModelselError) else INTERNAL


@contextmanager
def requirements() -> Iterator[None]:
    """Name a required package that turns out not to be installed, and the line that installs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (named := _named(error)) is error:
            raise
        raise named from error


def _named(error: BaseException) -> BaseException:
    """Turn the absence of a package that modelsel requires into an error that says how to install it."""
    if not isinstance(error, ModuleNotFoundError):
        return error
    from importlib import metadata

    module = (error.name or "").partition(".")[0]
    package = {"hydra": "hydra-core", "sklearn": "scikit-learn"}.get(module, module)
    try:
        required = [line for line in metadata.requires("modelsel") or () if "extra ==" not in line]
    except metadata.PackageNotFoundError:  # a source tree that nobody installed
        return error
    for line in required:
        if (re.match(r"[\w.-]+", line) or [""])[0].lower() == package:
            return ConfigurationError(Problem("MSEL-002", f"{package} is not installed", "", f"python -m pip install '{line}'"))
    return error


def read_up(problems: Iterable[Problem]) -> str:
    """Name the command that prints the pages of codes.

    >>> read_up([Problem("A-1", "no setting"), Problem("A-2", "no number"), Problem("A-2", "too large")])
    '`modelsel explain A-1` says more; so for A-2'
    """
    first, *others = dict.fromkeys(problem.code for problem in problems)
    return f"`modelsel explain {first}` says more" + (f"; so for {', '.join(others)}" if others else "")


def clean(text: str) -> str:
    """Text without secrets."""
    from modelsel.record.redact import Redactor

    return Redactor.of(*_addresses()).text(text)


def _internal(error: BaseException) -> Problem:
    """Describe an unexpected exception; its traceback is written to a file."""
    lines = str(error).strip().splitlines() or [""]
    *_, last = traceback.extract_tb(error.__traceback__) or [None]
    where = f"{last.filename}:{last.lineno}" if last else ""
    return Problem("MSEL-001", f"internal error: {type(error).__name__}: {lines[0]}", where, f"traceback in {_written(error)}")


def _written(error: BaseException) -> str:
    """The file that holds the traceback, readable by its owner alone."""
    try:
        handle, path = tempfile.mkstemp(prefix="modelsel-", suffix=".traceback.txt")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(clean("".join(traceback.format_exception(error))))
        return path
    except OSError as failed:
        return f"no file ({failed.strerror})"


def _addresses() -> tuple[str, ...]:
    """Addresses in the environment that may carry a password."""
    return tuple(value for value in os.environ.values() if "://" in value and "@" in value)
