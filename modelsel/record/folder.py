"""A run's folder, `runs/<study>/<timestamp>-<suffix>/`: made so that no two launches share one, found by what people call it.

RUN is a folder, `latest`, a study's name (its newest finished run) or the id of a run in MLflow.
"""

import logging
import os
import re
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import yaml  # type: ignore[import-untyped]
from numpy.typing import NDArray

from modelsel.core import stored
from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.facts import DocumentFacts
from modelsel.core.outcome import SCHEMA, StudySummary
from modelsel.core.selection import Assessed, Losses, Selection
from modelsel.core.system.machine import memory
from modelsel.core.types import Integers, Targets
from modelsel.guard.reporting.report import AuditReport
from modelsel.record import candidates, facts, model
from modelsel.record.candidates import Row
from modelsel.record.documents import DetailsFacts, ExplanationFacts, FoldsFacts
from modelsel.record.facts import StudyRecord
from modelsel.record.files import encode_text, json_text, npz, plain, storing, write
from modelsel.record.redact import RedactingFilter, Redactor

Summary = TypeVar("Summary", bound=StudySummary)
Known = TypeVar("Known", bound=DocumentFacts)
PROJECT = Path("runs")  # of the folder one works in: there a project's ledger lies, wherever its runs go
PLACE = "MODELSEL_RUNS"
LATEST, SWEEPS = "latest", "sweeps"
OUTCOME, CONFIG, CANDIDATES, LOSSES, DETAILS, MLFLOW, EXPLANATION = (
    "study.json", "config.yaml", "candidates.csv", "losses.npz", "details.json", "mlflow.json", "explanation.json",
)  # fmt: skip
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml's, where it is: ten times as fast
REBUILT = (CANDIDATES, LOSSES)  # what `modelsel report` makes again from the journal
LONGEST_PATH = 4096  # bytes of `latest` where it is a line of text
DAMAGED = "MSEL-612"
DEEPEST = 50  # levels of a configuration
AGAIN = "take it from a backup, or run the study again: its finished cells are kept"
LATER = r"nested\.\w+"  # of study.json what earlier versions did not write, and no default takes the place of
STRANGENESS = "strangeness.npz"  # beside a fold's model: of the rows that it did not see
SUMMED = (CONFIG, CANDIDATES, LOSSES, DETAILS, EXPLANATION)  # files whose sums study.json states
_RUN_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True)
class RunFolder:
    """The folder of one study. Files are written whole; a reader sees all of a file or none."""

    path: Path
    redactor: Redactor = field(default_factory=Redactor)
    _sums: dict[str, str] = field(default_factory=dict, compare=False, repr=False)  # SHA-256 of what was written here

    @classmethod
    def create(cls, root: Path | str, study: str, redactor: Redactor | None = None) -> "RunFolder":
        """A new folder of its own, also for the second launch of the same second; `latest` points to it afterwards.

        Raises StoreError (exit 6) where nothing can be written.
        """
        parent = Path(root) / folder_name(study)
        with storing(parent):
            str(parent.absolute()).encode()  # what cannot be written down is said before anything is computed
            parent.mkdir(parents=True, exist_ok=True)
            path = fresh(parent)
            (path / "journal").mkdir()
            point(Path(root) / LATEST, path.relative_to(root))
        return cls(path, redactor or Redactor.of())

    @classmethod
    def open(cls, run: str | Path, root: Path | str | None = None) -> "RunFolder":
        """The folder of RUN; ConfigurationError (exit 2) names what is nearest when there is none."""
        return cls(_find(str(run), runs_folder(root)), Redactor.of())

    @property
    def journal(self) -> Path:
        return self.path / "journal"

    @property
    def model(self) -> Path:
        return self.path / "model"

    @property
    def folds(self) -> Path:
        """The winner's model of each fold, where prediction sets were asked for."""
        return self.path / "folds"

    @property
    def report(self) -> Path:
        return self.path / "report.html"

    @property
    def log(self) -> Path:
        return self.path / "study.log"

    @property
    def root(self) -> Path:
        """The `runs/` that holds this folder."""
        return self.path.parent.parent

    def project(self, settings: Mapping[str, Any]) -> Path:
        """The folder whose ledger and lock file a study of these settings uses, wherever its runs are written."""
        return PROJECT if settings.get("runs") else self.root

    def save(self, finished: StudyRecord) -> None:
        """Write all files but report and log. `study.json` comes last: where it is, the rest is whole."""
        self.write_config(finished.config)
        if finished.final is not None:
            model.save(self.model, finished.final, finished.outcome.modelsel)
        self.write_selection(finished.selection)
        for number, (fitted, unseen) in enumerate(finished.folds):
            path = model.save(self.folds / f"{number:02d}", fitted, finished.outcome.modelsel)
            write(path / STRANGENESS, npz(unseen._asdict()))
        if finished.explained:
            self.write_json(EXPLANATION, finished.explained)
        self.write_json(DETAILS, details(finished))
        self.write_outcome(finished.outcome)

    def write_selection(self, selection: Selection) -> None:
        """Write what the journal's cells add up to: the candidates, and the loss matrix."""
        for name, content in self.files_of(selection).items():
            self._write(name, content)

    def files_of(self, selection: Selection) -> dict[str, bytes]:
        """The contents of what the journal's cells add up to, by file name."""
        table = self.redactor.text(candidates.text(candidates.rows(selection)))
        return {CANDIDATES: table.encode(), LOSSES: loss_archive(selection)}

    def amend(self, outcome: StudySummary, audit: AuditReport) -> None:
        """Put a look that came after the study on record."""
        self.write_json(DETAILS, self.details().but(audit=audit))
        self.write_outcome(outcome)

    def write_outcome(self, outcome: StudySummary) -> None:
        """Write study.json, with the sums of the files beside it: by them a file is known again."""
        self.write_json(OUTCOME, {**outcome.to_dict(), "files": {**self.sums, **self._sums}})

    def write_config(self, config: Mapping[str, object]) -> None:
        """The resolved configuration without secrets."""
        text = yaml.safe_dump(self.redactor.data(plain(config)), sort_keys=False, allow_unicode=True, width=120)
        self._write(CONFIG, text)

    def write_json(self, name: str, value: object) -> None:
        self._write(name, json_text(self.redactor.data(plain(value))))

    def outcome(self) -> StudySummary:
        return self.summary(StudySummary)

    def summary(self, kind: type[Summary], **instead: object) -> Summary:
        """Read study.json. Raises ConfigurationError where it is missing, damaged or of a later version."""
        with self.reading(OUTCOME):
            found = stored.mapping(stored.text(self.path / OUTCOME))
            if isinstance(found.get("schema"), int) and found["schema"] > SCHEMA:
                raise ValueError(f"schema {found['schema']} was written by a later modelsel, {found.get('modelsel')}")
            stored.conforming(StudySummary, found, LATER)
            if not {"classes", "measured_in"} & set(found["task"]):
                raise ValueError("task.classes is missing")
            if unsaid := [place for place, value in _numbers_of(found) if value is None]:
                raise ValueError(f"{unsaid[0]} is no number")
            found.pop("files", None)
            return kind.read({**found, **instead})

    def config(self) -> dict[str, Any]:
        with self.reading(CONFIG):
            return read_yaml(self._content(CONFIG))

    def candidates(self) -> list[candidates.Row]:
        with self.reading(CANDIDATES):
            return candidates.read_candidates(self._content(CANDIDATES, stored.ARCHIVE).decode("utf-8"))

    def details(self) -> DetailsFacts:
        """Read the facts that the report shows beyond study.json: data, looks, pairs, command, environment."""
        return self._document(DETAILS, DetailsFacts)

    def explanation(self) -> ExplanationFacts:
        """Reasons and weak spots of the choice; empty where nothing was asked for, and for runs of older versions."""
        return self._document(EXPLANATION, ExplanationFacts)

    def losses(self) -> Losses:
        with self.reading(LOSSES):
            return losses_of(self._arrays)

    def fold(self) -> Integers:
        """Rows × repeats: the fold in which the row was assessed, without the losses beside it."""
        with self.reading(LOSSES):
            return folds_of(self._arrays)

    def assessed(self) -> Assessed:
        with self.reading(LOSSES):
            return read_assessed(self._arrays)

    def changed_files(self) -> list[str]:
        """Names of files whose bytes are no longer those that the study wrote, or that are gone."""
        return [name for name in self.sums if not self._is_whole(name)]

    def _document(self, name: str, kind: type[Known]) -> Known:
        """Read a JSON file that not all runs have."""
        if not (self.path / name).exists() and name not in self.sums:
            return kind.read({})
        with self.reading(name):
            found = stored.mapping(self._content(name))
            stored.conforming(kind, found, r"[^.\[]+")
            return kind.read(found)

    def _write(self, name: str, content: str | bytes) -> None:
        """Write a file whole, and remember its sum."""
        data = encode_text(content)
        write(self.path / name, data)
        if name in SUMMED:
            self._sums[name] = stored.sum_of(data)

    @cached_property
    def _arrays(self) -> Mapping[str, NDArray[np.generic]]:
        return LossArchive(self._content(LOSSES, stored.ARCHIVE))

    @cached_property
    def sums(self) -> Mapping[str, str]:
        """The sums that study.json states; none in runs of older versions."""
        if not os.path.lexists(self.path / OUTCOME):
            return {}
        with self.reading(OUTCOME):
            found = stored.mapping(stored.text(self.path / OUTCOME)).get("files", {})
            stored.conforming(dict[str, str], found)
            return dict(found)

    def _content(self, name: str, most: int = stored.TEXT) -> bytes:
        """The bytes of a file, if they are those that the study wrote."""
        data = stored.content(self.path / name, most)
        if stored.sum_of(data) != (self._sums.get(name) or self.sums.get(name, stored.sum_of(data))):
            raise ValueError("its bytes are not those that the study wrote: their SHA-256 is another")
        return data

    def _is_whole(self, name: str) -> bool:
        """Say whether a file is the one that the study wrote."""
        with suppress(OSError, ValueError):
            self._content(name, stored.ARCHIVE)
            return True
        return False

    @contextmanager
    def reading(self, name: str) -> Iterator[None]:
        """Name the file in what is wrong with it; one that is missing is an unfinished study's."""
        again = f"`modelsel report {self.path.name}` makes it again from the journal" if name in REBUILT else AGAIN
        with stored.reading(self.path / name, again, DAMAGED):
            try:
                yield
            except FileNotFoundError as error:
                begun = "the study was not finished: the same command again goes on where it stopped"
                fix = begun if name == OUTCOME or not os.path.lexists(self.path / OUTCOME) else again
                raise ConfigurationError(Problem("MSEL-611", f"{name} is not there", str(self.path), fix)) from error


