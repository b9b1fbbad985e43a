"""How many parameters a fitted linear estimator of scikit-learn has, each by the share that its penalty leaves of it.

Of more than two classes the classes count one by one, each with its own p (1 − p): the sum falls as the penalty grows, and is
that of two classes where there are two. A subclass is another class, of which nothing is known.
"""

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any, Protocol

import numpy as np

from modelsel.core.types import Booleans, Floats
from modelsel.foreign.interface import Matrix

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
    if min(X.shape) > WIDEST:
        return float("nan")
    return COUNTED[_name(type(made))](made, X, target, weights)


def _name(kind: type) -> str:
    """Return the class's name where it is scikit-learn's own."""
    return kind.__name__ if f"{kind.__module__}.".startswith(LINEAR) else ""


def _ridge(made: FittedLinear, X: Matrix, target: object, weights: Floats) -> float:
    """Ridge regression: a function per class, a single one for two classes."""
    weights = class_weighted(made, target, weights)
    functions = 1 if np.ndim(made.coef_) == 1 else len(made.coef_)
    return functions * effective_parameters(X, weights, float(made.alpha), _positive(made), made.fit_intercept)


def _least_squares(made: FittedLinear, X: Matrix, _: object, weights: Floats) -> float:
    return effective_parameters(X, weights, 0.0, _positive(made), made.fit_intercept)


def _positive(made: FittedLinear) -> Booleans | None:
    """The columns that stay where no coefficient may be negative, else None: all do."""
    return np.asarray(made.coef_ != 0) if made.positive else None


def _net(made: FittedLinear, X: Matrix, _: object, weights: Floats) -> float:
    """Lasso and elastic net: their squared error is a mean over rows, so the penalty is per row."""
    ratio = float(getattr(made, "l1_ratio", 1.0))
    penalty = len(weights) * float(made.alpha) * (1 - ratio)
    weights = weights * (len(weights) / weights.sum())
    return effective_parameters(X, weights, penalty, made.coef_ != 0, made.fit_intercept)


def _logistic(made: FittedLogistic, X: Matrix, target: object, weights: Floats) -> float:
    """Logistic regression: summed over classes (one of two); C multiplies the losses, so λ is its inverse."""
    weights, shares = class_weighted(made, target, weights), made.predict_proba(X)
    absolute, squared = penalties(made)
    used = shares if len(made.coef_) > 1 else shares[:, 1:]
    return sum(
        effective_parameters(
            X, weights * own * (1 - own), squared, slope != 0 if absolute else None, intercept=made.fit_intercept
        )
        for own, slope in zip(used.T, made.coef_, strict=True)
    )


def penalties(made: FittedLogistic) -> tuple[float, float]:
    """Strengths of a logistic regression's absolute and squared penalty, beside the sum of losses.

    Of scikit-learn's two spellings: `penalty`, and since 1.8 `l1_ratio` alone.
    """
    named = {"l1": 1.0, "l2": 0.0, None: 0.0}
    ratio = named[made.penalty] if made.penalty in named else float(made.l1_ratio or 0.0)
    strength = 0.0 if made.penalty is None else 1 / float(made.C)
    return ratio * strength, (1 - ratio) * strength


def class_weighted(made: object, target: object, weights: Floats) -> Floats:
    """Weights of rows, times those of their classes; logistic regression balances classes by the weights of their rows."""
    class_weight = getattr(made, "class_weight", None)
    if class_weight is None:
        return weights
    from sklearn.utils.class_weight import compute_class_weight

    classes, place = np.unique(np.asarray(target), return_inverse=True)
    weighed = _name(type(made)) == "LogisticRegression" and "sample_weight" in signature(compute_class_weight).parameters
    more = {"sample_weight": weights} if weighed else {}  # from scikit-learn 1.7 on
    of_classes = compute_class_weight(class_weight, classes=classes, y=np.asarray(target), **more)
    return weights * np.asarray(of_classes, np.float64)[place]


COUNTED: Mapping[str, Callable[[Any, Matrix, object, Floats], float]] = {
    "Ridge": _ridge, "RidgeClassifier": _ridge, "LinearRegression": _least_squares, "Lasso": _net, "ElasticNet": _net,
    "LogisticRegression": _logistic,
}  # fmt: skip


# Effective parameters of a linear fit whose coefficients are shrunken.
#
# df = 1 + Σ_j d_j² / (d_j² + λ), d_j: singular values of the centred columns, each row times the root of its weight; λ: the
# penalty λ‖β‖²/2 beside half the weighted squared error. The 1 is the intercept, which is not shrunken. Source: Hastie,
# Tibshirani & Friedman (2009, 3.50). Of a logistic fit the weights are w_i p_i (1 − p_i), those of its last Newton step (le
# Cessie & van Houwelingen 1992). Of a lasso the columns that stay count, of an elastic net the trace over them (Zou, Hastie &
# Tibshirani 2007; Zou 2005).


WIDEST = 1000  # columns, or rows where they are fewer: beyond, the eigenvalues would cost more than the fit


def effective_parameters(
    X: Any, weights: Floats, penalty: float, active: Booleans | None = None, intercept: bool = True
) -> float:
    """Count a linear fit's parameters, each by the share that the penalty leaves of it.

    Parameters
    ----------
    X : array or sparse matrix, rows × columns
        What was fitted on.
    weights : Floats
        A weight per row.
    penalty : float
        λ ≥ 0, infinite where nothing but the intercept is left.
    active : Booleans, optional
        The columns whose coefficients are not 0.
    intercept : bool
        Whether one was fitted.

    Returns
    -------
    float
        NaN where rows and columns are more than 1,000 each.

    Examples
    --------
    Two orthogonal columns with d² = 4 each, and λ = 4: half of each is left.

    >>> X = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]])
    >>> effective_parameters(X, np.ones(4), 4.0), effective_parameters(X, np.ones(4), 0.0)
    (2.0, 3.0)
    """
    X = X if active is None or active.all() else X[:, np.flatnonzero(active)]
    used = weights > 0
    found = _squared_singular_values(X[np.flatnonzero(used)], weights[used], intercept)
    if found is None:
        return float("nan")
    known = found[found > 1e-10 * found.max(initial=0.0)] if penalty == 0 else found
    return float(intercept + (known / (known + penalty)).sum())


def _squared_singular_values(X: Any, weights: Floats, intercept: bool) -> Floats | None:
    """Eigenvalues of the smaller of X'WX and its dual, centred where there is an intercept; None where it is too large."""
    rows, columns = X.shape
    if min(rows, columns) > WIDEST:
        return None
    if not min(rows, columns):
        return np.zeros(0)
    root, is_sparse = np.sqrt(weights), hasattr(X, "toarray")
    middle = np.asarray(weights @ X).ravel() / weights.sum() if intercept else np.zeros(columns)
    if columns <= rows and is_sparse:
        scaled = X.multiply(root[:, None]).tocsr()
        gram = (scaled.T @ scaled).toarray() - weights.sum() * np.outer(middle, middle)
    elif is_sparse:
        crossed = np.asarray(X @ middle).ravel()
        gram = (X @ X.T).toarray() - crossed[:, None] - crossed + middle @ middle
        gram *= root[:, None] * root
    else:
        scaled = (np.asarray(X, np.float64) - middle) * root[:, None]
        gram = scaled.T @ scaled if columns <= rows else scaled @ scaled.T
    found: Floats = np.maximum(np.linalg.eigvalsh(gram), 0.0)
    return found
