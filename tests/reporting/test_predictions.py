"""Confusion, ROC and calibration against scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from modelsel.reporting.sections.predictions import _cells, area_words, confusion, roc
from modelsel.statistics.reliability import reliability


@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(1, 60))
def test_confusion_counts_as_scikit_learn_does(seed, classes, rows):
    rng = np.random.default_rng(seed)
    truth, said = rng.integers(0, classes, (2, rows))
    np.testing.assert_array_equal(confusion(truth, said, classes), metrics.confusion_matrix(truth, said, labels=range(classes)))


@given(st.integers(0, 10_000), st.integers(2, 80), st.integers(1, 12))
def test_roc_is_the_curve_of_scikit_learn_ties_included(seed, rows, levels):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, rows)
    truth[:2] = (0, 1)
    score = rng.integers(0, levels, rows) / levels
    false, true, area = roc(score, truth)
    theirs = metrics.roc_curve(truth, score, drop_intermediate=False)
    np.testing.assert_allclose(false, theirs[0])
    np.testing.assert_allclose(true, theirs[1])
    assert area == pytest.approx(metrics.roc_auc_score(truth, score))


@given(st.integers(0, 10_000), st.integers(1, 300), st.integers(1, 400))
def test_calibration_keeps_every_row_and_the_means(seed, rows, levels):
    rng = np.random.default_rng(seed)
    score = rng.integers(0, levels, rows) / levels
    right = rng.random(rows) < score
    found = reliability(score, right)
    said, came, held = found.score, found.share, found.rows
    assert held.sum() == rows
    assert (held * said).sum() == pytest.approx(score.sum())
    assert (held * came).sum() == pytest.approx(right.sum())
    assert (np.diff(said) > 0).all()


def test_the_interval_beside_an_area_is_delongs_and_needs_two_rows_of_each_class():
    """Hand-worked: V10 = (1, 1, 2/3), V01 = (2/3, 1, 1); variance = 2 · (1/27) / 3."""
    positive, scores = np.array([1, 1, 0, 1, 0, 0], bool), np.array([0.9, 0.8, 0.7, 0.6, 0.55, 0.4])
    half = 1.959964 * (2 / 81) ** 0.5
    assert area_words(8 / 9, positive, scores) == f"area 0.889 [{8 / 9 - half:.3f}, 1.000]"
    assert area_words(1.0, positive[:3], scores[:3]) == "area 1.000"


def test_a_class_without_rows_has_no_recall():
    """Three of four, and none of none."""
    first, second = _cells(np.array([[3, 1], [0, 0]]), ["no", "yes"])
    assert (first["recall"], second["recall"]) == ("75 %", "–")
    assert [cell["share"] for cell in first["cells"] + second["cells"]] == [0.75, 0.25, 0.0, 0.0]
