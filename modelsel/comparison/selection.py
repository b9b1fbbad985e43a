"""From results to the choice: the rule's winner, who cannot be told from it, what its score is worth."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import log

import numpy as np

from modelsel.comparison.bbc import RESAMPLES, Corrected, bbc, bbc_generator
from modelsel.comparison.fold_predictions import LARGEST, FoldPredictions, bbc_of_folds, resamples_for
from modelsel.comparison.indistinguishable import Sets, confidence_sets, difference_errors, indistinguishable, part, place
from modelsel.comparison.nested import NestedResult
from modelsel.core.errors import NoCandidateError, Problem
from modelsel.core.facts import UNSTATED
from modelsel.core.fingerprint import generator
from modelsel.core.outcome import CorrectedFacts
from modelsel.core.selection import Assessed, Selection
from modelsel.core.spec import kind_of
from modelsel.core.types import Finding, Floats, Integers, Outputs, Resampling, Scoreboard
from modelsel.learner.greedy_ensemble import GreedyEnsemble
from modelsel.measure.base import BaseMeasure
from modelsel.measure.beside import bounding_measures, measures_by_default, other_measures
from modelsel.planning.make import Plan, make
from modelsel.rule.base import BaseRule, Bound, among, nearest
from modelsel.runner.ensembles import MemberAnswers, able
from modelsel.runner.results import Results

NAMED = 3  # different warnings of learners that are told


def choose(
    results: Results, rule: BaseRule, resampling: Resampling, seed: int, pickable: bool = False, adapted: bool = False
) -> Selection:
    """Apply the rule; NoCandidateError (exit 7) when no candidate finished all folds with a finite score.

    After a race there is no corrected estimate, unless all that some resample could pick have finished (`pickable`); after a
    search that went by the scores there is none (`adapted`).
    """
    if not results.board.eligible.any():
        raise NoCandidateError(_nobody(results))
    _refuse_where_nobody_keeps(results, getattr(rule, "bounds", ()))
    winner = rule.choose(results.board)
    results = results.including(winner)
    dropped = results.status.count("dropped")
    able = (pickable or not dropped) and not adapted
    corrected = _correct_score(results, rule, winner, bbc_generator(resampling, seed, results.book.work.task)) if able else None
    ratio = resampling.ratio
    assessed = results.out_of_fold([winner, *best_of_each(results, winner)])
    near = _indistinguishable_sets(results, winner, resampling, seed)
    return Selection(
        candidates=results.candidates,
        status=results.status,
        reasons=results.reasons,
        board=results.board,
        means=results.means,
        losses=results.losses,
        assessed=assessed,
        winner=winner,
        indistinguishable=near.indistinguishable,
        every_best=None if adapted else near.every_best,
        corrected=None if corrected is None else _correction_facts(results, winner, corrected),
        alone={} if corrected is None else {results.candidates[one].id: own.to_dict() for one, own in corrected.alone.items()},
        findings=(
            *_few_rows(results, winner),
            *_warnings(results),
            *(_withheld(dropped) if dropped and not pickable else ()),
            *(_searched_by_scores() if adapted else ()),
        ),
        beside=results.board.beside,
        difference_se=_differences(results, winner, ratio),
    )


def _warnings(results: Results) -> Iterator[Finding]:
    """Yield the warnings of learners while they were fitted, each once."""
    folds = results.board.folds.shape[1]
    for one in results.warned[:NAMED]:
        entry = results.candidates[one.candidate].entry
        message = f"{entry} warned in {one.folds} of {folds} folds: {one.text}"
        yield Finding("FIT_WARNINGS", "medium", message, "its scores count as they are; change its settings if that matters")
    if len(results.warned) > NAMED:
        more = f"{len(results.warned) - NAMED} more warnings of learners"
        yield Finding("FIT_WARNINGS", "low", more, "the cells' records in journal/ hold them")


def best_of_each(results: Results, winner: int) -> list[int]:
    """The best candidate of every space entry but the winner's, best first."""
    entry = [candidate.entry for candidate in results.candidates]
    best: dict[str, int] = {}
    for position in rank(results.board):
        best.setdefault(entry[position], position)
    return [position for name, position in best.items() if name != entry[winner]]


def rank(board: Scoreboard) -> list[int]:
    """Eligible candidates, best mean first; ties: simpler, then declared order."""
    cost = board.cost
    return sorted((i for i in range(len(board.ids)) if board.eligible[i]), key=lambda i: (cost[i], board.complexity[i], i))


