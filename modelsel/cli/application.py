"""`run` and `plan` as Hydra applications: overrides, `-m`, `--cfg`, `--info`, `--config-dir` and completion are Hydra's own.

A single study is composed and run here, so that its exit code and its errors are ours. A sweep goes through Hydra's sweeper and
launcher; each job returns a `SweepScore`, never raises, and the sweep ends with the worst of their exit codes when all have
run.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

from hydra._internal.hydra import Hydra
from hydra._internal.utils import get_args_parser
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig
from omegaconf.errors import OmegaConfBaseException

from modelsel.api.commands.table_words import as_overrides
from modelsel.cli import errors as errors_module
from modelsel.cli.arguments import complaint
from modelsel.cli.help import application as help_of
from modelsel.config import overrides as typed
from modelsel.config.compose import Config, assemble, compose
from modelsel.config.folders import ROOT, Folders
from modelsel.config.loader import GuardedLoader, problem_of
from modelsel.core.errors import OK, ConfigurationError, Problem, worst
from modelsel.dataset.named import NOT_AT_HAND

REFUSED = {"config_path": "--config-path", "config_name": "--config-name", "experimental_rerun": "--experimental-rerun"}


class SweepScore(float):
    """A sweep job's return value: the cross-validated score of its winner (NaN without one), with all else beside it."""

    code: int = OK
    overrides: str = ""
    result: Any = None
    place: str = ""  # the folder of the sweep

    @classmethod
    def of(cls, score: float, code: int = OK, overrides: str = "", result: object = None, place: str = "") -> "SweepScore":
        done = cls(score)
        done.code, done.overrides, done.result, done.place = code, overrides, result, place
        return done

    def __reduce__(self) -> tuple[object, ...]:
        return SweepScore.of, (float(self), self.code, self.overrides, self.result, self.place)


Job = Callable[[Config, bool], SweepScore]
After = Callable[[Sequence[SweepScore]], int]


def application(command: str, words: Sequence[str], job: Job, after: After) -> int:
    """Run a command line of `run` or `plan`: `job` does one study (told whether it is one of a sweep), `after` ends a sweep."""
    args = _arguments(command, words)
    if args.help:
        print(help_of(command))
        return OK
    folders = Folders.of(args.config_dir)
    args.overrides = as_overrides(args.overrides)
    if args.cfg or args.info or args.shell_completion:
        return _show_configuration(args, folders)
    wanted = typed.read_overrides(args.overrides, folders, sweep=True)
    if not args.multirun and not _is_sweep(wanted, folders):
        return job(compose(args.overrides, args.config_dir), False).code
    ConfigurationError.raise_if(wanted.problems)
    with _place(command) as place, _hydra(folders, (*wanted.hydra, *place)) as hydra:
        lines = [*wanted.lines, "hydra.mode=MULTIRUN", *place]
        returned = hydra.multirun(ROOT, partial(_run_sweep_job, job, args.config_dir), lines, with_log_configuration=False)
    done = [result.return_value for batch in returned for result in batch]
    return worst([*(one.code for one in done), after(done)])


def _run_sweep_job(job: Job, config_dir: str | None, composed: DictConfig) -> SweepScore:
    """One job of a sweep; it may run in another process."""
    hydra = HydraConfig.get()
    line = " ".join(str(word).lstrip("+") for word in hydra.overrides.task)
    try:
        config = assemble(composed, dict(hydra.runtime.choices), Folders.of(config_dir))
        done = job(config, True)
        return SweepScore.of(float(done), done.code, line, done.result, str(hydra.sweep.dir))
    except Exception as error:  # an interrupt ends the sweep
        print(f"[{line}]", file=sys.stderr)
        code = errors_module.print_error(error)
        return SweepScore.of(float("nan"), OK if _is_passed_over(error) else code, line)


def _is_passed_over(error: BaseException) -> bool:
    """True when nothing is wrong but that a data set is not at hand, and the sweep may go on without it."""
    return isinstance(error, ConfigurationError) and all(problem.code == NOT_AT_HAND for problem in error.problems)


def _is_sweep(wanted: typed.Typed, folders: Folders) -> bool:
    """True when an experiment says so in its own file, and what it sweeps is not all fixed by what was typed."""
    if not any(line.startswith(("experiment=", "hydra.mode")) for line in wanted.lines):
        return False
    loader = GuardedLoader(folders, wanted.hydra)
    composed = loader.load_configuration(ROOT, list(wanted.lines), RunMode.MULTIRUN, validate_sweep_overrides=False)
    swept, fixed = set(composed.hydra.sweeper.params or ()), {line.lstrip("+").split("=")[0] for line in wanted.lines}
    return bool(composed.hydra.mode == RunMode.MULTIRUN) and not (swept and swept <= fixed)


def _show_configuration(args: argparse.Namespace, folders: Folders) -> int:
    """`--cfg`, `--info` and completion: nothing is run, nothing is written."""
    if args.shell_completion:
        with _hydra(folders, ()) as hydra:
            hydra.shell_completion(ROOT, args.overrides)
        return OK
    wanted = typed.read_overrides(args.overrides, folders)
    ConfigurationError.raise_if(wanted.problems)
    lines = list(wanted.lines)
    with _hydra(folders, wanted.hydra) as hydra:
        if args.cfg:
            hydra.show_cfg(ROOT, lines, args.cfg, args.package, args.resolve)
        else:
            hydra.show_info(args.info, ROOT, lines)
    return OK


@contextmanager
def _hydra(folders: Folders, trusted: tuple[str, ...]) -> Iterator[Hydra]:
    """Hydra over our folders; what it has against a configuration is an error like all others."""
    hydra = Hydra(task_name="modelsel", config_loader=GuardedLoader(folders, trusted))
    GlobalHydra.instance().initialize(hydra)
    try:
        yield hydra
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigurationError(problem_of(error)) from error
    finally:
        GlobalHydra.instance().clear()


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


@contextmanager
def _place(command: str) -> Iterator[tuple[str, ...]]:
    """Choose the folder for Hydra's notes of a sweep: below runs/ for a run; a plan leaves nothing."""
    if command == "run":
        yield ()
        return
    with TemporaryDirectory() as folder:
        yield (f"hydra.sweep.dir={folder}",)
