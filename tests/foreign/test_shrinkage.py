"""Effective parameters of scikit-learn's fits: how far fitted values follow answers that are moved a little, fit by fit."""

import numpy as np
import pytest
from sklearn import linear_model as linear

from modelsel.foreign.shrinkage import parameters_left

RNG = np.random.default_rng(2)
ROWS = 25
X = RNG.normal(size=(ROWS, 3))
Y = X @ [1.0, -2.0, 0.2] + RNG.normal(size=ROWS)
MIXED = (RNG.permuted(Y) > 0).astype(float)
ONES = np.ones(ROWS)
STEP = 1e-4


@pytest.mark.parametrize(
    "made",
    [
        linear.LinearRegression(), linear.Ridge(alpha=3.0), linear.Ridge(alpha=3.0, fit_intercept=False),
        linear.ElasticNet(alpha=0.3, l1_ratio=0.4, tol=1e-12, max_iter=100_000),
        linear.Lasso(alpha=0.3, tol=1e-12, max_iter=100_000),
    ],
)  # fmt: skip
def test_fitted_numbers_follow_their_answers_by_as_much(made):
    """df = Σ_i ∂ŷ_i/∂y_i, by differences."""

    def moved(i, step):
        return made.fit(X, Y + step * (np.arange(ROWS) == i)).predict(X)[i]

    followed = sum(moved(i, STEP) - moved(i, -STEP) for i in range(ROWS)) / (2 * STEP)
    assert parameters_left(made.fit(X, Y), X, Y, ONES) == pytest.approx(followed, abs=1e-5)


@pytest.mark.parametrize("settings", [{"C": 0.5}, {"C": 5.0, "fit_intercept": False}, {"C": np.inf}])
def test_fitted_chances_follow_their_classes_by_as_much(settings):
    """A row whose class is moved from 0 to 1 by ε is two rows, of weights 1 − ε and ε."""
    two = np.r_[np.zeros(ROWS), np.ones(ROWS)]
    made = linear.LogisticRegression(solver="newton-cholesky", tol=1e-12, **settings)

    def moved(i, step):
        shares = MIXED + step * (np.arange(ROWS) == i) * np.where(MIXED > 0, -1, 1)
        kept = np.r_[1 - shares, shares] > 0
        weights = np.r_[1 - shares, shares][kept]
        return made.fit(np.vstack([X, X])[kept], two[kept], weights).predict_proba(X[i : i + 1])[0, 1] * (-1 if MIXED[i] else 1)

    followed = sum(moved(i, 2 * STEP) - moved(i, 0) for i in range(ROWS)) / (2 * STEP)
    assert parameters_left(made.fit(X, MIXED), X, MIXED, ONES) == pytest.approx(followed, abs=2e-3)


def test_more_shrinkage_leaves_fewer_and_classes_count_one_by_one():
    classes = np.digitize(Y, [-1.0, 1.0])
    weak, strong = (linear.LogisticRegression(C=C).fit(X, classes) for C in (10.0, 0.01))
    assert parameters_left(weak, X, classes, ONES) > parameters_left(strong, X, classes, ONES) > 3
    assert parameters_left(weak, X, classes, ONES) < 3 * 4
    ridge = linear.RidgeClassifier(alpha=2.0).fit(X, classes)
    assert parameters_left(ridge, X, classes, ONES) == pytest.approx(
        3 * parameters_left(linear.Ridge(alpha=2.0).fit(X, Y), X, Y, ONES)
    )


def test_columns_that_the_lasso_left_out_do_not_count():
    made = linear.LogisticRegression(C=0.3, l1_ratio=1, solver="saga", max_iter=10_000, tol=1e-8).fit(X, Y > 0)
    left = int((made.coef_ != 0).sum())
    assert left < 3
    assert parameters_left(made, X, Y > 0, ONES) == pytest.approx(1 + left)


def test_class_weights_are_weights():
    classes = (Y > 1).astype(int)
    settings = {"C": 0.5, "tol": 1e-10, "max_iter": 1000}
    balanced = linear.LogisticRegression(class_weight="balanced", **settings).fit(X, classes)
    weights = ROWS / (2 * np.bincount(classes))[classes]
    same = linear.LogisticRegression(**settings).fit(X, classes, weights)
    assert parameters_left(balanced, X, classes, ONES) == pytest.approx(parameters_left(same, X, classes, weights), rel=1e-6)
