"""The bootstrap of out-of-fold answers for measures that are no mean over rows (AUC, balanced error, F1, kappa, MCC).

A draw gives rows a weight; each fold is scored again under these weights, and fold scores are averaged, as in the study.
A fold in which a draw leaves the measure undefined (one class only) takes no part in that draw.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from modelsel.comparison.bbc import NOBODY, Corrected, Repeated, draws, effective_rows, rows_of, summary
from modelsel.core.types import Booleans, Floats, Integers, Outputs, Scoreboard, Targets
from modelsel.measure.base import BaseMeasure
from modelsel.rule.base import BaseRule, among

RESAMPLES = (200, 500)  # least and most
WORK = 1 << 29  # candidates × rows × classes × resamples beyond which fewer resamples are drawn
LARGEST = 1 << 27  # numbers that are held in memory at once; beyond, there is no correction


NONE: Mapping[str, BaseMeasure] = {}
Scored = Callable[[Floats], Floats]  # weightings × a fold's rows -> weightings × candidates
TOGETHER = 32  # draws that are scored at once


@dataclass(frozen=True, eq=False)
class FoldPredictions:
    """Predictions of the candidates for the assessment rows of one fold (candidates in declared order, unfit ones left out)."""

    rows: Integers
    truth: Targets
    outputs: Outputs
    repeat: int


def bbc_of_folds(
    folds: Sequence[FoldPredictions],
    candidates: Integers,
    board: Scoreboard,
    rule: BaseRule,
    measure: BaseMeasure,
    classes: int,
    *,
    winner: int,
    groups: Integers | None = None,
    weights: Floats | None = None,
    rng: np.random.Generator,
    resamples: int | None = None,
    beside: Mapping[str, BaseMeasure] = NONE,
    repeated: Mapping[int, Repeated] = NOBODY,
) -> Corrected | None:
    """Correct a score as `bbc` does, from answers instead of losses; `candidates`: positions of the answering ones.

    Measures `beside` the one that is corrected are computed in every draw too, for a rule that sets bounds to them. A draw in
    which nobody keeps the bounds has no choice and no score. Of candidates that are `repeated` the answers choose in bag; out
    of bag counts what is made of the rows in bag.
    """
    rows = np.unique(np.concatenate([fold.rows for fold in folds]))
    unit_of = np.full(int(rows[-1]) + 1, -1)
    unit_of[rows] = np.arange(len(rows)) if groups is None else np.unique(groups[rows], return_inverse=True)[1]
    size = int(unit_of.max()) + 1
    if size < 2:
        return None
    score = _Scores(folds, measure, classes, unit_of, weights)
    others = {name: _Scores(folds, one, classes, unit_of, weights) for name, one in beside.items()}
    reached: dict[str, list[float]] = {name: [] for name in beside}
    usable = np.zeros(len(board.ids), np.bool_)
    usable[candidates] = True
    scores, picked, tried = [], [], 0
    left: list[int] = []
    again = _Again(repeated, tuple(beside.values()))
    for counts in draws(size, resamples or resamples_for(len(candidates) * len(rows) * classes), rng):
        chosen: list[tuple[int, Booleans]] = []
        made: list[Sequence[float] | None] = []  # of each chosen: its scores where it was made anew
        for start in range(0, len(counts), TOGETHER):
            some = counts[start : start + TOGETHER]
            boards = _boards(board, candidates, usable, score.all(some), score.repeat)
            seen = {name: _spread(board, candidates, one.all(some)) for name, one in others.items()}
            for i, draw in enumerate(some):
                drawn = replace(boards[i], beside={name: means[i] for name, means in seen.items()})
                tried += 1
                anew = again.draw(rows_of(draw, unit_of), drawn.mean)
                if among(drawn, getattr(rule, "bounds", ())).eligible.any():
                    picked.append(rule.choose(drawn))
                    made.append(anew.get(picked[-1]))
                    chosen.append((int(np.searchsorted(candidates, picked[-1])), draw == 0))
        scores.extend(_with(score.left_out_means(chosen), made, 0))
        left.extend(int(out.sum()) for _, out in chosen)
        for at, (name, one) in enumerate(others.items(), 1):
            reached[name].extend(_with(one.left_out_means(chosen), made, at))
    if not np.isfinite(scores).any():
        return None
    worth = effective_rows(len(rows), None if weights is None else weights[rows]) if measure.zero_one else None
    found = summary(np.array(scores), np.array(left), size, np.array(picked), winner, rows=worth)
    found = replace(found, alone=again.worth())
    means = {name: _mean(np.array(values)) for name, values in reached.items()}
    return replace(found, reached=means, feasible=len(picked) / tried) if beside else found


class _Again:
    """Candidates that are made anew in each draw, with what they reached in all of them."""

    def __init__(self, repeated: Mapping[int, Repeated], beside: Sequence[BaseMeasure]) -> None:
        """Begin before the first draw."""
        self._repeated, self._beside = repeated, beside
        self._reached: dict[int, list[float]] = {one: [] for one in repeated}

    def draw(self, rows: tuple[Floats, Floats], means: Floats) -> dict[int, list[float]]:
        """Make each anew by the rows in bag; return its scores out of bag, the study's measure first."""
        found = {one: each.scores(*rows, means, self._beside) for one, each in self._repeated.items()}
        for one, own in found.items():
            self._reached[one].append(own[0])
        return found

    def worth(self) -> dict[int, Corrected]:
        """Sum up what each is worth, by percentiles."""
        each = {one: np.array(scores) for one, scores in self._reached.items() if np.isfinite(scores).any()}
        nobody = {one: np.zeros(len(scores), np.int64) for one, scores in each.items()}
        return {one: summary(scores, nobody[one], 0, nobody[one] + one, one) for one, scores in each.items()}