def _numbers_of(found: Mapping[str, Any]) -> Iterator[tuple[str, object]]:
    """The numbers of study.json that are finite whatever the study, each with its place."""
    winner, test = found["winner"], found["test"]
    scores = {"winner.cv": winner["cv"], "winner.corrected": winner["corrected"]}
    scores |= {f"floor[{place}].cv": line["cv"] for place, line in enumerate(found.get("floor", ()))}
    for place, score in scores.items():
        yield from ((f"{place}.{key}", score[key]) for key in ("mean", "low", "high") if score and key in score)
    yield from ((f"test.{key}", test[key]) for key in ("price", "spent", "level") if test)
    yield from ((f"seconds.{key}", value) for key, value in found["seconds"].items())


def kept_arrays(path: Path) -> dict[str, NDArray[np.generic]]:
    """The arrays of an npz file that is kept beside a run. Raises ConfigurationError where it cannot be read."""
    with stored.reading(path, AGAIN, DAMAGED):
        found = LossArchive(stored.content(path, stored.ARCHIVE))
        return {name: found[name] for name in found}


def read_yaml(data: bytes) -> dict[str, Any]:
    """Read YAML as modelsel writes it: a mapping of plain values. Raises ValueError for tags, aliases, and lists in lists.

    >>> read_yaml(b"seed: 1")
    {'seed': 1}
    """
    depth = 0
    for event in yaml.parse(data, LOADER):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > DEEPEST or isinstance(event, yaml.AliasEvent) or getattr(event, "tag", None):
            raise ValueError(f"{event.start_mark.line + 1}: aliases, tags and such depth are not what modelsel writes")
    found = yaml.load(data, LOADER)  # noqa: S506  a safe one
    if not isinstance(found, dict):
        raise ValueError("it holds no mapping")
    return found


