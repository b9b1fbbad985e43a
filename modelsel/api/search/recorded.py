"""`SelectionCV(record=True)`: the search is a study, and what the search tells is read off the study's journal."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from modelsel.api.outcome import Outcome
from modelsel.api.run import run_on_all
from modelsel.api.search.scores import CandidateScores, of_results
from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.reading import TableReading
from modelsel.core.types import Candidate, ClassTask, Fold, Integers, Resampling, Task
from modelsel.dataset.labels import target_of
from modelsel.dataset.untyped import UntypedTable
from modelsel.measure.base import BaseMeasure
from modelsel.planning.make import make
from modelsel.record.folder import RunFolder
from modelsel.runner.execution.executors import Pool
from modelsel.runner.journal import Journal, older_journals
from modelsel.runner.run import run as run_plan
from modelsel.scheme.predefined import Predefined

RECORD = "record=True"


def with_folds(task: Task, resampling: Resampling, asks: str = RECORD) -> tuple[Task, Resampling]:
    """The rows that count with a column of their folds, and what scheme=predefined makes of it.

    Raises ConfigurationError for folds of which no column can tell: repeated or overlapping ones, or such that leave rows out.
    """
    counts = np.flatnonzero(task.row_weights > 0)
    column = np.full(len(task), -1)
    for fold in resampling.folds:
        column[fold.assessment] = fold.index
    told = replace(task, folds=column).take(counts)
    ConfigurationError.raise_if(_untold(told, resampling, counts, asks))
    return told, Predefined().instantiate(told, 0)


def _untold(task: Task, resampling: Resampling, counts: Integers, asks: str) -> Iterator[Problem]:
    """Yield a problem where a study would not make the same folds from fold numbers."""
    problems = list(Predefined().problems(task))
    made = () if problems else Predefined().instantiate(task, 0).folds
    if len(made) == len(resampling.folds) and all(map(partial(_is_same_fold, counts), made, resampling.folds)):
        return
    what = "; ".join(problems) or "they repeat, overlap, or leave rows out that they could have been fitted on"
    who, other = ("a study", ", or record=False") if asks == RECORD else ("a learner that reads the outer folds", "")
    fix = f"use folds that cover the rows once, or a scheme= (repeated_kfold, bootstrap, ...){other}"
    yield Problem("MSEL-814", f"{who} cannot tell of these folds: {what}", asks, fix)


def _is_same_fold(counts: Integers, one: Fold, other: Fold) -> bool:
    """Return whether a fold over the kept rows is the same as a fold over all rows."""
    return all(
        np.array_equal(counts[mine], np.sort(theirs))
        for mine, theirs in ((one.analysis, other.analysis), (one.assessment, other.assessment))
    )


def study_of(
    task: Task, resampling: Resampling, candidates: tuple[Candidate, ...], labels: NDArray[np.generic], measure: BaseMeasure,
    settings: Mapping[str, object],
) -> tuple[Outcome, CandidateScores]:  # fmt: skip
    """The study of a search, and what its cells answered; nothing is computed again."""
    reading = TableReading.of(task.features) if task.reading is None else task.reading
    if reading.target is None:
        task = replace(task, reading=replace(reading, target=target_of(labels, task.class_names)))
    outcome = run_on_all(UntypedTable(task=task, by_estimator=True), settings)
    folder = RunFolder.open(outcome.folder)
    with Journal(folder.journal, older_journals(folder.root)) as journal:
        found = run_plan(
            make(candidates, task, resampling), task, resampling, measure, Pool("sequential", 1), journal, seed=outcome.seed
        )
        return outcome, of_results(found)


def classes_of(task: ClassTask, labels: NDArray[np.generic]) -> tuple[str, ...]:
    """Labels as a record spells them: booleans in small letters."""
    return tuple(name.lower() for name in task.classes) if labels.dtype.kind == "b" else task.classes
