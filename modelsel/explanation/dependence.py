"""Partial dependence: the mean class score, or number, over rows when one column is set to a value, and single rows (ICE).

    PD_j(v) = mean over rows i of  s(x_i with x_ij = v)

s: class scores of the final model, or the number that it predicts. The rows are development rows, at most a thousand; no
label is read. Where columns go together, v may be set where no row lies. Rows with a missing value take part; the grid,
scikit-learn's, has none.
Source: Friedman (2001); Goldstein et al. (2015).
"""

from collections.abc import Sequence

import numpy as np

from modelsel.core.fingerprint import generator
from modelsel.core.types import Feature, Floats, Task
from modelsel.explanation.adapter import FittedEstimator
from modelsel.record.documents import DependenceShape
from modelsel.runner.final_fit import Final

COLUMNS = 6
ROWS = 1_000
GRID = 20
DIGITS = 7  # of what is predicted, where that is a number
LINES = 30  # rows whose own course is kept


def dependence(final: Final, task: Task, columns: Sequence[str], seed: int) -> list[DependenceShape]:
    """Compute the dependence on some columns: grid, means (grid × classes, of numbers grid × 1) and the course of some rows."""
    rng = generator(seed, task.fingerprint, "dependence")
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


def _of_column(fitted: FittedEstimator, rows: Task, column: int) -> DependenceShape:
    """Compute means and single rows along a grid of one column's values; class scores to fixed decimals, numbers to digits."""
    feature: Feature = rows.features[column]
    grid = grid_of(rows.values[:, column], feature.kind == "nominal")
    said = scores_along(fitted, rows.values, column, grid)
    mean = np.average(said, axis=0, weights=rows.row_weights)
    shown = np.linspace(0, len(rows) - 1, min(LINES, len(rows))).round().astype(int)
    classes = fitted.model.classes
    focus = (1 if len(classes) == 2 or not len(grid) else int(np.argmax(np.ptp(mean, axis=0)))) if classes else 0
    lines = said[shown, :, focus]
    return {
        "column": feature.name,
        "kind": feature.kind,
        "dates": feature.dates,
        "grid": grid.tolist(),
        "levels": [feature.levels[int(value)] for value in grid] if feature.levels else [],
        "mean": mean.round(6).tolist() if classes else _digits(mean),
        "lines": {"class": classes[focus], "scores": lines.round(4).tolist()} if classes else {"scores": _digits(lines)},
    }


def _digits(values: Floats) -> list[list[float]]:
    """Numbers of any size to so many digits."""
    return [[float(f"{value:.{DIGITS}g}") for value in row] for row in values.tolist()]
