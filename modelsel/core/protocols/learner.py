"""Protocols of learners, their fits and their models.

A part is a frozen dataclass (its specification); what it fits is another object. Nothing is mutated.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from modelsel.core.types import Codes, Description, Floats, Integers, Outputs, Table, Task


class Model(Protocol):
    """A fitted learner. It reads features by position; the recorder matches names before it calls.

    Examples
    --------
    >>> from modelsel.dataset.play_tennis import PlayTennis
    >>> from modelsel.learner.majority import Majority
    >>> task = PlayTennis().read()
    >>> model = Majority().fit(task, np.arange(14), np.random.default_rng(0))
    >>> model.predict(task)[:3].tolist()
    [1, 1, 1]
    """

    def predict(self, table: Table) -> Codes:
        """Predict the class of each row.

        Parameters
        ----------
        table : Table
            Rows of the features that the model was fitted on.

        Returns
        -------
        Codes
            A class index per row.
        """
        ...

    def scores(self, table: Table) -> Floats:
        """Compute class scores of the rows of a table.

        Parameters
        ----------
        table : Table
            Rows of the features that the model was fitted on.

        Returns
        -------
        Floats
            Rows × classes, each row at least 0 and of sum 1.
        """
        ...

    def describe(self) -> Description:
        """Describe the model as data, which `Learner.restore` of the same kind reads back.

        Returns
        -------
        Description
            Plain values and arrays.
        """
        ...


class Path(Protocol):
    """One fit that answers every learner which differs from it only in path parameters.

    `complexity`, `training_error`, `held_back` and `never_judged` are the measured columns of a cell's result: a path may
    leave any of them out.

    Examples
    --------
    >>> from modelsel.dataset.play_tennis import PlayTennis
    >>> from modelsel.learner.knn import Knn
    >>> task, rows = PlayTennis().read(), np.arange(14)
    >>> path = Knn().fit_path(task, rows, np.random.default_rng(0))
    >>> path.outputs([Knn(k=1), Knn(k=3), Knn(k=14)], task, rows, scores=False).predicted.shape
    (3, 14)
    """

    def outputs(self, learners: Sequence[Any], table: Table, rows: Integers, scores: bool) -> Outputs:
        """Return what each learner, fitted alone, would answer: classes equal, scores to 1e-12.

        Parameters
        ----------
        learners : sequence of Learner
            Learners of the same `fit_key`.
        table : Table
            A table of the features that the path was fitted on.
        rows : Integers
            Positions of the rows that are asked about.
        scores : bool
            True where class scores are asked for too.

        Returns
        -------
        Outputs
            Learners × rows.
        """
        ...

    def complexity(self, learners: Sequence[Any]) -> Floats:
        """Compute the size of each learner's model.

        Parameters
        ----------
        learners : sequence of Learner
            Learners of the same `fit_key`.

        Returns
        -------
        Floats
            A number per learner, at least 0, in the learner's `unit`.
        """
        ...

    def training_error(self, learners: Sequence[Any]) -> Floats:
        """Compute each learner's weighted share of misclassified analysis rows.

        Parameters
        ----------
        learners : sequence of Learner
            Learners of the same `fit_key`.

        Returns
        -------
        Floats
            From 0 to 1; NaN where it would cost another fit. The learner's `no_training_error` then tells the report why.
        """
        ...

    def model(self, learner: Any) -> Model:
        """Return the model that the learner's `fit` would return.

        Parameters
        ----------
        learner : Learner
            One of the learners that the path answers for.

        Returns
        -------
        Model
            Its model.
        """
        ...


@runtime_checkable
class SubsetPath(Path, Protocol):
    """A path that also answers for fewer features: one fit on all of them serves every `SelectedColumns` before the learner.

    Examples
    --------
    >>> from modelsel.dataset.play_tennis import PlayTennis
    >>> from modelsel.learner.naive_bayes import NaiveBayes
    >>> path = NaiveBayes().fit_path(PlayTennis().read(), np.arange(14), np.random.default_rng(0))
    >>> isinstance(path, SubsetPath)
    True
    """

    def subset(self, columns: Integers) -> Path:
        """Return the path that a fit on just these columns would give.

        Parameters
        ----------
        columns : Integers
            Positions of the features that stay.

        Returns
        -------
        Path
            Its `outputs` still read tables with all columns; its models read tables with just these.
        """
        ...


class Learner(Protocol):
    """A specification of how to learn. Frozen, hashable; see `core.spec` for how its fields are declared.

    Examples
    --------
    >>> from modelsel.learner.knn import Knn
    >>> Knn(k=1).fit_key() == Knn(k=3).fit_key()  # one fit answers both
    True
    """

    @property
    def unit(self) -> str:
        """The unit of its complexity: leaves, stored rows, table entries, ..."""
        ...

    @property
    def holds_gil(self) -> bool:
        """True when fitting holds the interpreter lock, so that processes serve better than threads."""
        ...

    def fit_key(self) -> dict[str, Any]:
        """Return the settings that a fit depends on: all, but for path parameters.

        Returns
        -------
        dict
            Learners of equal keys share one fit.
        """
        ...

    def problems(self, task: Table | None = None) -> Iterable[str]:
        """List reasons why this combination of settings is not valid, by itself or on these features.

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

    def refusal(self, task: Task, rows: Integers) -> str | None:
        """Say why it cannot be fitted on just these rows (k larger than the rows): then the candidate is skipped on them.

        Parameters
        ----------
        task : Task
            The task.
        rows : Integers
            Positions of the analysis rows.

        Returns
        -------
        str or None
            The reason; None where it can be fitted.
        """
        ...

    def fit_path(self, task: Task, rows: Integers, rng: np.random.Generator) -> Path:
        """Fit once for all learners of equal `fit_key`.

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
        Path
            What answers each of these learners.
        """
        ...

    def fit(self, task: Task, rows: Integers, rng: np.random.Generator) -> Model:
        """Fit this learner alone.

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
        Model
            The fitted model.
        """
        ...

    @staticmethod
    def restore(description: Description) -> Model:
        """Read a model back; every index in it is checked.

        Parameters
        ----------
        description : Description
            What the model's `describe` gave.

        Returns
        -------
        Model
            The model.

        Raises
        ------
        ValueError
            Where the description is not whole.
        """
        ...
