"""What a bootstrap draws: against plain sums, and without a copy where none is needed."""

import numpy as np
import pytest

from modelsel.comparison import bbc as units_module
from modelsel.comparison.bbc import units


def test_losses_of_every_row_and_candidate_are_not_copied() -> None:
    losses = (np.random.default_rng(0).random((50, 7)) < 0.3).astype(np.float32)
    assert np.shares_memory(units(losses, np.ones(7, bool), None, None).total, losses)


@pytest.mark.parametrize("block", [1, 9, 1 << 22])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("zero_one", [False, True])
def test_rows_and_groups_are_summed_whatever_the_block(
    monkeypatch, block: int, grouped: bool, weighted: bool, zero_one: bool
) -> None:
    monkeypatch.setattr(units_module, "BLOCK", block)
    rng = np.random.default_rng(block + 2 * grouped + 4 * weighted)
    losses = (rng.random((12, 5)) < 0.4).astype(np.float32) if zero_one else rng.random((12, 5)).astype(np.float32)
    losses[[2, 9]], losses[4, 3] = np.nan, np.nan  # never assessed; a gap of one candidate
    eligible = np.array([True, False, True, True, True])
    groups = rng.integers(0, 4, 12) if grouped else None
    weights = rng.integers(1, 4, 12).astype(float) if weighted else None
    found = units(losses, eligible, groups, weights)
    rows = [i for i in range(12) if i not in (2, 9)]
    unit = [int(groups[i]) if groups is not None else i for i in rows]
    weight = [1.0 if weights is None else weights[i] for i in rows]
    names = sorted(set(unit))
    total = [
        [sum(w * float(losses[i, c]) for i, u, w in zip(rows, unit, weight) if u == name) for c in (0, 2, 4)] for name in names
    ]
    assert found.candidates.tolist() == [0, 2, 4]
    assert found.usable.tolist() == [True, False, True, False, True]
    np.testing.assert_allclose(found.total, total, rtol=1e-6)
    np.testing.assert_allclose(found.weight, [sum(w for u, w in zip(unit, weight) if u == name) for name in names])
