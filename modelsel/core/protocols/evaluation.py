"""Protocols of the parts that judge candidates: the outer split, folds, measures and the rule that chooses."""

from collections.abc import Iterable
from typing import Protocol

from modelsel.core.types import Codes, Floats, Outputs, Partition, Resampling, Scoreboard, Task


class Split(Protocol):
    """The outer split into development and test rows; `Partition.test` is empty for `split=none`.

    Examples
    --------
    >>> from modelsel.dataset.play_tennis import PlayTennis
    >>> from modelsel.split.random import Random
    >>> parts = Random(test=0.5).partition(PlayTennis().read())
    >>> len(parts.development), len(parts.test)
    (7, 7)
    """

    def problems(self, task: Task) -> Iterable[str]:
        """List reasons why it cannot be used on this task.

        Parameters
        ----------
        task : Task
            All rows.

        Returns
        -------
        iterable of str
            Sentences for the error message; none where all is well.
        """
        ...

    def partition(self, task: Task) -> Partition:
        """Choose the test rows.

        Parameters
        ----------
        task : Task
            All rows.

        Returns
        -------
        Partition
            Positions of the development and of the test rows; no row is in both.
        """
        ...


class Scheme(Protocol):
    """A resampling recipe.

    Examples
    --------
    >>> from modelsel.dataset.play_tennis import PlayTennis
    >>> from modelsel.scheme.kfold import Kfold
    >>> len(Kfold(folds=7).instantiate(PlayTennis().read(), seed=0).folds)
    7
    """

    def problems(self, task: Task) -> Iterable[str]:
        """List reasons why it cannot be used on this task (more folds than rows, groups that would be ignored).

        Parameters
        ----------
        task : Task
            The development rows.

        Returns
        -------
        iterable of str
            Sentences for the error message; none where all is well.
        """
        ...

    def instantiate(self, task: Task, seed: int) -> Resampling:
        """Make the folds on the rows of a task.

        Parameters
        ----------
        task : Task
            The development rows.
        seed : int
            The study's seed.

        Returns
        -------
        Resampling
            The folds, bound to these rows by the task's fingerprint.
        """
        ...


class Measure(Protocol):
    """A measure of the quality of predictions on a fold.

    Examples
    --------
    >>> import numpy as np
    >>> from modelsel.measure.error import Error
    >>> Error().score(np.array([0, 1, 1]), Outputs(np.array([[0, 1, 0]], np.int32)), None, classes=2).round(3).tolist()
    [0.333]
    """

    @property
    def higher_is_better(self) -> bool:
        """True when the largest score is the best."""
        ...

    @property
    def needs_scores(self) -> bool:
        """True when it reads class scores and not only predicted classes."""
        ...

    @property
    def over_rows(self) -> bool:
        """True when the score is the (weighted) mean of `losses` over rows."""
        ...

    def problems(self, task: Task, resampling: Resampling) -> Iterable[str]:
        """List reasons why it cannot be used on this task and these folds.

        For example a cost matrix of another size, or AUC on folds of one class.

        Parameters
        ----------
        task : Task
            The development rows.
        resampling : Resampling
            Their folds.

        Returns
        -------
        iterable of str
            Sentences for the error message; none where all is well.
        """
        ...

    def score(self, truth: Codes, outputs: Outputs, weights: Floats | None, classes: int) -> Floats:
        """Compute one number per candidate.

        Parameters
        ----------
        truth : Codes
            Class index per row.
        outputs : Outputs
            `predicted`, candidates × rows, and where `needs_scores` also `scores`, candidates × rows × classes.
        weights : Floats or None
            Weight per row; None: all equal.
        classes : int
            How many classes there are.

        Returns
        -------
        Floats
            NaN where it is not defined on these rows.
        """
        ...

    def losses(self, truth: Codes, outputs: Outputs, classes: int) -> Floats:
        """Compute the loss per candidate and row, only where `over_rows`.

        Parameters
        ----------
        truth : Codes
            Class index per row.
        outputs : Outputs
            As for `score`.
        classes : int
            How many classes there are.

        Returns
        -------
        Floats
            Candidates × rows.
        """
        ...


class Rule(Protocol):
    """A rule from scores to the chosen candidate: a pure function, so that it can be replayed and bootstrapped.

    Examples
    --------
    >>> import numpy as np
    >>> from modelsel.rule.best import Best
    >>> Best().choose(Scoreboard(
    ...     ids=("a", "b"), folds=np.array([[0.5, 0.5], [0.25, 0.25]]), mean=np.array([0.5, 0.25]), se=np.zeros(2),
    ...     complexity=np.ones(2), unit=("leaves", "leaves"), eligible=np.ones(2, bool)))
    1
    """

    def problems(self, resampling: Resampling, over_rows: bool) -> Iterable[str]:
        """List reasons why it cannot be used with these folds and this measure.

        Parameters
        ----------
        resampling : Resampling
            The folds.
        over_rows : bool
            True for a measure that is a mean over rows.

        Returns
        -------
        iterable of str
            Sentences for the error message; none where all is well.
        """
        ...

    def choose(self, board: Scoreboard) -> int:
        """Choose the winner; ties: the simpler, then the one declared first.

        Parameters
        ----------
        board : Scoreboard
            The scores of all candidates.

        Returns
        -------
        int
            The index of the winner.

        Raises
        ------
        ValueError
            Where no candidate is eligible.
        """
        ...
