"""Learning curves: the winner and the runners-up fitted on nested shares of each fold's analysis rows.

Of every fold an eighth, a quarter, a half, three quarters and all of the analysis rows are fitted on, the smaller share within
the larger, and judged on the same assessment rows. A share has the classes (of numbers the target's tenths) in proportion,
keeps groups whole, and takes the latest rows where rows have times. Intervals are those of the corrected resampled t over
folds, with the share's own ratio n_test / n_train. The candidates were chosen on all rows, so that their last points are
optimistic, and more so than the others.
Source: Cortes et al. (1994) on learning curves; Nadeau & Bengio (2003).
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from modelsel.comparison.selection import rank
from modelsel.core.fingerprint import generator
from modelsel.core.selection import Selection
from modelsel.core.types import Candidate, Codes, Floats, Fold, Integers, Resampling, Task
from modelsel.planning.make import Plan, make
from modelsel.record.documents import CandidateCurveFacts, CurveFacts, IntervalFacts
from modelsel.runner.results import Results
from modelsel.scheme.partition import tenths
from modelsel.statistics.paired import corrected_t

SHARES = (1.0, 0.75, 0.5, 0.25, 0.125)  # all first: a share that is too small for everybody ends no run
HALF = SHARES.index(0.5)
RUNNERS_UP = 3
RunPlan = Callable[[Plan, Task, Resampling], Results]


def runners(selection: Selection) -> list[Candidate]:
    """The winner, and the best of up to three other entries of the space."""
    best: dict[str, Candidate] = {}
    for at in [selection.winner, *rank(selection.board)]:
        if selection.candidates[at].of_others:  # it has no fit whose rows could be fewer
            continue
        best.setdefault(selection.candidates[at].entry, selection.candidates[at])
    return list(best.values())[: 1 + RUNNERS_UP]


def learning_curve(
    candidates: Sequence[Candidate], task: Task, folds: Resampling, seed: int, run: RunPlan,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> CurveFacts:  # fmt: skip
    """Scores of the candidates on every share; the cells go through the study's pool and journal.

    `bounds` are those of the measure: no interval reaches beyond them.
    """
    shares = [_of_share(task, folds, seed, share) for share in SHARES]
    nested, many = join_shares(shares), len(folds.folds)
    board = run(make(candidates, task, nested), task, nested).board
    return CurveFacts(
        shares=list(SHARES[::-1]),
        rows=[float(np.mean([len(fold.analysis) for fold in one.folds])) for one in shares[::-1]],
        candidates=[
            _of_candidate(candidate, board.folds[at].reshape(len(shares), many), shares, bounds)
            for at, candidate in enumerate(candidates)
        ],
    )


def join_shares(shares: Sequence[Resampling]) -> Resampling:
    """All shares as one resampling, a share after the other; a share's folds are repeats of their own."""
    repeats = shares[0].repeats
    folds = [
        replace(fold, index=at * len(one.folds) + fold.index, repeat=at * repeats + fold.repeat)
        for at, one in enumerate(shares)
        for fold in one.folds
    ]
    return Resampling("learning_curve", shares[0].task_fingerprint, tuple(folds))


def _of_share(task: Task, folds: Resampling, seed: int, share: float) -> Resampling:
    """The folds with that share of their analysis rows; with all of them the very same folds, which the journal knows."""
    if share == 1.0:
        return folds
    return replace(folds, folds=tuple(_part(task, fold, seed, share) for fold in folds.folds))


def _part(task: Task, fold: Fold, seed: int, share: float) -> Fold:
    """Take a share of a fold's analysis rows; groups stay whole."""
    order = order_for_shares(task, fold.analysis, generator(seed, fold.fingerprint, "curve"))
    kept = order[: max(2, round(share * len(order)))]
    if task.groups is not None:  # the last group is whole, too
        kept = order[np.isin(task.groups[order], np.unique(task.groups[kept]))]
    return Fold(fold.index, fold.repeat, np.sort(kept), fold.assessment)


def order_for_shares(task: Task, rows: Integers, rng: np.random.Generator) -> Integers:
    """The rows in an order whose every beginning is a share: the latest, or whole groups, or strata in proportion."""
    drawn = rng.permutation(len(rows))
    if task.times is not None:
        return np.asarray(rows[np.lexsort((drawn, -task.times[rows]))])
    if task.groups is not None:
        unit = np.unique(task.groups[rows], return_inverse=True)[1]
        return np.asarray(rows[np.argsort(rng.permutation(int(unit.max()) + 1)[unit], kind="stable")])
    own = task.target[rows]
    strata = np.asarray(own, np.int32) if task.class_names else tenths(np.asarray(own, np.float64), 2)
    return np.asarray(rows[np.argsort(_within_stratum(strata, drawn), kind="stable")])


def _within_stratum(strata: Codes, drawn: Integers) -> Floats:
    """Return each row's rank within its stratum, 0 to 1: sorting by it mixes the strata in proportion."""
    place = np.empty(len(strata))
    for k in np.unique(strata):
        own = np.flatnonzero(strata == k)
        place[own[np.argsort(drawn[own])]] = (np.arange(len(own)) + 0.5) / len(own)
    return place


def _of_candidate(
    candidate: Candidate, scores: Floats, shares: Sequence[Resampling], bounds: tuple[float, float]
) -> CandidateCurveFacts:
    """Means with their intervals by share, and what the second half of the rows brought; null where a fold has no score."""
    points = [_interval(own, one.ratio, *bounds) for own, one in zip(scores, shares)]
    width = bounds[1] - bounds[0]
    doubling = _interval(scores[0] - scores[HALF], shares[0].ratio, -width, width)
    return CandidateCurveFacts(candidate=candidate.id, entry=candidate.entry, points=points[::-1], doubling=doubling)


def _interval(scores: Floats, ratio: float, least: float, most: float) -> IntervalFacts:
    """Compute mean and interval over folds; None where a score is missing."""
    if not np.isfinite(scores).all():
        return IntervalFacts(mean=None, low=None, high=None)
    if len(scores) < 2:
        return IntervalFacts(mean=float(scores.mean()), low=None, high=None)
    test = corrected_t(scores, ratio)
    return IntervalFacts(mean=float(test.mean), low=max(float(test.low), least), high=min(float(test.high), most))
