"""A sweep's folder, `runs/sweeps/<timestamp>-<suffix>/`: a folder per job, in which the job writes what it found.

Launchers run jobs in other processes or on other machines with a shared disk, and sweepers return what they like: the files are
the only channel from a job to the end of its sweep, and what an interrupted sweep goes on from.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from modelsel.core.errors import OK, ConfigurationError, Problem
from modelsel.core.fingerprint import digest
from modelsel.core.outcome import StudySummary
from modelsel.core.system.disk import is_locked, lock_file
from modelsel.record.files import json_text, storing, write
from modelsel.record.folder import LATEST, OUTCOME, SWEEPS, RunFolder, fresh, point, runs_folder

RESULT, SWEEP, TABLE, REPORT = "result.json", "sweep.json", "sweep.csv", "report.html"
BASIC = "basic"
RUNNING, FINISHED = "running", "finished"
LOCK = ".lock"


@dataclass(frozen=True)
class JobResult:
    """What one job of a sweep found.

    `overrides` are what was typed or chosen for this job; `folder` is that of its run, empty where no study was finished;
    `score` the winner's cross-validated value; `opens` says whether its test set may be opened when all jobs have chosen;
    `stamp` changes with the settings and the files that the job read.
    """

    number: int
    overrides: tuple[str, ...]
    code: int = OK
    folder: str = ""
    score: float | None = None
    opens: bool = False
    passed_over: bool = False  # its data set is not at hand
    seconds: float = 0.0
    stamp: str = ""

    def outcome(self) -> StudySummary | None:
        """Read what the job's study found; None where it did not finish."""
        return RunFolder(Path(self.folder)).outcome() if self.folder and (Path(self.folder) / OUTCOME).is_file() else None


@dataclass(frozen=True)
class SweepSettings:
    """How a sweep is made: the words that were typed, by whom jobs are chosen, and the run in MLflow that stands above them."""

    words: tuple[str, ...]
    sweeper: str = BASIC
    state: str = RUNNING
    parent: str = ""  # the id of a run in MLflow
    ended: str = ""  # what ended the sweeper before its time

    @property
    def learns(self) -> bool:
        """Say whether the next job is chosen by what the last ones found."""
        return self.sweeper != BASIC


@dataclass(frozen=True)
class SweepFolder:
    """The folder of one sweep."""

    path: Path

    @classmethod
    def create(cls, root: Path, place: str | Path | None = None) -> "SweepFolder":
        """A new folder below `root`, or at another place, to which a link in `root` then leads. Raises StoreError."""
        sweeps = root / SWEEPS
        with storing(sweeps):
            sweeps.mkdir(parents=True, exist_ok=True)
            path = fresh(sweeps)
            if place is not None:
                path.rmdir()
                Path(place).mkdir(parents=True, exist_ok=True)
                _forget_results(Path(place))
                point(path, Path(place).absolute())
        return cls(path if place is None else Path(place).absolute())

    @classmethod
    def open(cls, sweep: str | Path = LATEST, root: Path | str | None = None) -> "SweepFolder":
        """The folder of a sweep: a path, its name below `runs/sweeps`, or the newest. Raises ConfigurationError."""
        sweeps = runs_folder(root) / SWEEPS
        newest = sorted(path.parent for path in sweeps.glob(f"*/{SWEEP}"))[-1:] if str(sweep) == LATEST else []
        found = cls(newest[0].resolve()) if newest else cls.find(sweep, root)
        if found is None:
            fix = "`modelsel run -m` makes one; give its folder, its name below that one, or latest"
            raise ConfigurationError(Problem("MSEL-613", f"there is no sweep {str(sweep)!r}", str(sweeps.resolve()), fix))
        return found

    @classmethod
    def find(cls, name: str | Path, root: Path | str | None = None) -> "SweepFolder | None":
        """The sweep of a name: a folder with sweep.json, or one below `runs` or `runs/sweeps`; None where it is none."""
        runs = runs_folder(root)
        there = (path for path in (Path(name), runs / name, runs / SWEEPS / name) if (path / SWEEP).is_file())
        return next((cls(path.resolve()) for path in there), None)

    @classmethod
    def find_interrupted(cls, root: Path, words: Sequence[str]) -> "SweepFolder | None":
        """The newest sweep of the same words where it did not end; None otherwise."""
        for path in sorted((root / SWEEPS).glob(f"*/{SWEEP}"), reverse=True):
            with suppress(ConfigurationError):
                folder = cls(path.parent.resolve())
                if folder.settings.words == tuple(words):
                    return folder if folder.settings.state == RUNNING and not folder.is_at_work() else None
        return None

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Hold the sweep's lock while its jobs run, so that no other process resumes it."""
        with lock_file(self.path / LOCK):
            yield

    def is_at_work(self) -> bool:
        """Say whether a process runs the sweep's jobs just now."""
        return is_locked(self.path / LOCK)

    @property
    def report(self) -> Path:
        return self.path / REPORT

    @cached_property
    def settings(self) -> SweepSettings:
        """How the sweep was made. Raises ConfigurationError where its file is missing or damaged."""
        found = _read_mapping(self.path / SWEEP)
        known = {key: found[key] for key in SweepSettings.__dataclass_fields__ if key in found}
        return SweepSettings(**{**known, "words": tuple(map(str, known.get("words", ())))})

    def write(self, settings: SweepSettings, **facts: object) -> "SweepFolder":
        """Write how the sweep is made, and what else is to be on record of it."""
        write(self.path / SWEEP, json_text({"schema": 1, **asdict(settings), **facts}))
        return replace(self)

    def jobs(self) -> list[JobResult]:
        """What the jobs found, in the order of their numbers; a file that is no result is passed over."""
        found = (_result(path) for path in self.path.rglob("result*.json"))
        return sorted((each for each in found if each is not None), key=lambda each: each.number)