def _indistinguishable_sets(results: Results, winner: int, resampling: Resampling, seed: int) -> Sets:
    """Find the candidates that cannot be told from the winner: by rows where the measure is a mean over them, else by folds."""
    board, kept, matrix, task = results.board, results.kept, results.losses.matrix, results.book.work.task
    if matrix is None:
        ratio = resampling.ratio
        return Sets(indistinguishable(board, winner, ratio, more=results.status.count("dropped")))
    rng = generator(seed, resampling.drawn_by(task), "confidence set")
    with_rows, columns = board.eligible[kept], place(kept, winner)
    more = results.status.count("dropped") + int(board.eligible.sum() - with_rows.sum())
    found = confidence_sets(part(board, kept), columns, matrix, rng, weights=task.weights, groups=task.groups, more=more)
    every = None if found.every_best is None else tuple(kept[list(found.every_best)].tolist())
    return Sets(tuple(kept[list(found.indistinguishable)].tolist()), every)


def _differences(results: Results, winner: int, ratio: float) -> Floats:
    """Standard errors of the differences to the winner: of all by their folds, or of those whose rows were kept (one fold)."""
    board, task, matrix = results.board, results.book.work.task, results.losses.matrix
    if board.folds.shape[1] > 1:
        return difference_errors(board, winner, ratio, None, task.row_weights, task.groups)
    errors, kept = np.full(len(board.ids), np.nan), results.kept
    mine = place(kept, winner)
    errors[kept] = difference_errors(part(board, kept), mine, ratio, matrix, task.row_weights, task.groups)
    return errors


def _withheld(dropped: int) -> Iterator[Finding]:
    """Yield a finding where candidates left a race: over the others the correction would be too small."""
    what = f"{dropped} candidates left the race without a mean: the winner's score is not corrected for having been chosen"
    yield Finding("NOT_CORRECTED", "info", what, "race.corrected=true finishes those that the correction reads; race=off all")


def _searched_by_scores() -> Iterator[Finding]:
    """Yield a finding after a search that went by the scores: its candidates are the work of these very rows."""
    what = (
        "search=tpe asks for candidates by the scores of the rows that judge them: resampling these rows (BBC) repeats the "
        "choice and not the search, so that the winner's score is not corrected for having been chosen"
    )
    yield Finding("NOT_CORRECTED", "medium", what, "corrected=nested repeats the whole search inside outer folds")


def _correct_score(results: Results, rule: BaseRule, winner: int, rng: np.random.Generator) -> Corrected | None:
    """BBC-CV from the loss matrix, or from the answers where the measure is not a mean over rows.

    In a very large space the choice is repeated among the candidates whose rows were kept: the best, and the winner.
    """
    task, board, winner = results.book.work.task, part(results.board, results.kept), place(results.kept, winner)
    bounds = bounding_measures(results.book.work.measure, getattr(rule, "bounds", ()))
    repeated, resamples = _repicked_ensembles(results)
    if results.losses.matrix is not None and not bounds:
        return bbc(
            results.losses.matrix, board, rule, winner=winner, groups=task.groups, weights=task.weights, rng=rng,
            resamples=resamples, zero_one=results.book.work.measure.zero_one, repeated=repeated,
        )  # fmt: skip
    work, candidates = results.book.work, np.flatnonzero(board.eligible)
    classes = task.class_count
    if len(candidates) * len(task) * classes * work.resampling.repeats > LARGEST:
        return None
    return bbc_of_folds(
        _answers_by_fold(results, results.kept[candidates]), candidates, board, rule, work.measure, classes,
        winner=winner, groups=task.groups, weights=task.weights, rng=rng, beside=bounds, repeated=repeated,
        resamples=resamples if repeated else None,
    )  # fmt: skip


# An ensemble is picked anew in each resample: what it is worth is what the picking is worth, and not these members.


@dataclass(frozen=True, eq=False)
class RepeatedEnsemble:
    """The picking of an ensemble on the rows that a resample draws."""

    answers: MemberAnswers
    ensemble: GreedyEnsemble

    def scores(self, drawn: Floats, left: Floats, means: Floats, beside: Sequence[BaseMeasure] = ()) -> list[float]:
        """Pick in bag, and score the mean of the picks out of bag."""
        of = self.answers
        cost = of.as_cost(means[of.positions])
        picks = of.pick(self.ensemble, of.weights * drawn[of.row], cost)
        out = of.weights * left[of.row]
        return [of.score(picks, out), *(of.score(picks, out, measure) for measure in beside)]


