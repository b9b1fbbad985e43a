"""Bases of preparers: a new one is a frozen dataclass with settings and `fit`.

    @dataclass(frozen=True)
    class Clip(BasePreparer):
        share: float = number(0.05, least=0, most=0.5)

        def fit(self, task, rows, rng) -> Clipped: ...

    @dataclass(frozen=True, eq=False)
    class Clipped(FittedPreparer):
        low: Floats
        high: Floats

        def apply(self, table): ...

What it may offer besides: `problems`, `fit_key` and `fit_path` (one fit answers many preparers), `describe` and `restore`.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from modelsel.core.described import Described
from modelsel.core.fittable import Fittable
from modelsel.core.types import BOTH_TASKS, AnyTable, AnyTask, Description, Integers, TaskKind


class FittedPreparer(Described):
    """Base of fitted preparers. A new one defines `apply`.

    Examples
    --------
    >>> from modelsel.dataset.play_tennis import PlayTennis
    >>> from modelsel.preparer.impute import Impute
    >>> task = PlayTennis().read()
    >>> step = Impute().fit(task, np.arange(14), np.random.default_rng(0))
    >>> step.apply(task).values.shape
    (14, 4)
    """

    def apply(self, table: AnyTable) -> AnyTable:
        """Describe the rows of a table anew: `table.with_features(features, values)`.

        A row's description may depend on that row and on what was fitted, never on the other rows of the table.

        Parameters
        ----------
        table : Table
            Rows of the features that it was fitted on.

        Returns
        -------
        Table
            The same rows with new features and values.
        """
        raise NotImplementedError


class BasePreparer(Fittable):
    """Base of preparers without path parameters. A new one defines `fit`.

    Examples
    --------
    >>> from modelsel.preparer.impute import Impute
    >>> list(Impute().problems())
    []
    """

    reads: ClassVar[tuple[TaskKind, ...]] = BOTH_TASKS

    def alone(self, fitted: Any, task: AnyTask, rows: Integers) -> "SinglePreparer":
        return SinglePreparer(fitted)


@runtime_checkable
class SelectedColumns(Protocol):
    """A preparation step that only leaves features out: the table keeps `columns`, in this order, unchanged.

    Examples
    --------
    >>> from modelsel.dataset.play_tennis import PlayTennis
    >>> from modelsel.preparer.select_top import SelectTop
    >>> step = SelectTop(n=2).fit(PlayTennis().read(), np.arange(14), np.random.default_rng(0))
    >>> isinstance(step, SelectedColumns), step.columns.tolist()
    (True, [0, 2])
    """

    @property
    def columns(self) -> Integers:
        """Positions of the features that stay."""
        ...


class FeatureRanking(Protocol):
    """One fit of a preparer that answers every preparer differing from it only in path parameters.

    Examples
    --------
    >>> from modelsel.dataset.play_tennis import PlayTennis
    >>> from modelsel.preparer.select_top import SelectTop
    >>> ranking = SelectTop().fit_path(PlayTennis().read(), np.arange(14), np.random.default_rng(0))
    >>> [ranking.prepared(SelectTop(n=count)).columns.tolist() for count in (1, 2)]
    [[0], [0, 2]]
    """

    def prepared(self, preparer: object) -> FittedPreparer:
        """Return the step that `preparer.fit`, called alone, would return.

        Parameters
        ----------
        preparer : BasePreparer
            One of the preparers of equal `fit_key`.

        Returns
        -------
        FittedPreparer
            Its fitted step.
        """
        ...


@dataclass(frozen=True, eq=False)
class SinglePreparer:
    """One fitted preparer, which answers for itself alone."""

    fitted: Any

    def prepared(self, preparer: object) -> object:
        """Return what `fit` gave."""
        return self.fitted


# A table with some of its columns: what every selection of features fits.


@dataclass(frozen=True, eq=False)
class Chosen(FittedPreparer):
    """`columns` in the order of the table, so that ties between features fall as they would without the selection."""

    kind: str
    columns: Integers

    def apply(self, table: AnyTable) -> AnyTable:
        features = tuple(table.features[column] for column in self.columns)
        return table.with_features(features, table.values[:, self.columns])

    def describe(self) -> Description:
        return Description(self.kind, {}, {"columns": self.columns})


def restore_columns(kind: str, description: Description) -> Chosen:
    """Read back; ValueError when the columns are not ascending from 0."""
    columns = np.asarray(description.arrays["columns"])
    if columns.ndim != 1 or columns.dtype.kind not in "iu" or (np.diff(columns) <= 0).any() or (columns < 0).any():
        raise ValueError(f"{kind}: columns must be ascending positions")
    return Chosen(kind, columns.astype(np.int64))
