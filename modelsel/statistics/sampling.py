"""Dealing rows into parts: evenly, class by class, and group by group.

Rows are shuffled within their class, the classes are laid end to end, and parts are dealt round that line: a contiguous
block of n_c rows gets ⌊n_c / k⌋ or ⌈n_c / k⌉ per part, so classes *and* part sizes are exact to one row.
Groups cannot be exact: they go, largest first, where Σ_c (F_pc + g_c)² / (s_p N_c) grows least (F_pc rows of class c in
part p, g_c in the group, N_c altogether, s_p the share wanted), the least-squares form of stratified group k-fold.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.core.types import Booleans, Codes, Floats, Integers


def deal(rows: int, parts: int, rng: np.random.Generator, strata: Codes | None = None) -> Integers:
    """The part (0 … parts − 1) of each row; with `strata`, exact to one row within each stratum too.

    >>> np.bincount(deal(10, 3, np.random.default_rng(0))).tolist()
    [4, 3, 3]
    """
    part = np.empty(rows, np.int64)
    part[_line(rows, rng, strata)] = np.arange(rows) % parts
    return part


def draw(rows: int, size: int, rng: np.random.Generator, strata: Codes | None = None) -> Booleans:
    """Mark `size` rows, each as likely as any other; each stratum gives its share, exact to one row.

    Systematic sampling along the line, from a random start (Madow & Madow 1944).

    >>> int(draw(10, 3, np.random.default_rng(0)).sum())
    3
    """
    marked = np.empty(rows, np.bool_)
    line = _line(rows, rng, strata)
    passed = (np.arange(rows + 1) * size + rng.integers(rows)) // rows
    marked[line] = np.diff(passed) > 0
    return marked


def deal_groups(groups: Integers, shares: Sequence[float], rng: np.random.Generator, strata: Codes | None = None) -> Integers:
    """The part of each row when rows of one group stay together, near the wanted shares of rows (and of each stratum).

    >>> deal_groups(np.array([7, 7, 7, 2, 2, 5]), (0.5, 0.5), np.random.default_rng(0)).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    group, counts = _group_counts(groups, strata)
    order = np.lexsort((rng.random(len(counts)), -counts[:, -1]))
    scale = 1.0 / np.maximum(counts.sum(axis=0), 1.0)
    want = np.asarray(shares, np.float64) / np.sum(shares)
    filled = np.zeros((len(want), counts.shape[1]))
    part = np.empty(len(counts), np.int64)
    for index in order:
        mine = counts[index] * scale
        growth = (2.0 * filled @ mine + counts[index] @ mine) / want
        part[index] = np.argmin(np.round(growth, 12))
        filled[part[index]] += counts[index]
    return part[group]


def equal_rows(values: Floats) -> Integers:
    """A number per row, equal where all values are equal (missing equals missing), in order of first appearance.

    >>> equal_rows(np.array([[1.0, np.nan], [2.0, 0.0], [1.0, np.nan]])).tolist()
    [0, 1, 0]
    """
    digests = _row_digests(values)
    ordered = np.sort(digests)
    first = np.arange(len(values), dtype=np.int64)
    if (ordered[1:] != ordered[:-1]).all():
        return first
    _, inverse, counts = np.unique(digests, return_inverse=True, return_counts=True)
    alike = np.flatnonzero(counts[inverse] > 1)  # most tables have few such rows, which are then compared whole
    if len(alike):
        first[alike] = alike[_first_of_equal(values[alike])]
    return np.asarray(np.unique(first, return_inverse=True)[1], np.int64)


def _row_digests(values: Floats) -> NDArray[np.uint64]:
    """64 bits per row, equal for equal rows, column by column so that the table is never copied whole."""
    digests = np.zeros(len(values), np.uint64)
    for j in range(values.shape[1]):
        column = values[:, j] + 0.0  # −0 becomes 0
        column[np.isnan(column)] = np.nan  # one bit pattern for missing
        digests ^= column.view(np.uint64)
        digests *= np.uint64(0x9E3779B97F4A7C15)
        digests ^= digests >> np.uint64(29)
    return digests


def _first_of_equal(values: Floats) -> Integers:
    """Per row the place of the first row that equals it."""
    plain = np.ascontiguousarray(values) + 0.0
    plain[np.isnan(plain)] = np.nan
    if not plain.shape[1]:
        return np.zeros(len(plain), np.int64)
    whole = plain.view(np.dtype((np.void, plain.dtype.itemsize * plain.shape[1]))).ravel()
    _, first, inverse = np.unique(whole, return_index=True, return_inverse=True)
    return np.asarray(first[inverse], np.int64)


def _line(rows: int, rng: np.random.Generator, strata: Codes | None) -> Integers:
    shuffled = rng.permutation(rows)
    return shuffled if strata is None else shuffled[np.argsort(strata[shuffled], kind="stable")]


def _group_counts(groups: Integers, strata: Codes | None) -> tuple[Integers, Floats]:
    """Group index per row, and per group its rows per stratum with the total in the last column."""
    _, group = np.unique(groups, return_inverse=True)
    total = np.bincount(group).astype(np.float64)
    if strata is None:
        return group, total[:, None]
    width = int(strata.max(initial=0)) + 1
    table = np.bincount(group * width + strata, minlength=len(total) * width).reshape(-1, width)
    return group, np.column_stack([table, total])


def weighted_median(values: Floats, weights: Floats) -> float:
    """The value that half of the weight lies on either side of; between two of them, their middle.

    >>> weighted_median(np.array([3.0, 1.0, 2.0]), np.ones(3)), weighted_median(np.array([1.0, 2.0]), np.ones(2))
    (2.0, 1.5)
    """
    order = np.argsort(values, kind="stable")
    upto, ranked = np.cumsum(weights[order]), values[order]
    half, same = 0.5 * upto[-1], 1e-12
    lower, upper = np.argmax(upto >= half * (1 - same)), np.argmax(upto > half * (1 + same))
    return float(0.5 * (ranked[lower] + ranked[upper]))


NEAR = 1 << 17  # drawn and counted at a time: what stays near the processor


def count_draws(
    units: int, resamples: int, rng: np.random.Generator, kind: type[np.floating[Any]] = np.float64
) -> NDArray[Any]:
    """Count how often each unit is drawn in each resample of as many with replacement, resamples × units.

    The draws are those of one call, however few are made at a time.

    >>> count_draws(3, 2, np.random.default_rng(0)).tolist()
    [[0.0, 2.0, 1.0], [3.0, 0.0, 0.0]]
    """
    counts, piece = np.empty((resamples, units), kind), max(1, NEAR // units)
    for start in range(0, resamples, piece):
        part = counts[start : start + piece]
        drawn = rng.integers(units, size=part.shape)
        drawn += np.arange(len(part))[:, None] * units
        part[:] = np.bincount(drawn.ravel(), minlength=part.size).reshape(part.shape)
    return counts
