"""Bounds: printed numbers, inverses, and simulations in which they must hold."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelsel.core.types import Feature
from modelsel.statistics import bounds

shares = st.floats(0.001, 0.9)
counts = st.integers(1, 10**9)


@pytest.mark.parametrize(("hypotheses", "excess"), [(1, 0.08654), (10, 0.11509), (100, 0.13785), (1000, 0.15735)])
def test_the_agnostic_excess_is_the_printed_one(hypotheses, excess):
    assert bounds.agnostic_excess(hypotheses, 200, 0.05) == pytest.approx(excess, abs=5e-6)


@pytest.mark.parametrize(("rows", "excess"), [(1000, 0.26947), (10_000, 0.09897)])
def test_the_vc_excess_is_the_printed_one(rows, excess):
    assert bounds.vc_excess(11, rows, 0.05) == pytest.approx(excess, abs=5e-6)


@given(counts, shares, shares)
def test_rows_of_the_finite_bounds_are_the_fewest_that_are_enough(hypotheses, epsilon, delta):
    for rows_of, bound in ((bounds.consistent_rows, bounds.consistent_error), (bounds.agnostic_rows, bounds.agnostic_excess)):
        rows = rows_of(hypotheses, epsilon, delta)
        assert bound(hypotheses, rows, delta) <= epsilon * (1 + 1e-8)
        assert rows == 1 or bound(hypotheses, rows - 1, delta) > epsilon * (1 - 1e-8)


@given(st.floats(0, 1e6), shares, shares)
def test_rows_of_the_occam_bound_are_the_fewest_that_are_enough(bits, epsilon, delta):
    rows = bounds.occam_rows(bits, epsilon, delta)
    assert bounds.occam_excess(bits, rows, delta) <= epsilon * (1 + 1e-8)
    assert rows == 1 or bounds.occam_excess(bits, rows - 1, delta) > epsilon * (1 - 1e-8)


@given(st.integers(0, 500), shares, shares)
def test_rows_of_the_vc_bounds_are_the_fewest_that_are_enough(dimension, epsilon, delta):
    rows = bounds.vc_rows(dimension, epsilon, delta)
    assert bounds.vc_excess(dimension, rows, delta) <= epsilon
    assert rows == 1 or bounds.vc_excess(dimension, rows - 1, delta) > epsilon
    rows = bounds.vc_consistent_rows(dimension, epsilon, delta)
    assert bounds.vc_consistent_error(dimension, rows, delta) <= epsilon + 1e-9


def test_too_few_rows_say_nothing():
    assert bounds.vc_excess(20, 10, 0.05) == math.inf
    assert bounds.vc_consistent_error(20, 10, 0.05) == 1.0


def test_occam_is_the_finite_bound_when_all_codes_are_equally_long():
    assert bounds.occam_excess(10, 500, 0.1) == pytest.approx(bounds.agnostic_excess(1024, 500, 0.1))
    assert bounds.occam_error(10, 500, 0.1) == pytest.approx(bounds.consistent_error(1024, 500, 0.1))


def test_the_bounds_hold_as_often_as_they_say_when_the_best_of_many_is_taken():
    rng = np.random.default_rng(0)
    hypotheses, rows, delta, rate = 50, 100, 0.1, 0.3
    best = rng.binomial(rows, rate, (4000, hypotheses)).min(axis=1) / rows
    excess = bounds.agnostic_excess(hypotheses, rows, delta)
    assert (rate > best + excess).mean() <= delta
    consistent = rng.binomial(30, 0.15, (4000, hypotheses)).min(axis=1) == 0
    assert bounds.consistent_error(hypotheses, 30, 0.3) > 0.15 or consistent.mean() <= 0.3


def test_trees_over_play_tennis_shatter_every_combination():
    sizes = {"Outlook": 3, "Temperature": 3, "Humidity": 2, "Wind": 2}
    features = [Feature(name, "nominal", tuple("abc"[:size])) for name, size in sizes.items()]
    assert bounds.vc_dimension_of_trees(features) == 36
    assert bounds.vc_dimension_of_trees([*features, Feature("x", "numeric")]) == math.inf


@pytest.mark.parametrize(
    "call",
    [
        lambda: bounds.consistent_error(0, 10, 0.1), lambda: bounds.agnostic_excess(2, 0, 0.1),
        lambda: bounds.agnostic_rows(2, 1.0, 0.1), lambda: bounds.vc_excess(-1, 10, 0.1),
        lambda: bounds.vc_excess(math.inf, 10, 0.1), lambda: bounds.occam_error(-1, 10, 0.1),
        lambda: bounds.vc_rows(3, 0.1, 1.5), lambda: bounds.agnostic_excess(math.nan, 10, 0.1),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(call):
    with pytest.raises(ValueError, match="needed"):
        call()
