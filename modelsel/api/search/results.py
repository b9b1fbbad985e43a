"""`cv_results_` of a search, with scikit-learn's keys: parameters, scores of each fold, means, ranks, times."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from modelsel.api.search.cells import CandidateScores, usual_size
from modelsel.api.search.scoring import Scoring, Scorings, fitted_on, read_by
from modelsel.core.types import Candidate, Floats, Fold, round_to_scale
from modelsel.estimator import LearnerEstimator
from modelsel.foreign import objects
from modelsel.foreign.libraries import is_pairwise
from modelsel.learner.object import Object
from modelsel.record.candidates import differing
from modelsel.runner.evaluation.cell_result import CellResult
from modelsel.runner.evaluation.context import CellJob, RunContext

TRAIN, TEST = "train", "test"


def parameters(candidates: Sequence[Candidate]) -> list[dict[str, object]]:
    """The parameters of each candidate: of an object by the user's own names, of others those that differ in their entry.

    `learner` names the entry, but where a single one holds objects, as in GridSearchCV.
    """
    by_entry: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        by_entry.setdefault(candidate.entry, []).append(candidate)
    telling = {entry: differing([one.parameters for one in own]) for entry, own in by_entry.items()}
    alone = len(by_entry) == 1 and all(isinstance(one.learner, Object) for one in candidates)
    return [({} if alone else {"learner": one.entry}) | _own(one, telling[one.entry]) for one in candidates]


def _own(candidate: Candidate, telling: Collection[str]) -> dict[str, Any]:
    if isinstance(candidate.learner, Object):
        return {name: objects.read_parameter(value) for name, value in candidate.learner.params.items()}
    return {name: value for name, value in candidate.parameters.items() if name in telling}


def results(found: CandidateScores, scorings: Scorings, params: list[dict[str, object]]) -> dict[str, Any]:
    """`cv_results_`; candidates that failed have NaN and the last rank."""
    names = dict.fromkeys(name for one in params for name in one)
    told: dict[str, object] = {
        "mean_fit_time": found.seconds.mean(axis=1), "std_fit_time": found.seconds.std(axis=1),
        "mean_score_time": np.zeros(len(params)), "std_score_time": np.zeros(len(params)),
        **{f"param_{name}": _mask([one.get(name, np.ma.masked) for one in params]) for name in names},
        "params": params,
    }  # fmt: skip
    for name, scoring in scorings.each.items():
        chooses = scoring is scorings.chooses
        folds = found.board.folds if chooses else found.beside[beside(name)]
        scale = found.board.scale if chooses else usual_size(folds.mean(axis=1), found.work.task)
        told |= _scores(scoring.sign * folds + scoring.offset, TEST, name, scale)
    for name, folds in found.training.items():
        told |= _scores(folds, TRAIN, name)
    return told


def beside(name: str) -> str:
    """The name of a further score among the measures beside the one that chooses, apart from those that a rule bounds."""
    return f"scoring {name}"


def _scores(folds: Floats, part: str, name: str, scale: float = 1.0) -> dict[str, object]:
    """The columns of one score; training scores have no rank, as in scikit-learn."""
    mean = folds.mean(axis=1)
    told: dict[str, object] = {f"split{index}_{part}_{name}": folds[:, index] for index in range(folds.shape[1])}
    told |= {f"mean_{part}_{name}": mean, f"std_{part}_{name}": folds.std(axis=1)}
    if part == TEST:
        ranked = np.where(np.isnan(mean), -np.inf, round_to_scale(mean, scale))
        told[f"rank_{part}_{name}"] = ((ranked[None, :] > ranked[:, None]).sum(axis=1) + 1).astype(np.int32)
    return told


def _mask(values: list[object]) -> NDArray[np.generic]:
    """A masked array, masked where a parameter does not apply; of numbers or truth values where all are of one such type."""
    given = [value for value in values if value is not np.ma.masked]
    kinds = {type(value) for value in given}
    kind: Any = kinds.pop() if len(kinds) == 1 else object
    plain = kind in (bool, int, float) or (isinstance(kind, type) and issubclass(kind, np.number | np.bool_))
    if kinds == {int, float}:
        plain, kind = True, float
    made = np.ma.MaskedArray(np.empty(len(values), kind if plain else object), mask=True)
    for index, value in enumerate(values):
        if value is not np.ma.masked:
            made[index] = value
    return made


# What a search says beside its scores: scores on the rows that were fitted on, and lines as fits end.

COUNTED, EACH, SCORED = 1, 2, 3  # levels of `verbose`


@dataclass(frozen=True, eq=False)
class Training:
    """Scores every fit of a search on its own rows."""

    search: object
    scorings: Scorings
    X: object
    y: object
    weights: object

    def __call__(self, candidate: Candidate, work: RunContext, fold: Fold, fits: Sequence[object]) -> Mapping[str, float]:
        """The scores by their names."""
        estimator, rows = fitted_on(candidate, work, fold, fits, read_by(self.search)), fold.analysis
        X, y = _safe_indexing(self.X, rows), _safe_indexing(self.y, rows)
        X = X[:, rows] if not isinstance(estimator, LearnerEstimator) and is_pairwise(estimator) else X
        weights = None if self.weights is None else _safe_indexing(np.asarray(self.weights), rows)
        return {name: one.scorer(estimator, X, y, weights) for name, one in self.scorings.each.items()}


@dataclass(frozen=True, eq=False)
class SearchLines:
    """Prints what `verbose` asks for."""

    verbose: int
    candidates: Sequence[Candidate]
    folds: int
    scoring: Scoring

    def begin(self) -> None:
        """Say how many fits there are to be."""
        if self.verbose >= COUNTED:
            count = len(self.candidates)
            print(f"Fitting {self.folds} folds for each of {count} candidates, totalling {count * self.folds} fits")  # noqa: T201

    def cell(self, job: CellJob, result: CellResult) -> None:
        """Say how the candidates of a cell did on its fold."""
        if self.verbose < EACH:
            return
        own = parameters([self.candidates[member] for member in job.members])
        for params, score in zip(own, result.score, strict=True):
            said = ", ".join(f"{name}={value}" for name, value in params.items())
            scored = f", score={self.scoring.sign * score + self.scoring.offset:.3f}" if self.verbose >= SCORED else ""
            seconds = result.seconds / len(own)
            print(f"[CV {job.cell.fold + 1}/{self.folds}] END {said}{scored}; total time={seconds:6.1f}s")  # noqa: T201
