"""Confusion-matrix measures and AUC against scikit-learn's, pROC's and textbook values."""

import json
from pathlib import Path

import numpy as np
import pytest

from modelsel.core.spec import make
from modelsel.measure.base import FromConfusion
from modelsel.statistics.auc import auc


def test_measures_of_given_confusion_matrices(reference: Path) -> None:
    cases = json.loads((reference / "stats/metrics.json").read_text())["cases"]
    names = {"kappa": "kappa", "mcc": "mcc", "f1_macro": "f1", "balanced_accuracy": "balanced_error"}
    for label, case in cases.items():
        if "confusion_rows_actual" not in case:
            continue
        matrix = np.array(case["confusion_rows_actual"], float)[None]
        for key, name in names.items():
            measure: FromConfusion = make("measure", name)
            score = float(measure.of(matrix)[0])
            expected = 1 - case[key] if name == "balanced_error" else case[key]
            assert score == pytest.approx(expected, abs=1e-12), (label, name)
        weighted = float(make("measure", "f1", average="weighted").of(matrix)[0])
        assert weighted == pytest.approx(case["f1_weighted"], abs=1e-12), label
        for positive, expected in enumerate(case["f1_per_class"]):
            assert float(make("measure", "f1", positive=positive).of(matrix)[0]) == pytest.approx(expected, abs=1e-12), label


def test_area_under_given_curves(reference: Path) -> None:
    cases = json.loads((reference / "stats/auc.json").read_text())["cases"]
    checked = 0
    for label, case in cases.items():
        if "labels" not in case or "scores" not in case:
            continue
        found = auc(np.array(case["labels"]) == 1, np.array(case["scores"], float))
        for area, expected in zip(found, case["expected"]):
            assert area == pytest.approx(expected["auc"], abs=1e-12), label
            checked += 1
    assert checked
