"""Check, from candidates.csv alone, that the declared rule chooses the recorded winner."""

from collections.abc import Sequence

import numpy as np

from modelsel.config.reopen import reopen
from modelsel.core.types import Floats, Scoreboard
from modelsel.record.candidates import Row
from modelsel.record.folder import RunFolder


def replayed(folder: RunFolder) -> list[dict[str, str]]:
    """Make the finding of a replay: critical where the record and the rule disagree, info where they agree."""
    outcome, again = folder.outcome(), winner(folder)
    if again == outcome.winner["id"]:
        message = f"the rule {outcome.rule} gives the recorded winner {again[:8]} again"
        return [{"code": "R001", "severity": "info", "message": message, "do": "nothing"}]
    message = f"the rule {outcome.rule} gives {again[:8]}, the record says {outcome.winner['id'][:8]}"
    return [
        {"code": "R002", "severity": "critical", "message": message, "do": "do not quote this study: its record was changed"}
    ]


def _beside(rows: Sequence[Row]) -> dict[str, Floats]:
    """The other measures, to which the rule may set bounds."""
    names = dict.fromkeys(name for row in rows for name in row.measures)
    return {name: np.array([row.measures.get(name, np.nan) for row in rows]) for name in names}


def winner(folder: RunFolder) -> str:
    """The id of the candidate that the recorded rule chooses from the recorded scores."""
    rows = folder.candidates()
    folds = np.array([row.folds for row in rows], np.float64)
    parts = reopen(folder.config(), "rule", "measure")
    board = Scoreboard(
        ids=tuple(row.id for row in rows), folds=folds, mean=folds.mean(axis=1), se=np.array([row.se for row in rows]),
        complexity=np.array([row.complexity for row in rows]), unit=tuple(row.unit for row in rows),
        eligible=np.array([row.status == "ok" for row in rows]), beside=_beside(rows),
        higher_is_better=bool(parts.measure.higher_is_better),
    )  # fmt: skip
    return rows[int(parts.rule.choose(board))].id
