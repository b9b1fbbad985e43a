"""`run` and `plan` as Hydra applications: overrides, `-m`, `--cfg`, `--info`, `--config-dir` and completion are Hydra's own.

A single study is composed and run here, so that its exit code and its errors are ours. A sweep goes through Hydra's sweeper and
launcher, whichever they are; each job writes what it found into its folder, and the sweep ends by what stands there, with the
worst of the jobs' exit codes.
"""

import argparse
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NoReturn

from hydra._internal.utils import get_args_parser
from hydra.types import RunMode

from modelsel.api.commands.table_words import as_overrides
from modelsel.cli.arguments import complaint
from modelsel.cli.help import application as help_of
from modelsel.cli.sweep import After, Job, compose_sweep, run_sweep
from modelsel.config import overrides as typed
from modelsel.config.compose import compose
from modelsel.config.folders import Folders
from modelsel.config.loader import hydra_over
from modelsel.core.errors import OK, ConfigurationError, Problem

VERBOSE = ("-v", "--verbose")
REFUSED = {"config_path": "--config-path", "experimental_rerun": "--experimental-rerun"}


def application(command: str, words: Sequence[str], job: Job, after: After) -> int:
    """Run a command line of `run` or `plan`: `job` does one study (told whether it is one of a sweep), `after` ends a sweep."""
    args = _arguments(command, words)
    if args.help:
        print(help_of(command))
        return OK
    folders = Folders.of(args.config_dir, args.config_name)
    args.overrides = as_overrides(args.overrides)
    if args.cfg or args.info or args.shell_completion:
        return _show_configuration(args, folders)
    wanted = typed.read_overrides(args.overrides, folders, sweep=True)
    if not args.multirun and not _is_sweep(wanted, folders):
        return job(compose(args.overrides, args.config_dir, config_name=args.config_name), False).code
    ConfigurationError.raise_if(wanted.problems)
    return run_sweep(command, words, (args.config_dir, args.config_name), wanted, job, after)


def take_verbose(words: Sequence[str]) -> tuple[list[str], bool]:
    """The words without `-v`, and whether it was among them.

    >>> take_verbose(["-v", "seed=1"])
    (['seed=1'], True)
    """
    rest = [word for word in words if word not in VERBOSE]
    return rest, len(rest) < len(words)


def _is_sweep(wanted: typed.Typed, folders: Folders) -> bool:
    """True when an experiment says so in its own file, and what it sweeps is not all fixed by what was typed."""
    if not any(line.startswith(("experiment=", "hydra.mode")) for line in wanted.lines):
        return False
    composed = compose_sweep(wanted, folders)
    swept = {str(key).lstrip("+") for key in composed.hydra.sweeper.get("params") or ()}
    fixed = {line.lstrip("+").split("=")[0] for line in wanted.lines}
    return bool(composed.hydra.mode == RunMode.MULTIRUN) and not (swept and swept <= fixed)


def _show_configuration(args: argparse.Namespace, folders: Folders) -> int:
    """`--cfg`, `--info` and completion: nothing is run, nothing is written."""
    if args.shell_completion:
        with hydra_over(folders, ()) as hydra:
            hydra.shell_completion(folders.name, args.overrides)
        return OK
    wanted = typed.read_overrides(args.overrides, folders)
    ConfigurationError.raise_if(wanted.problems)
    lines = list(wanted.lines)
    with hydra_over(folders, wanted.hydra) as hydra:
        if args.cfg:
            hydra.show_cfg(folders.name, lines, args.cfg, args.package, args.resolve)
        else:
            hydra.show_info(args.info, folders.name, lines)
    return OK


def _arguments(command: str, words: Sequence[str]) -> argparse.Namespace:
    """Parse the words by Hydra's own parser, and refuse its options that are not taken here."""
    program = f"modelsel {command}"
    parser = get_args_parser()
    parser.prog = program
    parser.error = partial(_fail, program)  # type: ignore[method-assign]
    args = parser.parse_intermixed_args(list(words))
    for name, option in REFUSED.items():
        if getattr(args, name):
            raise ConfigurationError(Problem("MSEL-251", f"{option} is not taken", f"`{program}`", "give --config-dir DIR"))
    if sum(map(bool, (args.cfg, args.info, args.shell_completion, args.multirun))) > 1:
        _fail(program, "only one of -m, --cfg and --info at a time")
    return args


def _fail(program: str, message: str) -> NoReturn:
    _, found, unknown = message.partition("unrecognized arguments: ")
    ConfigurationError.raise_if(_flags(unknown.split(), program) if found else ())
    raise ConfigurationError(complaint(message, program))


def _flags(words: Sequence[str], program: str) -> Iterator[Problem]:
    """Yield for each flag that is a setting the override to write in its place: `--folds 5` is `scheme.folds=5`."""
    for flag, following in zip(words, (*words[1:], "")):
        name, _, value = flag.lstrip("-").replace("-", "_").partition("=")
        if flag.startswith("--") and (setting := typed.home_of(name)):
            given = value or ("VALUE" if following.startswith("-") or not following else following)
            yield Problem(
                "MSEL-251", f"{flag} is not an option", f"`{program}`", f"settings are overrides: write {setting}={given}"
            )
