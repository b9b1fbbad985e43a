"""Area under the ROC curve: the chance that a positive row scores above a negative one, ties counting half.

AUC = Σ_{i positive, j negative} w_i w_j ([s_i > s_j] + ½ [s_i = s_j]) / (Σ w_i Σ w_j), from one sort (Hanley & McNeil 1982).
More classes: the mean of the one-against-rest areas, weighted by class share (Provost & Domingos 2001).
"""

import numpy as np

from modelsel.core.types import Booleans, Codes, Floats


def auc(positive: Booleans, scores: Floats, weights: Floats | None = None) -> Floats:
    """AUC per row of `scores` (… × rows); NaN where a score is NaN or one side is empty. O(n log n).

    >>> auc(np.array([True, True, False, True, False, False]), np.array([.9, .8, .7, .6, .55, .4])).round(4).tolist()
    0.8889
    """
    order = np.argsort(scores, axis=-1)
    ordered = np.take_along_axis(scores, order, axis=-1)
    weight = np.ones(len(positive)) if weights is None else weights
    plus = np.where(positive, weight, 0.0)[order]
    minus = np.where(positive, 0.0, weight)[order]
    below = np.cumsum(minus, axis=-1)
    first, last = _ties(ordered)
    before = np.take_along_axis(below - minus, first, axis=-1)
    upto = np.take_along_axis(below, last, axis=-1)
    pairs = plus.sum(axis=-1) * minus.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        area = (plus * (before + upto)).sum(axis=-1) / (2.0 * pairs)
    return np.asarray(np.where(np.isnan(scores).any(axis=-1), np.nan, area))


def multiclass_auc(truth: Codes, scores: Floats, classes: int, weights: Floats | None = None) -> Floats:
    """AUC per candidate (`scores`: … × rows × classes): of the second class for two, else one against rest by class share.

    Classes without a row count nothing; NaN when only one class has rows.
    """
    if classes == 2:
        return auc(truth == 1, scores[..., 1], weights)
    share = np.bincount(truth, weights, minlength=classes)
    present = np.flatnonzero(share)
    areas = np.stack([auc(truth == c, scores[..., c], weights) for c in present], axis=-1)
    return np.asarray(areas @ (share[present] / share.sum()))


def _ties(ordered: Floats) -> tuple["np.typing.NDArray[np.intp]", "np.typing.NDArray[np.intp]"]:
    """Per place, the first and the last place of equal score."""
    n = ordered.shape[-1]
    place = np.broadcast_to(np.arange(n), ordered.shape)
    change = ordered[..., 1:] != ordered[..., :-1]
    edge = np.ones((*ordered.shape[:-1], 1), np.bool_)
    first = np.maximum.accumulate(np.where(np.concatenate([edge, change], axis=-1), place, 0), axis=-1)
    ends = np.where(np.concatenate([change, edge], axis=-1), place, n - 1)
    last = np.minimum.accumulate(ends[..., ::-1], axis=-1)[..., ::-1]
    return first, last
