"""Bayesian comparison of two classifiers: the probabilities that either is better, or that they are practically equal.

Over folds, the posterior of the mean difference is Student's t with J − 1 degrees of freedom, mean d̄ and squared scale
(1/J + ρ / (1 − ρ)) s², ρ = n_test / (n_test + n_train) the correlation of folds (Corani & Benavoli 2015). Over data sets,
the Bayesian signed-rank test draws weights of the differences from a Dirichlet distribution (Benavoli et al. 2014, 2017).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr

DRAWS = 50_000


@dataclass(frozen=True)
class Posterior:
    """Probabilities that the true difference lies below the region of practical equivalence, in it, above it."""

    below: float
    within: float
    above: float


def bayes_correlated(differences: ArrayLike, ratio: float, rope: float = 0.0) -> Posterior:
    """Bayesian correlated t over folds; `ratio` is n_test / n_train, `rope` half the width of the region.

    >>> posterior = bayes_correlated([0.02, 0.01, 0.03, 0.02], ratio=1 / 3, rope=0.01)
    >>> round(posterior.below, 3), round(posterior.within, 3), round(posterior.above, 3)
    (0.009, 0.095, 0.896)
    """
    d = np.asarray(differences, np.float64)
    mean, folds = float(d.mean()), len(d)
    scale = float(np.sqrt((1 / folds + ratio) * d.var(ddof=1)))
    if scale <= 1e-14 * abs(mean):
        return _certain(mean, rope)
    below = float(stdtr(folds - 1, (-rope - mean) / scale))
    above = float(stdtr(folds - 1, -((rope - mean) / scale)))
    return Posterior(below, max(1.0 - below - above, 0.0), above)


def bayes_signed_rank(differences: ArrayLike, rng: np.random.Generator, rope: float = 0.0, draws: int = DRAWS) -> Posterior:
    """Bayesian signed-rank test over data sets, by `draws` Dirichlet weights (standard error below .0025 at the default).

    The prior is one half of a pseudo-observation inside the region. Probabilities are shares of draws in which that part
    of all pair means has the largest weight.
    """
    d = np.append(0.0, np.asarray(differences, np.float64))
    sums = d[:, None] + d
    parts = np.stack([sums < -2 * rope, np.abs(sums) <= 2 * rope, sums > 2 * rope]).astype(np.float64)
    alpha = np.append(0.5, np.ones(len(d) - 1))
    wins = np.zeros(3)
    for size in _chunks(draws, max(1, 2_000_000 // len(d) ** 2)):
        weight = rng.dirichlet(alpha, size)
        mass = np.stack([np.einsum("si,ij,sj->s", weight, part, weight, optimize=True) for part in parts])
        best = mass == mass.max(axis=0)
        wins += (best / best.sum(axis=0)).sum(axis=1)
    return Posterior(*(float(win) for win in wins / draws))


def _certain(mean: float, rope: float) -> Posterior:
    """The posterior when every fold says the same: all in one place; on the border, half to each side."""
    if abs(mean) < rope or (mean == 0 and rope > 0):
        return Posterior(0.0, 1.0, 0.0)
    if mean == 0:
        return Posterior(0.5, 0.0, 0.5)
    return Posterior(1.0, 0.0, 0.0) if mean < 0 else Posterior(0.0, 0.0, 1.0)


def _chunks(total: int, most: int) -> list[int]:
    return [most] * (total // most) + ([total % most] if total % most else [])