def details(finished: StudyRecord) -> DetailsFacts:
    """Collect the facts that the report needs beyond study.json, config.yaml, candidates.csv and losses.npz."""
    folds = finished.resampling.folds
    return DetailsFacts(
        command=list(finished.command), ended=time.time_ns() // 10**6, user=facts.user(), commit=facts.commit(),
        environment=facts.environment(), data=facts.data(finished.task), audit=finished.audit, pairs=list(finished.pairs),
        folds=FoldsFacts(
            repeats=finished.resampling.repeats,
            repeat=[fold.repeat for fold in folds],
            analysis=[len(fold.analysis) for fold in folds],
            assessment=[len(fold.assessment) for fold in folds],
        ),
        higher_is_better=finished.selection.board.higher_is_better, shows=finished.shows, predict_1000_rows=finished.times,
    )  # fmt: skip


def runs_folder(given: str | Path | None = None) -> Path:
    """The folder where runs go and are looked for: the one given, else that of MODELSEL_RUNS, else `runs`.

    >>> runs_folder("elsewhere").name
    'elsewhere'
    """
    return Path(given or os.environ.get(PLACE) or PROJECT)


def folder_name(study: str) -> str:
    """A study's name as a folder: what could leave the folder or hide in it becomes an underscore.

    >>> folder_name("../credit g"), folder_name("latest")
    ('_credit_g', 'latest_')
    """
    name = re.sub(r"[^\w.=,+-]+", "_", study).lstrip(".") or "study"
    return f"{name}_" if name in (LATEST, SWEEPS) else name[:100]


