"""Logistic regression is at its optimum: that of Newton's method with exact Hessians, which knows no other solver."""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

import modelsel
from modelsel.foreign.optimum import fit_logistic
from tests.conftest import about

OWN = {"iris": load_iris, "wine": load_wine, "breast_cancer": load_breast_cancer}
MADE = ("credit_g", "hepatitis", "vote")  # in their likeness, where the collected files are not
FILES = ("glass", "heart_c", "diabetes_pima", "dermatology")
SETTINGS = [(C, ratio) for C in (0.001, 1.0, 100.0) for ratio in (0.0, 0.5, 1.0)]
NEAR = 3e-4  # of a probability


def newton(X, y, C, ratio, slopes, intercepts, weights=None):
    """Slopes and intercepts where the subgradient is 0, by steps on the coefficients that are not 0, from a starting point.

    A coefficient at 0 enters where its gradient exceeds the absolute penalty; one that a step would take through 0 stops there.
    """
    n, classes = len(y), int(y.max()) + 1
    k = 1 if classes == 2 else classes
    A, Y = np.column_stack([X, np.ones(n)]), np.eye(classes)[y][:, -k:]
    w = np.ones(n) if weights is None else weights
    l1 = np.tile(np.r_[np.full(X.shape[1], ratio / C), 0.0], k)
    l2 = np.tile(np.r_[np.full(X.shape[1], (1 - ratio) / C), 0.0], k)
    theta = np.column_stack([slopes, intercepts]).ravel()

    def value(at):
        S = A @ at.reshape(k, -1).T
        whole = np.column_stack([np.zeros(n), S]) if k == 1 else S
        return w @ (np.logaddexp.reduce(whole, axis=1) - (S * Y).sum(1)) + l1 @ abs(at) + l2 @ at**2 / 2

    for _ in range(500):
        S = A @ theta.reshape(k, -1).T
        whole = np.column_stack([np.zeros(n), S]) if k == 1 else S
        P = np.exp(whole - np.logaddexp.reduce(whole, axis=1)[:, None])[:, -k:]
        smooth = ((w[:, None] * (P - Y)).T @ A).ravel() + l2 * theta
        sub = np.where(theta != 0, smooth + l1 * np.sign(theta), np.sign(smooth) * np.maximum(abs(smooth) - l1, 0))
        if abs(sub).max() < 1e-9 * n:
            break
        active = (theta != 0) | (abs(sub) > 1e-9 * n) | (l1 == 0)
        H = np.block([[(A * (w * P[:, a] * ((a == b) - P[:, b]))[:, None]).T @ A for b in range(k)] for a in range(k)])
        H = (H + np.diag(l2))[np.ix_(active, active)]
        step = np.zeros_like(theta)
        step[active] = -np.linalg.lstsq(H, sub[active], rcond=1e-13)[0]
        sign = np.where(theta != 0, np.sign(theta), -np.sign(sub))
        before, size = value(theta), 1.0
        while True:
            tried = theta + size * step
            tried[(l1 > 0) & (tried * sign < 0)] = 0.0
            if value(tried) <= before or size < 1e-12:
                break
            size /= 2
        if (tried == theta).all():
            break
        theta = tried
    assert abs(sub).max() < 1e-7 * n, "the exact solver itself is not at the optimum"
    found = theta.reshape(k, -1)
    return found[:, :-1], found[:, -1]


def chances(X, slopes, intercepts):
    S = X @ slopes.T + intercepts
    S = np.column_stack([np.zeros(len(X)), S]) if S.shape[1] == 1 else S
    return np.exp(S - np.logaddexp.reduce(S, axis=1)[:, None])


def frame(name, table):
    if name in OWN:
        return OWN[name](return_X_y=True, as_frame=True)
    read = pd.read_csv(table(name), na_values="?")
    described = Path(table(name)).with_suffix(".json")
    target = json.loads(described.read_text()).get("target") if described.exists() else None
    target = target if target in read else read.columns[-1]
    return read.drop(columns=target), read[target].astype(str)


@pytest.mark.parametrize(("C", "ratio"), SETTINGS)
@pytest.mark.parametrize("name", [*OWN, *MADE, *about(FILES)])
@pytest.mark.sampled(8)
def test_every_penalty_is_at_its_optimum(name, C, ratio, table):
    X, y = frame(name, table)
    made = modelsel.classifier("logistic_regression", **{"params.C": C, "params.l1_ratio": ratio}).fit(X, y)
    model = made.final_.model
    fitted, known = model.estimator, made._table_of(X)
    matrix = model.answering.columns.matrix(known, np.arange(len(X)))
    matrix = np.asarray(matrix.todense()) if hasattr(matrix, "todense") else matrix
    codes = np.searchsorted(made.classes_, np.asarray(y))
    right = chances(matrix, *newton(matrix, codes, C, ratio, fitted.coef_, fitted.intercept_))
    np.testing.assert_allclose(made.predict_proba(X), right, atol=NEAR)
    assert model.answering.gradient <= 1e-6


def test_where_the_penalty_leaves_nothing_the_shares_of_the_classes_are_said():
    X, y = load_wine(return_X_y=True, as_frame=True)
    said = modelsel.classifier("logistic_regression", **{"params.C": 0.001, "params.l1_ratio": 1.0}).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(said, np.tile(np.bincount(y) / len(y), (len(y), 1)), atol=1e-7)


@pytest.mark.parametrize("params", [{}, {"class_weight": "balanced"}, {"fit_intercept": False}])
@pytest.mark.parametrize("ratio", [0.0, 0.5])
@pytest.mark.parametrize("sparse", [False, True])
def test_weights_classes_weights_and_sparse_matrices_are_of_the_same_optimum(params, ratio, sparse):
    from scipy.sparse import csr_matrix

    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4)) * (rng.random((90, 4)) < 0.6)
    y = np.digitize(X @ [1.0, -1.0, 0.5, 0.0] + rng.normal(size=90), [-1.0, 0.4])
    weights = rng.integers(1, 4, 90).astype(float)
    told = {"C": 0.7, "l1_ratio": ratio, "tol": 1e-9, "max_iter": 10_000, **params}
    made = LogisticRegression(**told, solver="lbfgs" if ratio == 0 else "saga", random_state=0)
    left = fit_logistic(made, {**told, "solver": "auto"}, csr_matrix(X) if sparse else X, y, weights)
    assert left < 1e-8
    theirs = LogisticRegression(**{**told, "max_iter": 200_000}, solver="saga", random_state=0).fit(X, y, weights)
    np.testing.assert_allclose(made.predict_proba(X), theirs.predict_proba(X), atol=1e-5)


def test_a_solver_that_stops_short_is_said():
    X, y = load_wine(return_X_y=True)
    made = LogisticRegression(C=0.001, l1_ratio=1, solver="saga")
    with pytest.warns(ConvergenceWarning, match=r"gradient above 0\.0001: set solver: auto"):
        left = fit_logistic(made, {"solver": "saga"}, (X - X.mean(0)) / X.std(0), y, None)
    assert left > 1e-3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fit_logistic(LogisticRegression(), {}, (X - X.mean(0)) / X.std(0), y, None) <= 1e-4
    assert np.isnan(fit_logistic(LogisticRegression(solver="liblinear"), {}, X[y < 2], y[y < 2], None))
