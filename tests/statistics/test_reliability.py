"""Brier in parts and bands of a reliability diagram: by hand, by brute force, by another tool, and by what they promise."""

import itertools

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import isotonic_regression
from scipy.stats import binom
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB

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


TABLES = {"breast_cancer": load_breast_cancer, "wine": load_wine, "iris": load_iris}


def out_of_fold(table: str) -> tuple[np.ndarray, np.ndarray]:
    """Scores of scikit-learn's naive Bayes for rows that it did not see."""
    X, y = TABLES[table](return_X_y=True)
    return cross_val_predict(GaussianNB(), X, y, cv=5, method="predict_proba"), y.astype(np.int32)


@pytest.mark.parametrize("table", TABLES)
def test_the_parts_of_real_tables_are_those_by_scikit_learn(table: str) -> None:
    """Its isotonic regression repairs each class's scores, its Brier score judges before and after."""
    scores, truth = out_of_fold(table)
    found, expected = brier_parts(scores, truth), np.zeros(4)
    for one in range(scores.shape[1]):
        score, came_true = scores[:, one], truth == one
        values, place = np.unique(score, return_inverse=True)  # its own takes scores that nearly tie for one
        share, rows = np.bincount(place, came_true) / np.bincount(place), np.bincount(place)
        order = np.arange(len(values))
        repaired = IsotonicRegression().fit(order, share, sample_weight=rows).predict(order)[place]
        shares = np.full(len(truth), came_true.mean())
        before, best, without = (brier_score_loss(came_true, said) for said in (score, repaired, shares))
        expected += before - best, without - best, without, before
    assert found.miscalibration > 1e-4
    said = (found.miscalibration, found.discrimination, found.uncertainty, found.brier)
    assert said == pytest.approx(expected.tolist(), abs=1e-9)


@pytest.mark.parametrize("table", TABLES)
def test_the_bins_of_real_tables_are_scikit_learns(table: str) -> None:
    scores, truth = out_of_fold(table)
    found = reliability(scores[:, 1], truth == 1)
    share, score = calibration_curve(truth == 1, scores[:, 1], n_bins=10, strategy="quantile")
    np.testing.assert_allclose(found.share, share, atol=1e-12)
    np.testing.assert_allclose(found.score, score, atol=1e-12)


@pytest.mark.skipif(not hasattr(stats, "poisson_binom"), reason="SciPy has it since 1.15")
@pytest.mark.parametrize("table", TABLES)
def test_the_bands_of_real_tables_are_scipys_quantiles(table: str) -> None:
    """Of the sum of draws with the bin's scores as chances."""
    scores, truth = out_of_fold(table)
    score = np.clip(scores[:, 1], 1e-6, 1 - 1e-6)  # a chance of 0 or 1 has no tail
    found = reliability(score, truth == 1)
    edges = np.unique(np.quantile(score, np.linspace(0, 1, 11))[1:-1])
    number = np.searchsorted(edges, score)
    tail = 0.025 / len(found.rows)
    for at, held in enumerate(np.unique(number)):
        upto = stats.poisson_binom(score[number == held]).cdf(np.arange((number == held).sum() + 1))
        assert found.low[at] == np.searchsorted(upto, tail, side="right") / (len(upto) - 1)
        assert found.high[at] == np.searchsorted(upto, 1 - tail, side="left") / (len(upto) - 1)


def test_rising_means_are_scipys_isotonic_regression() -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 7, 300):
        for slope in (-3.0, 0.0, 3.0):
            values = (rng.normal(size=n) + slope * np.linspace(0, 1, n)).round(1)
            weights = rng.integers(1, 9, n).astype(float)
            assert rising_means(values, weights) == pytest.approx(isotonic_regression(values, weights=weights).x, abs=1e-12)
