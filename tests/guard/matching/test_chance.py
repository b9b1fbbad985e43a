"""The overlap that chance alone makes is the one that drawing finds, and only more than that accuses."""

import numpy as np
import pytest

from modelsel.guard.matching import enough, expected_overlap, more_than_chance
from modelsel.ledger.rows.row_set import RowSet, shared_rows

LEVELS = {"few": 24, "some": 1000, "many": 30_000}


def rows(rng: np.random.Generator, levels: int, size: int) -> np.ndarray:
    chances = 1 / np.arange(1, levels + 1)
    return rng.choice(levels, size, p=chances / chances.sum()).astype(np.uint64)


@pytest.mark.parametrize("levels", LEVELS.values(), ids=LEVELS)
@pytest.mark.parametrize(("pool", "size"), [(1400, 600), (1400, 1399), (700, 700), (500, 4000)])
def test_the_overlap_expected_is_that_of_many_draws(levels: int, pool: int, size: int) -> None:
    rng = np.random.default_rng(levels)
    test, own = rows(rng, levels, 600), rows(rng, levels, pool)
    draws = [shared_rows(test, rng.permutation(own)[:size], repetitions=True).mean() for _ in range(400)]
    mean, deviation = expected_overlap(test, own, size)
    assert mean == pytest.approx(np.mean(draws), abs=4 * np.std(draws) / 20 + 1e-9)
    assert 0.85 * np.std(draws) - 1e-9 <= deviation <= 2 * np.std(draws) + 1e-9  # a bound, but for the error of 400 draws


def test_nothing_is_more_than_chance_where_there_is_nothing() -> None:
    none, one = np.zeros(0, np.uint64), np.ones(1, np.uint64)
    assert not any(more_than_chance(*sets) for sets in [(none, one, one), (one, none, one), (one, one + 1, none)])


def test_what_cannot_be_judged_is_charged() -> None:
    """An exam of the whole table has no development rows: 199 of the same 200 rows are no chance."""
    none, rows = np.zeros(0, np.uint64), np.arange(200, dtype=np.uint64)
    assert more_than_chance(rows[:199], rows, none)
    assert enough(rows[:199], none, rows, sketch=False)
    assert not more_than_chance(rows, rows + 200, none)


def test_a_sketch_below_all_development_rows_is_no_table_without_them() -> None:
    """Two rows of two hundred that coincide in the part of a sketch accuse a whole exam, and no study with rows of its own."""
    rows, own = np.arange(200, dtype=np.uint64), np.arange(1000, 1400, dtype=np.uint64)
    sketch = np.r_[rows[:2], np.arange(300, 400, dtype=np.uint64)]
    assert enough(rows, own[:0], sketch, sketch=True)
    assert not enough(rows, own, sketch, sketch=True)
    assert enough(rows, own, rows, sketch=True)


@pytest.mark.parametrize("levels", LEVELS.values(), ids=LEVELS)
@pytest.mark.parametrize(("study", "stored"), [((2000, 600), 600), ((2000, 600), 20_000), ((500, 150), 20_000), ((80, 20), 20)])
def test_fresh_samples_are_seldom_accused(levels: int, study: tuple[int, int], stored: int) -> None:
    """However many rows were stored: a large table remembered must not accuse every small study of the same kind."""
    rng = np.random.default_rng(7)
    accused = 0
    for _ in range(60):
        new = rows(rng, levels, study[0])
        accused += more_than_chance(new[: study[1]], rows(rng, levels, stored), new[study[1] :])
    assert accused <= 3


@pytest.mark.parametrize("levels", [1000, 30_000])
def test_rows_that_were_tested_before_are_found_among_repeated_values(levels: int) -> None:
    rng = np.random.default_rng(8)
    for _ in range(20):
        new, other = rows(rng, levels, 2000), rows(rng, levels, 600)
        assert more_than_chance(new[:600], np.r_[new[:300], other[:300]], new[600:])


@pytest.mark.parametrize("again", [False, True])
def test_a_sketch_tells_chance_from_memory_as_the_whole_set_would(again: bool) -> None:
    """Hashes are as good as random: a sketch is a sample of the contents."""
    rng = np.random.default_rng(9)
    hashes = rng.integers(2**64, size=30_000, dtype=np.uint64)
    found = 0
    for _ in range(20):
        new, other = hashes[rows(rng, 30_000, 8000)], hashes[rows(rng, 30_000, 3000)]
        stored = RowSet({"n": 3000}, {"bound": np.sort(np.r_[new[:1500], other[:1500]] if again else other)})
        sketch = stored.sketch(most=1000, keep=800)
        found += enough(new[:3000], new[3000:], sketch.arrays["bound"], sketch=True)
    assert found == 20 * again