def _forget_results(place: Path) -> None:
    """Remove what the jobs of an earlier sweep in the same folder found: they are no jobs of the new one."""
    for path in list(place.rglob("result*.json")):
        if _result(path) is not None:
            path.unlink()


def labels_of(jobs: Sequence[Sequence[str]]) -> list[str]:
    """Return the overrides that tell each job from the others; all of them when nothing does.

    >>> labels_of([["dataset=iris", "seed=1"], ["dataset=wine", "seed=1"]])
    ['dataset=iris', 'dataset=wine']
    >>> labels_of([["learner.kind=c45", "learner.max_depth=2"], ["learner.kind=cart", "learner.max_depth=2"]])
    ['learner=c45', 'learner=cart']
    """
    jobs = [[_as_typed(word) for word in words] for words in jobs]
    common = set.intersection(*map(set, jobs)) if len(jobs) > 1 else set()
    return [" ".join(word for word in words if word not in common) or " ".join(words) or "(defaults)" for words in jobs]


def settings_of(overrides: Sequence[str]) -> dict[str, str]:
    """The settings of a job by name.

    >>> settings_of(["dataset=iris", "learner.kind=cart"])
    {'dataset': 'iris', 'learner': 'cart'}
    """
    return {key: value for key, _, value in (_as_typed(word).partition("=") for word in overrides)}


def _as_typed(word: str) -> str:
    """An override as it was typed: the name of a part stands under its `kind` where settings of it stand beside."""
    key, sign, value = word.lstrip("+").partition("=")
    return f"{key.removesuffix('.kind')}{sign}{value}"


def write_result(folder: Path, result: JobResult) -> None:
    """Write what a job found into its folder; where two jobs share one, the later keeps beside the earlier."""
    with storing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    there = _result(folder / RESULT)
    name = RESULT if there is None or there.number == result.number else f"result-{result.number}.json"
    write(folder / name, json_text(asdict(result)))


def stamp_of(settings: Mapping[str, Any]) -> str:
    """A digest of a job's settings, and of size and time of the files of its data set: another one is another job."""
    data = settings.get("dataset") or {}
    named = (Path(str(data[key])) for key in ("path", "test_path") if isinstance(data, Mapping) and data.get(key))
    files = [(str(path), path.stat().st_size, path.stat().st_mtime_ns) for path in named if path.is_file()]
    return digest({"settings": json.loads(json_text(dict(settings))), "files": files})


def _result(path: Path) -> JobResult | None:
    """Read a job's file; None where it is not there, or is none."""
    with suppress(OSError, ValueError, TypeError, KeyError, ConfigurationError):
        found = _read_mapping(path)
        return JobResult(**{**found, "overrides": tuple(found["overrides"])})
    return None


def _read_mapping(path: Path) -> dict[str, Any]:
    """Read a file of JSON that holds a mapping. Raises ConfigurationError."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        fix = "the studies of its jobs are whole: run the same sweep again"
        raise ConfigurationError(Problem("MSEL-614", f"{path.name} cannot be read ({error})", str(path.parent), fix)) from error
    if not isinstance(found, dict):
        raise ConfigurationError(Problem("MSEL-614", f"{path.name} holds no mapping", str(path.parent), "run the sweep again"))
    return found
