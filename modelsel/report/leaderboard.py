"""All candidates, best first; those without a valid score stand at the end with the reason."""

from typing import Any

from modelsel.report.view import View
from modelsel.report.words import number, score, settings


def section(view: View) -> dict[str, Any]:
    """Rows as text, with the bare number beside it where the table sorts."""
    equal = set(view.outcome.winner.get("indistinguishable", ()))
    rest = [row for row in view.rows if not row.rank]
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
        for row in [*view.ranked, *rest]
    ]
    return {"rows": rows, "entries": [(entry, i % 8) for i, entry in enumerate(view.entries)], "equal": len(equal)}
