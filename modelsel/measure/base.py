"""Bases of measures: a new one is a frozen dataclass with one method.

`OverRows`: say `losses`, a loss per row; the score is their weighted mean, and so it has standard errors over rows.
`FromConfusion`: say `of`, a number per confusion matrix. `BaseMeasure`: say `score`, whatever it is computed from.

    score = Σ w_i loss_i / Σ w_i        N_ij: weight of class i predicted as j
"""

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from modelsel.core.fittable import Compiled
from modelsel.core.types import (
    CLASS_TASKS,
    NUMBER_TASKS,
    AnyTask,
    ClassOutputs,
    ClassTask,
    Codes,
    Floats,
    NumberOutputs,
    NumberTask,
    Outputs,
    Resampling,
    Targets,
    Task,
    TaskKind,
)
from modelsel.kernels.compiler import load

ROUNDING = 1e-6  # of probabilities that were kept in single precision


SHARE, FROM_0 = (0.0, 1.0), (0.0, np.inf)


class BaseMeasure(Compiled):
    """Base of measures: a number per candidate and fold. A new one defines `score`.

    Class attributes: `reads`, the kinds of task that it judges; `higher_is_better`; `needs_scores`, where it reads class
    scores and not only predicted classes, and `needs_probabilities`, where decision values, which only rank, will not do;
    `over_rows`, where the score is a mean of losses over rows, and `zero_one`, where these losses are 0 or 1; `squared`, where
    it is a square that people read by its root; `between`, what no score lies outside of.

    Examples
    --------
    >>> from modelsel.measure.kappa import Kappa
    >>> Kappa().higher_is_better
    True
    """

    reads: ClassVar[tuple[TaskKind, ...]] = CLASS_TASKS
    higher_is_better: ClassVar[bool] = True
    needs_scores: ClassVar[bool] = False  # reads class scores, and not only predicted classes
    needs_probabilities: ClassVar[bool] = False  # and takes them at their word: decision values will not do
    over_rows: ClassVar[bool] = False
    zero_one: ClassVar[bool] = False  # the loss of a row is 0 or 1, so that the score is a share of rows
    squared: ClassVar[bool] = False  # in the square of the target's unit: people read its root
    between: ClassVar[tuple[float, float]] = (-np.inf, np.inf)

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the largest score that there can be, and so of an interval for one.

        Examples
        --------
        >>> from modelsel.measure.kappa import Kappa
        >>> Kappa().bounds
        (-1.0, 1.0)
        """
        return self.between

    @classmethod
    def kernels(cls, task: AnyTask) -> tuple[str, ...]:
        return ("confusion",) if isinstance(task, ClassTask) else ()

    def problems(self, task: AnyTask, resampling: Resampling) -> Iterator[str]:
        """Yield reasons why it cannot be used on this task and these folds.

        Parameters
        ----------
        task : Task
            The development rows.
        resampling : Resampling
            Their folds.

        Yields
        ------
        str
            Sentences for the error message; none where all is well.
        """
        yield from ()

    def score(self, truth: Any, outputs: Outputs, weights: Floats | None, classes: int) -> Floats:
        """Compute one number per candidate.

        Parameters
        ----------
        truth : Codes or Floats
            Class index per row; where the target is a number, the number.
        outputs : Outputs
            `predicted`, candidates × rows, and where `needs_scores` also `scores`, candidates × rows × classes.
        weights : Floats or None
            Weight per row; None: all equal.
        classes : int
            How many classes there are; 0 where the target is a number.

        Returns
        -------
        Floats
            NaN where it is not defined on these rows. A candidate's number may not depend on the others.
        """
        raise NotImplementedError

    def losses(self, truth: Any, outputs: Outputs, classes: int) -> Floats:
        """Compute the loss per candidate and row, only where the score is their mean.

        Parameters
        ----------
        truth : Codes or Floats
            Class index per row; where the target is a number, the number.
        outputs : Outputs
            The answers of the candidates.
        classes : int
            How many classes there are; 0 where the target is a number.

        Returns
        -------
        Floats
            Candidates × rows.

        Raises
        ------
        TypeError
            Where the score is not a mean over rows.
        """
        raise TypeError(f"{type(self).__name__} is not a mean over rows")


class OverRows(BaseMeasure):
    """Base of measures that are a weighted mean over rows; lower is better. A new one defines `losses`.

    Examples
    --------
    >>> from modelsel.measure.error import Error
    >>> answers = Outputs(np.array([[0, 1, 1]], np.int32))
    >>> Error().losses(np.array([0, 0, 1], np.int32), answers, 2).tolist()
    [[0.0, 1.0, 0.0]]
    """

    higher_is_better = False
    over_rows = True

    def losses(self, truth: Any, outputs: Outputs, classes: int) -> Floats:
        """Compute the loss per candidate and row.

        Parameters
        ----------
        truth : Codes or Floats
            Class index per row; where the target is a number, the number.
        outputs : Outputs
            The answers of the candidates.
        classes : int
            How many classes there are; 0 where the target is a number.

        Returns
        -------
        Floats
            Candidates × rows.
        """
        raise NotImplementedError

    def score(self, truth: Any, outputs: Outputs, weights: Floats | None, classes: int) -> Floats:
        """Compute the weighted mean of the losses.

        Parameters
        ----------
        truth : Codes or Floats
            Class index per row; where the target is a number, the number.
        outputs : Outputs
            The answers of the candidates.
        weights : Floats or None
            Weight per row; None: all equal.
        classes : int
            How many classes there are; 0 where the target is a number.

        Returns
        -------
        Floats
            A number per candidate; NaN where no row has weight.
        """
        losses = np.ascontiguousarray(self.losses(truth, outputs, classes))  # sums are the same in any company, so no BLAS
        if weights is None:
            return np.asarray(losses.mean(axis=-1))
        total = weights.sum()
        if total == 0:  # a resample that leaves no row of a fold
            return np.full(losses.shape[:-1], np.nan)
        return np.asarray(np.einsum("...r,r->...", losses, weights / total))


class FromConfusion(BaseMeasure):
    """Base of measures that are a function of the confusion matrix. A new one defines `of`.

    Examples
    --------
    >>> from modelsel.measure.kappa import Kappa
    >>> Kappa().of(np.array([[[5.0, 0.0], [0.0, 5.0]]])).tolist()
    [1.0]
    """

    def of(self, matrices: Floats) -> Floats:
        """Compute one number per confusion matrix.

        Parameters
        ----------
        matrices : Floats
            Weights, candidates × true class × predicted class.

        Returns
        -------
        Floats
            A number per candidate; NaN where it is not defined.
        """
        raise NotImplementedError

    def score(self, truth: Codes, outputs: Outputs, weights: Floats | None, classes: int) -> Floats:
        """Compute the confusion matrices and their numbers.

        Parameters
        ----------
        truth : Codes or Floats
            Class index per row; where the target is a number, the number.
        outputs : Outputs
            The answers of the candidates.
        weights : Floats or None
            Weight per row; None: all equal.
        classes : int
            How many classes there are; 0 where the target is a number.

        Returns
        -------
        Floats
            A number per candidate.
        """
        return self.of(confusion(truth, outputs.predicted, weights, classes))


class OfNumbers(BaseMeasure):
    """Base of measures of predicted numbers that are no mean over rows. A new one defines `of`.

    Examples
    --------
    >>> from modelsel.measure.rmse import Rmse
    >>> Rmse().of(np.array([1.0, 2.0]), np.array([[1.0, 4.0]]), np.ones(2)).round(4).tolist()
    [1.4142]
    """

    reads = NUMBER_TASKS
    higher_is_better = False

    def of(self, truth: Floats, predicted: Floats, weights: Floats) -> Floats:
        """Compute one number per candidate.

        Parameters
        ----------
        truth : Floats
            The target of each row.
        predicted : Floats
            Candidates × rows.
        weights : Floats
            Weight per row, of sum above 0.

        Returns
        -------
        Floats
            A number per candidate; NaN where it is not defined.
        """
        raise NotImplementedError

    def score(self, truth: Any, outputs: Outputs, weights: Floats | None, classes: int) -> Floats:
        """Compute one number per candidate.

        Parameters
        ----------
        truth : Floats
            The target of each row.
        outputs : Outputs
            The answers of the candidates.
        weights : Floats or None
            Weight per row; None: all equal.
        classes : int
            0.

        Returns
        -------
        Floats
            NaN where no row has weight.
        """
        each = np.ones(len(truth)) if weights is None else weights
        if not each.sum():
            return np.full(len(outputs.predicted), np.nan)
        return self.of(np.asarray(truth, np.float64), np.asarray(outputs.predicted, np.float64), each)


def weighted_mean(values: Floats, weights: Floats) -> Floats:
    """Compute the weighted mean of each row of a matrix, the same in any company.

    Parameters
    ----------
    values : Floats
        … × rows.
    weights : Floats
        Weight per row.

    Returns
    -------
    Floats
        The means.

    Examples
    --------
    >>> weighted_mean(np.array([[1.0, 4.0]]), np.array([3.0, 1.0])).tolist()
    [1.75]
    """
    return np.asarray(np.einsum("...r,r->...", np.ascontiguousarray(values), weights / weights.sum()))


def tie_scale(measure: BaseMeasure, task: Task) -> float:
    """Return what the rounding of scores is relative to: of numbers the score of their mean, of classes 1.

    Parameters
    ----------
    measure : BaseMeasure
        What judges.
    task : Task
        The development rows.

    Returns
    -------
    float
        Above 0.

    Examples
    --------
    >>> from modelsel.dataset.play_tennis import PlayTennis
    >>> from modelsel.measure.error import Error
    >>> tie_scale(Error(), PlayTennis().read())
    1.0
    """
    if not isinstance(task, NumberTask):
        return 1.0
    weights = task.row_weights
    guess = NumberOutputs(np.full((1, len(task)), float(weights @ task.target / weights.sum())))
    scale = abs(float(measure.score(task.target, guess, task.weights, 0)[0]))
    return scale if np.isfinite(scale) and scale > np.finfo(np.float64).tiny * 2.0**60 and not measure.higher_is_better else 1.0


def class_scores(outputs: Outputs) -> Floats:
    """Return the class scores of some answers.

    Parameters
    ----------
    outputs : Outputs
        The answers of the candidates.

    Returns
    -------
    Floats
        Candidates × rows × classes.

    Raises
    ------
    ValueError
        Where the cell did not ask for scores.

    Examples
    --------
    >>> class_scores(Outputs(np.array([[0]], np.int32), np.array([[[0.75, 0.25]]]))).tolist()
    [[[0.75, 0.25]]]
    """
    if outputs.scores is None:
        raise ValueError("this measure reads class scores, and the outputs hold predicted classes only")
    return outputs.scores


def probabilities(outputs: Outputs) -> Floats:
    """Return the class scores of some answers, NaN for candidates of which they are no probabilities.

    Parameters
    ----------
    outputs : Outputs
        The answers of the candidates.

    Returns
    -------
    Floats
        Candidates × rows × classes.

    Raises
    ------
    ValueError
        Where the cell did not ask for scores.

    Examples
    --------
    >>> probabilities(Outputs(np.array([[0]], np.int32), np.array([[[0.75, 0.25]]]))).tolist()
    [[[0.75, 0.25]]]
    >>> probabilities(Outputs(np.array([[0]], np.int32), np.array([[[1.5, -1.5]]]))).tolist()
    [[[nan, nan]]]
    """
    scores = class_scores(outputs)
    wrong = (scores.min(axis=(1, 2), initial=0.0) < -ROUNDING) | (scores.max(axis=(1, 2), initial=1.0) > 1 + ROUNDING)
    return np.where(wrong[:, None, None], np.nan, scores) if wrong.any() else scores


def confusion(truth: Targets, predicted: Targets, weights: Floats | None, classes: int) -> Floats:
    """Count rows by true and predicted class.

    Parameters
    ----------
    truth : Codes
        Class index per row.
    predicted : Codes
        Candidates × rows.
    weights : Floats or None
        Weight per row; None: all 1.
    classes : int
        How many classes there are.

    Returns
    -------
    Floats
        Weights, candidates × true class × predicted class.

    Raises
    ------
    ValueError
        Where a predicted class is not one of the classes.

    Examples
    --------
    >>> confusion(np.array([0, 0, 1], np.int32), np.array([[0, 1, 1]], np.int32), None, 2)[0].tolist()
    [[1.0, 1.0], [0.0, 1.0]]
    """
    each = np.empty(0) if weights is None else np.ascontiguousarray(weights, np.float64)
    said = np.ascontiguousarray(predicted, np.int32)
    counts: Floats = load("confusion").count(np.ascontiguousarray(truth, np.int32), said, each, classes)
    if len(counts) < len(predicted):
        raise ValueError(f"a predicted class is not one of the {classes}")
    return counts


def right_answers(truth: Targets, classes: int) -> Outputs:
    """Return answers that are all right, with score 1 for the true class.

    Parameters
    ----------
    truth : Codes or Floats
        Class index per row; where the target is a number, the number.
    classes : int
        How many classes there are; 0 where the target is a number.

    Returns
    -------
    Outputs
        Of one candidate.

    Examples
    --------
    >>> right_answers(np.array([1, 0], np.int32), 2).scores.tolist()
    [[[0.0, 1.0], [1.0, 0.0]]]
    """
    if not classes:
        return NumberOutputs(np.asarray(truth, np.float64)[None, :])
    codes = np.asarray(truth, np.int32)
    return ClassOutputs(codes[None, :], np.eye(classes)[codes][None, :, :])


def ratio(above: Floats, below: Floats, otherwise: float) -> Floats:
    """Divide, with a value for what has no quotient.

    Parameters
    ----------
    above, below : Floats
        Arrays of one shape.
    otherwise : float
        The value where `below` is 0.

    Returns
    -------
    Floats
        The quotients.

    Examples
    --------
    >>> ratio(np.array([1.0, 1.0]), np.array([2.0, 0.0]), 0.0).tolist()
    [0.5, 0.0]
    """
    return np.divide(above, below, out=np.full_like(above, otherwise), where=below != 0)
