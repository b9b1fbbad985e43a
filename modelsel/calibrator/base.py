"""Bases of calibrators, which turn scores into probabilities and learn how from scores of rows that the model did not see.

    two classes   p_2 = g(s_2), p_1 = 1 − p_2
    more          p_c ∝ g_c(s_c), each class against the rest; all zero: evenly

`ClassByClass`: say `parameters`, what is learnt of one class, and `value`, the chance that a score then has. A calibrator
that reads all scores of a row at once (`temperature`) is a `BaseCalibrator` and says `fitted` and `applied`. A new one is a
frozen dataclass. Where the rows hold one class only there is nothing to learn, and the scores stay as they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from modelsel.core.parts import FoldScheme
from modelsel.core.spec import class_of, one_of, optional_part, optional_whole, spec_of, whole
from modelsel.core.types import Booleans, Codes, Description, Floats


@dataclass(frozen=True, eq=False)
class Calibration:
    """A calibrator with what it has learnt.

    Parameters
    ----------
    calibrator : BaseCalibrator
        The calibrator.
    learnt : tuple of Floats
        An array per class that is calibrated, empty where there was nothing to learn.

    Examples
    --------
    >>> from modelsel.calibrator.platt import Platt
    >>> scores = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4], [0.3, 0.7]])
    >>> learnt = Platt().fit(scores, np.array([0, 1, 1, 0]), np.ones(4))
    >>> learnt(scores).sum(axis=1).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """

    calibrator: "BaseCalibrator"
    learnt: tuple[Floats, ...]

    def __call__(self, scores: Floats) -> Floats:
        """Calibrated scores, rows × classes, each row at least 0 and of sum 1."""
        found: Floats = self.calibrator.applied(self.learnt, scores)
        return found

    def describe(self) -> Description:
        """Return the calibration as data.

        Returns
        -------
        Description
            Settings as facts, and what was learnt as arrays.
        """
        spec = spec_of(self.calibrator)
        arrays = {f"learnt{place}": one for place, one in enumerate(self.learnt)}
        settings = {name: value for name, value in spec.items() if name not in ("kind", "scheme", "scheme_seed")}
        return Description(str(spec["kind"]), {"settings": settings}, arrays)


def restore_calibration(description: Description) -> Calibration:
    """Read a calibration back; ValueError, KeyError or TypeError when it is not whole."""
    calibrator = class_of("calibrator", description.kind)(**description.facts["settings"])
    learnt = tuple(_numbers(description.arrays[f"learnt{place}"]) for place in range(len(description.arrays)))
    if not learnt:
        raise ValueError("a calibration that has learnt nothing of any class")
    return Calibration(calibrator, learnt)


@dataclass(frozen=True)
class BaseCalibrator:
    """Base of calibrators: a new one defines `fitted` and `applied`.

    Parameters
    ----------
    folds : int
        Inner folds of the analysis rows, whose models give the scores that it learns from; at least 2.
    fold_scores : str
        `inner`, or `outer`: the scores of the other outer folds teach, which are fewer fits.
    scheme : object, optional
        The outer folds; a study puts its own here.
    scheme_seed : int, optional
        Seed of the outer folds where their scheme has none of its own; a study puts its own here.

    Examples
    --------
    >>> from modelsel.calibrator.temperature import Temperature
    >>> Temperature().folds
    5
    """

    reads_decisions: ClassVar[bool] = False  # scores may be decision values, and not only probabilities

    folds: int = whole(5, least=2, help="inner folds of the analysis rows, whose models give the scores that it learns from")
    fold_scores: str = one_of("inner", "outer", identity=False, help="whose scores teach: inner folds or the other outer ones")
    scheme: FoldScheme | None = optional_part(
        "scheme", help="the outer folds; a study puts its own here where fold_scores is outer"
    )
    scheme_seed: int | None = optional_whole(least=0, help="seed of outer folds whose scheme has none, put here by a study")

    def fit(self, scores: Floats, truth: Codes, weights: Floats) -> Calibration:
        """Learn from class scores of rows that the model behind them did not see.

        Parameters
        ----------
        scores : Floats
            Class scores, rows × classes, each row of sum 1, of models that did not see their rows.
        truth : Codes
            Class index per row.
        weights : Floats
            Weight per row.

        Returns
        -------
        Calibration
            What turns scores into probabilities.
        """
        return Calibration(self, self.fitted(scores, truth, weights))

    def fitted(self, scores: Floats, truth: Codes, weights: Floats) -> tuple[Floats, ...]:
        """Learn the calibration's parameters.

        Parameters
        ----------
        scores : Floats
            Class scores, rows × classes.
        truth : Codes
            Class index per row.
        weights : Floats
            Weight per row.

        Returns
        -------
        tuple of Floats
            What `applied` is given.
        """
        raise NotImplementedError

    def applied(self, learnt: Sequence[Floats], scores: Floats) -> Floats:
        """Calibrate scores by what was learnt.

        Parameters
        ----------
        learnt : sequence of Floats
            What `fitted` gave.
        scores : Floats
            Class scores, rows × classes.

        Returns
        -------
        Floats
            Probabilities, rows × classes, each row of sum 1.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class ClassByClass(BaseCalibrator):
    """Base of calibrators that treat each class by itself, and of two classes the second.

    Parameters
    ----------
    folds : int
        Inner folds of the analysis rows, whose models give the scores that it learns from; at least 2.
    fold_scores : str
        `inner`, or `outer`: the scores of the other outer folds teach, which are fewer fits.
    scheme : object, optional
        The outer folds; a study puts its own here.
    scheme_seed : int, optional
        Seed of the outer folds where their scheme has none of its own; a study puts its own here.

    Examples
    --------
    >>> from modelsel.calibrator.isotonic import Isotonic
    >>> isinstance(Isotonic(), ClassByClass)
    True
    """

    def parameters(self, score: Floats, positive: Booleans, weights: Floats) -> Floats:
        """Learn the parameters of one class.

        Parameters
        ----------
        score : Floats
            The class's score per row.
        positive : Booleans
            The rows of the class; both these and others are present.
        weights : Floats
            Weight per row.

        Returns
        -------
        Floats
            What `value` is given.
        """
        raise NotImplementedError

    def value(self, learnt: Floats, score: Floats) -> Floats:
        """Return the probability that each score has.

        Parameters
        ----------
        learnt : Floats
            What `parameters` gave.
        score : Floats
            The class's score per row.

        Returns
        -------
        Floats
            Probabilities in [0, 1].
        """
        raise NotImplementedError

    def fitted(self, scores: Floats, truth: Codes, weights: Floats) -> tuple[Floats, ...]:
        there = weights > 0
        scores, truth, weights = scores[there], truth[there], weights[there]
        return tuple(self._one(scores[:, one], truth == one, weights) for one in _classes_with_curves(scores.shape[1]))

    def applied(self, learnt: Sequence[Floats], scores: Floats) -> Floats:
        each = [
            self.value(own, scores[:, one]) if len(own) else np.clip(scores[:, one], 0.0, 1.0)
            for one, own in zip(_classes_with_curves(scores.shape[1]), learnt, strict=True)
        ]
        if len(each) == 1:
            return np.column_stack([1.0 - each[0], each[0]])
        table = np.column_stack(each)
        total = table.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(table, total, out=np.full_like(table, 1.0 / table.shape[1]), where=total > 0))

    def _one(self, score: Floats, positive: Booleans, weights: Floats) -> Floats:
        return self.parameters(score, positive, weights) if 0 < positive.sum() < len(positive) else np.zeros(0)


def _classes_with_curves(classes: int) -> range:
    """The classes that get a curve of their own."""
    return range(1, 2) if classes == 2 else range(classes)


def _numbers(array: NDArray[np.generic]) -> Floats:
    """Check that stored numbers are one-dimensional and finite."""
    found = np.asarray(array, np.float64)
    if found.ndim != 1 or not np.isfinite(found).all():
        raise ValueError("what a calibration has learnt are finite numbers")
    return found
