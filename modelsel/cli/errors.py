"""Errors and exit codes of commands: `MSEL-xxx: what, where; how to fix` on stderr, never a traceback."""

import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterable

from modelsel.core.errors import INTERNAL, INTERRUPTED, ModelselError, Problem, original_error
from modelsel.core.system.interrupts import interruptible, leave
from modelsel.core.system.requirements import named_requirement


def exit_code(command: Callable[[], int]) -> int:
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
        code = print_error(error)
        if heard:
            sys.stderr.flush()
            leave(code)  # with all workers; shutting down as usual could wait for what a thread is busy with
        return code


def print_error(error: BaseException) -> int:
    """Print an error and return the exit code that it stands for."""
    from modelsel.record.redact import without_secrets

    error = named_requirement(original_error(error))
    if isinstance(error, KeyboardInterrupt):
        print("interrupted; the same command goes on where it stopped", file=sys.stderr)
        return INTERRUPTED
    text = str(error) if isinstance(error, ModelselError) else str(_internal(error))
    print(without_secrets("\n".join((text, *getattr(error, "__notes__", ())))), file=sys.stderr)
    if isinstance(error, ModelselError):
        print(read_up(error.problems), file=sys.stderr)
    return error.exit_code if isinstance(error, ModelselError) else INTERNAL


def read_up(problems: Iterable[Problem]) -> str:
    """Name the command that prints the pages of codes.

    >>> read_up([Problem("A-1", "no setting"), Problem("A-2", "no number"), Problem("A-2", "too large")])
    '`modelsel explain A-1` says more; so for A-2'
    """
    first, *others = dict.fromkeys(problem.code for problem in problems)
    return f"`modelsel explain {first}` says more" + (f"; so for {', '.join(others)}" if others else "")


def _internal(error: BaseException) -> Problem:
    """Describe an unexpected exception; its traceback is written to a file."""
    lines = str(error).strip().splitlines() or [""]
    *_, last = traceback.extract_tb(error.__traceback__) or [None]
    where = f"{last.filename}:{last.lineno}" if last else ""
    return Problem(
        "MSEL-001", f"internal error: {type(error).__name__}: {lines[0]}", where, f"traceback in {_write_traceback(error)}"
    )


def _write_traceback(error: BaseException) -> str:
    """The file that holds the traceback, readable by its owner alone."""
    from modelsel.record.redact import without_secrets

    try:
        handle, path = tempfile.mkstemp(prefix="modelsel-", suffix=".traceback.txt")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(without_secrets("".join(traceback.format_exception(error))))
        return path
    except OSError as failed:
        return f"no file ({failed.strerror})"
