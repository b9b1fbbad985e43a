"""The data that a finished study hands to the recorder, as plain values; facts of study.json and about the table."""

import getpass
import platform
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError
from typing import Any, NamedTuple

import numpy as np

from modelsel.core.column_kind.base import kind_names
from modelsel.core.facts import UNSTATED
from modelsel.core.outcome import (
    FailureFacts,
    RefitFailureFacts,
    SchemeFacts,
    ScoreFacts,
    SizeFacts,
    StudySummary,
    TaskFacts,
    WeightsFacts,
    WinnerFacts,
)
from modelsel.core.reading import TableReading
from modelsel.core.selection import Selection
from modelsel.core.spec import kind_of
from modelsel.core.system.installed import version_of
from modelsel.core.types import ClassTask, Description, Feature, Floats, Integers, NumberTask, Resampling, Table, Task
from modelsel.guard.reporting.report import AuditReport
from modelsel.record.candidates import settings_of
from modelsel.record.documents import CountedNameFacts, DataFacts, ExplanationFacts, FeatureFacts, NothingShape, PairFacts
from modelsel.runner.execution.single_job import Failure


@dataclass(frozen=True, eq=False)
class FinalModel:
    """The winner fitted on all development rows, as data.

    `learner` and `steps` are what `Model.describe` and `Prepared.describe` returned; `features` are those of the raw table
    that goes in; `example` holds a few development rows without labels (signature and input example of the pyfunc).
    `estimator` is a fitted scikit-learn estimator that is to be stored beside the recipe;
    `pickled` one that no safe format takes, where the person allows a pickle. `reading` says how the source's cells were read.
    """

    features: tuple[Feature, ...]
    classes: tuple[str, ...]
    learner: Description
    steps: tuple[Description, ...]
    example: Table
    estimator: object = None
    pickled: object = None
    reading: TableReading | None = None

    @property
    def read_as(self) -> TableReading:
        """How rows are read; plainly where no table was read (of a set that is made by rule)."""
        return TableReading.of(self.features) if self.reading is None else self.reading.for_features(self.features)


class UnseenRows(NamedTuple):
    """Rows that a fold's model has not seen: how strange each is to it, and what it counts (those of a unit 1 together)."""

    strangeness: Floats
    weight: Floats


@dataclass(frozen=True, eq=False)
class StudyRecord:
    """The whole study as it goes on record.

    `audit` has the shape of `modelsel audit --json`, with two keys beside it where the guard knows them: `state` (its policy
    in words) and `next` ({"price": nats, "interval": [low, high]} of one more look at these rows). `command` are the words
    that were typed. Findings come from `outcome.findings`, which holds those of the data and of the selection.
    """

    outcome: StudySummary
    selection: Selection
    config: Mapping[str, object]
    task: Task  # development rows
    resampling: Resampling
    final: FinalModel | None = None
    audit: AuditReport | NothingShape = field(default_factory=lambda: NothingShape())
    pairs: tuple[PairFacts, ...] = ()
    command: tuple[str, ...] = ()
    shows: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # name to what it shows, plain data
    times: Mapping[str, float] = field(default_factory=dict)  # candidate to seconds for the prediction of 1,000 rows
    folds: tuple[tuple[FinalModel, UnseenRows], ...] = ()  # the model of each fold, of the choice repeated
    explained: ExplanationFacts = field(default_factory=ExplanationFacts)  # reasons and weak spots, plain data


# Facts of study.json: the task, the folds, the winner, the failures.


def task(development: Task, sealed: Table) -> TaskFacts:
    """Gather the facts of the task."""
    weighing, units = development.weighing, development.units
    many = None if units is None or sealed.units is None else len(np.unique(np.append(units, sealed.units)))
    return TaskFacts(
        name=development.name, rows=len(development) + len(sealed), development_rows=len(development),
        test_rows=len(sealed), features=len(development.features),
        classes=list(development.class_names) if development.kind == "classes" else UNSTATED, kind=development.kind,
        measured_in=getattr(development, "measured_in", "") if development.kind == "numbers" else UNSTATED,
        fingerprint=development.fingerprint,
        weights=WeightsFacts(are=weighing.are, factor=weighing.factor) if weighing is not None else UNSTATED,
        unit=development.unit if many else UNSTATED, units=many or UNSTATED,
    )  # fmt: skip


def scheme(kind: str, resampling: Resampling, trained: float) -> SchemeFacts:
    """Gather the facts of the folds; `trained` is the share of the development rows that their models are fitted on."""
    return SchemeFacts(name=kind, folds=len(resampling.folds), fingerprint=resampling.fingerprint, trained=trained)


def winner(selection: Selection, failure: Failure | None = None) -> WinnerFacts:
    """Return the facts of the winner: scores, and the candidates that it cannot be told from.

    The cross-validated score, and the estimate that allows for the choice; where it could not be fitted on all development
    rows, why.
    """
    position, board = selection.winner, selection.board
    candidate = selection.candidates[position]
    never = float(selection.means["never_judged"][position])  # out of bag: rows drawn by all trees, judged by class shares
    return WinnerFacts(
        id=candidate.id, learner=kind_of(candidate.learner), entry=candidate.entry,
        parameters=settings_of(candidate, selection.assessed.numbers),
        complexity=SizeFacts(name=board.unit[position], value=float(board.complexity[position])),
        cv=ScoreFacts(mean=float(board.mean[position]), se=float(board.se[position]), folds=board.folds[position].tolist()),
        corrected=selection.corrected,
        measures={name: float(each[position]) for name, each in selection.beside.items()},
        indistinguishable=[board.ids[other] for other in selection.indistinguishable],
        every_best=None if selection.every_best is None else [board.ids[one] for one in selection.every_best],
        never_out_of_bag=UNSTATED if np.isnan(never) else int(never),
        failure=RefitFailureFacts(status=failure.status, reason=failure.reason) if failure else UNSTATED,
    )  # fmt: skip


