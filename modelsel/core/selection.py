"""The result of selection, summed up from the cells: the value that comparison, record and report read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from modelsel.core.outcome import CorrectedFacts
from modelsel.core.types import (
    Booleans,
    Candidate,
    Finding,
    Floats,
    Integers,
    Outputs,
    Scoreboard,
    Status,
    Targets,
    outputs_of,
)


@dataclass(frozen=True, eq=False)
class Losses:
    """The out-of-fold loss matrix: development rows × candidates, mean over repeats, NaN where not assessed.

    `fold` is rows × repeats: the fold in which the row was assessed, −1 where it was not. `row` are data rows of the
    source. `ids` name the columns, in the order of candidates.csv. `matrix` is None for a measure that is not a mean over rows.
    """

    matrix: Any  # float32 or packed; None where the measure is not a mean over rows
    fold: Integers
    row: Integers
    ids: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Assessed:
    """Out-of-fold predictions of some candidates: the winner first, then the best of each other learner."""

    ids: tuple[str, ...]
    truth: Targets  # development rows: classes, or numbers
    predicted: Targets  # candidates × development rows (first repeat), −1 (numbers: NaN) where not assessed
    scores: Floats | None = None  # candidates × rows × classes where the measure asked for them

    @property
    def numbers(self) -> bool:
        """Say whether what was predicted are numbers."""
        return self.truth.dtype.kind == "f"

    def assessed_by(self, candidate: int) -> Booleans:
        """Mask the rows that the candidate has assessed."""
        said = self.predicted[candidate]
        return np.isfinite(said) if self.numbers else np.asarray(said >= 0)

    def outputs(self, predicted: Targets, scores: Floats | None = None) -> Outputs:
        """Some of the predictions, as measures read them."""
        return outputs_of(predicted, scores)


@dataclass(frozen=True, eq=False)
class Selection:
    """All candidates with what became of them, and the choice."""

    candidates: tuple[Candidate, ...]
    status: tuple[Status, ...]
    reasons: tuple[str, ...]
    board: Scoreboard
    means: Mapping[str, Floats]  # over folds, of what cells measure beside the score: complexity, training error, ...
    losses: Losses
    assessed: Assessed
    winner: int
    indistinguishable: tuple[int, ...]
    corrected: CorrectedFacts | None = None
    alone: Mapping[str, CorrectedFacts] = field(default_factory=dict)  # the same of ensembles by id, whoever won
    findings: tuple[Finding, ...] = ()
    beside: Mapping[str, Floats] = field(
        default_factory=dict
    )  # other measures: mean over folds per candidate, NaN where not known
    difference_se: Floats | None = None  # of each mean less the winner's, NaN for the winner and where not known
    every_best: tuple[int, ...] | None = None  # a set that holds every best candidate, None where rows say nothing
