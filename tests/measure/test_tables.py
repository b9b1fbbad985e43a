"""Measures of out-of-fold answers on bundled tables, with and without weights, against scikit-learn's figures."""

from functools import cache
from typing import Any

import numpy as np
import pytest
import sklearn.metrics as sk
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import label_binarize

from modelsel.core.spec import make
from modelsel.core.types import Outputs

TABLES = {"breast_cancer": load_breast_cancer, "iris": load_iris, "wine": load_wine, "digits": load_digits}


@cache
def answers(table: str) -> tuple[Any, Any, Any]:
    """True classes, out-of-fold class scores of two columns (so that there are mistakes), weights."""
    rows, truth = TABLES[table](return_X_y=True)
    scores = cross_val_predict(
        GaussianNB(), rows[:, -2:] + (rows[:, 20:22] if table == "digits" else 0), truth, method="predict_proba"
    )
    return truth.astype(np.int32), scores, np.random.default_rng(len(truth)).random(len(truth)) + 0.1


def measured(table: str, weighted: bool, kind: str, **settings: Any) -> float:
    truth, scores, weights = answers(table)
    outputs = Outputs(scores.argmax(axis=1).astype(np.int32)[None], scores[None])
    return float(make("measure", kind, **settings).score(truth, outputs, weights if weighted else None, scores.shape[1])[0])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(
    ("kind", "settings", "oracle"),
    [("precision", {}, sk.precision_score), ("recall", {}, sk.recall_score), ("f_beta", {"beta": 0.5}, sk.fbeta_score)],
)
def test_counts_say_what_scikit_learn_says(kind: str, settings: Any, oracle: Any, table: str, weighted: bool) -> None:
    truth, scores, weights = answers(table)
    sample = {"sample_weight": weights if weighted else None, "zero_division": 0, **settings}
    predicted = scores.argmax(axis=1)
    for average in ("macro", "weighted"):
        expected = oracle(truth, predicted, average=average, **sample)
        assert measured(table, weighted, kind, average=average, **settings) == pytest.approx(expected, abs=1e-12)
    for positive, expected in enumerate(oracle(truth, predicted, average=None, **sample)):
        assert measured(table, weighted, kind, positive=positive, **settings) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("table", TABLES)
def test_specificity_is_the_recall_of_the_rest(table: str, weighted: bool) -> None:
    truth, scores, weights = answers(table)
    for positive in range(scores.shape[1]):
        rest = truth != positive, scores.argmax(axis=1) != positive
        expected = sk.recall_score(*rest, sample_weight=weights if weighted else None)
        assert measured(table, weighted, "specificity", positive=positive) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("table", TABLES)
def test_average_precision_is_scikit_learns(table: str, weighted: bool) -> None:
    truth, scores, weights = answers(table)
    sample = {"sample_weight": weights if weighted else None}
    two = scores.shape[1] == 2
    whole = (truth, scores[:, 1]) if two else (label_binarize(truth, classes=range(scores.shape[1])), scores)
    for average in ("macro", "weighted"):
        expected = sk.average_precision_score(*whole, average=average, **sample)
        if weighted and average == "weighted" and not two:  # scikit-learn's shares of the classes leave the weights of rows out
            each = sk.average_precision_score(*whole, average=None, **sample)
            expected = np.average(each, weights=np.bincount(truth, weights))
        assert measured(table, weighted, "average_precision", average=average) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("table", ["iris", "wine", "digits"])
@pytest.mark.parametrize("k", [1, 2])
def test_top_k_error_is_scikit_learns_complement(k: int, table: str, weighted: bool) -> None:
    truth, scores, weights = answers(table)
    expected = 1 - sk.top_k_accuracy_score(truth, scores, k=k, sample_weight=weights if weighted else None)
    assert measured(table, weighted, "top_k_error", k=k) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("share", [0.05, 0.2, 1.0])
def test_lift_lies_on_scikit_learns_curve(share: float, table: str, weighted: bool) -> None:
    truth, scores, weights = answers(table)
    sample = weights if weighted else None
    for positive in range(scores.shape[1]):
        wrong, found, _ = sk.roc_curve(truth == positive, scores[:, positive], sample_weight=sample, drop_intermediate=False)
        base = np.average(truth == positive, weights=sample)
        expected = np.interp(share, wrong * (1 - base) + found * base, found) / share
        assert measured(table, weighted, "lift", share=share, positive=positive) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("table", TABLES)
def test_calibration_error_is_the_mean_distance_of_scikit_learns_curve(table: str) -> None:
    """Where scores differ and rows divide evenly, its quantile bins and ours are the same ones."""
    truth, scores, _ = answers(table)
    checked = 0
    for positive in range(scores.shape[1]):
        first = np.unique(scores[:, positive], return_index=True)[1]
        rows = first[: len(first) // 10 * 10]
        there, said = truth[rows] == positive, scores[rows, positive]
        shares, means = calibration_curve(there, said, n_bins=10, strategy="quantile")
        if len(rows) >= 50 and len(shares) == 10:
            outputs = Outputs(np.zeros((1, len(rows)), np.int32), scores[rows][None])
            measure = make("measure", "expected_calibration_error", positive=positive)
            found = measure.score(truth[rows], outputs, None, scores.shape[1])[0]
            assert found == pytest.approx(float(np.abs(shares - means).mean()), abs=1e-12)
            checked += 1
    assert checked


def test_calibration_error_of_a_calibrated_model_is_its_bias() -> None:
    """√(2/π) Σ_b √(p_b (1 − p_b) n_b) / n, as the module says: the fewer the rows, the larger."""
    rng = np.random.default_rng(0)
    measure = make("measure", "expected_calibration_error", positive=1)
    for rows in (10_000, 160):
        said = rng.random((40, rows))
        found = []
        for one in said:
            truth = (rng.random(rows) < one).astype(np.int32)
            outputs = Outputs(np.zeros((1, rows), np.int32), np.stack([1 - one, one], axis=-1)[None])
            found.append(measure.score(truth, outputs, None, 2)[0])
        p = (np.arange(10) + 0.5) / 10
        assert np.mean(found) == pytest.approx(np.sqrt(2 / np.pi) * np.sqrt(p * (1 - p) * rows / 10).sum() / rows, rel=0.15)


def test_equal_scores_of_all_classes_are_no_top_k_answer() -> None:
    flat = Outputs(np.zeros((1, 8), np.int32), np.full((1, 8, 4), 0.25))
    assert make("measure", "top_k_error", k=1).score(np.arange(8, dtype=np.int32) % 4, flat, None, 4)[0] == 0.75
