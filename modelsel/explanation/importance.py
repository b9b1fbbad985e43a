"""Permutation importance: how much worse a candidate does on rows it was not fitted on when a column's values are shuffled.

    I_jk = mean over permutations of  m(fold k, column j shuffled) − m(fold k)      I_j = mean over folds

m: the study's measure, turned so that higher is worse. The candidate is fitted anew on each fold's analysis rows (the same
model as in its cell) and asked about the assessment rows. Intervals are those of the corrected resampled t over folds. Columns
that say the same hide each other's importance: those that go together are shuffled together as well. The yardstick is a column
of noise that another fit was given. Source: Breiman (2001); Fisher, Rudin & Dominici (2019); Nadeau & Bengio (2003).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn.inspection import permutation_importance

from modelsel.core.fingerprint import generator
from modelsel.core.types import Candidate, Feature, Floats, Fold, Task
from modelsel.explanation.adapter import FittedEstimator, scorer
from modelsel.measure.base import BaseMeasure
from modelsel.record.documents import ColumnLossShape, ColumnsLossShape, ImportancesShape, LossShape
from modelsel.runner.final_fit import fit
from modelsel.statistics.paired import corrected_t

NOISE = "noise"


@dataclass(frozen=True, eq=False)
class FoldImportance:
    """Of one fold: what shuffling costs, per column and per group of columns × permutations, and per permutation of noise."""

    columns: Floats
    groups: Floats
    noise: Floats | None


@dataclass(frozen=True)
class ImportanceRequest:
    """The importance to be computed on each fold."""

    measure: BaseMeasure
    seed: int
    repeats: int
    groups: tuple[tuple[int, ...], ...] = ()
    noise: bool = True


def fold_importance(candidate: Candidate, task: Task, fold: Fold, asked: ImportanceRequest) -> FoldImportance:
    """Fit the candidate on the fold's analysis rows and shuffle columns of its assessment rows: one job of the pool.

    scikit-learn's `permutation_importance` shuffles single columns. Raises what the candidate's parts raise.
    """
    drawn = generator(asked.seed, fold.fingerprint, "importance")
    state = int(drawn.integers(2**31 - 1))
    rows = task.take(fold.assessment)
    fitted = FittedEstimator(fit(candidate, task, asked.seed, fold.analysis), rows)
    found = permutation_importance(
        fitted, rows.values, rows.target, scoring=scorer(asked.measure), n_repeats=asked.repeats, random_state=state,
        sample_weight=rows.weights,
    )  # fmt: skip
    groups = [_shuffled_loss(fitted, rows, asked, group, drawn) for group in asked.groups]
    return FoldImportance(
        columns=np.asarray(found.importances, np.float64),
        groups=np.array(groups, np.float64).reshape(len(groups), asked.repeats),
        noise=_noise(candidate, task, fold, asked, drawn) if asked.noise else None,
    )


def with_noise(task: Task, rng: np.random.Generator) -> Task:
    """Add a column that knows nothing of the target.

    Normal where there are numbers, else a column of the task in another order.
    """
    kinds = [feature.kind for feature in task.features]
    like = max(task.features, key=lambda feature: len(feature.levels))
    name = NOISE
    while any(feature.name == name for feature in task.features):
        name += "_"
    if "numeric" in kinds or not task.features:
        feature, values = Feature(name, "numeric"), rng.standard_normal(len(task))
    else:
        feature, values = replace(like, name=name), rng.permutation(task.values[:, task.features.index(like)])
    return task.with_features((*task.features, feature), np.column_stack([task.values, values]))


def summary(found: Sequence[FoldImportance], task: Task, asked: ImportanceRequest, ratio: float) -> ImportancesShape:
    """Means over folds with their intervals, the most important first; `ratio` is n_test / n_train."""
    noise = None if not asked.noise else np.array([one.noise.mean() for one in found if one.noise is not None])
    names = [feature.name for feature in task.features]
    columns: list[ColumnLossShape] = [
        {"column": name, **_line(at, noise, ratio)} for name, at in zip(names, _means(found, "columns"))
    ]
    together: list[ColumnsLossShape] = [
        {"columns": [names[column] for column in group], **_line(at, noise, ratio)}
        for group, at in zip(asked.groups, _means(found, "groups"))
    ]
    return {
        "repeats": asked.repeats,
        "columns": sorted(columns, key=lambda line: -line["mean"]),
        "together": sorted(together, key=lambda line: -line["mean"]),
        "noise": None if noise is None else _line(noise, None, ratio),
    }


def _means(found: Sequence[FoldImportance], what: str) -> Floats:
    """Average permutations: columns (or groups) × folds."""
    return np.array([getattr(one, what).mean(axis=1) for one in found]).T


def _line(folds: Floats, noise: Floats | None, ratio: float) -> LossShape:
    """Mean, interval and folds; `above_noise`: the interval of the difference to the noise of the same folds lies above 0."""
    line: LossShape = {"mean": float(folds.mean()), "low": None, "high": None, "folds": folds.tolist()}
    if len(folds) > 1:
        test = corrected_t(folds, ratio)
        line["low"], line["high"] = float(test.low), float(test.high)
        if noise is not None:
            line["above_noise"] = bool(corrected_t(folds - noise, ratio).low > 0)
    return line


def _noise(candidate: Candidate, task: Task, fold: Fold, asked: ImportanceRequest, rng: np.random.Generator) -> Floats:
    """Compute the importance of an added column of noise."""
    noisy = with_noise(task, rng)
    rows = noisy.take(fold.assessment)
    fitted = FittedEstimator(fit(candidate, noisy, asked.seed, fold.analysis), rows)
    return _shuffled_loss(fitted, rows, asked, (len(noisy.features) - 1,), rng)


def _shuffled_loss(
    fitted: FittedEstimator, rows: Task, asked: ImportanceRequest, columns: Sequence[int], rng: np.random.Generator
) -> Floats:
    """Measure the loss when some columns get the values of other rows, the same for all of them; one number per permutation."""
    score = scorer(asked.measure)
    base = score(fitted, rows.values, rows.target, rows.weights)
    costs = []
    for _ in range(asked.repeats):
        values = rows.values.copy()
        values[:, columns] = values[rng.permutation(len(rows))][:, columns]
        costs.append(base - score(fitted, values, rows.target, rows.weights))
    return np.array(costs)
