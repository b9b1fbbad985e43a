"""Clopper–Pearson limits against the binomial distribution itself and against R and SciPy."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelsel.statistics.bounds import clopper_pearson, lower_limit, upper_limit


def at_most(errors: int, n: int, p: float) -> float:
    """P(X ≤ errors) by summing the binomial probabilities."""
    return math.fsum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(errors + 1))


@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0.001, 0.4))
def test_the_limits_solve_their_defining_equations(counts, tail):
    errors, n = counts
    if errors < n:
        assert at_most(errors, n, upper_limit(errors, n, tail)) == pytest.approx(tail, rel=1e-8)
    if errors > 0:
        assert 1 - at_most(errors - 1, n, lower_limit(errors, n, tail)) == pytest.approx(tail, rel=1e-8)


def test_certain_ends_are_closed():
    assert clopper_pearson(0, 7)[0] == 0.0
    assert clopper_pearson(7, 7)[1] == 1.0


def test_the_interval_covers_at_its_level_at_least():
    n, level = 12, 0.9
    intervals = [clopper_pearson(errors, n, level) for errors in range(n + 1)]
    for p in (0.02, 0.1, 0.25, 0.5, 0.77):
        covered = [errors for errors, (low, high) in enumerate(intervals) if low <= p <= high]
        assert math.fsum(math.comb(n, e) * p**e * (1 - p) ** (n - e) for e in covered) >= level


@pytest.mark.parametrize(("errors", "n"), [(-1, 3), (4, 3), (0, 0)])
def test_impossible_counts_are_refused(errors, n):
    with pytest.raises(ValueError, match="errors ="):
        clopper_pearson(errors, n)


@pytest.mark.parametrize("level", [0.0, 1.0, 95, float("nan")])
def test_a_level_outside_the_open_unit_interval_is_refused(level):
    with pytest.raises(ValueError, match="strictly between"):
        clopper_pearson(1, 3, level)


def test_the_limits_are_those_of_r_and_scipy(reference):
    answers = json.loads((reference / "stats/binomial_intervals.json").read_text())
    for row in answers["rows"]:
        assert clopper_pearson(row["k"], row["n"], row["conf"]) == pytest.approx(row["clopper_pearson"], abs=1e-9)
    for row in answers["one_sided_upper_limits"]:
        assert upper_limit(row["E"], row["N"], row["CF"]) == pytest.approx(row["upper"], abs=1e-9)
