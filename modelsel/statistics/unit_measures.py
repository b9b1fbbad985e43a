"""Measures as ratios of sums over rows, Σ w·num / Σ w·den with 0 ≤ num ≤ den: what intervals over independent units need.

Each is a loss. Recall, precision, specificity and F-beta are one minus it, and their limits one minus its limits, exchanged.

    measure               num                        den                          den known before labels
    error, costs, Brier   loss / largest loss        1                            yes
    log loss              min(loss, cap) / cap       1                            yes; the claim is for the capped loss
    precision             predicted, not of class    predicted as the class       yes
    recall                of class, not predicted    of the class                 no
    specificity           predicted, not of class    not of the class             no
    F-beta                β² FN + FP                 (1 + β²) TP + β² FN + FP     no
    balanced error        wrong / (C n_c)            1 / (C n_c)                  yes, once class counts are told

The largest den of a unit has to be known before labels: where den itself is not, it is `most` times the weight of its rows.
The balanced error stands for independent rows; where units mix classes it is a mean of one ratio a class, each at δ / C.
No valid form is known for the AUC of groups, kappa, MCC and average precision.
"""

from dataclasses import dataclass

import numpy as np

from modelsel.core.types import Codes, Floats, Integers
from modelsel.statistics.unit_intervals import UnitLosses


@dataclass(frozen=True, eq=False)
class RowTerms:
    """num and den of each row before weights; `most` is the largest den that a row can have."""

    num: Floats
    den: Floats
    most: float = 1.0
    sizes_known: bool = True

    def over(self, units: Integers | None = None, weights: Floats | None = None) -> UnitLosses:
        """Sums over units (codes; None: each row is one), with weights of rows.

        >>> wrong = error(np.array([0, 1, 1]), np.array([0, 0, 0]))
        >>> wrong.over(np.array([7, 7, 9])).num.tolist()
        [1.0, 1.0]
        """
        weight = np.ones(len(self.num)) if weights is None else np.asarray(weights, np.float64)
        unit = np.arange(len(weight)) if units is None else np.unique(units, return_inverse=True)[1]
        num, den, rows = (np.bincount(unit, weight * each) for each in (self.num, self.den, np.ones(len(weight))))
        largest = float(den.max()) if self.sizes_known else self.most * float(rows.max())
        return UnitLosses.of(num, den, largest, self.sizes_known)


def error(truth: Codes, predicted: Codes) -> RowTerms:
    """The error rate."""
    return _mean((truth != predicted).astype(np.float64))


def cost(truth: Codes, predicted: Codes, costs: Floats) -> RowTerms:
    """Mean cost in units of the largest one; `costs` is truth × predicted, none below 0."""
    if costs.min() < 0 or costs.max() <= 0:
        raise ValueError("costs need to be at least 0, and one of them more")
    return _mean(costs[truth, predicted] / costs.max())


def brier(truth: Codes, scores: Floats) -> RowTerms:
    """Half the Brier score Σ_c (p_c − y_c)², which lies in [0, 1]; `scores` are rows × classes that sum to one.

    >>> brier(np.array([0]), np.array([[0.0, 1.0]])).num.tolist()
    [1.0]
    """
    hot = np.eye(scores.shape[1])[truth]
    return _mean(np.minimum(((scores - hot) ** 2).sum(axis=1) / 2, 1.0))


def log_loss(truth: Codes, scores: Floats, cap: float) -> RowTerms:
    """Log loss capped at `cap` nats, in units of the cap; the share of rows above it is `above(truth, scores, cap)`."""
    return _mean(np.minimum(_surprise(truth, scores), cap) / cap)


def above(truth: Codes, scores: Floats, cap: float) -> RowTerms:
    """The share of rows whose log loss is above the cap."""
    return _mean((_surprise(truth, scores) > cap).astype(np.float64))


def precision(truth: Codes, predicted: Codes, of: int) -> RowTerms:
    """One minus the precision of a class, over rows predicted as it."""
    said = predicted == of
    return RowTerms((said & (truth != of)).astype(np.float64), said.astype(np.float64))


def recall(truth: Codes, predicted: Codes, of: int) -> RowTerms:
    """One minus the recall of a class, over its rows."""
    own = truth == of
    return RowTerms((own & (predicted != of)).astype(np.float64), own.astype(np.float64), sizes_known=False)


def specificity(truth: Codes, predicted: Codes, of: int) -> RowTerms:
    """One minus the specificity: of the rows of other classes, those predicted as this one."""
    other = truth != of
    return RowTerms((other & (predicted == of)).astype(np.float64), other.astype(np.float64), sizes_known=False)


def f_beta(truth: Codes, predicted: Codes, of: int, beta: float = 1.0) -> RowTerms:
    """One minus F-beta of a class.

    >>> truth, predicted = np.array([1, 1, 1, 0]), np.array([1, 1, 0, 1])
    >>> f_beta(truth, predicted, 1).over().score  # 1 − 2·2 / (2·2 + 1 + 1)
    0.3333333333333333
    """
    hit, missed, false = (truth == of) & (predicted == of), (truth == of) & (predicted != of), (truth != of) & (predicted == of)
    num = beta**2 * missed + false
    return RowTerms(num, num + (1 + beta**2) * hit, most=1 + beta**2, sizes_known=False)


def balanced_error(truth: Codes, predicted: Codes, counts: Integers) -> RowTerms:
    """The mean over classes of their error rates, for independent rows; `counts` are the classes' rows, told before.

    Classes without a row count nothing. ValueError where the counts are not those of `truth`.
    """
    if (np.bincount(truth, minlength=len(counts)) != counts).any():
        raise ValueError("these are not the class counts of the rows")
    share = 1 / (np.count_nonzero(counts) * np.maximum(counts, 1))
    return RowTerms(np.where(truth != predicted, share[truth], 0.0), share[truth], most=float(share.max()))


def _mean(losses: Floats) -> RowTerms:
    return RowTerms(losses, np.ones(len(losses)))


def _surprise(truth: Codes, scores: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log(scores[np.arange(len(truth)), truth]))
