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

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.types import Booleans, Candidate, Codes, Floats, Fold, NumberTask, Table, Task
from modelsel.record import model as archive
from modelsel.record.facts import UnseenRows
from modelsel.record.folder import STRANGENESS, RunFolder
from modelsel.record.model import Predictor, load
from modelsel.runner.final_fit import Final, fit

DIGITS = 12  # scores are equal to so many digits


def fold_model(candidate: Candidate, task: Task, fold: Fold, seed: int) -> tuple[Final, UnseenRows]:
    """The model of a fold, and E of the rows that it did not see: one job of the pool. Raises what the fit raises."""
    fitted = fit(candidate, task, seed, fold.analysis)
    strange = conformity(fitted.scores(task.take(fold.assessment)), np.asarray(task.target[fold.assessment], np.int32))
    return fitted, UnseenRows(strange, unit_weights(task)[fold.assessment])


def unit_weights(task: Task | NumberTask) -> Floats:
    """What each row counts: 1, or its share of the rows of its unit."""
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
        why = folder.explanation().get("sets", {}).get("failed")
        what = f"the run kept no models of its folds{f': {why}' if why else ''}"
        raise ConfigurationError(Problem("MSEL-291", what, str(folder.path), "run the study with explanations.sets=true"))
    plugins = tuple(folder.config().get("plugins") or ())
    return [(load(place, plugins), _unseen(archive.read_arrays(place / STRANGENESS))) for place in places]


def _unseen(arrays: Mapping[str, Any]) -> UnseenRows:
    """What a fold's file holds; one that was written before units were weighed says 1 of each row."""
    strangeness = arrays["strangeness"]
    return UnseenRows(strangeness, arrays.get("weight", np.ones(len(strangeness))))


def is_nested(folder: RunFolder) -> bool:
    """Say whether each fold's model was chosen on its analysis rows alone."""
    return bool(folder.explanation().get("sets", {}).get("nested", False))


def count_unseen(kept: Kept) -> tuple[int, str]:
    """How many rows, or units, the folds' models have not seen, in all, and which of both."""
    rows, many = sum(len(unseen.weight) for _, unseen in kept), sum(float(unseen.weight.sum()) for _, unseen in kept)
    return (rows, "rows") if abs(many - rows) < 1e-6 else (round(many), "units")


def sets_of(kept: Kept, table: Table, coverage: float) -> Booleans:
    """Rows × classes: which are in the set of a row. Raises ConfigurationError for a coverage that is none."""
    checked_share(coverage, "--sets")
    scores, unseen = [model.scores(table) for model, _ in kept], [own for _, own in kept]
    return prediction_sets(scores, [own.strangeness for own in unseen], coverage, [own.weight for own in unseen])


def checked_share(coverage: float, where: str) -> None:
    """Raise ConfigurationError for a coverage that is no share of rows."""
    if not 0 < coverage < 1:
        fix = "write a share such as 0.9"
        raise ConfigurationError(Problem("MSEL-292", f"{coverage:g} is no share of rows to cover", where, fix))


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
