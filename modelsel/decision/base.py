"""Base of decisions, which turn class scores into a class and learn how from scores of rows that the model did not see.

Say `learnt`, from the scores of each inner fold, and `predicted`. A decision that learns nothing has no inner folds (`inner`
is 0). A new one is a frozen dataclass.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from modelsel.core.fittable import Judged
from modelsel.core.parts import FoldScheme, ScoringMeasure
from modelsel.core.spec import one_of, optional_part, optional_whole, whole
from modelsel.core.types import Codes, Floats, Outputs

Held = tuple[Floats, Codes, Floats]  # scores, truth and weights of the rows that one inner fit did not see


@dataclass(frozen=True)
class BaseDecision(Judged):
    """Base of decisions: a new one defines `learnt` and `predicted`.

    Parameters
    ----------
    folds : int
        Inner folds of the analysis rows, on which the operating point is chosen; at least 2.
    fold_scores : {"inner", "outer"}
        Whose scores choose: those of the inner folds, or those of the study's other outer folds.
    scheme : Scheme, optional
        The outer folds; a study puts its own here where `fold_scores` is outer.
    scheme_seed : int, optional
        Seed of the outer folds where their scheme has none of its own; a study puts its own here.

    Examples
    --------
    >>> from modelsel.decision.threshold import Threshold
    >>> list(Threshold().problems())
    []
    """

    folds: int = whole(5, least=2, help="inner folds of the analysis rows, on which the operating point is chosen")
    fold_scores: str = one_of("inner", "outer", identity=False, help="whose scores choose: inner folds or the other outer ones")
    scheme: FoldScheme | None = optional_part(
        "scheme", help="the outer folds; a study puts its own here where fold_scores is outer"
    )
    scheme_seed: int | None = optional_whole(least=0, help="seed of outer folds whose scheme has none, put here by a study")

    @property
    def inner(self) -> int:
        """The number of inner folds that it needs."""
        return self.folds

    def learnt(self, held: Sequence[Held]) -> Floats:
        """Learn the decision's numbers from the rows that each inner fit left out.

        Parameters
        ----------
        held : sequence of (Floats, Codes, Floats)
            Per inner fold the class scores (rows × classes), the class index and the weight of each row.

        Returns
        -------
        Floats
            What `predicted` is given.
        """
        raise NotImplementedError

    def predicted(self, learnt: Floats, scores: Floats) -> Codes:
        """Decide the class of each row.

        Parameters
        ----------
        learnt : Floats
            What `learnt` gave.
        scores : Floats
            Class scores, rows × classes.

        Returns
        -------
        Codes
            A class index per row.
        """
        raise NotImplementedError


def best_threshold(held: Sequence[Held], measure: ScoringMeasure, grid: int) -> float:
    """The threshold of best mean score over the folds; ties: the lowest.

    Each fold is scored at `grid` thresholds evenly between its least and largest score of the second class, and these curves
    are read off by straight lines at as many thresholds between the least and the largest of all, as scikit-learn's
    `TunedThresholdClassifierCV` does. A fold whose scores are all the same, or on which the measure is not defined, says
    nothing; where no fold says anything it is ½.
    """
    curves = [_curve(*one, measure, grid) for one in held]
    known = [(at, score) for at, score in curves if not np.isclose(at[0], at[-1]) and np.isfinite(score).all()]
    if not known:
        return 0.5
    asked = np.linspace(min(at[0] for at, _ in known), max(at[-1] for at, _ in known), grid)
    mean = np.mean([np.interp(asked, at, score) for at, score in known], axis=0)
    return float(asked[int(np.argmax(mean))])


def _curve(scores: Floats, truth: Codes, weights: Floats, measure: ScoringMeasure, grid: int) -> tuple[Floats, Floats]:
    """Thresholds, and the score at each, higher is better."""
    score = scores[:, 1]
    at = np.linspace(score.min(), score.max(), grid)
    said = (score >= at[:, None]).astype(np.int32)
    found = measure.score(truth, Outputs(said), weights, scores.shape[1])
    return at, np.asarray(found if measure.higher_is_better else -found)
