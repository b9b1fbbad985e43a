"""Small tasks that try what ordinary data does rarely: ties, missing values, absent levels, classes without rows, weights."""

import numpy as np
import pytest
from hypothesis import strategies as st

from modelsel.core.types import Feature, Task


def _task_of(features, values, target, weights=None, classes=("x", "y", "z")) -> Task:
    return Task(name="t", features=tuple(features), values=np.asarray(values, float), rows=np.arange(len(target)),
                classes=classes, target=np.asarray(target, np.int32), weights=weights)  # fmt: skip


@st.composite
def _tied_tasks(draw, weighted: bool = False, kinds: tuple[str, ...] = ("numeric", "nominal", "ordered")) -> Task:
    """Few different values in all kinds of columns, missing ones among them."""
    n, seed = draw(st.integers(8, 40)), draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=4))
    features = [Feature(f"f{i}", kind, () if kind == "numeric" else ("a", "b", "c")) for i, kind in enumerate(chosen)]
    values = rng.integers(0, 3, (n, len(chosen))) - np.array([float(kind == "numeric") for kind in chosen])
    values[rng.random(values.shape) < draw(st.sampled_from([0.0, 0.2]))] = np.nan
    weights = rng.integers(1, 4, n).astype(float) if weighted else None
    return _task_of(features, values, rng.integers(0, draw(st.integers(1, 3)), n), weights)


@pytest.fixture(scope="session")
def tied():
    """The strategy of tied tasks."""
    return _tied_tasks


@pytest.fixture(scope="session")
def task_of():
    """Features, values, target, weights, classes -> a task."""
    return _task_of
