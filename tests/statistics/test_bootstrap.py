"""The .632 estimators where the answer is known."""

import numpy as np
import pytest

from modelsel.comparison.point632 import no_information_error, point632, point632_plus


def test_without_overfitting_both_are_the_same() -> None:
    assert point632_plus(0.2, 0.2, 0.5) == pytest.approx(point632(0.2, 0.2)) == pytest.approx(0.2)


def test_the_plus_lies_between_632_and_the_out_of_bag_error() -> None:
    for training, out in [(0.0, 0.3), (0.1, 0.45), (0.05, 0.1)]:
        assert point632(training, out) <= point632_plus(training, out, 0.5) <= out + 1e-12


def test_an_out_of_bag_error_worse_than_no_information_bounds_the_correction_alone() -> None:
    drawn = 1 - np.exp(-1)
    assert point632_plus(0.0, 0.6, 0.5) == pytest.approx(drawn * 0.6 + (1 - drawn) * 0.5)


def test_no_information_is_the_mean_over_all_pairings() -> None:
    rng = np.random.default_rng(0)
    truth, predicted = rng.integers(3, size=40), rng.integers(3, size=40)
    every = np.mean([t != p for t in truth for p in predicted])
    assert no_information_error(truth, predicted, 3) == pytest.approx(every)


def test_one_nearest_neighbour_on_random_labels_is_worth_a_half() -> None:
    """Efron & Tibshirani's case: zero training error, labels without meaning."""
    rng = np.random.default_rng(1)
    plain, plus = [], []
    for _ in range(60):
        x, y = rng.random(40), rng.permutation(np.repeat([0, 1], 20))
        wrong, times = np.zeros(40), np.zeros(40)
        for _ in range(30):
            drawn = rng.integers(40, size=40)
            left = np.setdiff1d(np.arange(40), drawn)
            nearest = drawn[np.abs(x[left, None] - x[drawn]).argmin(axis=1)]
            wrong[left] += y[nearest] != y[left]
            times[left] += 1
        out = float(wrong.sum() / times.sum())
        plain.append(point632(0.0, out))
        plus.append(point632_plus(0.0, out, 0.5))
    assert np.mean(plain) == pytest.approx(0.632 * 0.5, abs=0.03)
    assert np.mean(plus) > 0.45


def test_an_out_of_bag_error_above_the_no_information_error_is_not_cut_in_the_632_term() -> None:
    """Efron & Tibshirani (1997), equations 24 and 32: .632 of (.1, .55) is .3844, and γ = .5 bounds only what corrects it."""
    assert point632_plus(0.1, 0.55, 0.5) == pytest.approx(0.5316, abs=1e-4)
    by_hand = (0.368 * 0.1 + 0.632 * 0.55) + (0.5 - 0.1) * 0.368 * 0.632 * 1.0 / (1 - 0.368 * 1.0)
    assert point632_plus(0.1, 0.55, 0.5) == pytest.approx(by_hand, abs=1e-4)
