"""The report's section on weak spots of the winner: slices that were found, and groups that were declared."""

from typing import TypedDict

from modelsel.record.documents import SliceShape, SlicesShape
from modelsel.reporting.sections.view import View
from modelsel.reporting.text.words import p_value, percent, score, with_unit

LEVEL = 0.05


class SliceShown(TypedDict):
    """A line of a table of slices."""

    name: str
    rows: int
    mae: str
    rate: str
    interval: str
    p: str
    adjusted: str
    stands: bool


class SlicesShown(TypedDict):
    """A table of slices, and what is said of all its rows."""

    rows: list[SliceShown]
    of: int
    rate: str
    stand: int
    wrong: str
    said: str
    numbers: bool
    mae: str


class WeakSpots(TypedDict, total=False):
    """The slices that were found, and those of declared columns."""

    found: SlicesShown | None
    declared: SlicesShown | None


def weak_slices(view: View) -> WeakSpots:
    """Rows of both tables, and how many found slices stand after the correction; empty where nothing was asked for."""
    kept = view.folder.explanation()
    found, shown = kept.get("weak_slices"), kept.get("declared_slices")
    if found is None and shown is None:
        return {}
    unit = str(view.outcome.task.get("measured_in") or "")
    return {"found": _table(found, unit), "declared": _table(shown, unit)}


def worst(part: WeakSpots) -> str:
    """The slice that stands, for what to worry about; empty where none does."""
    found = part.get("found")
    line = next((row for row in found["rows"] if row["stands"]), None) if found else None
    return (
        ""
        if line is None or found is None
        else f"More errors where {line['name']}: {line['rate']}{found['said']}, and {found['rate']} of all rows that tested it"
    )


def _table(found: SlicesShape | None, unit: str) -> SlicesShown | None:
    """Describe the slices that were found or declared."""
    if found is None:
        return None
    rate = found["wrong"] / found["rows"] if found["rows"] else 0.0
    rows = [_row(line) for line in found["slices"]]
    tolerance, mae = found.get("tolerance"), found.get("mae")
    numbers = tolerance is not None
    wrong = "wrong" if tolerance is None else f"off by more than {with_unit(tolerance, unit)}"
    return {
        "rows": rows, "of": found["rows"], "rate": percent(rate), "stand": sum(row["stands"] for row in rows),
        "wrong": wrong, "said": f" are {wrong}" if numbers else "", "numbers": numbers,
        "mae": with_unit(mae, unit) if numbers and mae is not None else "",
    }  # fmt: skip


def _row(line: SliceShape) -> SliceShown:
    """Write one slice: rows, error rate, interval, p."""
    return {
        "name": line["slice"],
        "rows": line["rows"],
        "mae": score(line.get("mae")),
        "rate": "–" if line["rate"] is None else percent(line["rate"]),
        "interval": "–"
        if line["low"] is None or line["high"] is None
        else f"{percent(line['low'])} to {percent(line['high'])}",
        "p": p_value(line["p"]),
        "adjusted": p_value(line["adjusted"]),
        "stands": line["adjusted"] is not None and line["adjusted"] <= LEVEL,
    }
