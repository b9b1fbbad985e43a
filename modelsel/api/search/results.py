"""`cv_results_` of a search, with scikit-learn's keys: parameters, scores of each fold, means, ranks, times."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.api.search.cells import CandidateScores, usual_size
from modelsel.api.search.scoring import Scorings
from modelsel.core.types import Candidate, Floats, round_to_scale
from modelsel.foreign import objects
from modelsel.learner.object import Object
from modelsel.record.candidates import differing

TRAIN, TEST = "train", "test"


def parameters(candidates: Sequence[Candidate]) -> list[dict[str, object]]:
    """The parameters of each candidate: of an object by the user's own names, of others those that differ in their entry.

    `learner` names the entry, but where a single one holds objects, as in GridSearchCV.
    """
    by_entry: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        by_entry.setdefault(candidate.entry, []).append(candidate)
    telling = {entry: differing([one.parameters for one in own]) for entry, own in by_entry.items()}
    alone = len(by_entry) == 1 and all(isinstance(one.learner, Object) for one in candidates)
    return [({} if alone else {"learner": one.entry}) | _own(one, telling[one.entry]) for one in candidates]


def _own(candidate: Candidate, telling: Collection[str]) -> dict[str, Any]:
    if isinstance(candidate.learner, Object):
        return {name: objects.read_parameter(value) for name, value in candidate.learner.params.items()}
    return {name: value for name, value in candidate.parameters.items() if name in telling}


def results(found: CandidateScores, scorings: Scorings, params: list[dict[str, object]]) -> dict[str, Any]:
    """`cv_results_`; candidates that failed have NaN and the last rank."""
    names = dict.fromkeys(name for one in params for name in one)
    told: dict[str, object] = {
        "mean_fit_time": found.seconds.mean(axis=1), "std_fit_time": found.seconds.std(axis=1),
        "mean_score_time": np.zeros(len(params)), "std_score_time": np.zeros(len(params)),
        **{f"param_{name}": _mask([one.get(name, np.ma.masked) for one in params]) for name in names},
        "params": params,
    }  # fmt: skip
    for name, scoring in scorings.each.items():
        chooses = scoring is scorings.chooses
        folds = found.board.folds if chooses else found.beside[beside(name)]
        scale = found.board.scale if chooses else usual_size(folds.mean(axis=1), found.work.task)
        told |= _scores(scoring.sign * folds + scoring.offset, TEST, name, scale)
    for name, folds in found.training.items():
        told |= _scores(folds, TRAIN, name)
    return told


def beside(name: str) -> str:
    """The name of a further score among the measures beside the one that chooses, apart from those that a rule bounds."""
    return f"scoring {name}"


def _scores(folds: Floats, part: str, name: str, scale: float = 1.0) -> dict[str, object]:
    """The columns of one score; training scores have no rank, as in scikit-learn."""
    mean = folds.mean(axis=1)
    told: dict[str, object] = {f"split{index}_{part}_{name}": folds[:, index] for index in range(folds.shape[1])}
    told |= {f"mean_{part}_{name}": mean, f"std_{part}_{name}": folds.std(axis=1)}
    if part == TEST:
        ranked = np.where(np.isnan(mean), -np.inf, round_to_scale(mean, scale))
        told[f"rank_{part}_{name}"] = ((ranked[None, :] > ranked[:, None]).sum(axis=1) + 1).astype(np.int32)
    return told


def _mask(values: list[Any]) -> NDArray[np.generic]:
    """A masked array, masked where a parameter does not apply; of numbers or truth values where all are of one such type."""
    given = [value for value in values if value is not np.ma.masked]
    kinds = {type(value) for value in given}
    kind: Any = kinds.pop() if len(kinds) == 1 else object
    plain = kind in (bool, int, float) or (isinstance(kind, type) and issubclass(kind, np.number | np.bool_))
    if kinds == {int, float}:
        plain, kind = True, float
    made = np.ma.MaskedArray(np.empty(len(values), kind if plain else object), mask=True)
    for index, value in enumerate(values):
        if value is not np.ma.masked:
            made[index] = value
    return made