def _with(scores: Sequence[float], made: Sequence[Sequence[float] | None], which: int) -> list[float]:
    """The scores, with those of candidates that were made anew in the place of their old ones."""
    return [own if anew is None else anew[which] for own, anew in zip(scores, made, strict=True)]


class _Scores:
    """Fold scores (draws × folds × candidates) as a function of how often each unit is drawn."""

    def __init__(
        self, folds: Sequence[FoldPredictions], measure: BaseMeasure, classes: int, unit_of: Integers, weights: Floats | None
    ) -> None:
        """Group equal candidates, so that each different answer of a fold is scored once."""
        self.repeat = np.array([fold.repeat for fold in folds])
        self._units = [unit_of[fold.rows] for fold in folds]
        self._weights = [np.ones(len(fold.rows)) if weights is None else weights[fold.rows] for fold in folds]
        self._folds, self._measure, self._classes = folds, measure, classes
        alike = [_group_equal_answers(fold.outputs) for fold in folds]
        self._all = [_of_different(measure, fold, *found, classes) for fold, found in zip(folds, alike, strict=True)]
        self._ones: dict[int, list[Scored]] = {}

    def all(self, draws: Floats) -> Floats:
        return self._under(self._all, draws)

    def left_out_means(self, chosen: Sequence[tuple[int, Booleans]]) -> list[float]:
        """Means over folds of the candidate that each draw chose, on the units that the draw left out."""
        means, draws_of = [float("nan")] * len(chosen), dict[int, list[int]]()
        for at, (candidate, _) in enumerate(chosen):
            draws_of.setdefault(candidate, []).append(at)
        for candidate, places in draws_of.items():
            if candidate not in self._ones:
                self._ones[candidate] = self._prepare_scorers(slice(candidate, candidate + 1))
            left = np.array([chosen[at][1] for at in places], np.float64)
            for at, scores in zip(places, self._under(self._ones[candidate], left)[:, :, 0], strict=True):
                means[at] = _mean(scores)
        return means

    def _under(self, prepared: Sequence[Scored], draws: Floats) -> Floats:
        each = zip(prepared, self._units, self._weights, strict=True)
        return np.stack([score(np.ascontiguousarray(draws[:, unit] * own)) for score, unit, own in each], axis=1)

    def _prepare_scorers(self, which: slice) -> list[Scored]:
        return [_weighted_scorer(self._measure, _take_candidates(fold, which), self._classes) for fold in self._folds]


