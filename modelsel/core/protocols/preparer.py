"""Protocols of preparation steps and their fits. A step is part of its candidate and is fitted on analysis rows only."""

from collections.abc import Iterable
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from modelsel.core.types import Description, Integers, Table, Task

AnyTable = TypeVar("AnyTable", bound=Table)


class Prepared(Protocol):
    """A fitted preparation step.

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
        """Describe the rows of a table anew, as `with_features` does.

        Parameters
        ----------
        table : Table
            Rows of the features that the step was fitted on.

        Returns
        -------
        Table
            The same rows with other features.
        """
        ...

    def describe(self) -> Description:
        """Describe the fitted step as data, which `Preparer.restore` of the same kind reads back.

        Returns
        -------
        Description
            Plain values and arrays.
        """
        ...


@runtime_checkable
class SelectedColumns(Prepared, Protocol):
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

    def prepared(self, preparer: Any) -> Prepared:
        """Return the step that `preparer.fit`, called alone, would return.

        Parameters
        ----------
        preparer : Preparer
            One of the preparers of equal `fit_key`.

        Returns
        -------
        Prepared
            Its fitted step.
        """
        ...


class Preparer(Protocol):
    """A specification of a preparation step.

    Examples
    --------
    >>> from modelsel.preparer.select_top import SelectTop
    >>> SelectTop(n=1).fit_key() == SelectTop(n=2).fit_key()  # one ranking serves both
    True
    """

    def fit_key(self) -> dict[str, Any]:
        """Return the settings that a fit depends on: all, but for path parameters.

        Returns
        -------
        dict
            Preparers of equal keys share one ranking per fold.
        """
        ...

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
        ...

    def fit_path(self, task: Task, rows: Integers, rng: np.random.Generator) -> FeatureRanking:
        """Fit once for all preparers of equal `fit_key`.

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
        FeatureRanking
            What answers each of these preparers.
        """
        ...

    def fit(self, task: Task, rows: Integers, rng: np.random.Generator) -> Prepared:
        """Fit this preparer alone.

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
        Prepared
            The fitted step.
        """
        ...

    @staticmethod
    def restore(description: Description) -> Prepared:
        """Read a fitted step back.

        Parameters
        ----------
        description : Description
            What the step's `describe` gave.

        Returns
        -------
        Prepared
            The fitted step.

        Raises
        ------
        ValueError
            Where the description is not whole.
        """
        ...