def fresh(parent: Path) -> Path:
    """`<timestamp>-<suffix>`: the suffix is the fraction of the second, then chance, so that names sort by time."""
    while True:
        now = time.time_ns()
        second, fraction = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now // 10**9)), now % 10**9 * 16**4 // 10**9
        path = parent / f"{second}-{fraction:04x}{secrets.token_hex(2)}"
        with suppress(FileExistsError):
            path.mkdir()
            return path


def is_unfinished(run: str) -> bool:
    """Say whether the folder of a run is there without an answer of its test: it ended before that was on record."""
    folder = RunFolder(Path(run))
    with suppress(ConfigurationError, OSError):
        return folder.journal.is_dir() and (not os.path.lexists(folder.path / OUTCOME) or folder.outcome().test is None)
    return False


def point(link: Path, target: Path) -> None:
    """A symbolic link; where people may not make one (Windows) a line of text.

    A folder in its place is a copy of a run, made where links were followed: it moves aside.
    """
    if link.is_dir() and not link.is_symlink():
        link.rename(link.with_name(f"{link.name}_copied_{secrets.token_hex(4)}"))
    beside = link.with_name(f".{link.name}.{secrets.token_hex(4)}.part")
    try:
        beside.symlink_to(target)
    except (OSError, NotImplementedError):
        beside.write_text(target.as_posix(), "utf-8")
    os.replace(beside, link)


def _latest_target(root: Path) -> tuple[Path, ...]:
    """Return the target of `latest` where it is a line of text."""
    link = root / LATEST
    with suppress(OSError, ValueError):
        return (root / stored.text(link, LONGEST_PATH).strip(),)
    return ()


def _find(run: str, root: Path) -> Path:
    """Find a run by path, name, study, `latest`, or MLflow's run id."""
    named = tuple(root.glob(f"*/{run}")) if re.fullmatch(r"[\w-]+", run) else ()
    places: tuple[Path, ...] = (Path(run), root / run, *named, *(_latest_target(root) if run == LATEST else ()))
    for path in places:
        if os.path.lexists(path / OUTCOME) or (path / "journal").is_dir():
            return path.resolve()
    for study in (root / run, Path(run)):
        if study.is_dir() and (found := _finished_runs(study) or sorted(path.parent for path in study.glob("*/journal"))):
            return found[-1].resolve()
    if _RUN_ID.fullmatch(run):
        for note in sorted(root.glob(f"*/*/{MLFLOW}")):
            if run in note.read_text("utf-8", errors="replace"):
                return note.parent.resolve()
    raise ConfigurationError(Problem("MSEL-610", f"there is no run {run!r}", str(root.resolve()), _nearest(run, root)))


def _finished_runs(study: Path) -> list[Path]:
    """Finished runs of a study, oldest first."""
    return sorted(path for path in study.iterdir() if os.path.lexists(path / OUTCOME))


def _nearest(run: str, root: Path) -> str:
    """Guess which run was meant."""
    studies = sorted({journal.parts[-3] for journal in root.glob("*/*/journal")})
    if not studies:
        return "nothing has been run here yet: start with `modelsel run`"
    near = get_close_matches(run, studies, 1)
    return (
        f"did you mean {near[0]!r}?"
        if near
        else f"give a run folder, 'latest', an MLflow run id or one of: {', '.join(studies)}"
    )


# losses.npz: the out-of-fold loss matrix and the predictions that the report draws from, without pickle.


def loss_archive(selection: Selection) -> bytes:
    """`losses`, `fold`, `row`, `candidate` (see the documentation of the record) and what was assessed.

    `truth` are the labels of the development rows, `predicted` and `scores` those of `predicted_candidate`. `losses` is
    absent for a measure that is not a mean over rows, `scores` where the measure did not ask for them.
    """
    losses, assessed = selection.losses, selection.assessed
    arrays: dict[str, NDArray[np.generic] | None] = {
        "losses": None if losses.matrix is None else np.asarray(losses.matrix, np.float32),
        "fold": np.asarray(losses.fold, np.int32),
        "row": np.asarray(losses.row, np.int64),
        "candidate": np.array(losses.ids, dtype=np.str_),
        "truth": _compact(assessed.truth),
        "predicted": _compact(assessed.predicted),
        "predicted_candidate": np.array(assessed.ids, dtype=np.str_),
        "scores": None if assessed.scores is None else np.asarray(assessed.scores, np.float32),
    }
    return npz({name: array for name, array in arrays.items() if array is not None}, compress=True)


