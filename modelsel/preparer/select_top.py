"""The features that, each taken alone, tell most about the class: the best n, or all above a threshold.

One ranking per fold is shared by all n and thresholds. Equal scores go by column order. A feature that tells something only
together with another one is not found this way. Scores: see `_merit`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from modelsel.core.spec import number, one_of, whole
from modelsel.core.types import CLASS_TASKS, ClassTask, Description, Floats, Integers, Table, TaskKind
from modelsel.preparer.base import BasePreparer, Chosen, restore_columns
from modelsel.preparer.binning import Distinct, mdl_cuts
from modelsel.statistics.information import entropy, joint_counts, mutual_information, symmetric_uncertainty

# Rate each feature, taken alone, by how much it tells about the class.
#
#     gain = known share × I(a, c)                      gain_ratio = gain / E(a), a missing value being one more level of a
#     symmetric_uncertainty = known share × SU(a, c)    chi_square = Σ (observed − expected)² / expected over known rows
#
# Numeric features are first cut by MDL (Fayyad & Irani 1993), much as Weka's rankers do (with another
# encoding of the cuts); without an accepted cut they score 0.

Score = Callable[[Floats, float], float]  # levels × classes of known rows, weight of the missing ones


def gain(joint: Floats, missing: float) -> float:
    """Compute the information gain, times the share of rows with a known value."""
    return _known_share(joint, missing) * float(mutual_information(joint))


def gain_ratio(joint: Floats, missing: float) -> float:
    """Compute the gain divided by the entropy of the split."""
    split = float(entropy(np.append(joint.sum(axis=1), missing)))
    return gain(joint, missing) / split if split > 0 else 0.0


def symmetric(joint: Floats, missing: float) -> float:
    """Compute the symmetric uncertainty, times the share of rows with a known value."""
    return _known_share(joint, missing) * float(symmetric_uncertainty(joint))


def chi_square(joint: Floats, missing: float) -> float:  # noqa: ARG001
    """Compute Pearson's χ² statistic."""
    expected = np.outer(joint.sum(axis=1), joint.sum(axis=0)) / max(joint.sum(), np.finfo(np.float64).tiny)
    return float(np.sum((joint - expected) ** 2 / np.where(expected > 0, expected, 1.0)))


SCORES: dict[str, Score] = {
    "symmetric_uncertainty": symmetric, "gain": gain, "gain_ratio": gain_ratio, "chi_square": chi_square,
}  # fmt: skip


def merits(task: ClassTask, rows: Integers, score: str) -> Floats:
    """The score of every feature on some rows, rounded to 1e-12 so that ties are ties."""
    tables = (_joint(task, rows, column) for column in range(len(task.features)))
    return np.array([round(SCORES[score](joint, missing), 12) for joint, missing in tables])


def _joint(task: ClassTask, rows: Integers, column: int) -> tuple[Floats, float]:
    """Levels × classes of the known rows, and the weight of the others (an undeclared level is not known)."""
    feature, values, weights = task.features[column], task.values[rows, column], task.row_weights[rows]
    size = len(feature.levels)
    if feature.is_number:
        cuts = mdl_cuts(Distinct.of(task, rows, column))
        size, values = len(cuts) + 1, np.where(np.isnan(values), np.nan, np.searchsorted(cuts, values))
    known = values < size
    codes = np.where(known, values, -1).astype(np.int64)
    return joint_counts(codes, task.target[rows], weights, (size, len(task.classes))), float(weights[~known].sum())


def _known_share(joint: Floats, missing: float) -> float:
    total = float(joint.sum()) + missing
    return float(joint.sum()) / total if total > 0 else 0.0


@dataclass(frozen=True)
class SelectTop(BasePreparer):
    """Path parameters: `n`, `threshold`. At least one feature is kept."""

    score: str = one_of(*SCORES)
    n: int | None = whole(None, least=1, help="the best n")
    threshold: float | None = number(None, least=0, help="those that score more")

    reads: ClassVar[tuple[TaskKind, ...]] = CLASS_TASKS
    selects: ClassVar[bool] = True

    def fit_key(self) -> dict[str, object]:
        return {"kind": "select_top", "score": self.score}

    def problems(self, task: Table | None = None) -> Iterable[str]:
        if self.n is None and self.threshold is None:
            yield "select_top keeps everything: set n or threshold"

    def fit_path(self, task: ClassTask, rows: Integers, rng: np.random.Generator) -> "Merits":
        return Merits(merits(task, rows, self.score))

    def fit(self, task: ClassTask, rows: Integers, rng: np.random.Generator) -> Chosen:
        return self.fit_path(task, rows, rng).prepared(self)

    @staticmethod
    def restore(description: Description) -> Chosen:
        return restore_columns("select_top", description)


@dataclass(frozen=True, eq=False)
class Merits:
    """A score per column."""

    scores: Floats

    def prepared(self, preparer: SelectTop) -> Chosen:
        """Keep the best columns, at least one of them."""
        ranked = np.argsort(-self.scores, kind="stable")[: preparer.n]
        if preparer.threshold is not None:
            ranked = ranked[: max(1, int((self.scores[ranked] > preparer.threshold).sum()))]
        return Chosen("select_top", np.sort(ranked).astype(np.int64))
