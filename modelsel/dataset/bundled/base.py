"""Base of bundled and generated sets: nothing to configure wrongly, a task that is made rather than read."""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from modelsel.core.errors import Problem
from modelsel.core.types import Feature, Floats, Task
from modelsel.dataset.columns.assemble import Loaded


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
    return Task(
        name=name, features=features, values=np.array(values), rows=np.arange(len(rows)), classes=tuple(classes), target=target
    )


def numeric_task(
    name: str, columns: Sequence[str], values: Floats, classes: Sequence[str], target: NDArray[np.integer]
) -> Task:
    """A task of numeric features."""
    features = tuple(Feature(column, "numeric") for column in columns)
    return Task(name=name, features=features, values=np.asarray(values, np.float64), rows=np.arange(len(values)),
                classes=tuple(classes), target=target.astype(np.int32))  # fmt: skip
