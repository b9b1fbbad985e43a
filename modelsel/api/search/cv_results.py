"""`cv_results_` of a search, with scikit-learn's keys."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelsel.api.search.cells import CandidateScores
from modelsel.core.types import Candidate
from modelsel.record.content.candidates import differing


def parameters(candidates: Sequence[Candidate]) -> list[dict[str, Any]]:
    """List the parameters in which each candidate differs from the others of its entry, with the learner's name."""
    by_entry: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        by_entry.setdefault(candidate.entry, []).append(candidate)
    telling = {entry: differing([one.parameters for one in own]) for entry, own in by_entry.items()}
    return [
        {"learner": one.entry, **{name: value for name, value in one.parameters.items() if name in telling[one.entry]}}
        for one in candidates
    ]


def results(found: CandidateScores, scores: NDArray[np.float64], params: list[dict[str, Any]]) -> dict[str, Any]:
    """`cv_results_` with scikit-learn's keys; candidates that failed have NaN and the last rank."""
    mean = np.where(found.board.eligible, scores.mean(axis=1), np.nan)
    ranked = np.where(np.isnan(mean), -np.inf, np.round(mean, 12))
    order = (ranked[None, :] > ranked[:, None]).sum(axis=1) + 1
    names = dict.fromkeys(name for one in params for name in one)
    return {
        "mean_fit_time": found.seconds.mean(axis=1), "std_fit_time": found.seconds.std(axis=1),
        "mean_score_time": np.zeros(len(params)), "std_score_time": np.zeros(len(params)),
        **{f"param_{name}": _masked([one.get(name, np.ma.masked) for one in params]) for name in names},
        "params": params,
        **{f"split{index}_test_score": scores[:, index] for index in range(scores.shape[1])},
        "mean_test_score": mean, "std_test_score": scores.std(axis=1), "rank_test_score": order.astype(np.int32),
    }  # fmt: skip


def _masked(values: list[Any]) -> Any:
    """Make a masked array of objects; masked where a parameter does not apply."""
    made = np.ma.MaskedArray(np.empty(len(values), object), mask=True)
    for index, value in enumerate(values):
        if value is not np.ma.masked:
            made[index] = value
    return made
