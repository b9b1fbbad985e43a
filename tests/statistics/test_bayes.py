"""Posterior probabilities against closed forms."""

import numpy as np
import pytest

from modelsel.statistics.bayesian import bayes_correlated, bayes_signed_rank
from modelsel.statistics.paired import corrected_t


def test_without_a_region_the_posterior_is_half_the_p_value() -> None:
    d = np.random.default_rng(0).normal(0.3, 1, 20)
    posterior, test = bayes_correlated(d, 0.2), corrected_t(d, 0.2)
    assert min(posterior.below, posterior.above) == pytest.approx(float(test.p) / 2)
    assert posterior.within == pytest.approx(0.0, abs=1e-12)


def test_certainty_when_all_folds_agree() -> None:
    assert bayes_correlated([0.1] * 5, 0.25, 0.01).above == 1.0
    assert bayes_correlated([0.0] * 5, 0.25, 0.01).within == 1.0
    assert bayes_correlated([0.0] * 5, 0.25).below == 0.5


def test_one_data_set_has_a_closed_form() -> None:
    """One positive difference against half a pseudo-zero: above wins where w² < 1/2, w ~ Beta(1/2, 1)."""
    posterior = bayes_signed_rank([0.3], np.random.default_rng(1))
    assert posterior.above == pytest.approx(np.sqrt(np.sqrt(0.5)), abs=0.01)
    assert posterior.below == 0.0


def test_mirrored_differences_mirror_the_posterior() -> None:
    d = np.random.default_rng(2).normal(0.02, 0.05, 12)
    one = bayes_signed_rank(d, np.random.default_rng(3), rope=0.01)
    other = bayes_signed_rank(-d, np.random.default_rng(4), rope=0.01)
    assert (one.below, one.within, one.above) == pytest.approx((other.above, other.within, other.below), abs=0.01)
    assert one.below + one.within + one.above == pytest.approx(1)
