"""Extra errors of a leaf solve the equations that define the limits, whatever formula computes them."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.stats import binom, norm

from modelsel.pruner.limits import LIMITS

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
