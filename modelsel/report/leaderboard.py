"""All candidates, best first; those without a valid score stand at the end with the reason."""

from typing import Any

from modelsel.report.view import View
from modelsel.report.words import number, score, settings

SHOWN, INVALID = 1000, 100  # rows; all of them are in candidates.csv


def section(view: View) -> dict[str, Any]:
    """The best rows, then those without a valid score, as text."""
    equal = set(view.outcome.winner.get("indistinguishable", ()))
    best, rest = view.ranked[:SHOWN], [row for row in view.rows if not row.rank][:INVALID]
    rows = [
        {
            "rank": row.rank or None,
            "entry": row.label,
            "series": view.series(row) % 8,
            "id": row.id,
            "settings": settings(view.varied[row.id]),
            "mean": score(row.mean),
            "se": score(row.se),
            "training": score(row.training_error),
            "complexity": number(row.complexity),
            "unit": row.unit,
            "status": "" if row.status == "ok" else row.status,
            "reason": row.reason,
            "mark": "winner" if row.id == view.outcome.winner["id"] else "equal" if row.id in equal else "",
        }
        for row in [*best, *rest]
    ]
    return {
        "rows": rows,
        "entries": [(entry, i % 8) for i, entry in enumerate(view.entries)],
        "equal": len(equal),
        "more": len(view.rows) - len(rows),
    }
