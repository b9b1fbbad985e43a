"""The report's section on weak spots of the winner: slices that were found, and groups that were declared."""

from typing import Any

from modelsel.reporting.sections.view import View
from modelsel.reporting.text.words import p_value, percent, score, with_unit

LEVEL = 0.05


def weak_slices(view: View) -> dict[str, object]:
    """Rows of both tables, and how many found slices stand after the correction; empty where nothing was asked for."""
    kept = view.folder.explanation()
    found, shown = kept.get("weak_slices"), kept.get("declared_slices")
    if found is None and shown is None:
        return {}
    unit = str(view.outcome.task.get("measured_in") or "")
    return {"found": _table(found, unit), "declared": _table(shown, unit)}


def worst(part: dict[str, Any]) -> str:
    """The slice that stands, for what to worry about; empty where none does."""
    found = part.get("found") or {"rows": []}
    line = next((row for row in found["rows"] if row["stands"]), None)
    return (
        ""
        if line is None
        else f"More errors where {line['name']}: {line['rate']}{found['said']}, and {found['rate']} of all rows that tested it"
    )


def _table(found: dict[str, Any] | None, unit: str) -> dict[str, object] | None:
    """Describe the slices that were found or declared."""
    if found is None:
        return None
    rate = found["wrong"] / found["rows"] if found["rows"] else 0.0
    rows = [_row(line) for line in found["slices"]]
    numbers = "tolerance" in found
    wrong = f"off by more than {with_unit(found['tolerance'], unit)}" if numbers else "wrong"
    return {
        "rows": rows, "of": found["rows"], "rate": percent(rate), "stand": sum(row["stands"] for row in rows),
        "wrong": wrong, "said": f" are {wrong}" if numbers else "", "numbers": numbers,
        "mae": with_unit(found["mae"], unit) if numbers and found["mae"] is not None else "",
    }  # fmt: skip


def _row(line: dict[str, Any]) -> dict[str, Any]:
    """Write one slice: rows, error rate, interval, p."""
    return {
        "name": line["slice"],
        "rows": line["rows"],
        "mae": score(line.get("mae")),
        "rate": "–" if line["rate"] is None else percent(line["rate"]),
        "interval": "–" if line["low"] is None else f"{percent(line['low'])} to {percent(line['high'])}",
        "p": p_value(line["p"]),
        "adjusted": p_value(line["adjusted"]),
        "stands": line["adjusted"] is not None and line["adjusted"] <= LEVEL,
    }
