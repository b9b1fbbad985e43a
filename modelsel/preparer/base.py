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

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from modelsel.core.described import Described, fitted_class
from modelsel.core.spec import spec_of
from modelsel.core.types import BOTH_TASKS, AnyTable, AnyTask, Description, Integers, Table, TaskKind


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


class BasePreparer:
    """Base of preparers without path parameters. A new one defines `fit`.

    Examples
    --------
    >>> from modelsel.preparer.impute import Impute
    >>> list(Impute().problems())
    []
    """

    reads: ClassVar[tuple[TaskKind, ...]] = BOTH_TASKS

    def fit(self, task: AnyTask, rows: Integers, rng: np.random.Generator) -> Any:
        """Fit on some rows of a task, which are all that it may look at.

        Parameters
        ----------
        task : Task
            The task.
        rows : Integers
            Positions of the analysis rows; a row may repeat.
        rng : numpy.random.Generator
            The only source of chance.

        Returns
        -------
        FittedPreparer
            Something with `apply` for any table of these features.
        """
        raise NotImplementedError

    def problems(self, task: Table | None = None) -> Iterable[str]:
        """List reasons why it cannot be used, by itself or on these features.

        Parameters
        ----------
        task : Table, optional
            The features; without it only the settings are judged.

        Returns
        -------
        iterable of str
            Sentences for the error message; none where all is well.
        """
        return ()

    def fit_key(self) -> dict[str, object]:
        """Return the settings that a fit depends on: all, but for path parameters.

        Returns
        -------
        dict
            Preparers of equal keys share one fit.
        """
        return spec_of(self)

    def fit_path(self, task: AnyTask, rows: Integers, rng: np.random.Generator) -> Any:
        """Fit once for all preparers of equal `fit_key`.

        Parameters
        ----------
        task : Task
            The task.
        rows : Integers
            Positions of the analysis rows.
        rng : numpy.random.Generator
            The only source of chance.

        Returns
        -------
        FeatureRanking
            What answers each of these preparers .
        """
        prepared = self.fit(task, rows, rng)
        if type(self).restore == BasePreparer.restore:
            fitted_class(type(self).fit)
            prepared.describe()  # what cannot be kept is said on the first fold, and not after the last
        return SinglePreparer(prepared)

    @classmethod
    def restore(cls, description: Description) -> object:
        """Read a fitted preparer back.

        Parameters
        ----------
        description : Description
            What its `describe` gave.

        Returns
        -------
        FittedPreparer
            The fitted preparer.

        Raises
        ------
        ValueError
            Where the description is not whole.
        """
        return fitted_class(cls.fit).of_description(description)


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
