"""Tasks for preparers: few rows, ties, missing values, all kinds of columns."""

import numpy as np
import pytest

from modelsel.core.types import Feature, Task


@pytest.fixture(scope="session")
def task_of():
    """Features, values, target, weights, classes -> a task."""

    def make(features, values, target, weights=None, classes=("x", "y")) -> Task:
        return Task(name="t", features=tuple(features), values=np.asarray(values, float), rows=np.arange(len(target)),
                    classes=classes, target=np.asarray(target, np.int32), weights=weights)  # fmt: skip

    return make


@pytest.fixture(scope="session")
def mixed(task_of):
    """Seed -> a task of numbers, names and ranks with missing values and weights."""

    def make(seed: int, rows: int = 60) -> Task:
        rng = np.random.default_rng(seed)
        target = rng.integers(0, 3, rows)
        values = np.column_stack([
            rng.normal(target, 1.0), rng.integers(0, 4, rows), (target + rng.integers(0, 2, rows)) % 3,
            rng.integers(0, 3, rows), np.full(rows, 2.5),
        ])  # fmt: skip
        values[rng.random(values.shape) < 0.1] = np.nan
        kinds = ["numeric", "numeric", "nominal", "ordered", "numeric"]
        features = [Feature(f"f{i}", kind, () if kind == "numeric" else ("a", "b", "c")) for i, kind in enumerate(kinds)]
        return task_of(features, values, target, rng.integers(1, 4, rows).astype(float), ("x", "y", "z"))

    return make
