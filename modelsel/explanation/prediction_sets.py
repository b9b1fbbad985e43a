"""Prediction sets by CV+: the classes that a row may be of, so that about a share 1 − α of new rows is of one of its set.

    E_i = 1 − s(x_i, y_i; fold model that did not see row i)
    y is in the set of x  where  #{i: E_i < 1 − s(x, y; fold model of row i)} < (1 − α)(n + 1)

s: class scores; n: development rows, each assessed by one fold model. For rows drawn independently from one distribution the
sets hold the class with probability 1 − 2α at least, but for a term that vanishes with n; in simulations it is about 1 − α,
also where the winner was chosen on the same folds. No model is fitted on all rows: new rows are asked of all fold models.
Source: Barber, Candès, Ramdas & Tibshirani (2021); Romano, Sesia & Candès (2020); the score: Sadinle, Lei & Wasserman (2019).
"""

from collections.abc import Sequence

import numpy as np

from modelsel.core.errors import ConfigurationError, Problem
from modelsel.core.types import Booleans, Candidate, Codes, Floats, Fold, Integers, Table, Task
from modelsel.record import model as archive
from modelsel.record.folder import STRANGENESS, RunFolder
from modelsel.record.model import Predictor, load
from modelsel.runner.final_fit import Final, fit

DIGITS = 12  # scores are equal to so many digits


def fold_model(candidate: Candidate, task: Task, fold: Fold, seed: int) -> tuple[Final, Floats]:
    """The model of a fold, and E of the rows that it did not see: one job of the pool. Raises what the fit raises."""
    fitted = fit(candidate, task, seed, fold.analysis)
    return fitted, conformity(fitted.scores(task.take(fold.assessment)), task.target[fold.assessment])


def conformity(scores: Floats, target: Codes) -> Floats:
    """Compute the nonconformity of each row: one less the score of the true class."""
    return np.asarray(1.0 - scores[np.arange(len(target)), target])


def prediction_sets(scores: Sequence[Floats], strangeness: Sequence[Floats], coverage: float) -> Booleans:
    """Rows × classes: which are in the set. Per fold the class scores of the new rows, and E of the rows it was not fitted on.

    Raises ValueError unless 0 < coverage < 1.

    >>> half = np.array([[0.7, 0.3], [0.5, 0.5]])
    >>> prediction_sets([half], [np.array([0.1, 0.2, 0.4, 0.6])], 0.6).tolist()
    [[True, False], [False, False]]
    """
    if not 0 < coverage < 1:
        raise ValueError(f"a share between 0 and 1 is needed, not {coverage}")
    n = sum(map(len, strangeness))
    less = n - at_least(scores, strangeness)
    return np.asarray(less < coverage * (n + 1) - 1e-9)


def at_least(scores: Sequence[Floats], strangeness: Sequence[Floats]) -> Integers:
    """Rows × classes: how many development rows are at least as strange as the class would be for the row."""
    counts = np.zeros(scores[0].shape, np.int64)
    for said, own in zip(scores, strangeness, strict=True):
        counts += len(own) - np.searchsorted(np.sort(np.round(own, DIGITS)), np.round(1.0 - said, DIGITS), side="left")
    return counts


def guaranteed_coverage(coverage: float, rows: int, folds: int) -> float:
    """The least coverage that the theorem promises.

    >>> round(guaranteed_coverage(0.9, 1000, 10), 3)  # 0.8 - min(2 · 0.9 / 101, 0.99 / 11)
    0.782
    """
    lost = min(2 * (1 - 1 / folds) / (rows / folds + 1), (1 - folds / rows) / (folds + 1))
    return max(0.0, 1 - 2 * (1 - coverage) - lost)


# Prediction sets of a recorded run: its fold models are asked, and what each thought of the rows that it did not see.

Kept = list[tuple[Predictor, Floats]]


def kept_folds(folder: RunFolder) -> Kept:
    """The winner's models of the folds. Raises ConfigurationError where none were kept, DataError where one is damaged."""
    places = sorted(folder.folds.glob("[0-9]*"))
    if not places:
        why = folder.explanation().get("sets", {}).get("failed")
        what = f"the run kept no models of its folds{f': {why}' if why else ''}"
        raise ConfigurationError(Problem("MSEL-291", what, str(folder.path), "run the study with explain.sets=true"))
    plugins = tuple(folder.config().get("plugins") or ())
    return [(load(place, plugins), archive.read_arrays(place / STRANGENESS)["strangeness"]) for place in places]


def sets_of(kept: Kept, table: Table, coverage: float) -> Booleans:
    """Rows × classes: which are in the set of a row. Raises ConfigurationError for a coverage that is none."""
    checked_share(coverage, "--sets")
    return prediction_sets([model.scores(table) for model, _ in kept], [strange for _, strange in kept], coverage)


def checked_share(coverage: float, where: str) -> None:
    """Raise ConfigurationError for a coverage that is no share of rows."""
    if not 0 < coverage < 1:
        fix = "write a share such as 0.9"
        raise ConfigurationError(Problem("MSEL-292", f"{coverage:g} is no share of rows to cover", where, fix))


def promise(kept: Kept, coverage: float) -> str:
    """State the coverage that the sets promise, in words."""
    least = guaranteed_coverage(coverage, sum(len(strange) for _, strange in kept), len(kept))
    return (
        f"sets for {100 * coverage:g} % of rows like the study's: simulations give about that; guaranteed, for rows "
        f"drawn alike, are {100 * least:.1f} %"
    )
