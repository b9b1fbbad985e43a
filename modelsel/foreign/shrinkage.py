"""How many parameters a fitted linear estimator of scikit-learn has, each by the share that its penalty leaves of it.

Of more than two classes the classes count one by one, each with its own p (1 − p): the sum falls as the penalty grows, and is
that of two classes where there are two. A subclass is another class, of which nothing is known.
"""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np

from modelsel.core.types import Booleans, Floats
from modelsel.foreign.interface import Matrix
from modelsel.statistics.effective_parameters import effective_parameters

UNIT = "effective parameters"


class FittedLinear(Protocol):
    """A fitted linear model of numbers, or ridge regression of classes."""

    alpha: float
    coef_: Floats
    fit_intercept: bool
    positive: bool


class FittedLogistic(Protocol):
    """A fitted logistic regression."""

    C: float
    penalty: str | None
    l1_ratio: float | None
    coef_: Floats
    fit_intercept: bool

    def predict_proba(self, X: object) -> Floats:
        """Return probabilities, rows × classes."""
        ...


LINEAR = "sklearn.linear_model."


def has_shrinkage(kind: type) -> bool:
    """Say whether the parameters of a class's fits can be counted."""
    return _name(kind) in COUNTED


def parameters_left(made: object, X: Matrix, target: object, weights: Floats) -> float:
    """Count the effective parameters of a fitted estimator; NaN where rows and columns are more than 1,000 each.

    Parameters
    ----------
    made : estimator
        One of a class that `has_shrinkage`.
    X : array or sparse matrix
        What it was fitted on.
    target : array
        Its classes, or numbers.
    weights : Floats
        Of the rows, ones where it was given none.

    Returns
    -------
    float
        At least 1 where an intercept was fitted.
    """
    return COUNTED[_name(type(made))](made, X, target, weights)


def _name(kind: type) -> str:
    """Return the class's name where it is scikit-learn's own."""
    return kind.__name__ if f"{kind.__module__}.".startswith(LINEAR) else ""


def _ridge(made: FittedLinear, X: Matrix, target: object, weights: Floats) -> float:
    """Of classes one function each, but of two a single one."""
    weights = _balanced(made, target, weights)
    functions = 1 if np.ndim(made.coef_) == 1 else len(made.coef_)
    return functions * effective_parameters(X, weights, float(made.alpha), _positive(made), made.fit_intercept)


def _least_squares(made: FittedLinear, X: Matrix, _: object, weights: Floats) -> float:
    return effective_parameters(X, weights, 0.0, _positive(made), made.fit_intercept)


def _positive(made: FittedLinear) -> Booleans | None:
    """The columns that stay where no coefficient may be negative, else None: all do."""
    return np.asarray(made.coef_ != 0) if made.positive else None


def _net(made: FittedLinear, X: Matrix, _: object, weights: Floats) -> float:
    """Its squared error is a mean over rows, so its penalty is by row."""
    ratio = float(getattr(made, "l1_ratio", 1.0))
    penalty = len(weights) * float(made.alpha) * (1 - ratio)
    weights = weights * (len(weights) / weights.sum())
    return effective_parameters(X, weights, penalty, made.coef_ != 0, made.fit_intercept)


def _logistic(made: FittedLogistic, X: Matrix, target: object, weights: Floats) -> float:
    """Sum over classes, of two of one of them; C is the strength of the sum of losses, so that λ is its inverse."""
    weights, shares = _balanced(made, target, weights), made.predict_proba(X)
    ratio = _l1_ratio(made)
    strength = 0.0 if made.penalty is None or np.isinf(made.C) else (1 - ratio) / float(made.C)
    used = shares if len(made.coef_) > 1 else shares[:, 1:]
    return sum(
        effective_parameters(
            X, weights * own * (1 - own), strength, slope != 0 if ratio else None, intercept=made.fit_intercept
        )
        for own, slope in zip(used.T, made.coef_, strict=True)
    )


def _l1_ratio(made: FittedLogistic) -> float:
    """Of scikit-learn's two spellings: `penalty`, and since 1.8 `l1_ratio` alone."""
    named = {"l1": 1.0, "l2": 0.0, None: 0.0}
    return named[made.penalty] if made.penalty in named else float(made.l1_ratio or 0.0)


def _balanced(made: object, target: object, weights: Floats) -> Floats:
    """Weights of rows, times those of their classes."""
    class_weight = getattr(made, "class_weight", None)
    if class_weight is None:
        return weights
    from sklearn.utils.class_weight import compute_sample_weight

    return weights * np.asarray(compute_sample_weight(class_weight, target), np.float64)


COUNTED: Mapping[str, Callable[[Any, Matrix, object, Floats], float]] = {
    "Ridge": _ridge, "RidgeClassifier": _ridge, "LinearRegression": _least_squares, "Lasso": _net, "ElasticNet": _net,
    "LogisticRegression": _logistic,
}  # fmt: skip
