"""Permutation importance: how much worse a candidate does on rows it was not fitted on when a column's values are shuffled.

    I_jk = mean over permutations of  m(fold k, column j shuffled) − m(fold k)      I_j = mean over folds

m: the study's measure, turned so that higher is worse. The candidate is fitted anew on each fold's analysis rows (the same
model as in its cell) and asked about the assessment rows. Intervals are those of the corrected resampled t over folds. Columns
that say the same hide each other's importance: those that go together are shuffled together as well. The yardstick is a column
of noise that another fit was given. Source: Breiman (2001); Fisher, Rudin & Dominici (2019); Nadeau & Bengio (2003).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.inspection import permutation_importance

from modelsel.core.facts import UNSTATED
from modelsel.core.fingerprint import generator
from modelsel.core.types import Candidate, Feature, Floats, Fold, Outputs, Table, Task, positions
from modelsel.measure.base import BaseMeasure
from modelsel.record.documents import ColumnLossFacts, ColumnsLossFacts, DependenceFacts, ImportancesFacts, LossFacts
from modelsel.runner.final_fit import Final, fit, outputs
from modelsel.statistics.paired import corrected_t

# A fitted model as scikit-learn's `inspection` sees an estimator: a matrix of the task's numbers in, what it says out.


Scorer = Callable[..., float]


class FittedEstimator(BaseEstimator):  # type: ignore[misc]
    """A model over a task's columns. Rows of a matrix hold what `Table.values` holds: numbers, level codes, NaN."""

    def __init__(self, model: Final, like: Table) -> None:
        """Keep the model with a table that has its columns."""
        self.model = model
        self.like = like
        self.n_features_in_ = len(like.features)

    def fit(self, X: object, y: object) -> "FittedEstimator":
        """Return itself: the model is fitted already."""
        return self

    def predict(self, X: Floats) -> NDArray[Any]:
        """Index of the predicted class per row, or the predicted number."""
        return self.model.predict(self.table(X))

    def answers(self, X: Floats) -> Floats:
        """Class scores, rows × classes; of numbers what is predicted, rows × 1."""
        return self.model.scores(self.table(X)) if self.model.classes else self.predict(X)[:, None]

    def outputs(self, X: Floats, scores: bool) -> Outputs:
        """Return the outputs that a measure reads."""
        return outputs(self.model, self.table(X), scores)

    def table(self, X: Floats) -> Table:
        """The matrix as a table of the task's features."""
        blank = replace(_plain(self.like), values=np.asfortranarray(X, np.float64), rows=np.arange(len(X), dtype=np.int64))
        assert len(positions(blank)) == len(X)
        return blank


def scorer(measure: BaseMeasure) -> Scorer:
    """The measure as scikit-learn calls one: higher is better, `scorer(estimator, X, y, sample_weight)`."""
    sign = 1.0 if measure.higher_is_better else -1.0

    def score(estimator: FittedEstimator, X: Floats, y: NDArray[Any], sample_weight: Floats | None = None) -> float:
        said = estimator.outputs(np.asarray(X, np.float64), measure.needs_scores)
        return sign * float(measure.score(y, said, sample_weight, len(estimator.model.classes))[0])

    return score


def _plain(like: Table) -> Table:
    """Return an empty table of these features."""
    return Table(name=like.name, features=like.features, values=like.values[:0], rows=like.rows[:0])


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
    like = max(task.features, key=lambda feature: len(feature.levels))
    name = NOISE
    while any(feature.name == name for feature in task.features):
        name += "_"
    if any(feature.is_number for feature in task.features) or not task.features:
        feature, values = Feature.of_numbers(name), rng.standard_normal(len(task))
    else:
        feature, values = replace(like, name=name), rng.permutation(task.values[:, task.features.index(like)])
    return task.with_features((*task.features, feature), np.column_stack([task.values, values]))


def summary(found: Sequence[FoldImportance], task: Task, asked: ImportanceRequest, ratio: float) -> ImportancesFacts:
    """Means over folds with their intervals, the most important first; `ratio` is n_test / n_train."""
    noise = None if not asked.noise else np.array([one.noise.mean() for one in found if one.noise is not None])
    names = [feature.name for feature in task.features]
    columns = [
        ColumnLossFacts(column=name, **_line(at, noise, ratio).stated) for name, at in zip(names, _means(found, "columns"))
    ]
    together = [
        ColumnsLossFacts(columns=[names[column] for column in group], **_line(at, noise, ratio).stated)
        for group, at in zip(asked.groups, _means(found, "groups"))
    ]
    return ImportancesFacts(
        repeats=asked.repeats, columns=sorted(columns, key=lambda line: -line.mean),
        together=sorted(together, key=lambda line: -line.mean), noise=None if noise is None else _line(noise, None, ratio),
    )  # fmt: skip


