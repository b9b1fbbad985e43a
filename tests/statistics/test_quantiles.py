"""Quantiles by places in a grid: ends against order statistics, probabilities that sum to one, coverage."""

import numpy as np
import pytest
from scipy.stats import binom

from modelsel.statistics.certificate import interval
from modelsel.statistics.quantiles import place_probabilities, places_of, plan_quantile


def plan(q: float, n: int, nats: float):
    return plan_quantile(q, n, lambda count: interval(count, count, n, nats))


@pytest.mark.parametrize("q", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("n", [10, 37, 200])
def test_the_ends_are_those_of_order_statistics(q: float, n: int) -> None:
    """[X_(l), X_(u)] with P(Bin(n, q) < l) and P(Bin(n, q) ≥ u) at most α each, the narrowest: by SciPy's binomial."""
    alpha = 0.025
    found = plan(q, n, -np.log(alpha))
    below = binom.cdf(np.arange(-1, n + 1), n, q)  # P(fewer than c) at c = 0 … n + 1
    assert found.low == int(np.flatnonzero(below <= alpha)[-1])
    assert found.high == int(np.flatnonzero(1 - below <= alpha + 1e-15)[0])
    assert found.middle == int(np.ceil(q * n))


def test_places_count_the_values_below() -> None:
    found = plan(0.5, 100, 3.69)
    counts = np.array([0, 39, 40, 49, 50, 60, 61, 100])
    assert places_of(found, counts) == (
        int((counts < found.low).sum()),
        int((counts < 50).sum()),
        int((counts < found.high).sum()),
    )


@pytest.mark.parametrize("rows", [1, 40, 10**9])
@pytest.mark.parametrize("shares", [[0.0, 0.5, 1.0], [0.3, 0.3, 0.3], [0.01, 0.02, 0.99], None])
def test_the_probabilities_of_places_sum_to_one_and_none_is_nought(rows: int, shares: list[float] | None) -> None:
    for found in place_probabilities(50, (0, 7, 50, 51), shares, rows, 3):
        assert found.sum() == pytest.approx(1)
        assert found.min() >= (0.1 if shares else 1.0) / 4 - 1e-12


@pytest.mark.sampled(1)
@pytest.mark.parametrize("q", [0.5, 0.9])
def test_an_interval_holds_the_quantile_as_often_as_it_says(q: float) -> None:
    """20,000 samples of |t(2)|: each end is wrong at most as often as its level, on small steps not much more seldom."""
    rng, n, alpha = np.random.default_rng(0), 120, 0.05
    found, grid = plan(q, n, -np.log(alpha)), np.linspace(0.05, 12, 240)
    values = np.sort(np.abs(rng.standard_t(2, (20_000, n))), axis=1)
    counts = np.stack([(values <= edge).sum(axis=1) for edge in grid], axis=1)
    places = np.array([places_of(found, row) for row in counts])
    right = np.sqrt(2 * q**2 / (1 - q**2))  # of |t(2)|
    ends = np.r_[0.0, grid, np.inf]
    low, high = ends[places[:, 0]], ends[places[:, 2] + 1]
    assert 0.01 < (low > right).mean() <= alpha + 0.005
    assert 0.01 < (high < right).mean() <= alpha + 0.005
