"""AUC against its definition, pair by pair."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modelsel.statistics.auc import auc, curve, multiclass_auc


def by_pairs(positive: np.ndarray, scores: np.ndarray, weights: np.ndarray) -> float:
    above = (scores[positive][:, None] > scores[~positive]) + 0.5 * (scores[positive][:, None] == scores[~positive])
    pair = weights[positive][:, None] * weights[~positive]
    return float((above * pair).sum() / pair.sum())


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), rows=st.integers(2, 60), levels=st.integers(1, 20))
def test_the_area_counts_pairs_ties_half(seed: int, rows: int, levels: int) -> None:
    rng = np.random.default_rng(seed)
    positive = rng.random(rows) < 0.4
    positive[:2] = True, False
    scores = rng.integers(levels, size=(3, rows)).astype(float)
    weights = rng.random(rows) + 0.1
    expected = [by_pairs(positive, row, weights) for row in scores]
    assert auc(positive, scores, weights) == pytest.approx(expected, abs=1e-12)
    assert auc(positive, scores) == pytest.approx([by_pairs(positive, row, np.ones(rows)) for row in scores], abs=1e-12)


def test_one_side_empty_or_a_missing_score_has_no_area() -> None:
    assert np.isnan(auc(np.array([True, True]), np.array([0.1, 0.2])))
    assert np.isnan(auc(np.array([True, False]), np.array([np.nan, 0.2])))


def test_classes_without_rows_count_nothing() -> None:
    truth = np.array([0, 0, 2, 2], np.int32)
    scores = np.array([[0.8, 0.1, 0.1], [0.5, 0.3, 0.2], [0.6, 0.0, 0.4], [0.1, 0.2, 0.7]])
    expected = 0.5 * by_pairs(truth == 0, scores[:, 0], np.ones(4)) + 0.5 * by_pairs(truth == 2, scores[:, 2], np.ones(4))
    assert multiclass_auc(truth, scores) == pytest.approx(expected)


# The ROC curve against scikit-learn's points (reference) and the area by pairs.


def test_points_are_those_of_the_reference(reference):
    for name, case in json.loads((reference / "stats/auc.json").read_text())["cases"].items():
        for scores, expected in zip(case["scores"], case["expected"]):
            found = curve(np.array(case["labels"]) == 1, np.array(scores, float))
            assert found.false_positive == pytest.approx(expected["roc_fpr"], abs=1e-12), name
            assert found.true_positive == pytest.approx(expected["roc_tpr"], abs=1e-12), name
            assert found.threshold[1:] == pytest.approx(expected["roc_thresholds_below_inf"]), name


def test_the_area_under_the_lines_is_the_share_of_pairs():
    rng = np.random.default_rng(0)
    for _ in range(50):
        positive, scores, weights = rng.random(30) < 0.4, rng.integers(0, 8, 30) / 8, rng.random(30)
        if positive.any() and not positive.all():
            assert curve(positive, scores, weights).area == pytest.approx(float(auc(positive, scores, weights)))


def test_without_negatives_the_rate_is_not_a_number():
    assert np.isnan(curve(np.ones(3, bool), np.arange(3.0)).false_positive[1:]).all()