def _group_equal_answers(outputs: Outputs) -> tuple[Integers, Integers]:
    """Group candidates that give equal answers: the first of each group, and the group of each candidate."""
    parts: list[NDArray[np.generic]] = [outputs.predicted] if outputs.scores is None else [outputs.predicted, outputs.scores]
    places: dict[bytes, int] = {}
    said = (blake2b(b"".join(part[i].tobytes() for part in parts), digest_size=16) for i in range(len(outputs.predicted)))
    like = np.array([places.setdefault(each.digest(), len(places)) for each in said], np.int64)
    return np.unique(like, return_index=True)[1], like


def _of_different(measure: BaseMeasure, fold: FoldPredictions, first: Integers, like: Integers, classes: int) -> Scored:
    """Score distinct answers once, and give each candidate the score of its answers."""
    score = _weighted_scorer(measure, _take_candidates(fold, first), classes)
    return lambda weights: score(weights)[:, like]


def _take_candidates(fold: FoldPredictions, which: Booleans | Integers | slice) -> FoldPredictions:
    scores = None if fold.outputs.scores is None else fold.outputs.scores[which]
    return replace(fold, outputs=Outputs(fold.outputs.predicted[which], scores))


def _weighted_scorer(measure: BaseMeasure, fold: FoldPredictions, classes: int) -> Scored:
    """Return a function from weights of rows to scores, by the measure's fast way where it has one."""
    if hasattr(measure, "reweighted"):
        prepared = measure.reweighted(fold.truth, fold.outputs, classes)
        many: Scored | None = getattr(prepared, "many", None)
        return many or (lambda weights: np.stack([prepared(own) for own in weights]))
    return lambda weights: np.stack([measure.score(fold.truth, fold.outputs, own, classes) for own in weights])


def _boards(board: Scoreboard, candidates: Integers, usable: Booleans, each: Floats, repeat: Integers) -> list[Scoreboard]:
    """A scoreboard per draw: means of fold scores; se as sd over the folds of a repeat / √k, averaged over repeats."""
    se = np.full((len(each), len(board.ids)), np.nan)
    with warnings.catch_warnings(), np.errstate(invalid="ignore", divide="ignore"):
        warnings.simplefilter("ignore", RuntimeWarning)  # a mean over no defined fold is NaN, and that is what is meant
        spreads = []
        for number in np.unique(repeat):
            part = each[:, repeat == number]
            spreads.append(np.nanstd(part, axis=1, ddof=1) / np.sqrt(np.isfinite(part).sum(axis=1)))
        se[:, candidates] = np.nanmean(spreads, axis=0)
    mean, se = _spread(board, candidates, each), np.where(np.isfinite(se), se, 0.0)
    known = usable & np.isfinite(mean)
    return [replace(board, mean=mean[i], se=se[i], eligible=known[i]) for i in range(len(each))]


def _spread(board: Scoreboard, candidates: Integers, each: Floats) -> Floats:
    """Per draw, means over the folds where a measure is defined, on the whole board."""
    mean = np.full((len(each), len(board.ids)), np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        mean[:, candidates] = np.nanmean(each, axis=1)
    return mean


def _mean(scores: Floats) -> float:
    known = scores[np.isfinite(scores)]
    return float(known.mean()) if len(known) else float("nan")


def resamples_for(cells: int) -> int:
    """Return how many resamples are drawn where each costs so much."""
    least, most = RESAMPLES
    return min(most, max(least, WORK // max(cells, 1)))
