"""Paired tests where the answer is known without tables."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modelsel.statistics.paired import corrected_t, five_by_two_f, holm, mcnemar, paired_t, unit_t


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 9999), folds=st.integers(2, 30), ratio=st.floats(0.01, 1))
def test_many_comparisons_at_once_are_each_alone_and_signs_mirror(seed: int, folds: int, ratio: float) -> None:
    d = np.random.default_rng(seed).normal(size=(4, folds))
    together, mirrored = corrected_t(d, ratio), corrected_t(-d, ratio)
    for i in range(4):
        alone = corrected_t(d[i], ratio)
        assert float(alone.p) == pytest.approx(together.p[i])
        assert (together.low[i] > 0 or together.high[i] < 0) == (together.p[i] < 0.05)
    assert mirrored.p == pytest.approx(together.p)
    assert mirrored.low == pytest.approx(-together.high)


def test_without_shared_rows_the_correction_vanishes() -> None:
    d = np.array([0.1, 0.3, -0.1, 0.2])
    assert float(corrected_t(d, 0.0).p) == pytest.approx(float(paired_t(d).p))


def test_equal_differences_leave_nothing_to_doubt() -> None:
    assert float(corrected_t([0.1] * 10, 1 / 9).p) == 0.0
    assert float(corrected_t([0.0] * 10, 1 / 9).p) == 1.0
    with pytest.raises(ValueError, match="two folds"):
        corrected_t([0.1], 0.4)


def test_the_correction_keeps_its_level_where_the_naive_test_does_not() -> None:
    """Folds with the correlation n_test / (n_train + n_test), no difference."""
    rng = np.random.default_rng(0)
    ratio, folds, draws = 3 / 7, 15, 4000
    rho = ratio / (1 + ratio)
    d = np.sqrt(rho) * rng.normal(size=(draws, 1)) + np.sqrt(1 - rho) * rng.normal(size=(draws, folds))
    assert (corrected_t(d, ratio).p < 0.05).mean() == pytest.approx(0.05, abs=0.012)
    assert (paired_t(d).p < 0.05).mean() > 0.3


@pytest.mark.parametrize(("b", "c"), list(product(range(5), range(5))))
def test_mcnemar_counts_coin_tosses(b: int, c: int) -> None:
    tosses = [sum(heads) for heads in product((0, 1), repeat=b + c)]
    as_far = np.mean([abs(h - (b + c) / 2) >= abs(b - (b + c) / 2) for h in tosses])
    just_as_far = np.mean([h in (b, c) for h in tosses])
    assert float(mcnemar(b, c)) == pytest.approx(as_far)
    assert float(mcnemar(b, c, mid=True)) == pytest.approx(as_far - just_as_far / 2 if b + c else 1.0)


def test_five_by_two_wants_five_by_two() -> None:
    with pytest.raises(ValueError, match="5 × 2"):
        five_by_two_f(np.zeros((2, 5)))
    assert five_by_two_f(np.zeros((5, 2))) == (0.0, 1.0)
    assert five_by_two_f(np.full((5, 2), 0.1))[0] > 1e6


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_rejects_what_the_step_down_procedure_rejects(p: list[float]) -> None:
    adjusted, alpha = holm(p), 0.05
    order, rejected = np.argsort(p, kind="stable"), set()
    for step, index in enumerate(order):
        if p[index] * (len(p) - step) > alpha:
            break
        rejected.add(int(index))
    assert {int(i) for i in np.flatnonzero(adjusted <= alpha)} == rejected


def test_a_test_over_units_keeps_its_level_where_one_over_rows_does_not() -> None:
    """Fifty units of ten rows that are right or wrong together: how often equals are told apart at 5 %."""
    rng, units = np.random.default_rng(0), np.repeat(np.arange(50), 10)
    differences = np.repeat(rng.integers(-1, 2, (1000, 50)), 10, axis=1)
    assert 0.03 <= (unit_t(differences, units).p < 0.05).mean() <= 0.07
    assert (paired_t(differences).p < 0.05).mean() > 0.4
    alone = unit_t(differences[:5], np.arange(500))
    assert np.allclose(alone.p, paired_t(differences[:5]).p)
    assert np.allclose(alone.low, paired_t(differences[:5]).low)
    with pytest.raises(ValueError, match="one unit"):
        unit_t([1.0, 2.0], [3, 3])
