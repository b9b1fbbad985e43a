"""Logistic regression at its optimum, and how far from it a fit has stopped.

F(θ) = Σ_i w_i ℓ_i / W + (a ‖β‖₁ + s ‖β‖² / 2) / W, θ: slopes β and intercepts; ℓ_i: negative log-likelihood of row i;
W = Σ_i w_i; a and s: 1 / C, divided by `l1_ratio`. For a > 0 scikit-learn has saga, which judges by its steps of β alone: it
can stop anywhere, and where β stays 0 with any intercept. `solver: auto` of its class is L-BFGS (Byrd, Lu, Nocedal & Zhu 1995),
with β = p − n and p, n ≥ 0 where a > 0, which makes F smooth (Schmidt, Fung & Rosales 2007); of few coefficients Newton's steps
on those that are not 0 go on from there. It draws nothing.

What a fit lacks is the largest entry of the subgradient of F that is nearest to 0, which is 0 at the optimum alone.
"""

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from modelsel.core.types import Floats
from modelsel.foreign.shrinkage import class_weighted, penalties

AUTO = "auto"
HOLDS = 1e-4  # the largest entry of a gradient that counts as an optimum: scikit-learn's own tolerance of lbfgs
ROUNDING = 1e-6
MEMORY = 30  # steps that L-BFGS makes its Hessian of
TRIES = 10  # a line search that ends in rounding begins again
FEW = 500  # coefficients, up to which a step of Newton's costs less than the steps of L-BFGS that it saves
NEWTON_STEPS = 20


def is_logistic(kind: type) -> bool:
    """Say whether a class is scikit-learn's own logistic regression."""
    return kind.__name__ == "LogisticRegression" and kind.__module__.startswith("sklearn.linear_model")


def goes_to_optimum(kind: type, params: Mapping[str, object]) -> bool:
    """Say whether `fit_to_optimum` fits it, and none of scikit-learn's solvers."""
    return is_logistic(kind) and params.get("solver") == AUTO


def settle_solver(kind: type, told: Mapping[str, object]) -> dict[str, object]:
    """Return the solver of scikit-learn's that takes the penalty of a `solver: auto`; nothing where another one is said."""
    if not goes_to_optimum(kind, told):
        return {}
    absolute = told.get("penalty") == "l1" or (told.get("penalty", "elasticnet") == "elasticnet" and bool(told.get("l1_ratio")))
    return {"solver": "saga" if absolute else "lbfgs"}


