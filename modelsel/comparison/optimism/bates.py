"""An interval for nested cross-validation that pays its price: the mean squared error of the estimate is itself estimated.

For every outer fold k of every repeat: ē_in the mean loss of cross-validation inside the other folds, e_out the losses on k.

    a = (ē_in - ē_out)²      b = var(e_out) / n_k      MSE = mean a - mean b, held to se² … K se²
    estimate = mean ē_in - bias,   bias = (1 + (K - 2) / K) (mean ē_in - mean ē_out)
    interval = estimate ± z sqrt((K - 1) / K · MSE)

K outer folds of n rows in all. se = sd(e_in) / sqrt(n) takes the losses for independent and so is too small, K se² takes those
of a fold for one. Source: Bates, Hastie & Tibshirani (2021), algorithm 1 and section 4.3; they draw hundreds of repeats.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from modelsel.core.types import Floats

LABEL = "Bates, Hastie & Tibshirani 2021"


@dataclass(frozen=True)
class BatesInterval:
    """Estimate with its ends; `inflation` is by how much the standard error exceeds the naive one, 1 … sqrt(K)."""

    mean: float
    low: float
    high: float
    inflation: float


@dataclass(frozen=True, eq=False)
class OuterFoldLosses:
    """One outer fold: losses of the selection inside the other folds, and of the one on all of them where it had no part."""

    inside: Floats
    outside: Floats


def interval(repeats: Sequence[Sequence[OuterFoldLosses]], level: float = 0.95) -> BatesInterval:
    """The interval from the outer folds of each repeat. ValueError for fewer than three folds.

    >>> fold = OuterFoldLosses(np.array([0.0, 1.0, 0.0, 1.0]), np.array([0.0, 1.0]))
    >>> interval([[fold, fold, fold]]).inflation  # nothing varies between folds: the naive standard error
    1.0
    """
    held, folds = [one for repeat in repeats for one in repeat], len(repeats[0])
    if folds < 3:
        raise ValueError("the interval needs at least three outer folds")
    inside, outside = (np.array([each.mean() for each in side]) for side in zip(*((h.inside, h.outside) for h in held)))
    noise = np.array([h.outside.var(ddof=1) / len(h.outside) for h in held])
    squared = float(((inside - outside) ** 2 - noise).mean()) * (folds - 1) / folds
    all_in, all_out = (np.concatenate(side) for side in zip(*((h.inside, h.outside) for h in held)))
    naive = float(all_in.std(ddof=1) / np.sqrt(len(all_out) / len(repeats)))
    error = float(np.clip(np.sqrt(max(squared, 0.0)), naive, naive * np.sqrt(folds)))
    mean = float(all_in.mean() - (1 + (folds - 2) / folds) * (all_in.mean() - all_out.mean()))
    half = float(ndtri((1 + level) / 2)) * error
    return BatesInterval(mean, mean - half, mean + half, error / naive if naive else 1.0)
