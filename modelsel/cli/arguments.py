"""Argument parsers whose complaints are errors like all others."""

import argparse
from typing import NoReturn

from modelsel.api.commands.words import COMMANDS
from modelsel.core.errors import ConfigurationError, Problem

RUN_HELP = "a run folder, `latest`, a study's name (its newest run) or an MLflow run id"
LEVELS = ("info", "low", "medium", "high", "critical")  # core.types.Severity, without its imports


class Arguments(argparse.ArgumentParser):
    """The parser of one command."""

    def __init__(self, command: str, more: str = "") -> None:
        """Make the parser of a command, with its description from the list of commands."""
        super().__init__(
            prog=f"modelsel {command}", description=f"{COMMANDS[command].capitalize()}.", epilog=more,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )  # fmt: skip

    def error(self, message: str) -> NoReturn:
        raise ConfigurationError(complaint(message, self.prog))


def complaint(message: str, program: str) -> Problem:
    """Make the problem that tells of words which cannot be parsed."""
    return Problem("MSEL-251", message, f"`{program}`", f"see `{program} --help`")
