"""`modelsel <command> …`: finds the command's file, says what went wrong in a line, returns the exit code.

Standard library only, so that help and completion answer at once; Hydra and MLflow are imported by the commands that need them.
"""

import gc
import importlib
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from functools import partial
from io import TextIOWrapper
from types import ModuleType

from modelsel.api.commands.words import COMMANDS, all_commands
from modelsel.cli.errors import exit_code, read_up
from modelsel.cli.help import text
from modelsel.core import satellites
from modelsel.core.errors import BAD_CONFIGURATION, OK, ConfigurationError, Problem
from modelsel.core.system.disk import is_writable

FEW_COLLECTIONS = 100_000  # new objects before Python looks for circles among them: 700 cost a tenth of a short study
HELP = ("-h", "--help", "help")


def console() -> int:
    """Run `main` for the shell: in a process of its own, which does not look through all its objects when it ends."""
    gc.set_threshold(FEW_COLLECTIONS)
    code = main()
    gc.freeze()
    return code


def main(words: Sequence[str] | None = None) -> int:
    """Run a command line; the exit code is that of DESIGN's table (0 done … 130 interrupted)."""
    words = list(sys.argv[1:] if words is None else words)
    _speak_any_locale()
    if unreadable := [word for word in words if not is_writable(word)]:
        return exit_code(partial(_refuse_word, unreadable[0]))
    if not words or words[0] in HELP:
        return exit_code(_help)
    if words[0] in ("-V", "--version"):
        return exit_code(_version)
    name, *rest = words
    if name not in COMMANDS and name not in satellites.offers_of(satellites.COMMANDS) and not satellites.install_line(name):
        problem = _unknown_command(name)
        print(problem, read_up([problem]), sep="\n", file=sys.stderr)
        return BAD_CONFIGURATION
    if name == "run" and not any(word.startswith(("-", "tracking", "+tracking")) for word in rest):
        _start_recorder()
    return exit_code(lambda: int(module_of(name).main(rest)))


def _start_recorder() -> None:
    """Start importing MLflow in another process where a study will be tracked: it takes as long as a small study."""
    from modelsel.record.mlflow.outbox import start_ahead

    start_ahead()


def module_of(name: str) -> ModuleType:
    """Import the module of a command; ConfigurationError where the package that brings it is not installed."""
    module: ModuleType = importlib.import_module(f"modelsel.cli.{name}") if name in COMMANDS else satellites.command(name)
    return module


def _speak_any_locale() -> None:
    """Let a terminal without a sign show another in its place: an answer is never lost to a locale."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _refuse_word(word: str) -> int:
    """Refuse a word that the locale could not read, before anything is done that could not be written down."""
    shown = word.encode("utf-8", "backslashreplace").decode()
    fix = "rename the file, or use a UTF-8 locale (export LC_ALL=C.UTF-8)"
    raise ConfigurationError(Problem("MSEL-251", f"bytes that are not UTF-8: {shown}", "command line", fix))


def _help() -> int:
    """Print the commands and what people type."""
    print(text())
    return OK


def _version() -> int:
    """Print the version."""

    import modelsel

    print(f"modelsel {modelsel.__version__}")
    return OK


def _unknown_command(name: str) -> Problem:
    """Describe an unknown command, with the nearest that there is."""
    if "=" in name:
        return Problem("MSEL-250", f"{name!r} is not a command", "command line", f"write `modelsel run {name}`")
    near = get_close_matches(name, all_commands(), 1)
    fix = f"did you mean `modelsel {near[0]}`?" if near else "`modelsel --help` lists the commands"
    return Problem("MSEL-250", f"{name!r} is not a command", "command line", fix)


if __name__ == "__main__":
    sys.exit(console())
