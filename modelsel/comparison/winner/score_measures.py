"""Measures of class scores for those who matter, where the one that chooses reads classes only.

Who matters: the winner, the best of each other entry, and those that cannot be told from the winner. Their cells are computed
again, this time with class scores; a fit answers all that share it. The winner and each entry's best always get theirs; of the
others those whose cells are among the same, and more, best first, as long as all of it is at most a tenth of the plan's cells.
What is in the journal with its class scores costs nothing, and then nobody is left out.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from modelsel.comparison.winner.selection import best_of_each
from modelsel.core.errors import NoCandidateError
from modelsel.core.selection import Selection
from modelsel.core.types import Floats
from modelsel.measure.beside import accompanying
from modelsel.planning.make import Plan, make
from modelsel.runner.aggregation.results import Results

SHARE = 10  # one of so many cells may be computed again
RunWithScores = Callable[..., Results]


def with_score_measures(selection: Selection, results: Results, run: RunWithScores) -> Selection:
    """The selection with the measures of class scores beside it, and the class scores of whom it keeps the predictions.

    `run(plan, beside)` computes a plan's cells. Where nobody can say class scores, nothing is added.
    """
    work = results.book.work
    measures = accompanying(work.measure, work.task, work.resampling, scores=True)
    missing = {name: measure for name, measure in measures.items() if name not in selection.beside}
    if not missing:
        return selection
    first = [selection.winner, *best_of_each(results, selection.winner)]
    who = [*first, *(near for near in selection.indistinguishable if near not in first)]
    if not work.needs_scores:
        who = affordable(work.plan, who, len(first))
    try:
        own = run(make([results.candidates[one] for one in who], work.task, work.resampling), missing)
    except NoCandidateError:
        return selection
    columns = {name: _spread(own.beside[name].mean(axis=1), who, len(results.candidates)) for name in missing}
    assessed = selection.assessed
    if assessed.scores is None and own.board.eligible[: len(first)].all():
        assessed = own.assessed(range(len(first)))
    return replace(selection, beside={**selection.beside, **columns}, assessed=assessed)


def affordable(plan: Plan, who: Sequence[int], always: int) -> list[int]:
    """The first `always`, and of the others those whose batches fit into a tenth of the plan's."""
    batch = {member: number for number, one in enumerate(plan.batches) for member in one.members}
    taken = {batch[member] for member in who[:always]}
    kept = list(who[:always])
    for member in who[always:]:
        if batch[member] in taken or (len(taken) + 1) * SHARE <= len(plan.batches):
            taken.add(batch[member])
            kept.append(member)
    return kept


def _spread(values: Floats, who: Sequence[int], candidates: int) -> Floats:
    column: Any = np.full(candidates, np.nan)
    column[list(who)] = values
    return np.asarray(column)
