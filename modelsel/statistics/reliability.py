"""Reliability of scores against the shares that come true: a diagram with bands, and the Brier score in three parts.

    Brier = miscalibration − discrimination + uncertainty
    uncertainty = Brier of always saying the share; miscalibration = Brier − Brier of the scores after isotonic regression;
    discrimination = uncertainty − Brier of these

Both parts are at least 0, and exact whatever the scores are; with few different scores that rise with their shares they are
Murphy's reliability and resolution. A band is where the share of a bin lies for a calibrated model: the number that comes
true is then a sum of independent draws with the scores as chances (Poisson-binomial), at 1 − α / bins in each, so that a
calibrated model stays inside all of them with probability 1 − α at least.
Sources: Murphy (1973); Bröcker & Smith (2007); Dimitriadis, Gneiting & Jordan (2021).
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from modelsel.core.types import Booleans, Codes, Floats, Integers

EXACT = 2000  # rows of a bin up to which the distribution is computed exactly


@dataclass(frozen=True)
class BrierParts:
    """`brier` = `miscalibration` − `discrimination` + `uncertainty`."""

    brier: float
    miscalibration: float
    discrimination: float
    uncertainty: float


@dataclass(frozen=True, eq=False)
class Reliability:
    """Per bin: mean score, share that came true, rows, and the ends of the band."""

    score: Floats
    share: Floats
    rows: Integers
    low: Floats
    high: Floats


def brier_parts(scores: Floats, truth: Codes) -> BrierParts:
    """Divide the Brier score of class scores: each class against the rest, added up (0 … 2, as the measure `brier`).

    >>> scores = np.array([[0.8, 0.2]] * 5 + [[0.3, 0.7]] * 5)
    >>> found = brier_parts(scores, np.array([0, 0, 0, 0, 1, 1, 1, 1, 1, 0]))  # 1 of 5 and 4 of 5 came true
    >>> [round(one, 3) for one in (found.brier, found.miscalibration, found.discrimination, found.uncertainty)]
    [0.33, 0.01, 0.18, 0.5]
    """
    each = np.array([_parts(scores[:, one], truth == one) for one in range(scores.shape[1])])
    return BrierParts(*each.sum(axis=0).tolist())


def reliability(score: Floats, came_true: Booleans, bins: int = 10, level: float = 0.95) -> Reliability:
    """Bins of about equally many rows; equal scores share a bin."""
    edges = np.unique(np.quantile(score, np.linspace(0, 1, bins + 1))[1:-1])
    number = np.searchsorted(edges, score, side="left")
    held = np.unique(number)
    parts = [number == one for one in held]
    tail = (1 - level) / 2 / len(parts)
    ends = np.array([_band(score[part], tail) for part in parts])
    return Reliability(
        score=np.array([score[part].mean() for part in parts]), share=np.array([came_true[part].mean() for part in parts]),
        rows=np.array([part.sum() for part in parts]), low=ends[:, 0], high=ends[:, 1],
    )  # fmt: skip


def sum_of_draws(chances: Floats) -> Floats:
    """The distribution of how many of independent draws come true, 0 to n: its Fourier transform is a product.

    >>> sum_of_draws(np.array([0.5, 0.5])).round(6).tolist()
    [0.25, 0.5, 0.25]
    """
    n = len(chances)
    turn = np.exp(-2j * np.pi * np.arange(n + 1) / (n + 1))
    transform = np.ones(n + 1, complex)
    for chance in chances:
        transform *= 1 - chance + chance * turn
    return np.clip(np.fft.ifft(transform).real, 0.0, 1.0)


def rising_means(values: Floats, weights: Floats) -> Floats:
    """Fit the rising sequence that is nearest in weighted squares: neighbours that fall are pooled until none does.

    SciPy's `isotonic_regression` says the same, and importing it takes a tenth of a second.

    Parameters
    ----------
    values, weights
        n numbers, and how much each counts (above 0).

    Returns
    -------
    Floats
        n numbers, none below the one before it.

    Examples
    --------
    >>> rising_means(np.array([0.0, 1.0, 0.5, 2.0]), np.ones(4)).tolist()
    [0.0, 0.75, 0.75, 2.0]
    """
    starts = np.arange(len(values))
    while True:
        total = np.add.reduceat(weights, starts)
        means: Floats = np.add.reduceat(values * weights, starts) / total
        keep = np.concatenate([[True], means[1:] > means[:-1]])
        if keep.all():
            return np.repeat(means, np.diff(np.append(starts, len(values))))
        starts = starts[keep]


def _parts(score: Floats, positive: Booleans) -> tuple[float, float, float, float]:
    """Divide a Brier score: itself, miscalibration, discrimination, uncertainty."""
    y = positive.astype(np.float64)
    place = np.unique(score, return_inverse=True)[1]
    rows = np.bincount(place).astype(np.float64)
    recalibrated = rising_means(np.bincount(place, y) / rows, rows)[place]
    brier, best, uncertainty = (float(np.mean((said - y) ** 2)) for said in (score, recalibrated, y.mean()))
    return brier, brier - best, uncertainty - best, uncertainty


def _band(chances: Floats, tail: float) -> tuple[float, float]:
    """The shares between which a calibrated model's lies but for `tail` on either side."""
    n = len(chances)
    if n > EXACT:
        half = float(-ndtri(tail) * np.sqrt((chances * (1 - chances)).sum())) / n
        return max(0.0, float(chances.mean()) - half), min(1.0, float(chances.mean()) + half)
    upto = np.cumsum(sum_of_draws(chances))
    low = int(np.searchsorted(upto, tail, side="right"))
    high = int(np.searchsorted(upto, 1 - tail, side="left"))
    return low / n, min(high, n) / n
