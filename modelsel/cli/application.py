"""`run` and `plan` as Hydra applications: overrides, `-m`, `--cfg`, `--info`, `--config-dir` and completion are Hydra's own.

A single study is composed and run here, so that its exit code and its errors are ours. A sweep goes through Hydra's sweeper and
launcher, whichever they are; each job writes what it found into its folder, and the sweep ends by what stands there, with the
worst of the jobs' exit codes.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NoReturn

from hydra._internal.hydra import Hydra
from hydra._internal.utils import get_args_parser
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from modelsel.api.commands.table_words import as_overrides
from modelsel.cli import errors as errors_module
from modelsel.cli.arguments import complaint
from modelsel.cli.help import application as help_of
from modelsel.config import overrides as typed
from modelsel.config.compose import Config, assemble, compose
from modelsel.config.folders import Folders
from modelsel.config.loader import GuardedLoader, problem_of
from modelsel.config.schema import class_of
from modelsel.core.errors import BAD_CONFIGURATION, OK, ConfigurationError, Problem, worst
from modelsel.dataset.named import NOT_AT_HAND
from modelsel.record.folder import runs_folder
from modelsel.record.sweep import BASIC, FINISHED, JobResult, SweepFolder, SweepSettings, stamp_of, write_result

BASIC_SWEEPER = "hydra._internal.core_plugins.basic_sweeper.BasicSweeper"
DIRECTIONS = (  # settings of plug-ins: lower is better, higher is better
    ("hydra.sweeper.direction", "minimize", "maximize"),  # Optuna
    ("hydra.sweeper.ax_config.experiment.minimize", "true", "false"),
    ("hydra.sweeper.optim.maximize", "false", "true"),  # Nevergrad
)
REFUSED = {"config_path": "--config-path", "experimental_rerun": "--experimental-rerun"}


@dataclass(frozen=True)
class JobDone:
    """What the command did for one job: its winner's cross-validated score, its exit code, the run's folder."""

    code: int = OK
    score: float | None = None
    folder: str = ""
    opens: bool = False  # its test set may be opened when all jobs have chosen


class FailedJobError(Exception):
    """A job without a score, in the terms of a sweeper that learns: the trial failed. What went wrong was said before."""


Job = Callable[[Config, bool], JobDone]
After = Callable[[SweepFolder], int]


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
    with _hydra(folders, wanted.hydra):
        composed = _compose_sweep(wanted, folders)
    with _place(command, words, composed) as sweep:
        lines, each = (
            _sweep_lines(wanted, composed, sweep),
            partial(_run_sweep_job, job, (args.config_dir, args.config_name), sweep),
        )
        return _sweep(sweep, lines, each, folders, after)


def _sweep(sweep: SweepFolder, lines: Sequence[str], job: Callable[[DictConfig], float], folders: Folders, after: After) -> int:
    """Let Hydra's sweeper and launcher run the jobs, and end the sweep from what they wrote."""
    stopped: tuple[Problem, ...] = ()
    gave_up = False
    try:
        with _hydra(folders, tuple(line for line in lines if line.startswith(("hydra.", "hydra/")))) as hydra:
            hydra.multirun(folders.name, job, list(lines), with_log_configuration=False)
    except FailedJobError:
        gave_up = True  # a sweeper that learns, after more of them than it bears
    except ConfigurationError as error:
        if not sweep.jobs():
            raise
        stopped = error.problems
    except Exception as error:  # a plug-in's own
        reason = (str(error).splitlines() or [""])[0]
        what = f"the sweeper {sweep.settings.sweeper} ended with {type(error).__name__}: {reason}"
        fix = "its own documentation says what it takes; jobs that are done stay"
        stopped = (Problem("MSEL-260", what, "hydra/sweeper", fix),)
    for problem in stopped:
        print(problem, file=sys.stderr)
    sweep = sweep.write(replace(sweep.settings, state=FINISHED, ended="; ".join(problem.what for problem in stopped)))
    code, jobs = after(sweep), sweep.jobs()
    borne = sweep.settings.learns and not gave_up and any(each.code == OK for each in jobs)  # failed trials, in its terms
    return worst([*(each.code for each in jobs if not borne), *([BAD_CONFIGURATION] if stopped else ()), code])


def _run_sweep_job(job: Job, own: tuple[str | None, str | None], sweep: SweepFolder, composed: DictConfig) -> float:
    """One job of a sweep; it may run in another process. What it found is in its folder before it returns.

    Hydra gets the winner's cross-validated score. Where there is none a sweeper that learns gets an exception.
    """
    hydra = HydraConfig.get()
    words = tuple(str(word).lstrip("+") for word in hydra.overrides.task)
    number, place, learns = int(hydra.job.num), Path(hydra.runtime.output_dir), sweep.settings.learns
    found = JobResult(number, words)
    try:
        config = assemble(composed, dict(hydra.runtime.choices), Folders.of(*own))
        found = replace(found, stamp=stamp_of(config.resolved))
        known = None if learns else _done_before(sweep, found)
        found = known or _perform_job(job, config, found)
        found = replace(found, opens=found.opens and (not learns or config.final_test is True))
    except Exception as error:  # an interrupt ends the sweep
        print(f"[{' '.join(words)}]", file=sys.stderr)
        code, passed = errors_module.print_error(error), _is_passed_over(error)
        found = replace(found, code=OK if passed else code, passed_over=passed)
    write_result(place, found)
    if learns and (found.score is None or not isfinite(found.score)):
        raise FailedJobError(" ".join(words))
    return float("nan") if found.score is None else found.score


