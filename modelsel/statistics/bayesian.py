"""Bayesian comparison of two classifiers: the probabilities that either is better, or that they are practically equal.

Over folds, the posterior of the mean difference is Student's t with J − 1 degrees of freedom, mean d̄ and squared scale
(1/J + ρ / (1 − ρ)) s², ρ = n_test / (n_test + n_train) the correlation of folds (Corani & Benavoli 2015). Over data sets,
the Bayesian signed-rank test draws weights of the differences from a Dirichlet distribution (Benavoli et al. 2014, 2017).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammainc, gammaincinv, gammaln, logsumexp, ndtr, ndtri, stdtr
from scipy.stats import t as student

from modelsel.core.types import Floats

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


# Two classifiers over the folds of several data sets at once: the hierarchical Bayesian test, without refits.
#
#     x_ij ~ N(μ_i, σ_i²),  corr(x_ij, x_ik) = ρ         differences on fold j of data set i
#     μ_i ~ t(μ0, σ0, ν)                                 data sets are drawn from a population of data sets
#     μ0 ~ U(−m, m),  σ_i ~ U(0, 1000 s̄),  σ0 ~ U(0, 1000 s0),  ν − 1 ~ Gamma(α, β),  α ~ U(1, 2),  β ~ U(.01, .1)
#
# m the largest |x|, s̄ the mean deviation within data sets, s0 that of their means; ρ = n_test / (n_test + n_train). The
# posterior of (μ0, σ0, ν) gives for the next data set a distribution of its μ; the answer is how often each region (below,
# within, above) has most of it. Uncertain and small data sets are shrunk towards the others.
# Source: Corani, Benavoli, Demšar, Mangili & Zaffalon (2017).
#
# The posterior is drawn by blocks, in many chains side by side: (ν, weights of the t as a scale mixture), σ_i, then (σ0, μ0,
# μ_i) at once, where σ0 and ν are drawn from fine grids. A data set whose folds all differ by the same gets the deviation of a
# uniform difference within the region, as in the authors' program, which also forgets its mean.


CHAINS, BURN, KEPT = 60, 60, 150
UPPER = 1000.0  # of σ, in deviations of the data
LEAST_NU, MOST_NU, GRID = 1.001, 1000.0, 48


@dataclass(frozen=True, eq=False)
class Summaries:
    """Of each data set: folds, mean difference, sum of squares about it; `rho` is the correlation of folds."""

    folds: Floats
    mean: Floats
    squares: Floats
    rho: Floats

    @classmethod
    def of(cls, differences: Sequence[Floats], ratio: Sequence[float], rope: float) -> "Summaries":
        """`ratio` is n_test / n_train of each data set. ValueError below two data sets, or two folds of one."""
        if len(differences) < 2 or min(map(len, differences)) < 2:
            raise ValueError("a hierarchical test needs at least two data sets, of two folds each")
        folds = np.array([len(one) for one in differences], np.float64)
        squares = np.array([float(((one - one.mean()) ** 2).sum()) for one in differences])
        usual = float(np.sqrt(squares / folds).mean()) or 1e-6
        least = (rope / np.sqrt(3) if rope > 0 else 1e-3 * usual) ** 2
        flat = squares <= folds * (1e-9 * usual) ** 2
        part = np.asarray(ratio, np.float64)
        mean = np.array([float(one.mean()) for one in differences])
        return cls(folds, mean, np.where(flat, folds * least, squares), part / (1 + part))

    @property
    def within(self) -> float:
        return float(np.sqrt(self.squares / self.folds).mean())

    @property
    def among(self) -> float:
        return float(self.mean.std()) or self.within


def bayes_hierarchical(
    differences: Sequence[Floats], ratio: Sequence[float], rng: np.random.Generator, rope: float = 0.01
) -> Posterior:
    """Probabilities for the next data set, from differences per fold of each data set; `rope` is half the region's width.

    Monte Carlo error about .01. Raises ValueError for fewer than two data sets or folds.

    >>> rng = np.random.default_rng(0)
    >>> far = [rng.normal(0.1, 0.02, 10) for _ in range(5)]
    >>> bayes_hierarchical(far, [1 / 9] * 5, rng).above > 0.99
    True
    """
    data = Summaries.of(differences, ratio, rope)
    most = max(float(np.abs(one).max()) for one in differences) or rope or 1.0
    mu0, sigma0, nu = draws(data, most, rng)
    below, above = student.cdf(-rope, nu, mu0, sigma0), student.sf(rope, nu, mu0, sigma0)
    shares = np.stack([below, 1 - below - above, above])
    best = shares == shares.max(axis=0)
    return Posterior(*(float(share) for share in (best / best.sum(axis=0)).mean(axis=1)))


def draws(data: Summaries, most: float, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """μ0, σ0 and ν from their posterior, `most` being the bound of |μ0|."""
    grid = np.exp(np.linspace(np.log(LEAST_NU), np.log(MOST_NU), GRID))
    prior = nu_prior(grid) + np.log(grid)  # points are even in the logarithm
    mu = np.tile(data.mean, (CHAINS, 1))
    mu0, sigma0 = np.full(CHAINS, data.mean.mean()), np.full(CHAINS, data.among)
    kept = []
    for step in range(BURN + KEPT):
        nu = _nu(mu, mu0, sigma0, grid, prior, rng)
        shape = (nu + 1) / 2
        rate = (nu[:, None] + ((mu - mu0[:, None]) / sigma0[:, None]) ** 2) / 2
        weight = rng.gamma(shape[:, None], 1 / rate)
        variance = _sigma2(data, mu, rng)
        mu, mu0, sigma0 = _means(data, variance, weight, most, rng)
        if step >= BURN:
            kept.append((mu0, sigma0, nu))
    return tuple(np.concatenate(column) for column in zip(*kept))  # type: ignore[return-value]


def nu_prior(nu: Floats) -> Floats:
    """Logarithm of the density of ν, with α and β averaged out."""
    alpha, beta = (one.ravel()[:, None] for one in np.meshgrid(np.linspace(1, 2, 41), np.linspace(0.01, 0.1, 41)))
    x = nu - 1
    density = alpha * np.log(beta) - gammaln(alpha) + (alpha - 1) * np.log(x) - beta * x
    return np.asarray(logsumexp(density, axis=0) - np.log(len(alpha)))


def _nu(mu: Floats, mu0: Floats, sigma0: Floats, grid: Floats, prior: Floats, rng: np.random.Generator) -> Floats:
    """ν given the μ_i, the scale mixture averaged out."""
    z2 = (((mu - mu0[:, None]) / sigma0[:, None]) ** 2)[:, :, None]
    half = grid / 2
    constant = gammaln(half + 0.5) - gammaln(half) - 0.5 * np.log(grid)
    density = (constant - (half + 0.5) * np.log1p(z2 / grid)).sum(axis=1) + prior
    return np.asarray(grid[_draw_places(density, rng)])


def _sigma2(data: Summaries, mu: Floats, rng: np.random.Generator) -> Floats:
    """σ_i² given μ_i: 1 / σ² is Gamma((n − 1) / 2, A / 2), cut where σ would be above its bound."""
    n, rho = data.folds, data.rho
    a = data.squares / (1 - rho) + n * (data.mean - mu) ** 2 / (1 + (n - 1) * rho)
    shape = (n - 1) / 2
    low = gammainc(shape, a / 2 / (UPPER * data.within) ** 2)
    u = low + (1 - low) * rng.random(mu.shape)
    return np.asarray(a / 2 / gammaincinv(shape, np.clip(u, 1e-300, 1 - 1e-16)))


def _means(
    data: Summaries, variance: Floats, weight: Floats, most: float, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """σ0 from a grid (shifted anew each time) with μ0 and μ_i averaged out, then μ0, then the μ_i."""
    own = variance * (1 + (data.folds - 1) * data.rho) / data.folds  # of the mean of a data set
    step = np.log(UPPER / 1e-3) / GRID
    grid = np.exp(np.log(1e-3 * data.among) + step * (np.arange(GRID) + rng.random()))
    total = own[:, None, :] + grid[:, None] ** 2 / weight[:, None, :]  # chains × grid × data sets
    precision = 1 / total
    mass = precision.sum(axis=2)
    centre = (precision * data.mean).sum(axis=2) / mass
    inside = ndtr((most - centre) * np.sqrt(mass)) - ndtr((-most - centre) * np.sqrt(mass))
    fit = -0.5 * (np.log(total) + precision * (data.mean - centre[:, :, None]) ** 2).sum(axis=2)
    density = fit - 0.5 * np.log(mass) + np.log(np.maximum(inside, 1e-300)) + np.log(grid)
    at = _draw_places(density, rng)
    chain = np.arange(len(at))
    sigma0, centre, spread = grid[at], centre[chain, at], 1 / np.sqrt(mass[chain, at])
    low, high = ndtr((-most - centre) / spread), ndtr((most - centre) / spread)
    mu0 = centre + spread * ndtri(np.clip(low + (high - low) * rng.random(len(at)), 1e-16, 1 - 1e-16))
    prior = weight / sigma0[:, None] ** 2
    mean = (data.mean / own + mu0[:, None] * prior) / (1 / own + prior)
    return mean + rng.standard_normal(mean.shape) / np.sqrt(1 / own + prior), mu0, sigma0


def _draw_places(density: Floats, rng: np.random.Generator) -> np.typing.NDArray[np.intp]:
    """A place of each row, with probability in proportion to exp(density)."""
    share = np.cumsum(np.exp(density - density.max(axis=1, keepdims=True)), axis=1)
    return np.asarray((share < rng.random((len(share), 1)) * share[:, -1:]).sum(axis=1))