def _compact(array: NDArray[np.generic]) -> Targets:
    """Classes as int32, numbers as they are."""
    return np.asarray(array, np.float64 if array.dtype.kind == "f" else np.int32)


class LossArchive(Mapping[str, NDArray[np.generic]]):
    """The arrays of a file, each read when it is first asked for: the matrix is large and seldom needed."""

    def __init__(self, content: bytes) -> None:
        """Open the archive. Raises ValueError for one that unpacks to more than the machine's memory."""
        self._file = np.lib.npyio.NpzFile(BytesIO(content), allow_pickle=False)
        assert self._file.zip is not None
        size, there = sum(one.file_size for one in self._file.zip.infolist()), memory()
        if size > there:
            raise ValueError(f"it unpacks to {size:,} bytes, and this machine has {there:,}")
        self._read: dict[str, NDArray[np.generic]] = {}

    def __getitem__(self, name: str) -> NDArray[np.generic]:
        if name not in self._read:
            self._read[name] = self._file[name]
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._file.files)

    def __len__(self) -> int:
        return len(self._file.files)


def losses_of(arrays: Mapping[str, NDArray[np.generic]]) -> Losses:
    """The loss matrix back (float32; None where the measure is not a mean over rows)."""
    ids = tuple(str(name) for name in arrays["candidate"])
    return Losses(matrix=arrays.get("losses"), fold=folds_of(arrays), row=arrays["row"].astype(np.int64, copy=False), ids=ids)


def folds_of(arrays: Mapping[str, NDArray[np.generic]]) -> Integers:
    """Rows × repeats: the fold in which the row was assessed, −1 where it was not."""
    return arrays["fold"].astype(np.int64)


def read_assessed(arrays: Mapping[str, NDArray[np.generic]]) -> Assessed:
    """The out-of-fold predictions back."""
    scores = arrays.get("scores")
    return Assessed(
        ids=tuple(str(name) for name in arrays["predicted_candidate"]),
        truth=_compact(arrays["truth"]),
        predicted=_compact(arrays["predicted"]),
        scores=None if scores is None else scores.astype(np.float64),
    )


# A finished run as it lies in its folder: each file is read once, for tables and for every section of the report.


@dataclass(frozen=True, eq=False)
class RecordedRun:
    """A finished run, each of its files read once."""

    folder: RunFolder

    @cached_property
    def outcome(self) -> StudySummary:
        return self.folder.outcome()

    @cached_property
    def details(self) -> DetailsFacts:
        return self.folder.details()

    @cached_property
    def explanation(self) -> ExplanationFacts:
        return self.folder.explanation()

    @cached_property
    def candidates(self) -> list[Row]:
        """Best first, those without a score last."""
        return sorted(self.folder.candidates(), key=lambda row: (row.rank == 0, row.rank))

    @property
    def classes(self) -> Sequence[str]:
        return list(self.outcome.task.classes)


# study.log: what the study did and when, a line each, secrets left out.


LOGGER = logging.getLogger("modelsel")  # what people should hear: warnings
STUDY = logging.getLogger("modelsel.study")  # what goes to study.log alone
FORM = "%(asctime)s %(levelname)s %(message)s"


@contextmanager
def log_study(folder: RunFolder) -> Iterator[logging.Logger]:
    """A logger for the run's study.log, which also gets every warning of modelsel and the error that ends the study.

    Warnings are heard as before: by whatever handlers a person has set up, else on stderr.
    """
    handler = logging.FileHandler(folder.log, encoding="utf-8", errors="backslashreplace")
    handler.setFormatter(logging.Formatter(FORM))
    handler.addFilter(RedactingFilter(folder.redactor))
    heard = [] if LOGGER.hasHandlers() or logging.lastResort is None else [logging.lastResort]
    STUDY.propagate = False
    STUDY.setLevel(logging.INFO)
    with _attach(LOGGER, handler, *heard), _attach(STUDY, handler):
        try:
            yield STUDY
        except BaseException as error:
            STUDY.error("ended by %s: %s", type(error).__name__, error)
            raise
        finally:
            handler.close()


@contextmanager
def _attach(logger: logging.Logger, *handlers: logging.Handler) -> Iterator[None]:
    """Attach handlers to a logger for a while."""
    for handler in handlers:
        logger.addHandler(handler)
    try:
        yield
    finally:
        for handler in handlers:
            logger.removeHandler(handler)