def failures(selection: Selection) -> tuple[FailureFacts, ...]:
    """Candidates that did not finish, with the reason; those that left a race have not failed."""
    return tuple(
        FailureFacts(id=candidate.id, status=status, reason=reason)
        for candidate, status, reason in zip(selection.candidates, selection.status, selection.reasons, strict=True)
        if status not in ("ok", "dropped")
    )


# Summary of the data for the report: kinds, levels, missing values, quartiles, class balance, repeated rows.

SHOWN = 500  # features; a page with more would not be read, and would not be small
LEVELS = 6
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio, odd: Fibonacci hashing


def data(task: Task) -> DataFacts:
    """Plain facts about the development rows; nothing of the test rows is here."""
    counts = np.bincount(task.target, minlength=task.class_count).tolist() if isinstance(task, ClassTask) else []
    features = [feature(item, task.values[:, i]) for i, item in enumerate(task.features[:SHOWN])]
    return DataFacts(
        rows=len(task), features=features, not_shown=max(0, len(task.features) - SHOWN),
        kinds={kind: sum(item.kind == kind for item in task.features) for kind in kind_names()},
        target=feature(Feature.of_numbers("target"), task.target) if isinstance(task, NumberTask) else UNSTATED,
        classes=[CountedNameFacts(name=name, rows=int(count)) for name, count in zip(task.class_names, counts)],
        missing=float(np.isnan(task.values).mean()) if task.values.size else 0.0,
        repeated_rows=repeated_rows(task), weighted=task.weights is not None,
        groups=None if task.groups is None else len(np.unique(task.groups)),
    )  # fmt: skip


def feature(item: Feature, values: Floats) -> FeatureFacts:
    """Kind, share of missing values, number of different ones, and either quartiles or the most frequent levels."""
    present = values[~np.isnan(values)]
    missing = 1 - len(present) / max(1, len(values))
    facts = FeatureFacts(name=item.name, kind=item.kind, missing=missing, different=0)
    if item.is_number:
        quartiles = np.quantile(present, [0, 0.25, 0.5, 0.75, 1]).tolist() if len(present) else []
        return facts.but(different=len(np.unique(present)), quartiles=quartiles, dates=item.dates)
    if item.text:
        return facts.but(different=len(np.unique(present)), levels=[])
    counts = np.bincount(present.astype(np.int64), minlength=len(item.levels) + 1)
    named = [*item.levels, "(not declared)"]
    top = [index for index in np.argsort(-counts, kind="stable")[:LEVELS] if counts[index]]
    levels = [CountedNameFacts(name=named[index], rows=int(counts[index])) for index in top]
    return facts.but(different=int((counts > 0).sum()), levels=levels)


def repeated_rows(task: Task) -> int:
    """Rows that are equal to an earlier one in all features and the class."""
    rows = _perhaps_repeated(task)
    whole = np.column_stack([task.values[rows], task.target[rows]])
    bytes_of_rows = np.ascontiguousarray(np.nan_to_num(whole, nan=np.inf)).view(np.dtype((np.void, whole.shape[1] * 8)))
    return len(rows) - len(np.unique(bytes_of_rows))


def _perhaps_repeated(task: Task) -> Integers:
    """Rows whose hash another row has: all that are repeated are among them, and only they are compared whole."""
    mixed = task.target.view(np.uint64) if isinstance(task, NumberTask) else task.target.astype(np.uint64)
    for column in task.values.T:
        mixed = (mixed ^ np.nan_to_num(column, nan=np.inf).view(np.uint64)) * MULTIPLIER
        mixed ^= mixed >> np.uint64(29)
    ordered = np.sort(mixed)
    twice = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    if not len(twice):
        return np.zeros(0, np.int64)
    at = np.minimum(np.searchsorted(twice, mixed), len(twice) - 1)
    return np.flatnonzero(twice[at] == mixed)


# The origin of an answer: versions, platform, user, commit.

PACKAGES = ("modelsel", "numpy", "scipy", "numba", "scikit-learn", "pandas", "joblib", "hydra-core", "mlflow")


def environment() -> dict[str, str]:
    """Versions that an answer may depend on."""
    versions = {}
    for name in PACKAGES:
        with suppress(PackageNotFoundError):
            versions[name] = version_of(name)
    return {"python": platform.python_version(), "platform": platform.platform(), **versions}


def user() -> str:
    """Return the user's name, or `unknown`."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


def commit() -> str:
    """The checked-out git commit of the working directory, with `+` when files differ from it; empty outside of git."""
    head = _git("rev-parse", "HEAD")
    return head and head + ("+" if _git("status", "--porcelain", "--untracked-files=no") else "")


def _git(*words: str) -> str:
    """Run git; empty where it fails or is not there."""
    with suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(["git", *words], capture_output=True, text=True, timeout=2, check=False)  # noqa: S603, S607
        return done.stdout.strip() if done.returncode == 0 else ""
    return ""
