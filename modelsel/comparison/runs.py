"""Finished runs, paired: on the same rows and folds, or learner by learner over data sets. What is not paired is refused."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.outcome import StudySummary
from modelsel.core.spec import class_of
from modelsel.core.types import Floats, Integers, round_to_scale
from modelsel.record.candidates import Row
from modelsel.record.folder import RunFolder


@dataclass(frozen=True, eq=False)
class EntryResult:
    """One learner (space entry) in a run: the scores of its choice on each fold, and their mean.

    `candidate` is the one of best mean over all folds out of `tried`, and `complexity` its size.
    """

    learner: str
    candidate: str
    mean: float
    folds: Floats
    tried: int = 1
    complexity: float = math.nan
    unit: str = ""


@dataclass(frozen=True, eq=False)
class ComparedRun:
    """One run as comparison sees it; `task` and `resampling` are fingerprints of rows and folds, `ratio` n_test / n_train.

    Scores are rounded relative to `scale`, so that what differs by the order of sums alone is equal: 1 for classes, the score
    of the mean (the floor) for numbers.
    """

    name: str
    data: str
    task: str
    resampling: str
    measure: str
    ratio: float
    best: tuple[EntryResult, ...]
    higher_is_better: bool = False
    scale: float = 1.0
    label: str = ""  # what tells it from other runs on the same rows and folds

    @property
    def relative(self) -> "ComparedRun":
        """The run with scores as shares of its scale: those of two data sets may be in different units."""
        if self.scale == 1.0:
            return self
        best = (replace(one, mean=one.mean / self.scale, folds=one.folds / self.scale) for one in self.best)
        return replace(self, best=tuple(best), scale=1.0)

    def of(self, learner: str) -> EntryResult:
        return next(best for best in self.best if best.learner == learner)


def of_folder(folder: RunFolder) -> ComparedRun:
    """Read a run's record: study.json, candidates.csv, losses.npz."""
    outcome = folder.outcome()
    measure: Any = class_of("measure", outcome.measure, tuple(folder.config().get("plugins") or ()))
    higher = bool(measure.higher_is_better)
    scale = scale_of(outcome, higher)
    repeat = np.array(folder.details().known_folds.repeat, np.int64)
    entries: dict[str, list[Row]] = {}
    for row in sorted((row for row in folder.candidates() if row.rank > 0), key=lambda row: row.rank):
        entries.setdefault(row.label, []).append(row)
    return ComparedRun(
        name=outcome.study, data=str(outcome.task.name), task=str(outcome.task.fingerprint),
        resampling=str(outcome.scheme.fingerprint), measure=outcome.measure,
        ratio=ratio_of(folder.fold()), best=tuple(_best(rows, repeat, higher, scale) for rows in entries.values()),
        higher_is_better=higher, scale=scale,
    )  # fmt: skip


def scale_of(outcome: StudySummary, higher_is_better: bool) -> float:
    """What scores of a run are rounded relative to: of numbers the score of their mean, where that is on record."""
    floor = (line.cv.mean for line in outcome.floor if line.learner == "mean" and line.cv)
    found = next(floor, 0.0)
    return float(found) if outcome.task.of_numbers and not higher_is_better and found > 0 else 1.0


def _best(rows: Sequence[Row], repeat: Integers, higher_is_better: bool, scale: float) -> EntryResult:
    """Score one entry by its nested choice on each fold; ties by complexity, since the rank knows the fold's score."""
    first, simpler = rows[0], sorted(rows, key=lambda row: (row.complexity, row.id))
    folds = score_choice(np.array([row.folds for row in simpler], np.float64), repeat, higher_is_better, scale)
    return EntryResult(first.label, first.id, float(folds.mean()), folds, len(rows), first.complexity, first.unit)


def ratio_of(fold: Integers) -> float:
    """Mean n_test / n_train of the folds in a fold assignment (rows × repeats, −1: not assessed there).

    >>> ratio_of(np.array([[0], [0], [1], [1]]))
    1.0
    """
    sizes = np.unique(fold[fold >= 0], return_counts=True)[1]
    return float(np.mean(sizes / (len(fold) - sizes)))


def merge_by_data(runs: Sequence[ComparedRun]) -> list[ComparedRun]:
    """Put several runs of one data set together, where every run's entries can be told apart.

    Entries of runs on the same folds stand side by side; of runs on other folds of the same rows the scores are joined, fold
    after fold. Entries of one name on the same folds are told apart by their run's label, everywhere. Runs that cannot be put
    together are returned as they are.
    """
    tasks = list(dict.fromkeys(run.task for run in runs))
    foldings = len({(run.task, run.resampling) for run in runs})
    if len(tasks) == len(runs) or (len(tasks) == 1 and foldings == 1):
        return list(runs)
    if _repeats(runs):
        runs = [replace(run, best=tuple(_with_label(best, run.label) for best in run.best)) for run in runs]
    merged = [_merge([run for run in runs if run.task == task]) for task in tasks]
    return list(runs) if _repeats(runs) or any(len(run.best) < 2 for run in merged) else merged


def _repeats(runs: Sequence[ComparedRun]) -> bool:
    """Say whether an entry's name stands twice on the same folds."""
    named = [(run.task, run.resampling, best.learner) for run in runs for best in run.best]
    return len(set(named)) < len(named)


