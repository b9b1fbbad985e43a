"""What a search says beside its scores: scores on the rows that were fitted on, and lines as fits end."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.utils import _safe_indexing

from modelsel.api.search.results import parameters
from modelsel.api.search.scoring import Scoring, Scorings, fitted_on, read_by
from modelsel.core.types import Candidate, Fold
from modelsel.estimator import LearnerEstimator
from modelsel.foreign.libraries import is_pairwise
from modelsel.runner.evaluation.cell_result import CellResult
from modelsel.runner.evaluation.context import CellJob, RunContext

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
