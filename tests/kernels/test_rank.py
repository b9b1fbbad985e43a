"""Columns ranked by sorted words and by radix against NumPy's stable sort."""

import numpy as np
import pytest

from modelsel.kernels.compiler import load
from modelsel.tree.columns import _compiled, _in_numpy

SHAPE = (3, 400)


def blocks() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    normal, few = rng.normal(size=SHAPE), rng.integers(-5, 5, SHAPE) * 1.5
    special = rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 5e-324, -1.7e308], SHAPE)
    return {
        "of 32 bits: value and row fit a word": normal.astype(np.float32).astype(np.float64),
        "of 64 bits: they do not": normal,
        "many, spread over all powers": normal * 10.0 ** rng.integers(-300, 300, SHAPE),
        "few": few,
        "few, some missing": np.where(rng.random(SHAPE) < 0.2, np.nan, few),
        "of 64 bits, some missing": np.where(rng.random(SHAPE) < 0.2, np.nan, normal),
        "zeros, infinities, smallest and missing": special,
        "nothing known": np.full(SHAPE, np.nan),
        "one value": np.full(SHAPE, -3.0),
        "one row": normal[:, :1].copy(),
    }


@pytest.mark.skipif(load("rank") is None, reason="only the twin is there")
@pytest.mark.parametrize("name", blocks())
def test_the_compiled_ranking_is_the_stable_sort(name: str) -> None:
    block, part = blocks()[name], np.arange(3)
    answers = []
    for fill in (_compiled, _in_numpy):
        codes, order = np.empty(block.shape, np.int32), np.empty(block.shape, np.int32)
        values, counts = fill(block, part, codes, order)
        answers.append((codes, order, values, counts))
    for one, other in zip(*answers):
        np.testing.assert_array_equal(one, other)
