"""Prediction sets by CV+: the classes that a row may be of, so that about a share 1 − α of new rows is of one of its set.

    E_i = 1 − s(x_i, y_i; fold model that did not see row i)
    y is in the set of x  where  #{i: E_i < 1 − s(x, y; fold model of row i)} < (1 − α)(n + 1)

s: class scores; n: development rows, each assessed by one fold model. A fold's model is that of the candidate which the study's
rule takes by the scores of the other folds (`choices`), so that no row has a part in the choice whose strangeness it gives.
For models fixed beforehand, and rows drawn independently from one distribution, the sets hold the class with probability 1 − 2α
at least, but for a term that vanishes with n; in simulations it is about 1 − α. No model is fitted on all rows: new rows are
asked of all fold models. Of rows in units n counts units, and the rows of one count 1 together: sets are for a row of a new
unit. Source: Barber, Candès, Ramdas & Tibshirani (2021); Romano, Sesia & Candès (2020); the score: Sadinle, Lei & Wasserman
(2019); units: Dunn, Wasserman & Ramdas (2023), Lee, Barber & Willett (2023).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.types import Booleans, Candidate, Codes, Floats, Fold, NumberTask, Scoreboard, Table, Task
from modelsel.record import model as archive
from modelsel.record.facts import UnseenRows
from modelsel.record.folder import STRANGENESS, RunFolder
from modelsel.record.model import Predictor, load
from modelsel.rule.base import BaseRule
from modelsel.runner.final_fit import Final, fit

DIGITS = 12  # scores are equal to so many digits


def fold_model(candidate: Candidate, task: Task, fold: Fold, seed: int) -> tuple[Final, UnseenRows]:
    """The model of a fold, and E of the rows that it did not see: one job of the pool. Raises what the fit raises."""
    fitted = fit(candidate, task, seed, fold.analysis)
    strange = conformity(fitted.scores(task.take(fold.assessment)), np.asarray(task.target[fold.assessment], np.int32))
    return fitted, UnseenRows(strange, unit_weights(task)[fold.assessment])


def unit_weights(task: Task | NumberTask) -> Floats:
    """Return the weight of each row: 1, or its share of the rows of its unit."""
    units = task.groups if task.units is None else task.units
    if units is None:
        return np.ones(len(task))
    _, of, rows = np.unique(units, return_inverse=True, return_counts=True)
    return np.asarray(1.0 / rows[of])


def conformity(scores: Floats, target: Codes) -> Floats:
    """Compute the nonconformity of each row: one less the score of the true class."""
    return np.asarray(1.0 - scores[np.arange(len(target)), target])


def prediction_sets(
    scores: Sequence[Floats], strangeness: Sequence[Floats], coverage: float, weights: Sequence[Floats] | None = None
) -> Booleans:
    """Rows × classes: which are in the set. Per fold the class scores of the new rows, and E of the rows it was not fitted on.

    `weights` per fold are what its rows count, 1 unless they are given.

    Raises ValueError unless 0 < coverage < 1.

    >>> half = np.array([[0.7, 0.3], [0.5, 0.5]])
    >>> prediction_sets([half], [np.array([0.1, 0.2, 0.4, 0.6])], 0.6).tolist()
    [[True, False], [False, False]]
    """
    if not 0 < coverage < 1:
        raise ValueError(f"a share between 0 and 1 is needed, not {coverage}")
    weights = [np.ones(len(own)) for own in strangeness] if weights is None else weights
    n = float(sum(own.sum() for own in weights))
    return np.asarray(less_strange(scores, strangeness, weights) < coverage * (n + 1) - 1e-9)


def less_strange(scores: Sequence[Floats], strangeness: Sequence[Floats], weights: Sequence[Floats]) -> Floats:
    """Rows × classes: weight of the development rows that are less strange than the class would be for the row."""
    found = np.zeros(scores[0].shape)
    for said, own, weight in zip(scores, strangeness, weights, strict=True):
        rounded = np.round(own, DIGITS)
        order = np.argsort(rounded, kind="stable")
        below = np.r_[0.0, np.cumsum(weight[order])]
        found += below[np.searchsorted(rounded[order], np.round(1.0 - said, DIGITS), side="left")]
    return found


def guaranteed_coverage(coverage: float, rows: int, folds: int) -> float:
    """The least coverage that the theorem promises.

    >>> round(guaranteed_coverage(0.9, 1000, 10), 3)  # 0.8 - min(2 · 0.9 / 101, 0.99 / 11)
    0.782
    """
    lost = min(2 * (1 - 1 / folds) / (rows / folds + 1), (1 - folds / rows) / (folds + 1))
    return max(0.0, 1 - 2 * (1 - coverage) - lost)


# Prediction sets of a recorded run: its fold models are asked, and what each thought of the rows that it did not see.

Kept = list[tuple[Predictor, UnseenRows]]


def kept_folds(folder: RunFolder) -> Kept:
    """The models of the folds, of the choice repeated.

    Raises ConfigurationError where none were kept, DataError where one is damaged.
    """
    places = sorted(folder.folds.glob("[0-9]*"))
    if not places:
        why = folder.explanation().sets.failed
        what = f"the run kept no models of its folds{f': {why}' if why else ''}"
        raise ConfigurationError(Problem("MSEL-291", what, str(folder.path), "run the study with explanations.sets=true"))
    plugins = tuple(folder.config().get("plugins") or ())
    return [(load(place, plugins), _read_unseen(archive.read_arrays(place / STRANGENESS))) for place in places]


def _read_unseen(arrays: Mapping[str, Any]) -> UnseenRows:
    """What a fold's file holds; one that was written before units were weighed says 1 of each row."""
    strangeness = arrays["strangeness"]
    return UnseenRows(strangeness, arrays.get("weight", np.ones(len(strangeness))))


