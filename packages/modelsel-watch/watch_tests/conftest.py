"""A home of its own for each test."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_classification

from modelsel_watch.startup import WATCHING


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("MODELSEL_HOME", str(tmp_path / "home"))
    yield tmp_path / "home"
    assert WATCHING.watch is None


@pytest.fixture
def parts() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Development and test rows with their labels."""
    X, y = make_classification(240, 6, random_state=0)
    return X[80:], X[:80], y[80:], y[:80]
