"""Distinct labels are those that NumPy finds by sorting."""

import numpy as np
import pytest

from modelsel.estimator import distinct

RNG = np.random.default_rng(0)
LABELS = [
    RNG.integers(0, 3, 50), RNG.integers(-9, 9, 50), RNG.integers(0, 255, 50).astype(np.uint8), np.array([2**62, -(2**62), 5]),
    np.array([-128, 127, 0], np.int8), np.array([2**64 - 1, 2**64 - 3], np.uint64), np.array(["b", "a", "b"]),
    np.array([True, False, True]), np.array([1.5, 0.5]), np.array(["x", "y"], object), np.array([4]),
]  # fmt: skip


@pytest.mark.parametrize("labels", LABELS, ids=lambda labels: f"{labels.dtype}-{len(labels)}")
def test_labels_are_those_of_unique(labels: np.ndarray) -> None:
    classes, place = distinct(labels)
    expected, inverse = np.unique(labels, return_inverse=True)
    assert classes.tolist() == expected.tolist()
    assert classes.dtype == expected.dtype
    assert place.tolist() == inverse.tolist()
    assert place.dtype == np.int32
