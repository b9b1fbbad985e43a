"""Effective parameters of a linear fit whose coefficients are shrunken.

df = 1 + Σ_j d_j² / (d_j² + λ), d_j: singular values of the centred columns, each row times the root of its weight; λ: the
penalty λ‖β‖²/2 beside half the weighted squared error. The 1 is the intercept, which is not shrunken. Source: Hastie,
Tibshirani & Friedman (2009, 3.50). Of a logistic fit the weights are w_i p_i (1 − p_i), those of its last Newton step (le
Cessie & van Houwelingen 1992). Of a lasso the columns that stay count, of an elastic net the trace over them (Zou, Hastie &
Tibshirani 2007; Zou 2005).
"""

from typing import Any

import numpy as np

from modelsel.core.types import Booleans, Floats

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