class Loss:
    """F on some rows. θ has a row per class, of two classes one of the second; a column per slope, then the intercept."""

    def __init__(self, made: Any, X: Any, codes: Any, weights: Floats) -> None:
        """Lay out the rows of an estimator that minimizes F; `codes` are the places of their classes."""
        weights = class_weighted(made, codes, weights)
        total, self.shares = float(weights.sum()), weights / weights.sum()
        self.X: Any = _beside_ones(X) if made.fit_intercept else X
        self.slopes: int = X.shape[1]
        self.codes = np.asarray(codes, np.int64)
        self.is_class = np.eye(int(np.max(codes)) + 1)[self.codes]
        self.shape = (self.is_class.shape[1] if self.is_class.shape[1] > 2 else 1, self.X.shape[1])
        is_slope = np.broadcast_to(np.arange(self.shape[1]) < self.slopes, self.shape)
        self.absolute, self.squared = (np.where(is_slope, strength / total, 0.0) for strength in penalties(made))

    def chances(self, theta: Floats) -> tuple[Floats, Floats]:
        """Return each row's ℓ, and its chances of the classes that θ has rows for."""
        scores = np.asarray(self.X @ theta.T).T  # a row per class: sums over a few neighbours are slow
        scores = np.vstack([np.zeros(scores.shape[1]), scores]) if len(theta) == 1 else np.ascontiguousarray(scores)
        highest = scores.max(axis=0)
        parts = np.exp(scores - highest)
        sums = parts.sum(axis=0)
        losses: Floats = np.log(sums) + highest - np.take_along_axis(scores, self.codes[None], axis=0)[0]
        return losses, np.ascontiguousarray((parts[-len(theta) :] / sums).T)

    def smooth(self, theta: Floats) -> tuple[float, Floats]:
        """Return F without its absolute part, and its gradient."""
        losses, chances = self.chances(theta)
        excess = (chances - self.is_class[:, -len(theta) :]) * self.shares[:, None]
        gradient: Floats = np.asarray(self.X.T @ excess).T + self.squared * theta
        return float(self.shares @ losses) + float((self.squared * theta**2).sum()) / 2, gradient

    def value(self, theta: Floats) -> float:
        """Return F."""
        return self.smooth(theta)[0] + float((self.absolute * np.abs(theta)).sum())

    def subgradient(self, theta: Floats) -> Floats:
        """Return the subgradient that is nearest to 0."""
        own = self.smooth(theta)[1]
        at_zero = np.sign(own) * np.maximum(np.abs(own) - self.absolute, 0.0)
        found: Floats = np.where(theta != 0, own + self.absolute * np.sign(theta), at_zero)
        return found

    def largest_subgradient(self, theta: Floats) -> float:
        """Return the largest entry of that subgradient."""
        return float(np.abs(self.subgradient(theta)).max(initial=0.0))

    def start(self) -> Floats:
        """Return no slopes, and the intercepts that are the optimum then."""
        theta, logs = np.zeros(self.shape), np.log(self.shares @ self.is_class)
        theta[:, self.slopes :] = (logs[1:] - logs[0] if len(theta) == 1 else logs - logs.mean())[:, None]
        return theta

    def descend(self, theta: Floats, tolerance: float, steps: int) -> tuple[Floats, int]:
        """Go on by L-BFGS until no entry is above the tolerance, or as many steps; return the steps too."""
        import scipy.optimize

        minimize: Callable[..., Any] = scipy.optimize.minimize
        size, split = theta.size, bool(self.absolute.any())

        def joined(point: Floats) -> Floats:
            return (point[:size] - point[size:] if split else point).reshape(self.shape)

        def value_and_gradient(point: Floats) -> tuple[float, Floats]:
            value, own = self.smooth(joined(point))
            if not split:
                return value, own.ravel()
            both = np.concatenate([self.absolute + own, self.absolute - own]).ravel()
            return value + float(np.tile(self.absolute.ravel(), 2) @ point), both

        start = np.concatenate([np.maximum(theta, 0), np.maximum(-theta, 0)]).ravel() if split else theta.ravel()
        options = {"gtol": tolerance, "ftol": 0.0, "maxiter": steps, "maxfun": 3 * steps, "maxcor": MEMORY}
        bounds = [(0.0, None)] * len(start) if split else None
        found = minimize(value_and_gradient, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        return joined(np.asarray(found.x, np.float64)), int(found.nit)

    def hessian(self, theta: Floats) -> Floats:
        """Return the second derivatives of the smooth part, coefficients × coefficients."""
        chances, count = self.chances(theta)[1], len(theta)
        whole = np.empty((*self.shape, *self.shape))
        for one in range(count):
            for other in range(one + 1):
                weights = self.shares * chances[:, one] * ((one == other) - chances[:, other])
                whole[one, :, other] = whole[other, :, one] = _weighed_products(self.X, weights)
        found: Floats = whole.reshape(theta.size, theta.size) + np.diag(self.squared.ravel())
        return found

    def polish(self, theta: Floats, tolerance: float) -> Floats:
        """Go on by Newton's steps on the coefficients that are not 0; one that a step would take through 0 stops there."""
        for _ in range(NEWTON_STEPS):
            slope = self.subgradient(theta)
            if np.abs(slope).max(initial=0.0) <= tolerance:
                break
            active = ((theta != 0) | (slope != 0)).ravel()
            curved = self.hessian(theta)[np.ix_(active, active)]
            curved += np.eye(len(curved)) * (1e-12 + 1e-10 * curved.diagonal().mean())  # intercepts may be moved together
            step = np.zeros(theta.size)
            step[active] = -np.linalg.solve(curved, slope.ravel()[active])
            moved = self._step(theta, step.reshape(self.shape), np.where(theta != 0, np.sign(theta), -np.sign(slope)))
            if moved is None:
                break
            theta = moved
        return theta

    def _step(self, theta: Floats, step: Floats, signs: Floats) -> Floats | None:
        """Return θ after the first of the step's parts that lowers F, one of which ends where a slope gets to 0; else None."""
        before, crossed = self.value(theta), (self.absolute > 0) & ((theta + step) * signs < 0)
        there = crossed & (theta != 0)
        first = float((np.abs(theta[there]) / np.abs(step[there])).min(initial=1.0))
        for part in sorted({first, *(first / 4**k for k in range(1, 9)), *(1 / 4**k for k in range(30) if 4**k * first < 1)})[
            ::-1
        ]:
            tried: Floats = theta + part * step
            tried[crossed & (tried * signs <= ROUNDING * np.abs(theta))] = 0.0
            if self.value(tried) < before:
                return tried
        return None


def _beside_ones(X: Any) -> Any:
    """Columns, and one of ones behind them."""
    if not hasattr(X, "toarray"):
        return np.column_stack([X, np.ones(X.shape[0])])
    import scipy.sparse

    beside: Callable[..., Any] = scipy.sparse.hstack
    return beside([X, np.ones((X.shape[0], 1))], format="csr")


def _weighed_products(X: Any, weights: Floats) -> Floats:
    """X' diag(w) X."""
    if hasattr(X, "toarray"):
        found: Floats = (X.T @ X.multiply(weights[:, None]).tocsr()).toarray()
        return found
    products: Floats = X.T @ (X * weights[:, None])
    return products


def fit_to_optimum(made: Any, X: Any, codes: Any, weights: Floats) -> None:
    """Fit a logistic regression: its `tol` is the largest entry of the gradient that is left, `max_iter` bounds the steps.

    Parameters
    ----------
    made : LogisticRegression
        Unfitted.
    X : array or sparse matrix, rows × columns
        What it is fitted on.
    codes : array
        The class of each row, 0 to the number of classes less 1, all of which occur.
    weights : Floats
        Of the rows.

    Raises
    ------
    ValueError
        If there is but one class.
    """
    if np.max(codes) == 0:
        raise ValueError("logistic regression needs rows of two classes, and these have one")
    loss, steps = Loss(made, X, codes, weights), 0
    theta, few = loss.start(), np.prod(loss.shape) <= FEW
    rough = HOLDS * (0.1 if loss.absolute.any() else 1.0)  # where Newton's steps begin
    for tried in range(TRIES):
        if loss.largest_subgradient(theta) <= made.tol or steps >= made.max_iter:
            break
        goal = max(made.tol, rough / 10**tried) if few else made.tol
        theta, more = loss.descend(theta, goal, made.max_iter - steps)
        steps += max(more, 1)
        theta = loss.polish(theta, made.tol) if few and steps < made.max_iter else theta
    made.classes_, made.n_features_in_, made.n_iter_ = (
        np.arange(loss.is_class.shape[1]),
        loss.slopes,
        np.array([steps], np.int32),
    )
    made.coef_ = np.ascontiguousarray(theta[:, : loss.slopes])
    made.intercept_ = theta[:, loss.slopes :].ravel() if made.fit_intercept else np.zeros(len(theta))


def fit_logistic(made: Any, params: Mapping[str, object], X: Any, codes: Any, weights: Floats | None) -> float:
    """Fit a logistic regression, and return the largest entry of the gradient where it stopped; warn where that is too large.

    NaN where the solver minimises another loss: with the intercept as a column among others, or class by class.
    """
    auto, own = goes_to_optimum(type(made), params), np.ones(X.shape[0]) if weights is None else weights
    if auto:
        fit_to_optimum(made, X, codes, own)
    else:
        made.fit(X, codes, **({} if weights is None else {"sample_weight": weights}))
    if made.solver == "liblinear" or getattr(made, "multi_class", "auto") == "ovr":
        return float("nan")
    theta = np.column_stack([made.coef_, made.intercept_]) if made.fit_intercept else made.coef_
    left, limit = Loss(made, X, codes, own).largest_subgradient(theta), 10 * made.tol if auto else HOLDS
    said = not auto and int(np.max(made.n_iter_)) >= made.max_iter  # by scikit-learn
    if left > limit * (1 + ROUNDING) and not said:
        from sklearn.exceptions import ConvergenceWarning

        how = "raise max_iter, or scale the columns" if auto else "set solver: auto, which goes on to it"
        text = f"stopped short of the optimum, by an entry of the gradient above {limit:g}: {how}"
        warnings.warn(text, ConvergenceWarning, stacklevel=2)
    return left