def _repicked_ensembles(results: Results) -> tuple[dict[int, RepeatedEnsemble], int]:
    """The ensembles that there are, by position, and how often they are picked anew: fewer times where it is dear."""
    book, board = results.book, results.board
    there = [position for position in book.of_others if board.eligible[position]]
    if not there:
        return {}, RESAMPLES
    of = MemberAnswers.of(book, able(book))
    learners = [results.candidates[position].learner for position in there]
    numbers = of.said[0].size * sum(learner.size * min(learner.library, len(of.said)) for learner in learners)
    repeated = {position: RepeatedEnsemble(of, own) for position, own in zip(there, learners)}
    return repeated, min(RESAMPLES, resamples_for(numbers))


def _answers_by_fold(results: Results, candidates: Integers) -> list[FoldPredictions]:
    """All answers of the candidates, a table per fold."""
    work = results.book.work
    task, place = work.task, np.full(len(results.candidates), -1)
    place[candidates] = np.arange(len(candidates))
    made: dict[int, FoldPredictions] = {}
    for fold, members, result in chain(results.book.records(candidates), results.book.afresh(candidates.tolist())):
        if fold.index not in made:
            shape = (len(candidates), len(fold.assessment))
            scores = np.empty((*shape, task.class_count)) if work.needs_scores else None
            outputs = Outputs(np.empty(shape, np.int32 if task.class_count else np.float64), scores)
            made[fold.index] = FoldPredictions(fold.assessment, task.target[fold.assessment], outputs, fold.repeat)
        said = made[fold.index].outputs
        said.predicted[place[members]] = result.predicted
        if said.scores is not None:
            said.scores[place[members]] = result.scores
    return [made[index] for index in sorted(made)]


def _correction_facts(results: Results, winner: int, found: Corrected) -> CorrectedFacts:
    """The estimate with another one of the same score, as a cheap cross-check; and what the interval is not good for."""
    work, assessed = results.book.work, (results.losses.fold >= 0).any(axis=1)
    groups = None if work.task.groups is None else work.task.groups[assessed]
    caution = coverage_caution(kind_of(work.measure), int(assessed.sum()), groups)
    return found.to_dict().but(tibshirani=tibshirani(results.board, winner), caution=UNSTATED if caution is None else caution)


def _few_rows(results: Results, winner: int) -> Iterator[Finding]:
    """Rows that decide the winner's log loss."""
    measure, losses = results.book.work.measure, results.losses
    if kind_of(measure) == "log_loss" and losses.matrix is not None:
        column = np.asarray(losses.matrix[:, place(results.kept, winner)], np.float64)
        yield from decided_by_few(column, losses.row, measure.floor)  # type: ignore[attr-defined]


def _refuse_where_nobody_keeps(results: Results, bounds: Sequence[Bound]) -> None:
    """Raise NoCandidateError where no candidate keeps the rule's bounds; it names the nearest one."""
    board = results.board
    if not bounds or among(board, bounds).eligible.any():
        return
    near = nearest(board, bounds)
    candidate = results.candidates[near]
    said = ", ".join(f"{bound.name} {board.beside[bound.name][near]:.4g}" for bound in bounds)
    what = f"none of {int(board.eligible.sum())} candidates has {' and '.join(map(str, bounds))}"
    fix = f"the nearest is {candidate.entry} {candidate.id}: {said}; loosen the bound, or declare other candidates"
    raise NoCandidateError(Problem("MSEL-707", what, "rule.subject_to", fix))


def _nobody(results: Results) -> Problem:
    """Describe that no candidate is eligible, with the first reason on record."""
    first = next((reason for reason in results.reasons if reason), "no candidate finished all folds")
    return Problem(
        "MSEL-701", f"none of {len(results.candidates)} candidates is eligible", "space", f"the first reason: {first}"
    )


# Single rows that decide a log loss: a sure mistake costs −ln of what is left to the true class, up to −ln floor.
#
# One probability of 0 costs 34.5 nats at the floor of 1e-15, as much as fifty rows of even odds.

FEW = 0.01  # of the rows, three at least
MUCH = 0.25  # of the loss
NAMED_ROWS = 3


