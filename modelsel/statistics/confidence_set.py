"""The candidates that may be the best: max-t over a bootstrap of rows, or of units of rows that are independent of each other.

    L̄_j = Σ w l_j / Σ w,   t_j = (L̄_j − L̄_w) / se_jw,   keep j where t_j ≤ q
    q = the 95 % point over resamples of max_k ((L̄*_k − L̄*_w) − (L̄_k − L̄_w)) / se_kw

w is the winner. The set so kept holds *a* best candidate with 95 %. The set that holds *every* best one compares with the mean
of those left, t_j = (L̄_j − L̄.) / se_j., and takes out whoever is above the 95 % point of the largest, round by round
(T_max; Hansen, Lunde & Nason 2011).

The models of the folds are taken as they are: how they vary with the rows that they are fitted on is not in it. Variances of
0/1 differences are at least 1/n, so that candidates that agree on every row do not divide by nothing. Above `BLOCKS` units,
sums of units dealt at random into so many blocks are drawn in their place; errors are those of all units.
Sources: Hansen, Lunde & Nason (2011), Econometrica 79; White (2000) for the maximum over a bootstrap.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Booleans, Floats, Integers
from modelsel.statistics.sampling import count_draws

LEVEL = 0.95
RESAMPLES = 1000
BLOCKS = 4096
LEAST, ROUNDING = 1e-9, 1e-6  # means that are equal but for rounding are not apart
CELLS = 1 << 22  # numbers of the loss matrix that are worked on at a time


@dataclass(frozen=True, eq=False)
class Differences:
    """Sums of weighted losses less the winner's: of all rows, and of the blocks that are drawn.

    `sums` are blocks × candidates, `weight` the blocks' weights; `mean` and `error` the differences to the winner and their
    standard errors over units.
    """

    sums: NDArray[np.float32]
    weight: Floats
    mean: Floats
    error: Floats
    floor: float  # the least standard error: one row's share for 0/1 losses
    unit: float = 1.0  # of all of these, in losses: a power of two


def differences(
    losses: NDArray[Any], winner: int, rng: np.random.Generator, groups: Integers | None = None, weights: Floats | None = None
) -> Differences:
    """Sum up a loss matrix (rows × candidates), which may be mapped from a file; rows with NaN are no part of it.

    Lower losses are better. Rows of one of the `groups` are one unit. They are taken in a unit in which the largest is 1 to 2:
    squares of squared errors would leave single precision.
    """
    rows, unit = _order_by_unit(np.flatnonzero(~np.isnan(losses[:, winner])), groups)
    weight = np.ones(len(rows)) if weights is None else weights[rows].astype(np.float64)
    number = int(unit[-1]) + 1
    block = np.arange(number) if number <= BLOCKS else rng.permutation(number) % BLOCKS
    k = losses.shape[1]
    sums, squares, cross, binary = np.zeros((min(number, BLOCKS), k)), np.zeros(k), np.zeros(k), True
    of_unit, largest = np.bincount(unit, weight), max((_largest(losses[rows[part]]) for part in _chunks(unit, k)), default=0.0)
    factor = np.float32(2.0 ** -np.floor(np.log2(largest))) if largest > 0 else np.float32(1.0)
    for part in _chunks(unit, k):
        own = losses[rows[part]]
        binary = binary and bool(((own == 0) | (own == 1) | np.isnan(own)).all())
        own = (own * factor - own[:, winner, None] * factor) * weight[part, None]
        starts = np.flatnonzero(np.diff(unit[part], prepend=-1))
        total = np.add.reduceat(own, starts).astype(np.float64) if len(starts) < len(own) else own.astype(np.float64)
        first = unit[part][starts]
        _add(sums, block[first], total)
        squares += np.einsum("ij,ij->j", total, total)
        cross += of_unit[first] @ total
    whole = float(of_unit.sum())
    mean = sums.sum(axis=0) / whole
    variance = np.maximum(squares - 2 * mean * cross + mean**2 * float(of_unit @ of_unit), 0.0) / whole**2
    floor = 1 / len(rows) if binary else 0.0
    return Differences(
        sums.astype(np.float32),
        np.bincount(block, of_unit).astype(np.float64),
        mean,
        np.maximum(np.sqrt(variance), floor),
        floor,
        1.0 / float(factor),
    )


def resample(found: Differences, rng: np.random.Generator) -> NDArray[np.float32]:
    """Resamples × candidates: how far the mean differences move from where they are when units (blocks) are drawn anew."""
    many, mean = len(found.weight), np.where(np.isfinite(found.mean), found.mean, 0.0)
    own, equal = (found.sums - mean * found.weight[:, None]).astype(np.float32), bool((found.weight == 1.0).all())
    moved, piece = np.empty((RESAMPLES, own.shape[1]), np.float32), max(1, CELLS // many)
    for start in range(0, RESAMPLES, piece):
        counts = count_draws(many, min(piece, RESAMPLES - start), rng, np.float32)
        weight = np.full(len(counts), float(many)) if equal else counts @ found.weight
        moved[start : start + piece] = counts @ own / weight[:, None]
    return moved


def may_be_best(found: Differences, moved: NDArray[np.float32], level: float = LEVEL, more: int = 0) -> Booleans:
    """Mark the candidates of the set that holds a best one, the winner among them; those whose mean is NaN are not in it.

    `more` are further candidates of which no row is known: they take their share of 1 − level.
    """
    known = np.isfinite(found.mean)
    scale = np.where(known & (found.error > 0), found.error, np.inf)  # who never differs never moves
    own = 1 - (1 - level) * known.sum() / (known.sum() + more)
    point = float(np.quantile((moved[:, known] / scale[known]).max(axis=1), own, method="higher"))
    mean = np.where(known, found.mean, np.inf)
    return np.asarray((mean <= 0) | (mean <= point * np.where(np.isfinite(scale), scale, 0.0)))


def every_best(found: Differences, moved: NDArray[np.float32], level: float = LEVEL) -> Booleans:
    """Mark the candidates of the set that holds every best one, by elimination; those whose mean is NaN are not in it."""
    mean, weight = found.mean, found.weight / found.weight.sum()
    inside = np.flatnonzero(np.isfinite(mean))
    own = (found.sums[:, inside] / found.weight.sum() - mean[inside] * weight[:, None]).astype(np.float32)
    variance = np.einsum("ij,ij->j", own, own, dtype=np.float64)
    left = np.ones(len(inside), np.bool_)
    while True:
        middle = own[:, left].mean(axis=1)
        error = np.sqrt(np.maximum(variance + middle @ middle - 2 * (middle @ own), 0.0))
        error = np.maximum(error, max(found.floor, LEAST))
        apart = (mean[inside] - mean[inside][left].mean()) / error
        shifted = moved[:, inside[left]]
        largest = ((shifted - shifted.mean(axis=1, keepdims=True)) / error[left]).max(axis=1)
        out = left & (apart > max(float(np.quantile(largest, level, method="higher")), ROUNDING))
        if not out.any():
            break
        left &= ~out
    marked = np.zeros(len(mean), np.bool_)
    marked[inside[left]] = True
    return marked


def _largest(losses: NDArray[Any]) -> float:
    """The largest loss that is known."""
    return float(np.fmax.reduce(np.abs(losses), axis=None, initial=0.0))


def _add(sums: Floats, block: Integers, total: Floats) -> None:
    """Add rows to the blocks that they are dealt into."""
    if len(sums) < BLOCKS:  # every unit is a block of its own
        sums[block] += total
        return
    from scipy.sparse import csr_array  # many times as fast as np.add.at, and few tables need it

    dealt: Any = csr_array((np.ones(len(block)), (block, np.arange(len(block)))), shape=(len(sums), len(block)))
    sums += dealt @ total


def _order_by_unit(rows: Integers, groups: Integers | None) -> tuple[Integers, Integers]:
    """Rows unit by unit, and the unit of each, ascending from 0."""
    if groups is None:
        return rows, np.arange(len(rows))
    unit = np.unique(groups[rows], return_inverse=True)[1]
    order = np.argsort(unit, kind="stable")
    return rows[order], unit[order]


def _chunks(unit: Integers, columns: int) -> list[slice]:
    """Parts of the rows that hold whole units."""
    size, starts = max(1, CELLS // max(columns, 1)), [0]
    while starts[-1] < len(unit):
        end = min(starts[-1] + size, len(unit))
        starts.append(int(np.searchsorted(unit, unit[end - 1], side="right")))
    return [slice(a, b) for a, b in pairwise(starts)]
