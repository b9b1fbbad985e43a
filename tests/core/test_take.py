"""Some rows of a task, by their places or by a mask."""

import numpy as np

from modelsel.dataset.play_tennis import PlayTennis

TASK = PlayTennis().read()


def test_all_rows_in_their_order_are_the_task_itself() -> None:
    assert TASK.take(np.arange(len(TASK))) is TASK
    assert TASK.take(np.arange(len(TASK))[::-1]).rows.tolist() == TASK.rows[::-1].tolist()


def test_a_mask_takes_what_it_marks() -> None:
    two = TASK.take(np.array([0, 1]))
    assert two.take(np.array([False, True])).rows.tolist() == [1]
    assert two.take(np.array([1, 0])).rows.tolist() == [1, 0]
