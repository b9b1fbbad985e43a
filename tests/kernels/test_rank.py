"""Columns ranked by sorted words and by radix against NumPy's stable sort."""

import numpy as np
import pytest

from modelsel.kernels.compiler import load
from modelsel.tree.growing.columns import _in_numpy, _rank_compiled


def blocks(rows: int = 400) -> dict[str, np.ndarray]:
    shape = (3, rows)
    rng = np.random.default_rng(0)
    normal, few = rng.normal(size=shape), rng.integers(-5, 5, shape) * 1.5
    special = rng.choice([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 5e-324, -1.7e308], shape)
    return {
        "of 32 bits: value and row fit a word": normal.astype(np.float32).astype(np.float64),
        "of 64 bits: they do not": normal,
        "many, spread over all powers": normal * 10.0 ** rng.integers(-300, 300, shape),
        "few": few,
        "close together, and two far out: by digits": np.hstack([1 + normal * 1e-9, [[1e300, -1e300]] * 3]),
        "alike but for their last bits": 1 + rng.integers(0, 9, shape) * 2.0**-52 + (rng.random(shape) < 0.5) * 1e9,
        "whole and close: counted": np.floor(few * 2),
        "whole and close, some missing": np.where(rng.random(shape) < 0.2, np.nan, np.floor(few * 2)),
        "whole, close, at the edge of what is counted": rng.integers(-500, 524, shape).astype(float),
        "whole and just too far apart": rng.integers(0, 2, shape) * 1024.0,
        "one column counted, one sorted, one by digits": np.vstack([few[0] * 2, few[1] / 7, normal[2]]),
        "whole, an odd number of rows": np.floor(few[:, :377] * 2),
        "whole beyond 2^63": rng.choice([1e300, -1e300, 2.0**63, 5.0], shape),
        "few, some missing": np.where(rng.random(shape) < 0.2, np.nan, few),
        "of 64 bits, some missing": np.where(rng.random(shape) < 0.2, np.nan, normal),
        "zeros, infinities, smallest and missing": special,
        "nothing known": np.full(shape, np.nan),
        "one value": np.full(shape, -3.0),
        "one row": normal[:, :1].copy(),
    }


@pytest.mark.skipif(load("rank") is None, reason="only the twin is there")
@pytest.mark.parametrize("rows", [400, 1501])
@pytest.mark.parametrize("name", blocks())
def test_the_compiled_ranking_is_the_stable_sort(name: str, rows: int) -> None:
    """Of few words, which NumPy sorts, and of many, which are sorted by digits."""
    block, part = blocks(rows)[name], np.arange(3)
    answers = []
    for fill in (_rank_compiled, _in_numpy):
        codes, order = np.empty(block.shape, np.int32), np.empty(block.shape, np.int32)
        values = np.full(block.size, np.nan)
        counts = fill(block, part, codes, order, values)
        answers.append((codes, order, values, counts))
    for one, other in zip(*answers):
        np.testing.assert_array_equal(one, other)
