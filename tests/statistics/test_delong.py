"""DeLong's variance against pROC, the definition by pairs, and its coverage."""

import json

import numpy as np
import pytest
from scipy.stats import rankdata

from modelsel.statistics.auc import areas, auc, midranks, placements


@pytest.fixture(scope="module")
def cases(reference):
    return json.loads((reference / "stats/auc.json").read_text())["cases"]


def test_variance_and_interval_are_those_of_proc(cases):
    for name, case in cases.items():
        positive, scores = np.array(case["labels"]) == 1, np.array(case["scores"], float)
        found = areas(positive, scores)
        for k, expected in enumerate(case["expected"]):
            assert found.auc[k] == pytest.approx(expected["auc"], abs=1e-12), name
            assert found.covariance[k, k] == pytest.approx(expected["delong_variance_pROC"], abs=1e-12), name
            low, _, high = expected["delong_ci95_pROC"]
            assert found.interval(k) == pytest.approx((low, high), abs=1e-9), name


def test_the_paired_test_is_that_of_proc(cases):
    compared = 0
    for case in cases.values():
        if "delong_paired_test_pROC" in case:
            expected = case["delong_paired_test_pROC"]
            found = areas(np.array(case["labels"]) == 1, np.array(case["scores"], float))
            assert found.difference() == pytest.approx((expected["z"], expected["p"]), rel=1e-9)
            assert found.covariance[0, 1] == pytest.approx(expected["cov"], rel=1e-9)
            compared += 1
    assert compared >= 1


def test_placements_are_shares_of_pairs_won():
    rng = np.random.default_rng(0)
    for _ in range(50):
        positive = rng.permutation(np.arange(20) < 7)
        scores = rng.integers(0, 6, 20).astype(float)
        up, down = placements(positive, scores[None])
        wins = (scores[positive][:, None] > scores[~positive]) + 0.5 * (scores[positive][:, None] == scores[~positive])
        assert up[0] == pytest.approx(wins.mean(axis=1))
        assert down[0] == pytest.approx(wins.mean(axis=0))
        assert areas(positive, scores).auc[0] == pytest.approx(float(auc(positive, scores)))


def test_the_interval_covers_as_often_as_it_says():
    rng = np.random.default_rng(1)
    truth = 0.7602499389065233  # P(N(1, 1) > N(0, 1)) = Φ(1/√2)
    hits = 0
    for _ in range(600):
        scores = np.concatenate([rng.normal(1, 1, 60), rng.normal(0, 1, 60)])
        low, high = areas(np.arange(120) < 60, scores).interval()
        hits += low <= truth <= high
    assert 0.925 <= hits / 600 <= 0.975


def test_equal_scores_do_not_differ():
    positive = np.arange(10) < 5
    scores = np.arange(10.0)
    assert areas(positive, np.array([scores, 2 * scores])).difference() == (0.0, 1.0)


def test_a_class_of_one_row_has_no_variance():
    with pytest.raises(ValueError, match="two rows of each class, not 1 and 3"):
        areas(np.array([True, False, False, False]), np.arange(4.0))


def test_midranks_are_scipys():
    values = np.random.default_rng(0).integers(0, 20, (5, 60)) / 7
    assert (midranks(values) == rankdata(values, axis=1)).all()
