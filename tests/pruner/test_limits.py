"""Extra errors of a leaf solve the equations that define the limits, whatever formula computes them."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom, norm

from modelsel.kernels.layout import BY_BETA, BY_DEVIATE, NOTHING_MORE
from modelsel.pruner.error_based import LIMITS, charge

LEAVES = [(14.0, 5.0), (6.0, 1.0), (100.0, 20.0), (30.0, 2.0), (9.0, 3.0)]


@pytest.mark.parametrize(("n", "e"), LEAVES)
@pytest.mark.parametrize("confidence", [0.1, 0.25, 0.4])
def test_the_normal_limit_less_the_errors_solves_wilsons_equation(n: float, e: float, confidence: float) -> None:
    seen, z = (e + 0.5) / n, norm.isf(confidence)
    limit = brentq(lambda p: (p - seen) ** 2 - z * z * p * (1 - p) / n, seen, 1 - 1e-12)
    assert LIMITS["normal"](np.array([n]), np.array([e]), confidence)[0] == pytest.approx(n * limit - e, abs=1e-8)


@pytest.mark.parametrize(("n", "e"), LEAVES)
@pytest.mark.parametrize("confidence", [0.1, 0.25, 0.4])
def test_the_exact_limit_less_the_errors_leaves_the_confidence_below(n: float, e: float, confidence: float) -> None:
    limit = brentq(lambda p: binom.cdf(e, n, p) - confidence, 1e-12, 1 - 1e-12)
    assert LIMITS["exact"](np.array([n]), np.array([e]), confidence)[0] == pytest.approx(n * limit - e, abs=1e-8)


def test_where_nearly_all_are_errors_a_share_of_the_rest_is_added() -> None:
    assert LIMITS["normal"](np.array([5.0]), np.array([4.6]), 0.25)[0] == pytest.approx(0.4)
    assert LIMITS["c45_table"](np.array([5.0]), np.array([4.6]), 0.25)[0] == pytest.approx(0.67 * 0.4)
    assert LIMITS["exact"](np.array([5.0]), np.array([5.0]), 0.25)[0] == 0.0


@pytest.mark.parametrize("way", ["normal", "c45_table"])
@pytest.mark.parametrize("confidence", [0.1, 0.25])
def test_below_one_error_the_limit_goes_from_that_of_none_to_that_of_one_in_a_line(way: str, confidence: float) -> None:
    n = 14.0
    none, part, one = (LIMITS[way](np.array([n]), np.array([e]), confidence)[0] for e in (0.0, 0.3, 1.0))
    assert binom.cdf(0, n, none / n) == pytest.approx(confidence)
    assert one > 0.5
    assert part == pytest.approx(0.7 * none + 0.3 * one)


def test_without_deviation_the_correction_is_left_and_beyond_nothing() -> None:
    leaf = np.array([14.0]), np.array([5.0])
    assert LIMITS["normal"](*leaf, 0.5)[0] == pytest.approx(0.5)
    assert LIMITS["normal"](*leaf, 0.51)[0] == 0.0


def test_half_an_error_below_all_is_nearly_all() -> None:
    assert LIMITS["c45_table"](np.array([5.0]), np.array([4.5]), 0.25)[0] == pytest.approx(0.67 * 0.5)


def test_compiled_pruning_is_told_the_way_the_share_the_confidence_and_the_deviate() -> None:
    assert charge("exact", 0.25) == (BY_BETA, (1.0, 0.25, 0.0))
    assert charge("exact", 0.75) == (BY_BETA, (1.0, 0.75, 0.0))
    assert charge("normal", 0.75) == (NOTHING_MORE, (1.0, 0.75, 0.0))
    assert charge("normal", 0.5) == (BY_DEVIATE, (1.0, 0.5, pytest.approx(0.0)))
    assert charge("normal", 0.25) == (BY_DEVIATE, (1.0, 0.25, pytest.approx(norm.isf(0.25))))
    assert charge("c45_table", 0.15) == (BY_DEVIATE, (0.67, 0.15, pytest.approx((1.28 + 0.84) / 2)))
    assert charge("c45_table", 0.8)[0] == BY_DEVIATE
