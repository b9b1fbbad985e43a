"""Logistic regression on a few columns by Newton's method: max Σ w_i [t_i η_i − ln(1 + e^η_i)], η = x β + β₀, 0 ≤ t_i ≤ 1.

A ridge of 1e-11 on β keeps it finite where the classes are apart. Steps that do not raise the likelihood are halved.
"""

import numpy as np
from scipy.special import expit

from modelsel.core.types import Floats

RIDGE = 1e-11
STEPS, HALVINGS = 200, 40
CLOSE = 1e-10  # of the gradient, per unit of weight


def logistic(columns: Floats, target: Floats, weights: Floats) -> Floats:
    """β, then β₀.

    Parameters
    ----------
    columns : Floats
        Rows × columns.
    target : Floats
        Between 0 and 1, per row; a share where it is not certain.
    weights : Floats
        Per row, not all zero.

    >>> logistic(np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0.0, 1.0, 1.0, 1.0]), np.array([1.0, 1, 3, 1]))[1].round(6)
    np.float64(0.0)
    """
    scale = np.maximum(np.abs(columns).max(axis=0), 1e-300)
    whole = np.column_stack([columns / scale, np.ones(len(columns))])
    share = weights / weights.sum()
    ridge = np.append(np.full(columns.shape[1], RIDGE), 0.0)
    mean = np.clip(share @ target, 1e-12, 1 - 1e-12)
    found = np.append(np.zeros(columns.shape[1]), np.log(mean / (1 - mean)))
    reached = _gain(found, whole, target, share, ridge)
    for _ in range(STEPS):
        chance = expit(whole @ found)
        slope = whole.T @ (share * (target - chance)) - ridge * found
        if np.abs(slope).max() < CLOSE:
            break
        curve = (whole.T * (share * chance * (1 - chance))) @ whole + np.diag(ridge)
        step = np.linalg.lstsq(curve, slope, rcond=None)[0]
        for _ in range(HALVINGS):
            gain = _gain(found + step, whole, target, share, ridge)
            if gain > reached:
                break
            step = step / 2
        else:
            break
        found, reached = found + step, gain
    return np.append(found[:-1] / scale, found[-1])


def _gain(found: Floats, whole: Floats, target: Floats, share: Floats, ridge: Floats) -> float:
    raw = whole @ found
    return float(share @ (target * raw - np.logaddexp(0.0, raw)) - ridge @ found**2 / 2)
