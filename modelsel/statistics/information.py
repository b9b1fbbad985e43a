"""Entropy of distributions, and the information of one attribute about another, from (weighted) counts.

    E(a) = −Σ p log₂ p        E(a|b) = Σ_b p(b) E(a|b = v)        I(a, b) = E(a) − E(a|b) = E(b) − E(b|a)
    SU(a, b) = 2 I(a, b) / (E(a) + E(b))        G(a) = 1 − Σ p²

Logarithms to base 2, 0 log 0 = 0; the last axis of `counts` is the distribution, earlier axes are a batch. A `joint`
table has the levels of a in its rows and those of b in its columns. No counts at all: every value is 0.
Sources: Shannon (1948); Breiman et al. (1984) for Gini; Press et al. (1988) for symmetric uncertainty; Cestnik (1990)
for the m-estimate.
"""

import numpy as np
from numpy.typing import ArrayLike

from modelsel.core.types import Floats


def entropy(counts: ArrayLike) -> Floats:
    """E in bits, along the last axis.

    >>> round(float(entropy([9, 5])), 3)
    0.94
    """
    share = _shares(counts)
    return _not_below_zero(-np.sum(share * np.log2(share, where=share > 0, out=np.zeros_like(share)), axis=-1))


def gini(counts: ArrayLike) -> Floats:
    """The chance that two draws (with replacement) differ, along the last axis.

    >>> float(gini([40, 40]))
    0.5
    """
    share = _shares(counts)
    return np.where(share.sum(axis=-1) > 0, _not_below_zero(1 - np.sum(share**2, axis=-1)), 0.0)


def conditional_entropy(joint: ArrayLike) -> Floats:
    """E(a|b) in bits: what remains uncertain about the rows' attribute when the columns' one is known.

    >>> float(conditional_entropy([[2, 0], [2, 4]]))  # (4/8) E(2, 2) + (4/8) E(0, 4)
    0.5
    """
    table = np.asarray(joint, np.float64)
    bits: Floats = np.sum(_shares(table.sum(axis=-2)) * entropy(np.swapaxes(table, -1, -2)), axis=-1)
    return bits


def mutual_information(joint: ArrayLike) -> Floats:
    """I(a, b) in bits, never below 0; information gain when one of them is the class.

    >>> float(mutual_information([[2, 0], [0, 2]])), float(mutual_information([[1, 1], [2, 2]]))
    (1.0, 0.0)
    """
    table = np.asarray(joint, np.float64)
    return _not_below_zero(entropy(table.sum(axis=-1)) - conditional_entropy(table))


def symmetric_uncertainty(joint: ArrayLike) -> Floats:
    """I(a, b) as a share of the mean of both entropies, 0 … 1; 0 where both attributes are constant.

    >>> float(symmetric_uncertainty([[2, 0], [0, 2]])), float(symmetric_uncertainty([[3]]))
    (1.0, 0.0)
    """
    table = np.asarray(joint, np.float64)
    both = entropy(table.sum(axis=-1)) + entropy(table.sum(axis=-2))
    return 2 * mutual_information(table) / np.where(both > 0, both, 1.0)


def smooth(counts: ArrayLike, l: float = 1.0, *, m: float | None = None, prior: ArrayLike | None = None) -> Floats:  # noqa: E741
    """Probabilities along the last axis: Laplace (N_i + l) / (N + l K), or with `m` the m-estimate (N_i + m p_i) / (N + m).

    `prior` is p, uniform where not given. Nothing counted and nothing added leaves p itself.

    >>> smooth([3, 0]).tolist()
    [0.8, 0.2]
    >>> smooth([3, 0], m=2, prior=[0.25, 0.75]).tolist()
    [0.7, 0.3]
    """
    seen = np.asarray(counts, np.float64)
    p = np.full(seen.shape[-1], 1 / seen.shape[-1]) if prior is None else np.asarray(prior, np.float64)
    strength = l * seen.shape[-1] if m is None else m
    total = seen.sum(axis=-1, keepdims=True) + strength
    return np.where(total > 0, (seen + strength * p) / np.where(total > 0, total, 1.0), p)


def joint_counts(a: ArrayLike, b: ArrayLike, weights: ArrayLike | None = None, shape: tuple[int, int] | None = None) -> Floats:
    """The joint table of two columns of codes from 0, counted or weighted; rows with a negative code are left out.

    >>> joint_counts([0, 1, 1, -1], [0, 0, 1, 1]).tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    row, column = np.asarray(a, np.int64), np.asarray(b, np.int64)
    known = (row >= 0) & (column >= 0)
    rows, columns = shape or (int(row.max(initial=-1)) + 1, int(column.max(initial=-1)) + 1)
    weight = None if weights is None else np.asarray(weights, np.float64)[known]
    cells = np.bincount(row[known] * columns + column[known], weight, minlength=rows * columns)
    return cells.astype(np.float64).reshape(rows, columns)


def _shares(counts: ArrayLike) -> Floats:
    table = np.asarray(counts, np.float64)
    total = table.sum(axis=-1, keepdims=True)
    return table / np.where(total > 0, total, 1.0)


def _not_below_zero(values: Floats) -> Floats:
    """Rounding may leave a difference of equal numbers just below 0."""
    return np.maximum(values, 0.0)
