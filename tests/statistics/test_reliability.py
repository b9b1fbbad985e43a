"""Brier in parts and bands of a reliability diagram: by hand, by brute force, by another tool, and by what they promise."""

import itertools

import numpy as np
import pytest
from scipy.optimize import isotonic_regression
from scipy.stats import binom

from modelsel.core.spec import make
from modelsel.core.types import Outputs
from modelsel.statistics.reliability import brier_parts, reliability, rising_means, sum_of_draws

THEIRS = (0.05257548129706102, 0.027374731297061, 0.22824375, 0.2534445)


def murphy(score: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """Reliability, resolution, uncertainty over the different scores, as Murphy (1973) has them."""
    base, rel, res = y.mean(), 0.0, 0.0
    for value in np.unique(score):
        part = y[score == value]
        rel += len(part) * (value - part.mean()) ** 2 / len(y)
        res += len(part) * (part.mean() - base) ** 2 / len(y)
    return rel, res, base * (1 - base)


def test_with_few_scores_that_rise_with_their_shares_they_are_murphys() -> None:
    rng = np.random.default_rng(0)
    score = rng.choice([0.1, 0.4, 0.5, 0.9], 400)
    y = (rng.random(400) < score**1.5).astype(np.int32)
    found = brier_parts(np.column_stack([1 - score, score]), y)
    rel, res, unc = murphy(score, y.astype(float))
    assert (found.miscalibration, found.discrimination, found.uncertainty) == pytest.approx((2 * rel, 2 * res, 2 * unc))


@pytest.mark.parametrize("classes", [2, 3])
def test_the_parts_add_up_to_the_measure_and_are_not_negative(classes: int) -> None:
    rng = np.random.default_rng(classes)
    scores = rng.dirichlet(np.ones(classes), 300)
    truth = rng.integers(classes, size=300).astype(np.int32)
    found = brier_parts(scores, truth)
    whole = make("measure", "brier").score(truth, Outputs(np.zeros((1, 300), np.int32), scores[None]), None, classes)[0]
    assert found.brier == pytest.approx(whole, abs=1e-12)
    assert found.miscalibration - found.discrimination + found.uncertainty == pytest.approx(whole, abs=1e-12)
    assert min(found.miscalibration, found.discrimination) >= -1e-12


def test_how_many_come_true_by_enumeration() -> None:
    chances = np.array([0.1, 0.5, 0.7, 0.95])
    expected = np.zeros(5)
    for draws in itertools.product((0, 1), repeat=4):
        expected[sum(draws)] += np.prod(np.where(draws, chances, 1 - chances))
    np.testing.assert_allclose(sum_of_draws(chances), expected, atol=1e-14)
    np.testing.assert_allclose(sum_of_draws(np.full(500, 0.3)), binom.pmf(np.arange(501), 500, 0.3), atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [120, 1000])
def test_a_calibrated_model_stays_within_all_bands_as_often_as_they_say(rows: int) -> None:
    rng = np.random.default_rng(rows)
    inside = []
    for _ in range(200):
        score = rng.beta(0.6, 0.6, rows)
        found = reliability(score, rng.random(rows) < score)
        inside.append(((found.share >= found.low) & (found.share <= found.high)).all())
    assert np.mean(inside) >= 0.93  # 0.95 and more, as counts are whole


def test_a_model_that_is_too_sure_leaves_them() -> None:
    rng = np.random.default_rng(1)
    score = rng.beta(0.6, 0.6, 1000)
    found = reliability(score, rng.random(1000) < 0.25 + score / 2)
    assert ((found.share < found.low) | (found.share > found.high)).sum() >= 5
    assert found.rows.sum() == 1000


def test_large_bins_have_the_normal_band_of_about_the_same_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    score = np.random.default_rng(2).beta(2, 2, 4000)
    exact = reliability(score, score > 0.5)
    monkeypatch.setattr("modelsel.statistics.reliability.EXACT", 10)
    normal = reliability(score, score > 0.5)
    np.testing.assert_allclose(normal.low, exact.low, atol=0.01)
    np.testing.assert_allclose(normal.high, exact.high, atol=0.01)


def test_the_parts_are_those_of_another_tool() -> None:
    """`decompose` of model-diagnostics 1.5.0 with its squared error, on this table; two classes count twice here."""
    i = np.arange(400)
    score = (i * 37) % 101 / 100
    y = ((i * 53) % 97 / 97 < 0.2 + 0.5 * score**2).astype(np.int32)
    found = brier_parts(np.column_stack([1 - score, score]), y)
    said = (found.miscalibration, found.discrimination, found.uncertainty, found.brier)
    assert said == pytest.approx([2 * one for one in THEIRS], abs=1e-12)


def test_rising_means_are_scipys_isotonic_regression() -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 7, 300):
        for slope in (-3.0, 0.0, 3.0):
            values = (rng.normal(size=n) + slope * np.linspace(0, 1, n)).round(1)
            weights = rng.integers(1, 9, n).astype(float)
            assert rising_means(values, weights) == pytest.approx(isotonic_regression(values, weights=weights).x, abs=1e-12)