def decided_by_few(losses: Floats, rows: Integers, floor: float) -> Iterator[Finding]:
    """Report the few rows that carry most of a log loss.

    `losses` are per row (NaN where not assessed), `rows` as the source counts them, from 0.

    >>> found = list(decided_by_few(np.array([34.5, *[0.4] * 99]), np.arange(100), 1e-15))
    >>> found[0].message.split(";")[0]
    'a few rows decide the log loss of the winner: row 0 carries 47 % of it'
    """
    there = np.flatnonzero(np.isfinite(losses))
    total = float(losses[there].sum())
    if not len(there) or total <= 0:
        return
    dearest = there[np.argsort(-losses[there], kind="stable")][: max(NAMED_ROWS, int(FEW * len(there)))]
    share = np.cumsum(losses[dearest]) / total
    if len(there) <= 10 * NAMED_ROWS or share[-1] < MUCH:
        return
    many = int(np.argmax(share >= MUCH)) + 1
    named = ", ".join(str(row) for row in rows[dearest[:many]][:NAMED_ROWS]) + (
        f", +{many - NAMED_ROWS} more" if many > NAMED_ROWS else ""
    )
    said = f"row{'s' if many > 1 else ''} {named} {'carry' if many > 1 else 'carries'} {share[many - 1]:.0%}".replace("%", " %")
    without = (total - losses[dearest[:many]].sum()) / (len(there) - many)
    message = (
        f"a few rows decide the log loss of the winner: {said} of it; {total / len(there):.4f} with, {without:.4f} without "
        f"them. A probability of 0 costs {-log(floor):.1f} (measure.floor={floor:g})"
    )
    yield Finding("FEW_ROWS_DECIDE", "medium", message, "look at these rows; smooth the scores, or judge by measure=brier")


# Bias of the smallest cross-validated score, from the folds alone.
#
#     bias = (1/K) Σ_k [ e_k(ĉ) − min_c e_k(c) ],    corrected = CV(ĉ) + bias
#
# e_k(c) is the score of candidate c on fold k (as a cost), ĉ the winner. A cheap cross-check: too large when folds are small,
# because each fold's minimum is then itself very optimistic. Source: Tibshirani & Tibshirani (2009), Annals of Applied
# Statistics 3.


def tibshirani(board: Scoreboard, winner: int) -> float:
    """The winner's mean score, made worse by its mean regret over the folds."""
    sign = -1.0 if board.higher_is_better else 1.0
    costs = sign * board.folds[board.eligible]
    bias = float(np.mean(sign * board.folds[winner] - costs.min(axis=0)))
    return float(board.mean[winner] + sign * bias)


# Choose the correction of the winner's score for having been chosen: BBC, nested cross-validation, or BBC with a caution.
#
# BBC resamples out-of-fold losses of one sample, whose chance all candidates share; where there is little to learn it stays
# optimistic. Nested cross-validation chooses anew on other rows and is not; it costs a selection per outer fold. With `auto`
# that is paid where BBC lies within two standard errors of the floor, or where there is no BBC
# (`benchmarks/simulations/nested_worth.py`).


BBC, AUTO = "bbc", "auto"
HELD_FROM = 300  # rows (units) from which the interval of a log loss held in the simulations of benchmarks/notes/corrected.md
NOT_HELD = "on {units} {what} the interval of a log loss holds less often than it says (79 to 97 % in simulations, for 95 %)"
CAUTION = "near the floor BBC stays optimistic: candidates share the rows' chance; corrected=nested does not"


def near_floor(selection: Selection, floor: Iterable[float]) -> bool:
    """Say whether the winner's corrected score lies within two standard errors of what guessing costs."""
    found = selection.corrected
    return found is not None and is_near(found.mean, float(selection.board.se[selection.winner]), floor)


def needs_nested(how: str, selection: Selection, near: bool) -> bool:
    """Say whether the outer scheme is run: always, except under `auto` where BBC can be trusted."""
    return how != AUTO or near or selection.corrected is None


def with_caution(selection: Selection, near: bool) -> Selection:
    """Add a caution to a selection whose corrected score lies near the floor."""
    if not near or selection.corrected is None:
        return selection
    before = selection.corrected.caution
    return replace(selection, corrected=selection.corrected.but(caution=f"{before}; {CAUTION}" if before else CAUTION))


def coverage_caution(measure: str, rows: int, groups: Integers | None) -> str | None:
    """A caution where an interval of a log loss does not hold what it says: a few rows that are sure and wrong decide it.

    >>> coverage_caution("log_loss", 80, None)[:15], coverage_caution("log_loss", 300, None)
    ('on 80 rows the ', None)
    """
    units = rows if groups is None else len(np.unique(groups))
    if measure != "log_loss" or units >= HELD_FROM:
        return None
    return NOT_HELD.format(units=units, what="rows" if groups is None else "groups")


