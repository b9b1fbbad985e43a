"""A sweep: Hydra's sweeper and launcher, whichever they are, run the jobs, and the files that the jobs wrote are its end.

What a job returns to Hydra is the cross-validated score of its winner in the measure's own direction, never a test score. A
sweeper that learns from it (any but Hydra's own) hears of a job without a score by an exception, as its plug-in wants it.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory

from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf

from modelsel.cli import errors as errors_module
from modelsel.config import overrides as typed
from modelsel.config.compose import Config, assemble
from modelsel.config.folders import Folders
from modelsel.config.loader import GuardedLoader, hydra_over
from modelsel.config.schema import class_of
from modelsel.core.errors import BAD_CONFIGURATION, OK, ConfigurationError, Problem, worst
from modelsel.dataset.named import NOT_AT_HAND
from modelsel.record.folder import runs_folder
from modelsel.record.mlflow.outbox import shared_writers
from modelsel.record.mlflow.place import EXPERIMENT, OFF, RUN, under
from modelsel.record.mlflow.store import locate
from modelsel.record.mlflow.sync import options_of
from modelsel.record.mlflow.track import SweepRun
from modelsel.record.redact import without_secrets
from modelsel.record.sweep import BASIC, FINISHED, JobResult, SweepFolder, SweepSettings, stamp_of, write_result

DIRECTIONS = (  # settings of plug-ins: lower is better, higher is better
    ("hydra.sweeper.direction", "minimize", "maximize"),  # Optuna
    ("hydra.sweeper.ax_config.experiment.minimize", "true", "false"),
    ("hydra.sweeper.optim.maximize", "false", "true"),  # Nevergrad
)
SWEEPS = "sweeps"  # the experiment of MLflow's in which sweeps stand, where none is named


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


def run_sweep(
    command: str, words: Sequence[str], own: tuple[str | None, str | None], wanted: typed.Typed, job: Job, after: After
) -> int:
    """Run the jobs of a sweep and end it; `own` are the person's folder of configuration and root file."""
    folders = Folders.of(*own)
    with hydra_over(folders, wanted.hydra):
        composed = compose_sweep(wanted, folders)
    with _place(command, words, composed) as sweep, shared_writers():
        tracked = None if command == "plan" else _begin_run(sweep, composed, wanted)  # an interrupted sweep goes on in its own
        if tracked is not None:
            sweep = sweep.write(replace(sweep.settings, parent=tracked.run))
        lines = _sweep_lines(wanted, composed, sweep)
        stopped = _run_jobs(sweep, lines, partial(_run_job, job, own, sweep), folders)
        sweep = sweep.write(replace(sweep.settings, state=FINISHED, ended="; ".join(each.what for each in stopped)))
        code, jobs = after(sweep), sweep.jobs()
        if tracked is not None:
            _end_run(tracked, sweep)
        borne = sweep.settings.learns and not stopped and any(each.code == OK for each in jobs)  # failed trials, in its terms
    return worst([*(each.code for each in jobs if not borne), *([BAD_CONFIGURATION] if _is_wrong(stopped) else ()), code])


def _is_wrong(stopped: Sequence[Problem]) -> bool:
    """Say whether it was not the jobs that ended a sweep before its time."""
    return any(each.code != GAVE_UP.code for each in stopped)


GAVE_UP = Problem(
    "MSEL-263", "the sweeper gave up after too many failed jobs", "hydra.sweeper.max_failure_rate",
    "mend what failed, or bear more of it: hydra.sweeper.max_failure_rate=0.5",
)  # fmt: skip


def _run_jobs(
    sweep: SweepFolder, lines: Sequence[str], job: Callable[[DictConfig], float], folders: Folders
) -> tuple[Problem, ...]:
    """Let Hydra run the jobs; return what ended the sweep before its time, which was printed."""
    stopped: tuple[Problem, ...] = ()
    try:
        with hydra_over(folders, tuple(line for line in lines if line.startswith(("hydra.", "hydra/")))) as hydra:
            hydra.multirun(folders.name, job, list(lines), with_log_configuration=False)
    except FailedJobError:
        stopped = (GAVE_UP,)
    except ConfigurationError as error:
        if not sweep.jobs():
            raise
        stopped = error.problems
    except Exception as error:  # a plug-in's own
        reason = (str(error).splitlines() or [""])[0]
        what = f"the sweeper {sweep.settings.sweeper} ended with {type(error).__name__}: {reason}"
        fix = "its own documentation says what it takes; jobs that are done stay"
        stopped = (Problem("MSEL-265", what, "hydra/sweeper", fix),)
    for problem in stopped:
        print(problem, file=sys.stderr)
    return stopped


