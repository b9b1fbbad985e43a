"""All measures of a few candidates side by side: the winner, each entry's best, those that cannot be told from it."""

import math
from collections.abc import Mapping

from modelsel.record.candidates import Row
from modelsel.reporting.sections.view import View
from modelsel.reporting.text.words import score, settings

SHOWN = 12  # candidates; the others' measures are in candidates.csv
UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


def section(view: View) -> dict[str, object]:
    """A column per candidate, a row per measure; empty for a record of a version that knew one measure only."""
    rows = _lines_shown(view)
    names = [name for name in _names(view) if any(math.isfinite(row.measures.get(name, math.nan)) for row in rows)]
    if not names:
        return {}
    chose = {"name": view.outcome.measure, "cells": [score(row.mean) for row in rows]}
    return {
        "columns": [{"entry": row.label, "settings": settings(view.varied[row.id]), "id": row.id} for row in rows],
        "rows": [chose, *({"name": name, "cells": [_score(row, name) for row in rows]} for name in names)],
        "times": [duration(times(view).get(row.id)) for row in rows] if times(view) else [],
        "left_out": any(not math.isfinite(row.measures.get(name, math.nan)) for row in rows for name in names),
    }


def times(view: View) -> Mapping[str, float]:
    """Seconds for the prediction of 1,000 rows, by candidate."""
    found: Mapping[str, float] = view.details.get("predict_1000_rows") or {}
    return found


def duration(seconds: float | None) -> str:
    """Write a duration in its natural unit; a dash where there is none.

    >>> duration(0.00042), duration(2.5), duration(None)
    ('420 µs', '2.5 s', '–')
    """
    if seconds is None:
        return "–"
    size, unit = next(((size, unit) for size, unit in UNITS if seconds >= size), UNITS[-1])
    return f"{seconds / size:.3g} {unit}"


def _lines_shown(view: View) -> list[Row]:
    """The winner first, then the best of each entry, then those not told apart, best first."""
    near = set(view.outcome.winner.get("indistinguishable", ()))
    wanted = [view.winner, *view.best_of_each, *(row for row in view.ranked if row.id in near)]
    return list({row.id: row for row in wanted}.values())[:SHOWN]


def _names(view: View) -> list[str]:
    return list(dict.fromkeys(name for row in view.rows for name in row.measures))


def _score(row: Row, name: str) -> str:
    value = row.measures.get(name, math.nan)
    return score(value) if math.isfinite(value) else "–"