def with_nested(selection: Selection, found: NestedResult, how: str) -> Selection:
    """Put the nested estimate first and keep BBC's beside it; `bbc` keeps BBC's first."""
    if how == BBC and selection.corrected is not None:
        return selection
    before = selection.corrected
    own = CorrectedFacts(
        method=found.method, mean=found.mean, low=found.low, high=found.high, label=found.label, bbc=before,
        tibshirani=before.tibshirani if before and before.states("tibshirani") else UNSTATED,  # of the selection's own folds
    )  # fmt: skip
    return replace(selection, corrected=own)


# Scores near the floor: within two standard errors of what guessing costs, so that little or nothing was learnt.

REACH = 2.0  # standard errors


def is_near(value: float, se: float | None, floor: Iterable[float]) -> bool:
    """Say whether a value lies within two standard errors of any score of the floor.

    >>> is_near(0.46, 0.03, [0.5]), is_near(0.30, 0.03, [0.5])
    (True, False)
    """
    return any(abs(guess - value) <= REACH * (se or 0.0) for guess in floor)


# Measures of class scores for those who matter, where the one that chooses reads classes only.
#
# Who matters: the winner, the best of each other entry, and those that cannot be told from the winner. Their cells are computed
# again, this time with class scores; a fit answers all that share it. The winner always gets its own; the others, in this
# order, as long as all of it is about a tenth of the selection, and those whose cells are among the same. On small tables each
# entry's best gets its own in any case. What is in the journal with its class scores costs nothing, and then nobody is left
# out. What the first computation kept of them (`SpareScores`) costs nothing either, and changes nobody's turn.


SHARE = 20  # one of so many cells may be computed again, for one of so many candidates: about a tenth of the selection
LITTLE = 200_000  # development rows × folds × entries up to which each entry's best is scored whatever it costs
RunWithScores = Callable[..., Results]


def with_score_measures(selection: Selection, results: Results, run: RunWithScores) -> Selection:
    """The selection with the measures of class scores beside it, and the class scores of whom it keeps the predictions.

    `run(plan, beside)` computes a plan's cells. Where nobody can say class scores, nothing is added.
    """
    work = results.book.work
    measures = measures_by_default(other_measures(work.measure, work.task, work.resampling, scores=True), work.task)
    missing = {name: measure for name, measure in measures.items() if name not in selection.beside}
    if not missing:
        return selection
    first = [selection.winner, *best_of_each(results, selection.winner)]
    who = [*first, *(near for near in selection.indistinguishable if near not in first)]
    if not work.needs_scores:
        who = affordable(work.plan, who, len(first) if is_small(len(work.task), work.plan.folds, len(first)) else 1)
    try:
        own = run(make([results.candidates[one] for one in who], work.task, work.resampling), missing)
    except NoCandidateError:
        return selection
    columns = {name: _spread(own.beside[name].mean(axis=1), who, len(results.candidates)) for name in missing}
    return replace(selection, beside={**selection.beside, **columns}, assessed=_with_scores(selection.assessed, own))


def _with_scores(assessed: Assessed, own: Results) -> Assessed:
    """The predictions with the class scores of those who have them now; NaN for the others."""
    if assessed.scores is not None:
        return assessed
    place = {candidate.id: at for at, candidate in enumerate(own.candidates) if own.board.eligible[at]}
    there = [at for at, name in enumerate(assessed.ids) if name in place]
    scores = np.full((*assessed.predicted.shape, own.book.work.task.class_count), np.nan)
    if there:
        scores[there] = own.out_of_fold([place[assessed.ids[at]] for at in there]).scores
    return replace(assessed, scores=scores if 0 in there else None)


def is_small(rows: int, folds: int, entries: int) -> bool:
    """Say whether the best of each entry gets its class scores whatever that costs.

    >>> is_small(440, 10, 45), is_small(440, 10, 46)
    (True, False)
    """
    return rows * folds * entries <= LITTLE


def affordable(plan: Plan, who: Sequence[int], always: int) -> list[int]:
    """The first `always` candidates, and the best others as long as their batches stay within a share of the plan's."""
    batch = {member: number for number, one in enumerate(plan.batches) for member in one.members}
    taken = {batch[member] for member in who[:always]}
    kept = list(who[:always])
    most = max(always, len(plan.candidates) // SHARE)  # class scores of many cost more than the fit that they share
    for member in who[always:]:
        if len(kept) < most and (batch[member] in taken or (len(taken) + 1) * SHARE <= len(plan.batches)):
            taken.add(batch[member])
            kept.append(member)
    return kept


def _spread(values: Floats, who: Sequence[int], candidates: int) -> Floats:
    column = np.full(candidates, np.nan)
    column[list(who)] = values
    return column