def _perform_job(job: Job, config: Config, found: JobResult) -> JobResult:
    """Do the job's study, and tell how long it took."""
    began = time.monotonic()
    done = job(config, True)
    return replace(
        found, code=done.code, score=done.score, folder=done.folder, opens=done.opens, seconds=time.monotonic() - began
    )


def _done_before(sweep: SweepFolder, wanted: JobResult) -> JobResult | None:
    """What the same job found before this sweep was interrupted: same words, same settings, same files."""
    for each in sweep.jobs():
        same = (each.number, each.overrides, each.stamp) == (wanted.number, wanted.overrides, wanted.stamp)
        if same and each.code == OK and each.outcome() is not None:
            print(f"[{' '.join(each.overrides)}] was done before: {each.folder}", file=sys.stderr)
            return each
    return None


def _is_passed_over(error: BaseException) -> bool:
    """True when nothing is wrong but that a data set is not at hand, and the sweep may go on without it."""
    return isinstance(error, ConfigurationError) and all(problem.code == NOT_AT_HAND for problem in error.problems)


def _is_sweep(wanted: typed.Typed, folders: Folders) -> bool:
    """True when an experiment says so in its own file, and what it sweeps is not all fixed by what was typed."""
    if not any(line.startswith(("experiment=", "hydra.mode")) for line in wanted.lines):
        return False
    composed = _compose_sweep(wanted, folders)
    swept = {str(key).lstrip("+") for key in composed.hydra.sweeper.get("params") or ()}
    fixed = {line.lstrip("+").split("=")[0] for line in wanted.lines}
    return bool(composed.hydra.mode == RunMode.MULTIRUN) and not (swept and swept <= fixed)


def _compose_sweep(wanted: typed.Typed, folders: Folders) -> DictConfig:
    """What all jobs begin with: the values that are swept are not in it."""
    loader = GuardedLoader(folders, wanted.hydra)
    return loader.load_configuration(folders.name, list(wanted.lines), RunMode.MULTIRUN, validate_sweep_overrides=False)


def _sweep_lines(wanted: typed.Typed, composed: DictConfig, sweep: SweepFolder) -> list[str]:
    """The overrides of a sweep for Hydra: what was typed, where its files go, and which way is better."""
    typed_keys = {line.lstrip("+~").partition("=")[0] for line in wanted.lines}
    lines = [line for line in wanted.lines if not line.startswith("hydra.sweep.dir=")]
    lines += ["hydra.mode=MULTIRUN", f"hydra.sweep.dir='{sweep.path}'"]
    if not sweep.settings.learns:
        return lines
    if any(line.lstrip("+").startswith(("measure=", "measure.")) and "," in line for line in wanted.lines):
        what = "a sweeper that learns compares the jobs' scores, and they would be of several measures"
        raise ConfigurationError(Problem("MSEL-261", what, "measure", "name one measure, or leave hydra/sweeper out"))
    higher = bool(getattr(class_of("measure", _kind_of_measure(composed)), "higher_is_better", False))
    for key, low, high in DIRECTIONS:
        if key not in typed_keys and OmegaConf.select(composed, key) is not None:
            lines.append(f"{key}={high if higher else low}")
    return lines


def _kind_of_measure(composed: DictConfig) -> str:
    return str(OmegaConf.select(composed, "measure.kind") or composed.hydra.runtime.choices.get("measure"))


def _show_configuration(args: argparse.Namespace, folders: Folders) -> int:
    """`--cfg`, `--info` and completion: nothing is run, nothing is written."""
    if args.shell_completion:
        with _hydra(folders, ()) as hydra:
            hydra.shell_completion(folders.name, args.overrides)
        return OK
    wanted = typed.read_overrides(args.overrides, folders)
    ConfigurationError.raise_if(wanted.problems)
    lines = list(wanted.lines)
    with _hydra(folders, wanted.hydra) as hydra:
        if args.cfg:
            hydra.show_cfg(folders.name, lines, args.cfg, args.package, args.resolve)
        else:
            hydra.show_info(args.info, folders.name, lines)
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
def _place(command: str, words: Sequence[str], composed: DictConfig) -> Iterator[SweepFolder]:
    """Choose the sweep's folder: a new one, the typed one, or that of the same sweep which did not end.

    A plan leaves nothing.
    """
    target = str(composed.hydra.sweeper.get("_target_", ""))
    sweeper = BASIC if target == BASIC_SWEEPER else str(composed.hydra.runtime.choices.get("hydra/sweeper") or target)
    settings = SweepSettings(tuple(words), sweeper)
    if command == "plan":
        if settings.learns:
            what = "a plan has no scores, and a sweeper that learns waits for them"
            raise ConfigurationError(Problem("MSEL-261", what, "hydra/sweeper", "plan without it, over a few values"))
        with TemporaryDirectory() as folder:
            yield SweepFolder(Path(folder).resolve()).write(settings)
        return
    root = runs_folder(composed.get("runs"))
    own = str(composed.hydra.sweep.dir)
    known = None if settings.learns or own else SweepFolder.interrupted(root, words)
    if known is not None:
        print(f"going on with the sweep of {known.path}", file=sys.stderr)
    sweep = known or SweepFolder.create(root, own or None).write(settings)
    with sweep.at_work():
        yield sweep