def _means(found: Sequence[FoldImportance], what: str) -> Floats:
    """Average permutations: columns (or groups) × folds."""
    return np.array([getattr(one, what).mean(axis=1) for one in found]).T


def _line(folds: Floats, noise: Floats | None, ratio: float) -> LossFacts:
    """Mean, interval and folds; `above_noise`: the interval of the difference to the noise of the same folds lies above 0."""
    line = LossFacts(mean=float(folds.mean()), low=None, high=None, folds=folds.tolist())
    if len(folds) < 2:
        return line
    test = corrected_t(folds, ratio)
    above = UNSTATED if noise is None else bool(corrected_t(folds - noise, ratio).low > 0)
    return line.but(low=float(test.low), high=float(test.high), above_noise=above)


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


# Partial dependence: the mean class score, or number, over rows when one column is set to a value, and single rows (ICE).
#
#     PD_j(v) = mean over rows i of  s(x_i with x_ij = v)
#
# s: class scores of the final model, or the number that it predicts. The rows are development rows, at most a thousand; no
# label is read. Where columns go together, v may be set where no row lies. Rows with a missing value take part; the grid,
# scikit-learn's, has none.
# Source: Friedman (2001); Goldstein et al. (2015).


COLUMNS = 6
ROWS = 1_000
GRID = 20
DIGITS = 7  # of what is predicted, where that is a number
LINES = 30  # rows whose own course is kept


def dependence(final: Final, task: Task, columns: Sequence[str], seed: int) -> list[DependenceFacts]:
    """Compute the dependence on some columns: grid, means (grid × classes, of numbers grid × 1) and the course of some rows."""
    rng = generator(seed, task.draw_fingerprint, "dependence")
    rows = task.take(np.sort(rng.permutation(len(task))[:ROWS]))
    fitted = FittedEstimator(final, rows)
    names = [feature.name for feature in task.features]
    return [_of_column(fitted, rows, names.index(name)) for name in columns]


def scores_along(fitted: FittedEstimator, values: Floats, column: int, grid: Floats) -> Floats:
    """What is said of all rows with the column set to each value of the grid: rows × grid × classes, or × 1 of numbers."""
    changed, said = values.copy(), [np.zeros((len(values), 0, max(1, len(fitted.model.classes))))]
    for value in grid:
        changed[:, column] = value
        said.append(fitted.answers(changed)[:, None])
    return np.concatenate(said, axis=1)


def grid_of(values: Floats, nominal: bool = False) -> Floats:
    """The known values where they are levels or few, else even steps between the 5th and the 95th percentile.

    >>> grid_of(np.array([1., 0, np.nan, 1])).tolist()
    [0.0, 1.0]
    """
    values = values[~np.isnan(values)]
    known = np.unique(values)
    if nominal or len(known) < GRID:
        return np.asarray(known)
    from scipy.stats.mstats import mquantiles

    low, high = (float(end) for end in mquantiles(values, (0.05, 0.95)))
    if np.isclose(low, high):  # nearly all rows have one value: every n-th of the others
        return np.asarray(known[np.linspace(0, len(known) - 1, GRID).round().astype(int)])
    return np.linspace(low, high, GRID)


def _of_column(fitted: FittedEstimator, rows: Task, column: int) -> DependenceFacts:
    """Compute means and single rows along a grid of one column's values; class scores to fixed decimals, numbers to digits."""
    feature: Feature = rows.features[column]
    grid = grid_of(rows.values[:, column], not feature.has_order)
    said = scores_along(fitted, rows.values, column, grid)
    mean = np.average(said, axis=0, weights=rows.row_weights)
    shown = np.linspace(0, len(rows) - 1, min(LINES, len(rows))).round().astype(int)
    classes = fitted.model.classes
    focus = (1 if len(classes) == 2 or not len(grid) else int(np.argmax(np.ptp(mean, axis=0)))) if classes else 0
    lines = said[shown, :, focus]
    return DependenceFacts(
        column=feature.name,
        kind=feature.kind,
        dates=feature.dates,
        grid=grid.tolist(),
        levels=[feature.levels[int(value)] for value in grid] if feature.levels else [],
        mean=mean.round(6).tolist() if classes else _digits(mean),
        lines={"class": classes[focus], "scores": lines.round(4).tolist()} if classes else {"scores": _digits(lines)},
    )


def _digits(values: Floats) -> list[list[float]]:
    """Numbers of any size to so many digits."""
    return [[float(f"{value:.{DIGITS}g}") for value in row] for row in values.tolist()]
