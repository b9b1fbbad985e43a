"""The .632 and .632+ corrections of the bootstrap's out-of-bag error, pessimistic as only 63.2 % of the rows are analysed.

    .632  = .368 ē + .632 e₁
    .632+ = (1 − w) ē + w e₁',   w = .632 / (1 − .368 R),   R = (e₁' − ē) / (γ − ē) in [0, 1],   e₁' = min(e₁, γ)

ē is the training error, e₁ the out-of-bag error, γ the error if features and classes were independent: Σ_c p_c (1 − q_c),
with p_c the share of class c and q_c the share of rows predicted as c. Source: Efron (1983); Efron & Tibshirani (1997).
"""

import numpy as np

from modelsel.core.types import Codes

DRAWN = 1 - np.exp(-1)  # chance that a row is drawn at least once: .632…


def point632(training: float, out_of_bag: float) -> float:
    """
    >>> round(point632(0.0, 0.5), 3)  # memorised random labels: .632 is fooled
    0.316
    """
    return float((1 - DRAWN) * training + DRAWN * out_of_bag)


def point632_plus(training: float, out_of_bag: float, no_information: float) -> float:
    """
    >>> point632_plus(0.0, 0.5, 0.5)  # and .632+ is not
    0.5
    """
    bounded = min(out_of_bag, no_information)
    overfit = 0.0
    if bounded > training and no_information > training:
        overfit = (bounded - training) / (no_information - training)
    weight = DRAWN / (1 - (1 - DRAWN) * overfit)
    return float((1 - weight) * training + weight * bounded)


def no_information_error(truth: Codes, predicted: Codes, classes: int) -> float:
    """γ: the error of these predictions if they had nothing to do with the truth.

    >>> no_information_error(np.array([0, 1, 1, 1]), np.array([1, 1, 1, 1]), 2)
    0.25
    """
    p = np.bincount(truth, minlength=classes) / len(truth)
    q = np.bincount(predicted, minlength=classes) / len(predicted)
    return float(np.sum(p * (1 - q)))
