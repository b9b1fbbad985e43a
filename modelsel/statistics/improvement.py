"""Is one model better than another on the same rows by more than chance: the mean of paired differences, and its error.

    d_i = loss of the one before − loss of the one after,   gain = Σ w_i d_i / Σ w_i
    SE² = G/(G−1) Σ_g (Σ_{i in g} w_i (d_i − gain))² / (Σ w_i)²        g: units, of which there are G; else each row is one

The one after is kept where gain > c SE and gain > 0. Between equals gain / SE is about normal, so that with c = 1 one in six is
kept by luck. Source: Breiman et al. (1984), 3.4.3, for the rule of one standard error; Liang & Zeger (1986) for units.
"""

from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.special import ndtr

from modelsel.core.types import Floats, Integers


@dataclass(frozen=True)
class Improvement:
    """A mean gain and its standard error.

    Parameters
    ----------
    gain : float
        How much lower the mean loss is.
    se : float
        Its standard error; 0 where no row differs.

    Examples
    --------
    >>> Improvement(0.02, 0.01).exceeds(1.0), Improvement(0.02, 0.01).exceeds(2.5)
    (True, False)
    """

    gain: float
    se: float

    def exceeds(self, errors: float) -> bool:
        """Say whether the gain is positive, and more than so many standard errors.

        Parameters
        ----------
        errors : float
            How many, 0 or more.

        Returns
        -------
        bool
            Whether the one after is kept.
        """
        return self.gain > 0 and self.gain > errors * self.se


def improvement(before: Floats, after: Floats, units: Integers | None = None, weights: Floats | None = None) -> Improvement:
    """The mean gain of one model over another on the same rows, and its standard error.

    Parameters
    ----------
    before, after : array of shape (n_rows,)
        Losses of the two on each row.
    units : array of shape (n_rows,), optional
        What is independent of each other; each row, without it.
    weights : array of shape (n_rows,), optional
        Weights of the rows.

    Returns
    -------
    Improvement
        Gain and standard error. With a single unit the error is infinite.

    Examples
    --------
    >>> found = improvement(np.array([1.0, 1.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0, 0.0]))
    >>> found.gain, round(found.se, 4)  # differences 1, 0, 0, 1
    (0.5, 0.2887)
    """
    own = np.ones(len(before)) if weights is None else np.asarray(weights, np.float64)
    difference = np.asarray(before, np.float64) - np.asarray(after, np.float64)
    total = float(own.sum())
    gain = float((own * difference).sum() / total)
    parts: Floats = own * (difference - gain)
    if units is not None:
        parts = np.bincount(np.unique(units, return_inverse=True)[1], weights=parts).astype(np.float64)
    count = len(parts)
    se = sqrt(count / (count - 1) * float((parts**2).sum())) / total if count > 1 else float("inf")
    return Improvement(gain, se)


def kept_by_luck(errors: float) -> float:
    """The share of proposals that are kept although they are as good as the best so far.

    Parameters
    ----------
    errors : float
        Standard errors that a gain has to exceed.

    Returns
    -------
    float
        P(Z > errors), Z standard normal.

    Examples
    --------
    >>> round(kept_by_luck(1.0), 3), round(kept_by_luck(2.0), 3)
    (0.159, 0.023)
    """
    return float(ndtr(-errors))
