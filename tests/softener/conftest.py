"""Grown trees with every kind of test, on rows with missing values, nominal levels and weights."""

from collections.abc import Callable

import numpy as np
import pytest

from modelsel.core.spec import make
from modelsel.core.types import Feature, Task
from modelsel.learner.tree import Splits, Tree
from modelsel.tree.node import PrunedView


def _task(rng: np.random.Generator, rows: int = 150, classes: int = 2, missing: float = 0.0, weighted: bool = False) -> Task:
    features = (
        Feature("x", "numeric"), Feature("y", "numeric"), Feature("size", "ordered", ("s", "m", "l")),
        Feature("sky", "nominal", ("blue", "grey", "red")),
    )  # fmt: skip
    values = np.column_stack(
        [
            rng.normal(size=rows).round(2),
            rng.exponential(size=rows).round(1),
            rng.integers(0, 3, rows),
            rng.integers(0, 3, rows),
        ]
    ).astype(float)
    signal = values[:, 0] + 0.5 * values[:, 1] + (values[:, 3] == 1) + rng.normal(size=rows) * 0.5
    target = np.searchsorted(np.quantile(signal, np.arange(1, classes) / classes), signal).astype(np.int32)
    values[rng.random(values.shape) < missing] = np.nan
    weights = rng.integers(1, 4, rows).astype(float) if weighted else None
    return Task(name="t", features=features, values=np.asfortranarray(values), rows=np.arange(rows),
                classes=tuple("abc"[:classes]), target=target, weights=weights)  # fmt: skip


def _grown(task: Task, missing: str = "node_mode", nominal: str = "multiway", depth: int | None = 4) -> PrunedView:
    learner = Tree(make("criterion", "entropy"), Splits(nominal=nominal), missing, min_leaf=3, max_depth=depth)
    return learner.fit(task, np.arange(len(task)), np.random.default_rng(0)).cut


@pytest.fixture(scope="session")
def table() -> Callable[..., Task]:
    """table(rng, rows=150, classes=2, missing=0.0, weighted=False)"""
    return _task


@pytest.fixture(scope="session")
def grown() -> Callable[..., PrunedView]:
    """grown(task, missing="node_mode", nominal="multiway", depth=4): only nodes that stand."""
    return _grown
