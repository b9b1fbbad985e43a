"""Several training sets judged on test rows: a column of folds per set, which scheme=predefined takes for repeats.

In the column of a set, 0 is a row that is assessed, LEARN one that is analysed, ABSENT one that the set knows nothing of.
"""

from collections.abc import Iterable

import numpy as np

from modelsel.core.types import ABSENT, Integers

LEARN, ASSESS = -1, 0


def columns(rows: int, sets: Iterable[tuple[Integers, Integers]]) -> Integers:
    """Rows × sets from the rows that each set learns from and those that it is assessed on.

    >>> columns(4, [(np.array([0, 1]), np.array([3])), (np.array([2]), np.array([3]))]).tolist()
    [[-1, -2], [-1, -2], [-2, -1], [0, 0]]
    """
    made = []
    for learn, assess in sets:
        column = np.full(rows, ABSENT, np.int64)
        column[learn], column[assess] = LEARN, ASSESS
        made.append(column)
    return np.column_stack(made)


def scaled(rows: int, scale: float) -> int:
    """Scale a published number of rows, to at least 20.

    >>> scaled(12_000, 0.01), scaled(12_000, 1.0)
    (120, 12000)
    """
    return max(min(rows, 20), round(rows * scale))
