"""Facts of study.json about the task, the folds, the winner and the failures: plain data."""

from typing import Any

from modelsel.core.selection import Selection
from modelsel.core.spec import kind_of
from modelsel.core.types import Resampling, Table, Task
from modelsel.runner.execution.single_job import Failure


def task(development: Task, sealed: Table) -> dict[str, Any]:
    """Gather the facts of the task."""
    return {
        "name": development.name, "rows": len(development) + len(sealed), "development_rows": len(development),
        "test_rows": len(sealed), "features": len(development.features), "classes": list(development.classes),
        "fingerprint": development.fingerprint,
    }  # fmt: skip


def scheme(kind: str, resampling: Resampling) -> dict[str, Any]:
    """Gather the facts of the folds."""
    return {"name": kind, "folds": len(resampling.folds), "fingerprint": resampling.fingerprint}


def winner(selection: Selection, failure: Failure | None = None) -> dict[str, Any]:
    """Return the facts of the winner: scores, and the candidates that it cannot be told from.

    The cross-validated score, and the estimate that allows for the choice; where it could not be fitted on all development
    rows, why.
    """
    position, board = selection.winner, selection.board
    candidate = selection.candidates[position]
    return {
        "id": candidate.id,
        "learner": kind_of(candidate.learner),
        "entry": candidate.entry,
        "parameters": candidate.parameters,
        "complexity": {"name": board.unit[position], "value": float(board.complexity[position])},
        "cv": {"mean": float(board.mean[position]), "se": float(board.se[position]), "folds": board.folds[position].tolist()},
        "corrected": selection.corrected,
        "measures": {name: float(each[position]) for name, each in selection.beside.items()},
        "indistinguishable": [board.ids[other] for other in selection.indistinguishable],
        "every_best": None if selection.every_best is None else [board.ids[one] for one in selection.every_best],
        **_never_judged(selection),
        **({"failure": {"status": failure.status, "reason": failure.reason}} if failure else {}),
    }


def _never_judged(selection: Selection) -> dict[str, Any]:
    """Out of bag: how many rows every tree of the winner has drawn. They are judged by the class shares of all rows."""
    many = float(selection.means["never_judged"][selection.winner])
    return {"never_out_of_bag": int(many)} if many == many else {}


def failures(selection: Selection) -> tuple[dict[str, Any], ...]:
    """Candidates that did not finish, with the reason; those that left a race have not failed."""
    return tuple(
        {"id": candidate.id, "status": status, "reason": reason}
        for candidate, status, reason in zip(selection.candidates, selection.status, selection.reasons, strict=True)
        if status not in ("ok", "dropped")
    )
