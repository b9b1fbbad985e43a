"""Folds travel as labels or as positions, and are the same rows on the other side."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from modelsel.core.folds import pack_folds, rows
from modelsel.dataset.play_tennis import PlayTennis


@given(st.integers(2, 5), st.integers(5, 40), st.integers(0, 2**32 - 1), st.booleans())
def test_what_was_packed_comes_out_again(folds: int, n: int, seed: int, repeats: bool) -> None:
    rng = np.random.default_rng(seed)
    parts = rng.integers(0, folds, (2 if repeats else 1, n))
    pairs = [(np.flatnonzero(part != k), np.flatnonzero(part == k)) for part in parts for k in range(folds)]
    numbers = [repeat for repeat in range(len(parts)) for _ in range(folds)]
    for pair, content in zip(pairs, pack_folds(numbers, pairs), strict=True):
        for told, found in zip(pair, rows(content), strict=True):
            assert found.tolist() == told.tolist()


@given(st.integers(3, 30), st.integers(0, 2**32 - 1))
def test_rows_that_repeat_or_are_left_out_travel_as_positions(n: int, seed: int) -> None:
    drawn = np.random.default_rng(seed).integers(0, n, n)
    pair = (drawn, np.setdiff1d(np.arange(n), drawn))
    (content,) = pack_folds([0], [pair])
    assert [part.tolist() for part in rows(content)] == [part.tolist() for part in pair]


# Some rows of a task, by their places or by a mask.


TASK = PlayTennis().read()


def test_all_rows_in_their_order_are_the_task_itself() -> None:
    assert TASK.take(np.arange(len(TASK))) is TASK
    assert TASK.take(np.arange(len(TASK))[::-1]).rows.tolist() == TASK.rows[::-1].tolist()


def test_a_mask_takes_what_it_marks() -> None:
    two = TASK.take(np.array([0, 1]))
    assert two.take(np.array([False, True])).rows.tolist() == [1]
    assert two.take(np.array([1, 0])).rows.tolist() == [1, 0]
