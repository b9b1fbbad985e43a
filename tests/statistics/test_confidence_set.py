"""The candidates that may be the best: coverage with the truth known, written out by hand, units, weights, many rows."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import ndtri

from modelsel.statistics import confidence_set as own
from modelsel.statistics.confidence_set import differences, every_best, may_be_best, resample


def sets(losses: NDArray[np.float32], seed: int = 0, **further) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    rng = np.random.default_rng(seed)
    found = differences(losses, int(np.average(losses, axis=0, weights=further.get("weights")).argmin()), rng, **further)
    moved = resample(found, rng)
    return may_be_best(found, moved), every_best(found, moved)


def correlated(rng: np.random.Generator, rows: int, rates: NDArray[np.float64]) -> NDArray[np.float32]:
    """0/1 losses of candidates that find the same rows hard."""
    hard = 0.8 * rng.normal(size=(rows, 1)) + 0.6 * rng.normal(size=(rows, len(rates)))
    return (hard < ndtri(rates)).astype(np.float32)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("rows", [200, 1000])
@pytest.mark.parametrize("kind", ["equal", "one is best", "five are best"])
def test_both_sets_hold_what_they_promise(rows: int, kind: str) -> None:
    """A best one, every best one: 20 runs of 200 candidates; `benchmarks.simulations.confidence_sets` has 500 of 1,000."""
    line = np.linspace(0.2, 0.4, 200)
    rates = {"equal": np.full(200, 0.3), "one is best": line, "five are best": np.where(np.arange(200) < 5, 0.2, line)}[kind]
    best, a_best, every, size = rates == rates.min(), 0, 0, 0.0
    for run in range(20):
        may, all_of_them = sets(correlated(np.random.default_rng(run), rows, rates), run)
        a_best, every, size = a_best + may[best].any(), every + all_of_them[best].all(), size + may[best].mean()
    assert a_best >= 18
    assert every >= 16
    assert size / 20 > 0.9  # each best one, by itself


def test_means_and_errors_are_those_of_weighted_differences_over_units() -> None:
    rng = np.random.default_rng(0)
    losses = rng.random((60, 4)).astype(np.float32)
    losses[[3, 30]] = np.nan
    groups, weights = rng.integers(0, 12, 60), rng.integers(1, 4, 60).astype(float)
    found = differences(losses, 2, rng, groups, weights)
    rows = [i for i in range(60) if i not in (3, 30)]
    whole = weights[rows].sum()
    for j in range(4):
        gap = {i: float(losses[i, j] - losses[i, 2]) for i in rows}
        mean = sum(weights[i] * gap[i] for i in rows) / whole
        units = [sum(weights[i] * (gap[i] - mean) for i in rows if groups[i] == g) for g in set(groups[rows].tolist())]
        assert found.mean[j] * found.unit == pytest.approx(mean, abs=1e-7)
        assert found.error[j] * found.unit == pytest.approx(sum(u**2 for u in units) ** 0.5 / whole, abs=1e-7)


def test_resamples_move_means_by_their_standard_errors() -> None:
    rng = np.random.default_rng(1)
    losses = correlated(rng, 500, np.array([0.1, 0.2, 0.3]))
    found = differences(losses, 0, rng)
    moved = resample(found, rng)
    assert moved[:, 1:].std(axis=0) == pytest.approx(found.error[1:], rel=0.1)
    assert moved.mean(axis=0) == pytest.approx(np.zeros(3), abs=0.003)


def test_sums_of_very_many_rows_are_drawn_in_blocks(monkeypatch) -> None:
    losses = correlated(np.random.default_rng(2), 3000, np.linspace(0.2, 0.3, 30))
    whole, every = sets(losses)
    monkeypatch.setattr(own, "BLOCKS", 500)
    monkeypatch.setattr(own, "CELLS", 3000)  # a hundred rows at a time
    found = differences(losses, 0, np.random.default_rng(0))
    assert found.sums.shape == (500, 30)
    assert found.mean * found.unit == pytest.approx((losses - losses[:, [0]]).mean(axis=0), abs=1e-6)
    assert resample(found, np.random.default_rng(0)).std(axis=0)[1:] == pytest.approx(found.error[1:], rel=0.15)
    blocks, every_in_blocks = sets(losses)
    assert (blocks != whole).sum() <= 2
    assert (every_in_blocks != every).sum() <= 2


def test_candidates_that_agree_on_every_row_stay_and_rows_twenty_times_are_no_news_as_units() -> None:
    rng = np.random.default_rng(3)
    same = np.repeat(rng.random((50, 1)), 6, axis=1).astype(np.float32)
    assert all(one.all() for one in sets(same))
    losses = correlated(rng, 60, np.linspace(0.2, 0.5, 40))
    copied, unit = np.repeat(losses, 20, axis=0), np.repeat(np.arange(60), 20)
    once = sets(losses)[0]
    assert (sets(copied, groups=unit)[0] == once).all()
    assert sets(copied)[0].sum() < once.sum()


def test_a_weight_of_two_is_a_row_twice_as_one_unit() -> None:
    losses = correlated(np.random.default_rng(5), 200, np.linspace(0.2, 0.5, 40))
    weights = np.tile([1.0, 2.0], 100)
    rows = np.repeat(np.arange(200), weights.astype(int))
    assert (sets(losses, weights=weights)[0] == sets(losses[rows], groups=rows)[0]).all()


@pytest.mark.parametrize("power", [-100, -40, 40, 110])
def test_losses_in_another_unit_have_the_same_sets(power: int) -> None:
    """Single precision ends at 2^128, and squares of squared errors go there from errors of 2^33 on."""
    losses = np.random.default_rng(4).gamma(2.0, size=(90, 8)).astype(np.float32) * np.linspace(1, 2.2, 8, dtype=np.float32)
    sets = []
    for one in (losses, np.ldexp(losses, power)):
        found = differences(one, 0, np.random.default_rng(0))
        moved = resample(found, np.random.default_rng(1))
        sets.append((may_be_best(found, moved).tolist(), every_best(found, moved).tolist()))
    assert sets[0] == sets[1]
    assert sum(sets[0][1]) < 8
