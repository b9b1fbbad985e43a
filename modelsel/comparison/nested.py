"""The whole selection inside each fold of an outer scheme: what is scored is the selecting, not one candidate.

`score_selection` selects once per fold. `score_selection_by_bates` selects without each pair of folds as well, K (K + 1) / 2
times a repeat: what is chosen without folds j and k is judged on both. Families are resolved on each outer analysis part, as
they would be if nothing else were known; all inner cells go into the study's one journal.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from modelsel.core.errors import NoCandidateError, Problem
from modelsel.core.outcome import CorrectedBy, NestedFacts, mean_size
from modelsel.core.types import Candidate, Floats, Fold, Integers, Outputs, Resampling, Scoreboard, Task
from modelsel.measure.base import BaseMeasure
from modelsel.planning.make import Plan, make
from modelsel.rule.base import BaseRule, among
from modelsel.runner.families import resolve
from modelsel.runner.final_fit import answers
from modelsel.runner.journal import Journal
from modelsel.runner.results import Results
from modelsel.scheme.base import BaseScheme
from modelsel.statistics.paired import corrected_t

# Nested cross-validation: the whole selection inside each outer fold, so that what is scored is the selecting itself.
#
# The interval is Student's t with the corrected resampled variance over the J outer folds, sd sqrt(1/J + n_test / n_train):
# approximate, because no unbiased estimate of that variance exists (Bengio & Grandvalet 2004). Source: Stone (1974);
# Varma & Simon (2006); Nadeau & Bengio (2003).

LABEL = "approximate: corrected resampled variance over outer folds"


@dataclass(frozen=True, eq=False)
class NestedResult:
    """Outer scores with their mean and interval; `agreement` is the share of outer folds won by the most frequent winner."""

    mean: float
    low: float
    high: float
    scores: tuple[float, ...]
    winners: tuple[str, ...]
    agreement: float
    label: str = LABEL
    method: CorrectedBy = "nested"

    def to_dict(self) -> NestedFacts:
        """Return the result as plain values for study.json."""
        return NestedFacts(
            method=self.method, mean=self.mean, low=self.low, high=self.high, label=self.label,
            scores=list(self.scores), winners=list(self.winners), agreement=self.agreement,
        )  # fmt: skip


def sum_up_outer(scores: ArrayLike, ratio: float, winners: Sequence[str]) -> NestedResult:
    """Sum up outer folds: the score of each fold's own winner on its assessment rows, and who it was.

    `ratio` is n_test / n_train of the outer scheme. `winners` are names that mean the same in every fold: for a family
    whose members depend on the rows (pruning strengths), the number of leaves or the entry, not the candidate id.
    """
    each = np.asarray(scores, np.float64)
    interval = corrected_t(each, ratio)
    most = Counter(winners).most_common(1)[0][1]
    return NestedResult(
        mean=float(interval.mean), low=float(interval.low), high=float(interval.high),
        scores=tuple(each.tolist()), winners=tuple(winners), agreement=most / len(winners),
    )  # fmt: skip


# An interval for nested cross-validation that pays its price: the mean squared error of the estimate is itself estimated.
#
# For every outer fold k of every repeat: ē_in the mean loss of cross-validation inside the other folds, e_out the losses on k.
#
#     a = (ē_in - ē_out)²      b = var(e_out) / n_k      MSE = mean a - mean b, held to se² … K se²
#     estimate = mean ē_in - bias,   bias = (1 + (K - 2) / K) (mean ē_in - mean ē_out)
#     interval = estimate ± z sqrt((K - 1) / K · MSE)
#
# K outer folds of n rows in all. se = sd(e_in) / sqrt(n) takes the losses for independent and so is too small, K se² takes
# those of a fold for one. Source: Bates, Hastie & Tibshirani (2021), algorithm 1 and section 4.3; they draw hundreds of
# repeats.

BATES_LABEL = "Bates, Hastie & Tibshirani 2021"


@dataclass(frozen=True)
class BatesInterval:
    """Estimate with its ends; `inflation` is by how much the standard error exceeds the naive one, 1 … sqrt(K)."""

    mean: float
    low: float
    high: float
    inflation: float


@dataclass(frozen=True, eq=False)
class OuterFoldLosses:
    """One outer fold: losses of the selection inside the other folds, and of the one on all of them where it had no part."""

    inside: Floats
    outside: Floats


def interval(repeats: Sequence[Sequence[OuterFoldLosses]], level: float = 0.95) -> BatesInterval:
    """The interval from the outer folds of each repeat. ValueError for fewer than three folds.

    >>> fold = OuterFoldLosses(np.array([0.0, 1.0, 0.0, 1.0]), np.array([0.0, 1.0]))
    >>> interval([[fold, fold, fold]]).inflation  # nothing varies between folds: the naive standard error
    1.0
    """
    held, folds = [one for repeat in repeats for one in repeat], len(repeats[0])
    if folds < 3:
        raise ValueError("the interval needs at least three outer folds")
    inside, outside = (np.array([each.mean() for each in side]) for side in zip(*((h.inside, h.outside) for h in held)))
    noise = np.array([h.outside.var(ddof=1) / len(h.outside) for h in held])
    squared = float(((inside - outside) ** 2 - noise).mean()) * (folds - 1) / folds
    all_in, all_out = (np.concatenate(side) for side in zip(*((h.inside, h.outside) for h in held)))
    naive = float(all_in.std(ddof=1) / np.sqrt(len(all_out) / len(repeats)))
    error = float(np.clip(np.sqrt(max(squared, 0.0)), naive, naive * np.sqrt(folds)))
    mean = float(all_in.mean() - (1 + (folds - 2) / folds) * (all_in.mean() - all_out.mean()))
    half = float(ndtri((1 + level) / 2)) * error
    return BatesInterval(mean, mean - half, mean + half, error / naive if naive else 1.0)


RunPlan = Callable[[Plan, Task, Resampling], Results]


@dataclass(frozen=True, eq=False)
class SelectionProcedure:
    """The selection procedure that all outer folds share.

    `run` computes a plan's cells, `journal` knows families, `reads_scores` says whether scores tell candidates apart; `answer`
    fits a fold's winner and asks it about tables. `search` finds the candidates of entries that are searched by their scores,
    anew on the rows of each outer fold.
    """

    candidates: Sequence[Candidate]
    scheme: BaseScheme
    measure: BaseMeasure
    rule: BaseRule
    seed: int
    run: RunPlan
    journal: Journal | None = None
    reads_scores: bool = True
    answer: Callable[..., tuple[Outputs, ...]] = answers
    search: Callable[[Sequence[Candidate], Task, Resampling], Sequence[Candidate]] | None = None


@dataclass(frozen=True, eq=False)
class OuterWinner:
    """Answers of a winner for rows that did not choose it, and a name that means the same wherever it was chosen."""

    said: tuple[Outputs, ...]
    name: str


def score_selection(selecting: SelectionProcedure, task: Task, outer: Resampling) -> NestedResult:
    """Select on each outer analysis part, score its winner on the assessment part. Raises what a selection raises."""
    chosen = [_select(selecting, task, fold.analysis, fold.index, fold.assessment) for fold in outer.folds]
    scores = [_score(selecting, one.said[0], task.take(fold.assessment)) for one, fold in zip(chosen, outer.folds)]
    found = sum_up_outer(scores, outer.ratio, [one.name for one in chosen])
    low, high = np.clip([found.low, found.high], *selecting.measure.bounds).tolist()
    return replace(found, low=low, high=high)


def score_selection_by_bates(selecting: SelectionProcedure, task: Task, outer: Resampling) -> NestedResult:
    """Score it with the interval of Bates, Hastie & Tibshirani; `outer` is a k-fold scheme, `measure` a mean over rows."""
    plainly = score_selection(selecting, task, outer)
    repeats = [[fold for fold in outer.folds if fold.repeat == repeat] for repeat in range(outer.repeats)]
    found = interval([_losses_by_fold(selecting, task, folds) for folds in repeats])
    label = f"{BATES_LABEL}; {outer.repeats} × {len(repeats[0])} folds, standard error × {found.inflation:.2f}"
    mean, low, high = np.clip([found.mean, found.low, found.high], *selecting.measure.bounds).tolist()
    return replace(plainly, mean=mean, low=low, high=high, label=label, method="bates")


def _losses_by_fold(selecting: SelectionProcedure, task: Task, folds: Sequence[Fold]) -> list[OuterFoldLosses]:
    """Per fold of one repeat, losses inside the other folds and on itself."""
    inside: list[list[Floats]] = [[] for _ in folds]
    outside = []
    for k, fold in enumerate(folds):
        (own,) = _select(selecting, task, fold.analysis, fold.index, fold.assessment).said
        outside.append(_losses(selecting, own, task, fold.assessment))
        for j, other in enumerate(folds[:k]):
            rest = np.setdiff1d(fold.analysis, other.assessment)
            theirs, own = _select(selecting, task, rest, fold.index, other.assessment, fold.assessment).said
            inside[k].append(_losses(selecting, theirs, task, other.assessment))
            inside[j].append(_losses(selecting, own, task, fold.assessment))
    return [OuterFoldLosses(np.concatenate(own), losses) for own, losses in zip(inside, outside)]


def _select(selecting: SelectionProcedure, task: Task, rows: Integers, fold: int, *asked: Integers) -> OuterWinner:
    """Choose and fit on some rows, and ask the winner about others."""
    inner = task.take(rows)
    winner, name = choose_anew(selecting, inner, f"outer fold {fold}")
    tables, scores = [task.take(other) for other in asked], selecting.measure.needs_scores
    return OuterWinner(selecting.answer(winner, inner, selecting.seed, scores, *tables), name)


def choose_anew(selecting: SelectionProcedure, inner: Task, where: str) -> tuple[Candidate, str]:
    """Select on some rows as if there were no others; the winner, and a name of it that means the same wherever it is chosen.

    Raises NoCandidateError, which says `where`.
    """
    candidates = resolve(selecting.candidates, inner, selecting.seed, selecting.journal, selecting.reads_scores)
    folds = selecting.scheme.instantiate(inner, selecting.seed)
    if selecting.search is not None:
        candidates = tuple(selecting.search(candidates, inner, folds))
    found = selecting.run(make(candidates, inner, folds), inner, folds)
    board, candidates = found.board, found.candidates  # an ensemble has its members now
    if not board.eligible.any():
        fix = "the reasons stand in the journal of the study without outer"
        raise NoCandidateError(Problem("MSEL-703", "no candidate is eligible", where, fix))
    bounds = getattr(selecting.rule, "bounds", ())
    if not among(board, bounds).eligible.any():
        what = f"no candidate has {' and '.join(map(str, bounds))}"
        raise NoCandidateError(Problem("MSEL-708", what, where, "loosen the bound, or leave outer out"))
    winner = selecting.rule.choose(board)
    return candidates[winner], _name(candidates[winner], board, winner)


def _score(selecting: SelectionProcedure, said: Outputs, rows: Task) -> float:
    score = selecting.measure.score(rows.target, said, rows.weights, rows.class_count)
    return float(np.asarray(score)[0])


def _losses(selecting: SelectionProcedure, said: Outputs, task: Task, rows: Integers) -> Floats:
    """Loss per row, in proportion to its weight among the task's rows."""
    assessed = task.take(rows)
    losses = selecting.measure.losses(assessed.target, said, task.class_count)[0]
    return np.asarray(losses * assessed.row_weights / task.row_weights.mean())


def _name(candidate: Candidate, board: Scoreboard, winner: int) -> str:
    """A name that means the same in every fold: members of a family depend on the rows and go by their size."""
    if candidate.of_others:
        return candidate.entry
    size = mean_size(round(float(board.complexity[winner])), board.unit[winner])
    return f"{candidate.entry} {size}" if candidate.family else f"{candidate.entry} {candidate.id}"
