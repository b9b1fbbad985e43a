"""Measures of class scores for those who matter, where the one that chooses reads classes only.

Who matters: the winner, the best of each other entry, and those that cannot be told from the winner. Their cells are computed
again, this time with class scores; a fit answers all that share it. The winner always gets its own; the others, in this order,
as long as all of it is about a tenth of the selection, and those whose cells are among the same. On small tables each entry's
best gets its own in any case. What is in the journal with its class scores costs nothing, and then nobody is left out.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from modelsel.comparison.selection import best_of_each
from modelsel.core.errors import NoCandidateError
from modelsel.core.selection import Assessed, Selection
from modelsel.core.types import Floats
from modelsel.measure.beside import accompanying, measures_by_default
from modelsel.planning.make import Plan, make
from modelsel.runner.results import Results

SHARE = 20  # one of so many cells may be computed again, for one of so many candidates: about a tenth of the selection
LITTLE = 200_000  # development rows × folds × entries up to which each entry's best is scored whatever it costs
RunWithScores = Callable[..., Results]


def with_score_measures(selection: Selection, results: Results, run: RunWithScores) -> Selection:
    """The selection with the measures of class scores beside it, and the class scores of whom it keeps the predictions.

    `run(plan, beside)` computes a plan's cells. Where nobody can say class scores, nothing is added.
    """
    work = results.book.work
    measures = measures_by_default(accompanying(work.measure, work.task, work.resampling, scores=True), work.task)
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
    """The first `always`, and of the others the best of those whose batches fit into a share of the plan's."""
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