def _begin_run(sweep: SweepFolder, composed: DictConfig, wanted: typed.Typed) -> SweepRun | None:
    """Begin the sweep's own run in MLflow; None where tracking is off, or is itself swept."""
    settings = OmegaConf.to_container(composed.tracking, resolve=True)
    if _sweeps("tracking", composed, wanted) or not isinstance(settings, dict) or settings.get("kind") == OFF:
        return None
    store = locate(options_of(settings), runs_folder(composed.get("runs")))
    if store is None:
        return None
    experiment = settings.get("experiment") or os.environ.get(EXPERIMENT) or composed.get("name") or SWEEPS
    below = settings.get("parent") or os.environ.get(RUN) or None
    command = " ".join(("modelsel", "run", *sweep.settings.words))
    return SweepRun.begin(
        store, experiment=str(experiment), name=sweep.path.name, command=command, folder=str(sweep.path), below=below,
        known=sweep.settings.parent,
    )  # fmt: skip


def _end_run(tracked: SweepRun, sweep: SweepFolder) -> None:
    """Log the sweep's table and its best job in MLflow."""
    from modelsel.reporting.sweep import best_job, read_jobs

    jobs = read_jobs(sweep)
    best: dict[str, object] = {"jobs": float(len(jobs)), "sweeper": sweep.settings.sweeper}
    if any(job.outcome is not None for job in jobs):
        chosen = best_job(jobs)
        best |= {"best_job": chosen.label, "best_cv_score": chosen.result.score, "best_run": chosen.result.folder}
    tracked.finish(sweep.path, best, bool(sweep.settings.ended))


def _run_job(job: Job, own: tuple[str | None, str | None], sweep: SweepFolder, composed: DictConfig) -> float:
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
        if sweep.settings.parent and config.tracking.kind != OFF and config.tracking.parent is None:
            config = under(config, sweep.settings.parent)
        if learns:
            config = replace(config, sweeper=sweep.settings.sweeper)
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


def compose_sweep(wanted: typed.Typed, folders: Folders) -> DictConfig:
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
    if _sweeps("measure", composed, wanted):
        what = "a sweeper that learns compares the jobs' scores, and they would be of several measures"
        raise ConfigurationError(Problem("MSEL-261", what, "measure", "name one measure, or leave hydra/sweeper out"))
    higher = bool(getattr(class_of("measure", _kind_of_measure(composed)), "higher_is_better", False))
    for key, low, high in DIRECTIONS:
        if key not in typed_keys and OmegaConf.select(composed, key) is not None:
            lines.append(f"{key}={high if higher else low}")
    return lines


def _sweeps(part: str, composed: DictConfig, wanted: typed.Typed) -> bool:
    """Say whether jobs differ in a part of the configuration: typed values, or those of `hydra.sweeper.params`."""
    listed = OmegaConf.select(composed, "hydra.sweeper.params") or {}
    return any(key.lstrip("+").partition(".")[0] == part for key in (*wanted.swept, *map(str, listed)))


def _kind_of_measure(composed: DictConfig) -> str:
    return str(OmegaConf.select(composed, "measure.kind") or composed.hydra.runtime.choices.get("measure"))


@contextmanager
def _place(command: str, words: Sequence[str], composed: DictConfig) -> Iterator[SweepFolder]:
    """Choose the sweep's folder: a new one, the typed one, or that of the same sweep which did not end.

    A plan leaves nothing.
    """
    words = [without_secrets(word) for word in words]
    settings = SweepSettings(tuple(words), str(composed.hydra.runtime.choices.get("hydra/sweeper") or BASIC))
    if command == "plan":
        if settings.learns:
            what = "a plan has no scores, and a sweeper that learns waits for them"
            raise ConfigurationError(Problem("MSEL-261", what, "hydra/sweeper", "plan without it, over a few values"))
        with TemporaryDirectory() as folder:
            yield SweepFolder(Path(folder).resolve()).write(settings)
        return
    root = runs_folder(composed.get("runs"))
    own = str(composed.hydra.sweep.dir)
    known = None if settings.learns else SweepFolder.find_interrupted(root, words)
    if known is not None and own and known.path != Path(own).resolve():
        known = None
    if known is not None:
        print(f"going on with the sweep of {known.path}", file=sys.stderr)
    sweep = known or SweepFolder.create(root, own or None).write(settings)
    with sweep.at_work():
        yield sweep
