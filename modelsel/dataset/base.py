"""Base of bundled and generated sets: nothing to configure wrongly, a task that is made rather than read."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from modelsel.core.errors import Problem
from modelsel.core.types import ABSENT, ClassTask, Feature, Floats, Integers, Loaded, Task


class DataSource(Protocol):
    """What a study reads: a table that is read or made, and what is wrong with how it was asked for."""

    def read(self) -> Task:
        """Read the task."""
        ...

    def load(self) -> Loaded:
        """Read the task, with what was found about the table on the way."""
        ...

    def problems(self) -> Iterator[Problem]:
        """Yield what is wrong with the settings."""
        ...


class BundledDataset:
    """A data set of known form: `read()` makes it, and there is nothing to say about how."""

    @abstractmethod
    def read(self) -> Task:
        """The task."""

    def load(self) -> Loaded:
        return Loaded(self.read(), ())

    def problems(self) -> Iterator[Problem]:
        yield from ()


def nominal_task(
    name: str, levels: Mapping[str, Sequence[str]], rows: Sequence[Sequence[str]], classes: Sequence[str], labels: Sequence[str]
) -> Task:
    """A task of nominal features from rows of level names and one label each."""
    features = tuple(Feature(column, "nominal", tuple(names)) for column, names in levels.items())
    values = [[float(feature.levels.index(cell)) for feature, cell in zip(features, row)] for row in rows]
    target = np.array([list(classes).index(label) for label in labels], np.int32)
    return ClassTask(
        name=name, features=features, values=np.array(values), rows=np.arange(len(rows)), classes=tuple(classes), target=target
    )


def numeric_task(
    name: str, columns: Sequence[str], values: Floats, classes: Sequence[str], target: NDArray[np.integer]
) -> Task:
    """A task of numeric features."""
    features = tuple(Feature(column, "numeric") for column in columns)
    return ClassTask(name=name, features=features, values=np.asarray(values, np.float64), rows=np.arange(len(values)),
                classes=tuple(classes), target=target.astype(np.int32))  # fmt: skip


# Several training sets judged on test rows: a column of folds per set, which scheme=predefined takes for repeats.
#
# In the column of a set, 0 is a row that is assessed, LEARN one that is analysed, ABSENT one that the set knows nothing of.

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


def scale_rows(rows: int, scale: float) -> int:
    """Scale a published number of rows, to at least 20.

    >>> scale_rows(12_000, 0.01), scale_rows(12_000, 1.0)
    (120, 12000)
    """
    return max(min(rows, 20), round(rows * scale))
