"""Order and area in place, against NumPy and against all pairs."""

import numpy as np
import pytest

from modelsel.kernels.rows import ranks
from modelsel.statistics.auc import auc


def test_sorting_is_a_permutation_in_ascending_order_from_any_order():
    rng = np.random.default_rng(0)
    for n in (0, 1, 2, 15, 16, 17, 33, 100, 1000):
        scores = rng.integers(0, max(n // 2, 1), n).astype(float)
        order, scratch = rng.permutation(n).astype(np.int64), np.empty(n, np.int64)
        for _ in range(2):
            ranks.sort(scores, order, scratch)
            assert (np.sort(order) == np.arange(n)).all()
            assert (np.diff(scores[order]) >= 0).all()
            scores = scores + rng.integers(0, 2, n)


@pytest.mark.parametrize("ties", [True, False])
def test_the_area_counts_pairs_with_weights_and_ties_half(ties):
    rng = np.random.default_rng(1)
    order, scratch = np.arange(60), np.empty(60, np.int64)
    for _ in range(40):
        scores = rng.integers(0, 9, 60) / 8 if ties else rng.random(60)
        positive, weights = rng.random(60) < 0.3, rng.integers(0, 4, 60).astype(float)
        found = ranks.auc(scores, positive.astype(np.uint8), weights, order, scratch)
        assert found == pytest.approx(float(auc(positive, scores, weights)), abs=1e-12)
        assert (np.diff(scores[order]) >= 0).all()


def test_one_class_alone_has_no_area():
    arguments = np.arange(3.0), np.ones(3, np.uint8), np.ones(3), np.arange(3), np.empty(3, np.int64)
    assert np.isnan(ranks.auc(*arguments))
