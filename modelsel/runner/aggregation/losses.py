"""The out-of-fold loss matrix, development rows × candidates, and the standard errors that are read from it.

    l_i = mean over repeats of the row's loss        m = Σ w_i l_i / Σ w_i
    se² = Σ_g (Σ_{i in g} w_i (l_i − m))² / (Σ w_i)²

over groups g, each row a group of its own where there are none: for 0/1 loss and unit weights sqrt(m (1 − m) / n).
Source: Breiman, Friedman, Olshen & Stone (1984, 3.4.3 and 11.5); groups as clusters: Liang & Zeger (1986).
"""

import tempfile
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Floats, Integers, Resampling, Task

BLOCK = 1 << 18  # numbers worked on at a time
LARGE = 1 << 27  # bytes above which the matrix lies in a file instead of in memory


class LossMatrix:
    """Filled cell by cell, in the order of folds, so that sums over repeats are the same whoever computed the cells."""

    def __init__(self, task: Task, resampling: Resampling, columns: int) -> None:
        """Number the folds of each row, and begin with sums of 0."""
        self._task = task
        self.fold = folds_of(task, resampling)
        self._times = (self.fold >= 0).sum(axis=1)
        self._sum = _zeros((len(task), columns))

    def add(self, rows: Integers, columns: Integers, losses: Floats) -> None:
        """Losses (candidates × rows) of one cell."""
        for at in _blocks(len(columns), len(rows)):
            own = columns[at]
            if own[-1] - own[0] == len(own) - 1:  # neighbours, as members of a batch mostly are
                self._sum[rows, own[0] : own[-1] + 1] += losses[at].T
            else:
                self._sum[np.ix_(rows, own)] += losses[at].T

    def finish(self, complete: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Divide by the number of repeats; NaN for rows not assessed and for candidates that are not complete."""
        times = np.where(self._times > 0, self._times, np.nan).astype(np.float32)
        for at in _blocks(self._sum.shape[1], len(self._sum)) if (times != 1).any() else ():
            self._sum[:, at] /= times[:, None]
        self._sum[:, ~complete] = np.nan
        return self._sum

    def standard_errors(self) -> Floats:
        """Per candidate, from the finished matrix; NaN where its column is NaN."""
        rows: Any = slice(None) if self._times.all() else np.flatnonzero(self._times)
        weights = self._task.row_weights[rows]
        groups = None if self._task.groups is None else np.unique(self._task.groups[rows], return_inverse=True)[1]
        se = np.full(self._sum.shape[1], np.nan)
        for at in _blocks(len(se), len(weights)):
            se[at] = standard_error(self._sum[rows, at].astype(np.float64), weights, groups)
        return se


def standard_error(losses: Floats, weights: Floats, groups: Integers | None) -> Floats:
    """Standard errors of the weighted means of the columns (rows × columns), each the same in any company; works in place."""
    if losses.shape[1] == 1:  # NumPy adds a lone column up in another order
        return standard_error(np.repeat(losses, 2, axis=1), weights, groups)[:1]
    total = weights.sum()
    losses -= np.einsum("i,ij->j", weights, losses) / total
    losses *= (weights / total)[:, None]
    if groups is not None:
        sums = np.zeros((groups.max() + 1, losses.shape[1]))
        np.add.at(sums, groups, losses)
        losses = sums
    return np.asarray(np.sqrt(np.einsum("ij,ij->j", losses, losses)))


def fold_errors(scores: Floats, resampling: Resampling) -> Floats:
    """For measures that are no mean over rows: sd over the k folds of a repeat / sqrt(k), averaged over repeats.

    Never divided by sqrt(k · repeats): repeats share their rows. NaN where a repeat has a single fold.
    """
    repeat = np.array([fold.repeat for fold in resampling.folds])
    each = [_spread(scores[:, repeat == number]) for number in np.unique(repeat)]
    return np.asarray(np.mean(each, axis=0))


def _spread(scores: Floats) -> Floats:
    k = scores.shape[1]
    return np.full(len(scores), np.nan) if k < 2 else np.asarray(scores.std(axis=1, ddof=1) / np.sqrt(k))


def folds_of(task: Task, resampling: Resampling) -> Integers:
    """Rows × repeats: the fold in which the row was assessed, −1 where it was not."""
    fold_of = np.full((len(task), resampling.repeats), -1, np.int64)
    for fold in resampling.folds:
        fold_of[fold.assessment, fold.repeat] = fold.index
    return fold_of


def _blocks(columns: int, rows: int) -> Iterator[slice]:
    size = max(1, BLOCK // max(rows, 1))
    return (slice(start, start + size) for start in range(0, columns, size))


def _zeros(shape: tuple[int, int]) -> NDArray[np.float32]:
    """Zeros, in a file without a name when there are many: the system takes it back with the last reference."""
    if 4 * shape[0] * shape[1] <= LARGE:
        return np.zeros(shape, np.float32)
    with tempfile.TemporaryFile() as file:
        file.truncate(4 * shape[0] * shape[1])
        matrix: Any = np.memmap(file, np.float32, "r+", shape=shape)
        return matrix  # type: ignore[no-any-return]
