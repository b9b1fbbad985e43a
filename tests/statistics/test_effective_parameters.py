"""Effective parameters: the trace of the matrix that turns answers into fitted values, written out."""

import numpy as np
import pytest
from scipy import sparse

from modelsel.foreign.shrinkage import WIDEST, effective_parameters

RNG = np.random.default_rng(5)
X = RNG.normal(3.0, 1.0, (12, 4)) * [1, 2, 0.5, 4]
WEIGHTS = RNG.integers(1, 4, 12).astype(float)


def trace(X, weights, penalty):
    """Of the smoother by the normal equations, the intercept a column of ones that no penalty touches."""
    full = np.column_stack([np.ones(len(X)), X])
    kept = np.diag([0.0, *[penalty] * X.shape[1]])
    return np.trace(np.linalg.solve(full.T * weights @ full + kept, full.T * weights) @ full)


@pytest.mark.parametrize("penalty", [0.0, 0.3, 7.0, 1e4])
def test_they_are_the_trace_of_the_smoother(penalty):
    assert effective_parameters(X, WEIGHTS, penalty) == pytest.approx(trace(X, WEIGHTS, penalty), rel=1e-9)


def test_they_are_the_sum_over_singular_values():
    values = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
    assert effective_parameters(X, np.ones(12), 2.0) == pytest.approx(1 + (values / (values + 2.0)).sum())
    values = np.linalg.svd(X, compute_uv=False) ** 2
    assert effective_parameters(X, np.ones(12), 2.0, intercept=False) == pytest.approx((values / (values + 2.0)).sum())


def test_a_weight_of_two_is_a_row_twice_and_one_of_nought_is_none():
    twice = np.repeat(X, WEIGHTS.astype(int), axis=0)
    assert effective_parameters(twice, np.ones(len(twice)), 1.5) == pytest.approx(effective_parameters(X, WEIGHTS, 1.5))
    more = np.vstack([X, X[:3] + 100])
    assert effective_parameters(more, np.r_[WEIGHTS, 0, 0, 0], 1.5) == pytest.approx(effective_parameters(X, WEIGHTS, 1.5))


@pytest.mark.parametrize("rows", [12, 3])  # more rows than columns, and fewer
def test_sparse_columns_count_as_dense_ones(rows):
    some = np.where(np.abs(X[:rows] - 3) > 1, X[:rows], 0.0)
    dense = effective_parameters(some, WEIGHTS[:rows], 0.7)
    assert effective_parameters(sparse.csr_matrix(some), WEIGHTS[:rows], 0.7) == pytest.approx(dense)
    assert dense == pytest.approx(trace(some, WEIGHTS[:rows], 0.7))


def test_columns_that_repeat_each_other_count_once_where_nothing_is_shrunken():
    assert effective_parameters(np.column_stack([X, X[:, 0], X[:, 1] * 2]), np.ones(12), 0.0) == pytest.approx(5.0)


def test_columns_that_are_out_do_not_count():
    some = np.array([True, False, True, False])
    assert effective_parameters(X, WEIGHTS, 2.0, some) == pytest.approx(trace(X[:, some], WEIGHTS, 2.0))
    assert effective_parameters(X, WEIGHTS, 2.0, np.zeros(4, bool)) == 1.0
    assert effective_parameters(X, WEIGHTS, np.inf) == 1.0


def test_what_would_cost_more_than_the_fit_is_not_counted():
    wide = sparse.identity(WIDEST + 1, format="csr")
    assert np.isnan(effective_parameters(wide, np.ones(WIDEST + 1), 1.0))