def is_nested(folder: RunFolder) -> bool:
    """Say whether each fold's model was chosen on its analysis rows alone."""
    return folder.explanation().sets.nested


def count_unseen(kept: Kept) -> tuple[int, str]:
    """Count the rows, or units, that the folds' models have not seen, in all, and which of both."""
    rows, many = sum(len(unseen.weight) for _, unseen in kept), sum(float(unseen.weight.sum()) for _, unseen in kept)
    return (rows, "rows") if abs(many - rows) < 1e-6 else (round(many), "units")


def sets_of(kept: Kept, table: Table, coverage: float) -> Booleans:
    """Rows × classes: which are in the set of a row. Raises ConfigurationError for a coverage that is none."""
    check_coverage(coverage, "--sets")
    scores, unseen = [model.scores(table) for model, _ in kept], [own for _, own in kept]
    return prediction_sets(scores, [own.strangeness for own in unseen], coverage, [own.weight for own in unseen])


def check_coverage(coverage: float, where: str) -> None:
    """Raise ConfigurationError for a coverage that is not a share of rows."""
    if not 0 < coverage < 1:
        fix = "write a share such as 0.9"
        raise ConfigurationError(Problem("MSEL-292", f"{coverage:g} is not a share of rows to cover", where, fix))


def promise(kept: Kept, coverage: float, nested: bool = False) -> str:
    """State the coverage that the sets promise, in words."""
    many, what = count_unseen(kept)
    least = guaranteed_coverage(coverage, many, len(kept))
    of_units = " of new units" if what == "units" else ""
    anew, fixed = ("made anew", "for") if nested else ("repeated", "for models fixed beforehand, and")
    return (
        f"sets for {100 * coverage:g} % of rows like the study's{of_units}, by CV+ of the choice {anew} on {len(kept)} "
        f"folds: simulations give about that; {fixed} {what} drawn alike, it is {100 * least:.1f} % by a theorem"
    )


# Intervals of predicted numbers that survive the choice: CV+ about the choice repeated.
#
#     c(k)  the candidate that the study's rule takes by the scores of all folds but k
#     R_i   |y_i − ŷ_i|, ŷ_i: what c(k)'s model says, fitted on the other folds, of row i of fold k
#     low   the ⌊α(n + 1)⌋-th smallest of ŷ(x; model of row i's fold) − R_i
#     high  the ⌈(1 − α)(n + 1)⌉-th smallest of ŷ(x; model of row i's fold) + R_i
#
# The winner's own residuals are too small where it won because they were: no row has a part in the choice whose residual it
# gives here. For models fixed beforehand, and for c(k) that is chosen on the analysis rows of fold k alone
# (`explanations.sets=nested`: choosing and fitting are one learner then), the theorem promises 1 − 2α, less a term that
# vanishes with n (Barber, Candès, Ramdas & Tibshirani 2021). Of the choice repeated it does not hold to the letter, since the
# scores that choose for fold k are those of models that have seen its rows. Of rows in units n counts units, and the rows of
# one count 1 together. What is covered is counted by `python -m benchmarks.simulations.prediction_intervals`.


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
    check_coverage(coverage, "--interval")
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