def _with_label(best: EntryResult, label: str) -> EntryResult:
    return replace(best, learner=f"{best.learner} ({label})") if label else best


def _merge(runs: Sequence[ComparedRun]) -> ComparedRun:
    """Merge the runs of one data set into one, of the entries that all of them have."""
    foldings = sorted({run.resampling for run in runs})
    sides = [{best.learner: best for run in runs if run.resampling == one for best in run.best} for one in foldings]
    shared = [name for name in sides[0] if all(name in side for side in sides)]
    best = tuple(_join([side[name] for side in sides]) for name in shared)
    return replace(runs[0], best=best, resampling=" ".join(foldings), ratio=float(np.mean([run.ratio for run in runs])))


def _join(parts: Sequence[EntryResult]) -> EntryResult:
    """A learner's result over several sets of folds."""
    folds = np.concatenate([part.folds for part in parts])
    return replace(parts[0], folds=folds, mean=float(folds.mean()), tried=max(part.tried for part in parts))


def pairing(runs: Sequence[ComparedRun]) -> str:
    """Return how the runs are compared: `folds` (same rows and folds) or `sets` (each its own data set).

    Raises ConfigurationError that says what is not paired.
    """
    ConfigurationError.raise_if(_problems(runs))
    return "folds" if len({run.task for run in runs}) == 1 else "sets"


def incomplete_learners(runs: Sequence[ComparedRun]) -> dict[str, tuple[str, ...]]:
    """Learners that some run lacks, each with the data sets where it is missing."""
    names = dict.fromkeys(best.learner for run in runs for best in run.best)
    lacking = {name: tuple(run.data for run in runs if all(best.learner != name for best in run.best)) for name in names}
    return {name: data for name, data in lacking.items() if data}


def common_learners(runs: Sequence[ComparedRun]) -> tuple[str, ...]:
    """Learners that every run has, in alphabetical order."""
    names = [{best.learner for best in run.best} for run in runs]
    return tuple(sorted(set.intersection(*names)))


def _problems(runs: Sequence[ComparedRun]) -> Iterator[Problem]:
    """Yield the reasons why runs cannot be compared: other measures, folds or learners."""
    if not runs:
        yield Problem("MSEL-281", "no runs to compare", "compare", "name at least one run")
        return
    measures = sorted({run.measure for run in runs})
    if len(measures) > 1:
        fix = "compare runs of one measure"
        yield Problem("MSEL-282", f"the runs are scored by {' and '.join(measures)}", "compare", fix)
    tasks = {run.task for run in runs}
    if len(tasks) == 1 and len({run.resampling for run in runs}) > 1:
        fix = "run them with the same scheme and seed"
        yield Problem(
            "MSEL-283", "the runs share their rows but not their folds, so their scores are not paired", "compare", fix
        )
    elif 1 < len(tasks) < len(runs):
        twice = sorted({run.data for run in runs if sum(other.task == run.task for other in runs) > 1})
        fix = "name one of them per data set, or the sweep that made them: `modelsel compare SWEEP`"
        yield Problem("MSEL-284", f"several runs of the same learners on {', '.join(twice)}", "compare", fix)
    elif len(tasks) > 1 and len(common_learners(runs)) < 2:
        have = "; ".join(f"{run.data}: {', '.join(best.learner for best in run.best)}" for run in runs)
        yield Problem(
            "MSEL-285", f"the runs have fewer than two learners in common ({have})", "compare", "use one space for all"
        )
    elif len(tasks) == 1 and sum(len(run.best) for run in runs) < 2:
        yield Problem("MSEL-285", "there is one learner only", "compare", "name a run with several learners, or several runs")


# Fold scores of a learner whose settings were chosen, for every fold, on the other folds.
#
#     s_j = f[c(j), j],   c(j) = the candidate of best mean score over the folds other than j, of the same repeat
#
# The mean of the best candidate's own folds is the best of many and favours learners with many candidates; here the fold that
# scores a choice took no part in it. Ties go to the first candidate. What is left is small: models of the other folds were
# fitted on rows of fold j, whose labels so reach the choice. Nested cross-validation (`outer`) is free of that and costs its
# refits. A scheme of one fold leaves no other folds: then it is the best score. Source: Varma & Simon (2006) on the bias.


def score_choice(folds: Floats, repeat: Integers, higher_is_better: bool = False, scale: float = 1.0) -> Floats:
    """One score per fold, from candidates × folds; `repeat` is the repeat of each fold, rounding relative to `scale`.

    >>> score_choice(np.array([[0.1, 0.4, 0.1], [0.2, 0.2, 0.3]]), np.zeros(3, np.int64)).tolist()
    [0.1, 0.4, 0.3]
    """
    cost = -folds if higher_is_better else folds
    chosen = [round_to_scale(cost[:, _choosers(fold, repeat)].mean(axis=1), scale).argmin() for fold in range(folds.shape[1])]
    return np.asarray(folds[chosen, np.arange(folds.shape[1])])


def _choosers(fold: int, repeat: Integers) -> Integers:
    """The folds that may choose: those of the same repeat, else (a holdout each) all others, else the only one."""
    places = np.arange(len(repeat))
    inside = places[(repeat == repeat[fold]) & (places != fold)]
    return inside if len(inside) else places[places != fold] if len(places) > 1 else places
