"""Argument parsers whose complaints are errors like all others; commands that have commands of their own (exam, gate)."""

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeVar

from modelsel.api.commands.words import all_commands
from modelsel.core.errors import OK, ConfigurationError, Problem

if TYPE_CHECKING:  # a command imports what it needs
    from modelsel.core.types import Finding
    from modelsel.record.folder import RunFolder

T = TypeVar("T")
Command = Callable[[Sequence[str]], int]
RUN_HELP = "a run folder, `latest`, a study's name (its newest run) or an MLflow run id"
LEVELS = ("info", "low", "medium", "high", "critical")  # core.types.Severity, without its imports


class Arguments(argparse.ArgumentParser):
    """The parser of one command."""

    def __init__(self, command: str, more: str = "") -> None:
        """Make the parser of a command, with its line of help for a description."""
        super().__init__(
            prog=f"modelsel {command}", description=f"{all_commands()[command].capitalize()}.", epilog=more,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )  # fmt: skip

    def error(self, message: str) -> NoReturn:
        raise ConfigurationError(complaint(message, self.prog))


def complaint(message: str, program: str) -> Problem:
    """Make the problem that tells of words which cannot be parsed."""
    return Problem("MSEL-251", message, f"`{program}`", f"see `{program} --help`")


def run_command(name: str, commands: Mapping[str, Command], words: Sequence[str]) -> int:
    """Run the command of a command that the first word names (`modelsel exam create ...`)."""
    if not words or words[0] in ("-h", "--help"):
        Arguments(name, "\n".join(f"  {word:<8} {_first_line(one).rstrip('.')}" for word, one in commands.items())).print_help()
        return OK
    if words[0] not in commands:
        from difflib import get_close_matches

        near = get_close_matches(words[0], commands, 1)
        meant = f"; did you mean {near[0]!r}?" if near else ""
        raise ConfigurationError(complaint(f"{words[0]!r} is none of {', '.join(commands)}{meant}", f"modelsel {name}"))
    return commands[words[0]](words[1:])


def folder_parser(name: str, command: Command, data: bool = True) -> Arguments:
    """Make the parser of a command of `modelsel exam` or `modelsel gate`: a folder, and `--json` where there are data."""
    parser = _parser(name, command)
    parser.add_argument("folder", metavar="DIR", help=f"the {name}'s folder, as `modelsel {name} create` wrote it")
    if data:
        parser.add_argument("--json", action="store_true", help="as data")
    return parser


def table_parser(name: str, command: Command, reader: str) -> Arguments:
    """Make the parser of what turns a table into an exam or a gate."""
    parser = _parser(name, command)
    parser.add_argument("table", metavar="TABLE", help="CSV, ARFF or Parquet")
    parser.add_argument("folder", metavar="DIR", help=f"a new folder, for {reader}")
    parser.add_argument("--target", required=True, metavar="COLUMN", help="what is to be predicted")
    parser.add_argument("settings", nargs="*", metavar="SETTING=VALUE", help="of split, dataset and measure")
    return parser


def show(name: str, command: Command, words: Sequence[str], facts: Callable[[Path], T], text: Callable[[T], str]) -> int:
    """Run a command that reads a folder, and print what it says as text or as JSON."""
    args = folder_parser(name, command).parse_args(words)
    found = facts(Path(args.folder))
    print(json.dumps(found, indent=1, ensure_ascii=False, default=asdict) if args.json else text(found))
    return OK


def warn_of(findings: "Sequence[Finding]") -> None:
    """Print the findings that deserve attention to stderr."""
    for finding in findings:
        if finding.severity not in ("info", "low"):
            print(f"{finding.code}: {finding.message}; {finding.do}", file=sys.stderr)


def warn_of_changes(folder: "RunFolder") -> None:
    """Print to stderr what a run's record says otherwise than the ledger and the files beside it."""
    from modelsel.record.agreement import disagreements

    for finding in disagreements(folder):
        print(f"{finding.code} (high): {finding.message}, {folder.path}; {finding.do}", file=sys.stderr)


def _parser(name: str, command: Command) -> Arguments:
    parser = Arguments(name)
    parser.prog, parser.description = f"modelsel {name} {command.__name__}", _first_line(command)
    return parser


def _first_line(command: Command) -> str:
    return (command.__doc__ or "").strip()
