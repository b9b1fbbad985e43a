"""What the best of several studies is worth, which is itself a choice: bootstrap bias correction over their winners.

Each study's winner is a column of out-of-fold losses; where the studies share rows, folds and measure, the columns are paired,
and what `bbc` does for the candidates of one study it does for the winners of all.
"""

from collections.abc import Sequence

import numpy as np

from modelsel.comparison.bbc import Corrected, bbc
from modelsel.core.fingerprint import generator
from modelsel.core.outcome import StudySummary
from modelsel.core.spec import class_of
from modelsel.core.types import Scoreboard
from modelsel.record.folder import RunFolder
from modelsel.rule.best import Best


def correct_best(outcomes: Sequence[StudySummary]) -> Corrected | str:
    """Correct the score of the best of these studies for the choice among them; or say why there is no correction."""
    first = outcomes[0]
    if len({(each.task.fingerprint, each.measure, str(each.scheme.fingerprint)) for each in outcomes}) > 1:
        return "the jobs do not share rows, folds and measure"
    if not getattr(class_of("measure", first.measure), "over_rows", False):
        return f"{first.measure} is not a mean over rows"
    folders = [RunFolder.open(each.folder) for each in outcomes]
    data = folders[0].config().get("dataset") or {}
    if any(data.get(key) for key in ("weights", "groups", "unit")):
        return "rows are weighted or grouped, which the record of losses does not hold"
    columns = [_winner_losses(folder, each) for folder, each in zip(folders, outcomes)]
    if any(column is None for column in columns):
        return "not every job's winner has its losses on record"
    losses = np.stack([column for column in columns if column is not None], axis=1)
    board = _board(outcomes, bool(folders[0].details().higher_is_better))
    rng = generator(first.seed, str(first.scheme.fingerprint), "jobs of a sweep")
    found = bbc(losses, board, Best(), winner=Best().choose(board), rng=rng, zero_one=first.measure == "error")
    return "fewer than two rows were assessed" if found is None else found


def _winner_losses(folder: RunFolder, outcome: StudySummary) -> "np.ndarray[tuple[int], np.dtype[np.float64]] | None":
    """The out-of-fold losses of a study's winner; None where they are not on record."""
    losses = folder.losses()
    if losses.matrix is None or outcome.winner.id not in losses.ids:
        return None
    return np.asarray(losses.matrix[:, losses.ids.index(outcome.winner.id)], np.float64)


def _board(outcomes: Sequence[StudySummary], higher: bool) -> Scoreboard:
    """The jobs' winners as candidates of one choice."""
    scores = [each.winner.cv for each in outcomes]
    return Scoreboard(
        ids=tuple(each.winner.id for each in outcomes),
        folds=np.array([[np.nan if one is None else one for one in cv.folds] for cv in scores], np.float64),
        mean=np.array([cv.mean for cv in scores], np.float64),
        se=np.array([np.nan if cv.se is None else cv.se for cv in scores], np.float64),
        complexity=np.array([each.winner.complexity.value for each in outcomes], np.float64),
        unit=tuple(each.winner.complexity.name for each in outcomes),
        eligible=np.ones(len(outcomes), np.bool_),
        higher_is_better=higher,
    )
