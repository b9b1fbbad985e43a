"""The ROC curve against scikit-learn's points (reference) and the area by pairs."""

import json

import numpy as np
import pytest

from modelsel.statistics.auc import auc, curve


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
