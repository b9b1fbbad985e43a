"""Rows taken in parts, so that what is computed for them at a time stays small."""

CELLS = 1 << 22  # numbers held at a time


def chunks(rows: int, each: int) -> list[slice]:
    """Slices of rows such that `each` numbers per row stay within CELLS: a fixed grid, whatever the machine.

    >>> chunks(5, 1 << 21)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 6, None)]
    """
    size = max(1, CELLS // max(1, each))
    return [slice(start, start + size) for start in range(0, rows, size)]
