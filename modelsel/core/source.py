"""The rows of a table as their owner holds them: a frame, an array, a sparse matrix, a list of texts; and labels.

A table says in numbers what the rows hold; a source keeps the columns in their own types, for whoever reads those. It has all
rows that were handed over, without the target and the other roles, and is taken from by the data rows of a table
(`Table.rows`).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Source:
    """`data` are features alone; `classes` the labels of the task's classes as the target's column held them."""

    data: Any
    classes: NDArray[np.generic] | None = None  # None of numbers, and where nobody asked for them
    target: object = None  # of a search, which seals nothing: y as it was given

    @cached_property
    def token(self) -> str:
        """A name that no other source has."""
        return uuid4().hex

    def take(self, rows: NDArray[np.int64]) -> Any:
        """Some rows by position, of the type that all are of.

        >>> Source(["first text", "second text"]).take(np.array([1, 0]))
        ['second text', 'first text']
        """
        return take_rows(self.data, rows)

    def labels(self, rows: NDArray[np.int64], codes: NDArray[np.generic]) -> object:
        """The labels of some rows, whose classes are `codes`; where the target is a number, `codes` are the numbers."""
        if self.target is not None:
            return take_rows(self.target, rows)
        return codes if self.classes is None else self.classes[codes.astype(np.int64)]

    @property
    def columns(self) -> tuple[Any, ...] | None:
        """The names of the columns; None where they have none."""
        found = getattr(self.data, "columns", None)
        return None if found is None or callable(found) else tuple(getattr(self.data, "column_names", found))


def take_rows(data: object, rows: NDArray[np.int64]) -> object:
    """Some rows of anything that has rows, of the type that it is of."""
    if hasattr(data, "iloc"):  # pandas
        return data.iloc[rows]
    if hasattr(data, "column_names") and hasattr(data, "take"):  # Arrow
        return data.take(rows)
    if isinstance(data, list | tuple):
        return [data[row] for row in rows.tolist()]
    return data[rows]  # type: ignore[index]  # NumPy, SciPy's sparse matrices, Polars
