"""Intervals of predicted numbers that survive the choice: CV+ about the choice repeated.

    c(k)  the candidate that the study's rule takes by the scores of all folds but k
    R_i   |y_i − ŷ_i|, ŷ_i: what c(k)'s model says, fitted on the other folds, of row i of fold k
    low   the ⌊α(n + 1)⌋-th smallest of ŷ(x; model of row i's fold) − R_i
    high  the ⌈(1 − α)(n + 1)⌉-th smallest of ŷ(x; model of row i's fold) + R_i

The winner's own residuals are too small where it won because they were: no row has a part in the choice whose residual it gives
here. For models fixed beforehand, and for c(k) that is chosen on the analysis rows of fold k alone (`explanations.sets=nested`:
choosing and fitting are one learner then), the theorem promises 1 − 2α, less a term that vanishes with n (Barber, Candès,
Ramdas & Tibshirani 2021). Of the choice repeated it does not hold to the letter, since the scores that choose for fold k are
those of models that have seen its rows. Of rows in units n counts units, and the rows of one count 1 together. What is covered
is counted by `python -m benchmarks.simulations.prediction_intervals`.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from modelsel.core.types import Candidate, Floats, Fold, Scoreboard, Table, Task
from modelsel.explanation.prediction_sets import Kept, checked_share, count_unseen, guaranteed_coverage, unit_weights
from modelsel.record.facts import UnseenRows
from modelsel.rule.base import BaseRule
from modelsel.runner.final_fit import Final, fit

ROOM = 1 << 22  # ends of intervals held at a time


def choices(rule: BaseRule, board: Scoreboard, folds: Sequence[Fold]) -> Iterator[int]:
    """Yield the candidate that the rule takes without each fold; standard errors are those over the other folds."""
    for place in range(len(folds)):
        others = np.delete(board.folds, place, axis=1)
        many = others.shape[1]
        se = others.std(axis=1, ddof=1) / math.sqrt(many) if many > 1 else np.full(len(others), np.nan)
        yield int(rule.choose(replace(board, folds=others, mean=others.mean(axis=1), se=se)))


def fold_residuals(candidate: Candidate, task: Task, fold: Fold, seed: int) -> tuple[Final, UnseenRows]:
    """The model of a fold, and R of the rows that it did not see: one job of the pool. Raises what the fit raises."""
    fitted = fit(candidate, task, seed, fold.analysis)
    off = np.abs(task.target[fold.assessment] - fitted.predict(task.take(fold.assessment)))
    return fitted, UnseenRows(off, unit_weights(task)[fold.assessment])


def prediction_intervals(
    said: Sequence[Floats], residuals: Sequence[Floats], coverage: float, weights: Sequence[Floats] | None = None
) -> tuple[Floats, Floats]:
    """Ends of the interval of each row. Per fold what its model says of the new rows, and R of the rows it was not fitted on.

    `weights` per fold are what its rows count, 1 unless they are given. Infinite where rows are too few for such a coverage.

    >>> low, high = prediction_intervals([np.array([5.0])], [np.array([1.0, 2.0, 3.0, 4.0])], 0.6)
    >>> low.tolist(), high.tolist()
    ([2.0], [8.0])
    """
    weight = np.concatenate([np.ones(len(off)) for off in residuals] if weights is None else weights)
    needed = coverage * (weight.sum() + 1) - 1e-9
    return -_upper([-own for own in said], residuals, weight, needed), _upper(said, residuals, weight, needed)


def _upper(said: Sequence[Floats], residuals: Sequence[Floats], weight: Floats, needed: float) -> Floats:
    """Per new row the least number up to which ŷ + R has the weight that is needed; infinite where it has less in all."""
    found = np.full(len(said[0]), np.inf)
    if weight.sum() < needed:
        return found
    step, last = max(1, ROOM // len(weight)), math.ceil(needed) - 1
    for start in range(0, len(found), step):
        rows = slice(start, start + step)
        ends = np.concatenate([own[rows, None] + off for own, off in zip(said, residuals, strict=True)], axis=1)
        if (weight == 1).all():
            found[rows] = np.partition(ends, last, axis=1)[:, last]
            continue
        order = np.argsort(ends, axis=1, kind="stable")
        place = (np.cumsum(weight[order], axis=1) < needed).sum(axis=1)
        found[rows] = np.take_along_axis(ends, np.take_along_axis(order, place[:, None], axis=1), axis=1)[:, 0]
    return found


def intervals_of(kept: Kept, table: Table, coverage: float) -> tuple[Floats, Floats]:
    """Ends of the interval of each row of a table. Raises ConfigurationError for a coverage that is none."""
    checked_share(coverage, "--interval")
    said, unseen = [np.asarray(model.predict(table), np.float64) for model, _ in kept], [own for _, own in kept]
    return prediction_intervals(said, [own.strangeness for own in unseen], coverage, [own.weight for own in unseen])


def words(kept: Kept, coverage: float, nested: bool = False) -> str:
    """State what the intervals are, and what a theorem promises: of the choice repeated nothing."""
    many, what = count_unseen(kept)
    of_units, anew = " of new units" if what == "units" else "", "made anew" if nested else "repeated"
    least = guaranteed_coverage(coverage, many, len(kept))
    promised = f"a theorem promises {100 * least:.1f} % where {what} are drawn alike" if nested else "no theorem promises it"
    return (
        f"intervals for {100 * coverage:g} % of rows like the study's{of_units}, by CV+ of the choice {anew} on {len(kept)} "
        f"folds (residuals of {many} {what}): simulations give about that, and {promised}"
    )
