"""What parts of several groups say alike: why they cannot be used, what they compile, how they are fitted and read back."""

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np

from modelsel.core.described import fitted_class
from modelsel.core.spec import spec_of
from modelsel.core.types import AnyTask, Description, Integers, Table


class Compiled:
    """A part that may use compiled loops.

    Examples
    --------
    >>> Compiled.kernels(None)
    ()
    """

    @classmethod
    def kernels(cls, task: AnyTask) -> tuple[str, ...]:
        """Return the files of kernels that it uses, which a study compiles before its cells.

        Parameters
        ----------
        task : Task or NumberTask
            The study's task.

        Returns
        -------
        tuple of str
            Names of files of `modelsel/kernels`.
        """
        return ()


class Judged:
    """A part that may refuse its settings, or the features of a task.

    Examples
    --------
    >>> list(Judged().problems())
    []
    """

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


class Fittable(Judged):
    """A part that is fitted on rows: a learner or a preparer. Those that differ in path parameters alone share a fit.

    Examples
    --------
    >>> from modelsel.core.spec import make
    >>> make("learner", "knn", k=3).fit_key() == make("learner", "knn", k=5).fit_key()
    True
    """

    path_parameters: ClassVar[tuple[str, ...]] = ()  # settings that are read off a fit; all others are what it depends on

    def fit(self, task: AnyTask, rows: Integers, rng: np.random.Generator) -> Any:
        """Fit on some rows of a task, which are all that it may look at.

        Parameters
        ----------
        task : Task
            `values` (rows × features, NaN where missing, levels as numbers), `target` (class indices), `row_weights`.
        rows : Integers
            Positions of the analysis rows; a row may repeat.
        rng : numpy.random.Generator
            The only source of chance.

        Returns
        -------
        FittedModel or FittedPreparer
            Something with `predict` and `scores`, or with `apply`, for any table of these features.
        """
        raise NotImplementedError

    def fit_key(self) -> dict[str, object]:
        """Return the settings that a fit depends on: all, but for path parameters.

        Returns
        -------
        dict
            Parts of equal keys share one fit.
        """
        return spec_of(self, self.path_parameters)

    def fit_path(self, task: AnyTask, rows: Integers, rng: np.random.Generator) -> Any:
        """Fit once for all parts of equal `fit_key`.

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
        Path or FeatureRanking
            What answers each of these parts.
        """
        fitted = self.fit(task, rows, rng)
        if getattr(type(self).restore, "__func__", None) is Fittable.restore.__func__:  # type: ignore[attr-defined]
            fitted_class(type(self).fit)
            fitted.describe()  # what cannot be kept is said on the first fold, and not after the last
        return self.alone(fitted, task, rows)

    def alone(self, fitted: Any, task: AnyTask, rows: Integers) -> Any:
        """Return what `fit` gave as an answer for this part alone.

        Parameters
        ----------
        fitted : FittedModel or FittedPreparer
            What `fit` gave.
        task : Task
            The task.
        rows : Integers
            Positions of the analysis rows.

        Returns
        -------
        Path or FeatureRanking
            What answers this part.
        """
        raise NotImplementedError

    @classmethod
    def restore(cls, description: Description) -> object:
        """Read back what `fit` gave.

        Parameters
        ----------
        description : Description
            What its `describe` gave.

        Returns
        -------
        FittedModel or FittedPreparer
            The same again.

        Raises
        ------
        ValueError
            Where the description is not whole.
        """
        return fitted_class(cls.fit).of_description(description)
