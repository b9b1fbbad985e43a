"""What the report says of the data: rows that repeat, counted exactly and without a copy of the table."""

import tracemalloc

import numpy as np
import pytest

from modelsel.core.types import Feature, Task
from modelsel.record.facts import repeated_rows


def task(values: np.ndarray, target: np.ndarray) -> Task:
    features = tuple(Feature(f"x{i}", "numeric") for i in range(values.shape[1]))
    return Task(name="t", features=features, values=np.asfortranarray(values, float), rows=np.arange(len(values)),
                classes=("a", "b"), target=target.astype(np.int32))  # fmt: skip


@pytest.mark.parametrize("seed", range(8))
def test_repeated_rows_are_those_that_a_set_of_tuples_merges(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 3, (200, 3)).astype(float)
    values[rng.random(values.shape) < 0.2] = np.nan
    target = rng.integers(0, 2, 200)
    known = {(*("?" if np.isnan(v) else v for v in row), label) for row, label in zip(values.tolist(), target.tolist())}
    assert repeated_rows(task(values, target)) == 200 - len(known)


def test_none_repeats_and_all_do() -> None:
    values = np.arange(20.0).reshape(10, 2)
    assert repeated_rows(task(values, np.zeros(10))) == 0
    assert repeated_rows(task(np.ones((10, 2)), np.zeros(10))) == 9
    assert repeated_rows(task(values[[0, 0]], np.array([0, 1]))) == 0


def test_counting_them_takes_no_copy_of_the_table() -> None:
    values = np.random.default_rng(0).normal(size=(50_000, 20))
    told = task(values, np.zeros(50_000))
    tracemalloc.start()
    assert repeated_rows(told) == 0
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < values.nbytes / 2
