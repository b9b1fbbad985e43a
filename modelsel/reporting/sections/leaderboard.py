"""Tables of candidates: all of them, best first, with the floor where it belongs; all measures of a few; pairs with the winner.

Those without a valid score stand at the end with the reason.
"""

import math
from collections.abc import Mapping, Sequence, Set
from typing import Any, TypedDict

from modelsel.core.outcome import mean_size
from modelsel.core.spec import class_of
from modelsel.record.candidates import Row
from modelsel.record.documents import PairFacts
from modelsel.reporting import verdict
from modelsel.reporting.charts import NARROW, WIDE, Lanes, Plot, Scale
from modelsel.reporting.sections.view import View
from modelsel.reporting.words import decimals_of, difference_to_winner, number, p_value, score, settings, with_sign

SHOWN, INVALID = 1000, 100  # rows; all of them are in candidates.csv
EQUAL = 1e-12


class Leaderboard(TypedDict):
    """The table of candidates, as the page shows it."""

    rows: list[dict[str, object]]
    entries: list[tuple[str, int]]
    equal: int
    more: int
    floor: str
    training: str
    untrained: list[str]


def section(view: View) -> Leaderboard:
    """The best rows, then those without a valid score, as text."""
    equal = set(view.outcome.winner.indistinguishable)
    best, rest = view.ranked[:SHOWN], [row for row in view.rows if not row.rank][:INVALID]
    return {
        "rows": [*_with_floor(view, best, equal), *(_row(view, row, equal) for row in rest)],
        "entries": [(entry, i % 8) for i, entry in enumerate(view.entries)],
        "equal": len(equal),
        "more": len(view.rows) - len(best) - len(rest),
        "floor": verdict.sentence(view.outcome, view.higher),
        "training": "training root mse" if view.outcome.task.of_numbers else "training error",
        "untrained": _without_training_error(view),
    }


def _without_training_error(view: View) -> list[str]:
    """List the reasons why learners that have a score have no training error, in their own words."""
    plugins = tuple(view.config.get("plugins") or ())
    kinds = dict.fromkeys(row.learner for row in view.ranked if not math.isfinite(row.training_error))
    return list(filter(None, (_reason(kind, plugins) for kind in kinds)))


def _reason(kind: str, plugins: tuple[str, ...]) -> str:
    """Say why a learner has no training error; empty where it has one, or is not installed."""
    try:
        return str(getattr(class_of("learner", kind, plugins), "no_training_error", ""))
    except (KeyError, AttributeError):  # no such learner here: a plugin that is no longer installed
        return ""


def _row(view: View, row: Row, equal: Set[str]) -> dict[str, object]:
    """Write the row of a candidate."""
    return {
        "rank": row.rank or None,
        "entry": row.label,
        "series": view.series(row) % 8,
        "id": row.id,
        "settings": settings(view.varied[row.id]),
        "mean": score(row.mean),
        "se": score(row.se, row.mean),
        "apart": difference_to_winner(row, view.winner),
        "training": score(row.training_error),
        "complexity": number(row.complexity),
        "unit": row.unit,
        "size": mean_size(row.complexity, row.unit) if math.isfinite(row.complexity) else "–",
        "status": "" if row.status == "ok" else row.status,
        "reason": row.reason,
        "mark": _mark(view, row, equal),
        "alike": 0,  # others that tie with it exactly
    }


def _mark(view: View, row: Row, equal: Set[str]) -> str:
    if row.id == view.outcome.winner.id:
        return "winner"
    return "equal" if row.id in equal else "" if row.rank else "invalid"


def _with_floor(view: View, best: Sequence[Row], equal: Set[str]) -> list[dict[str, object]]:
    """The best candidates with the floor where its scores belong: below those that are as good."""
    sign = -1 if view.higher else 1
    table = [_row(view, row, equal) for row in best]
    best, table = _merge_ties(best, table, view.outcome.winner.id)
    for line in sorted(verdict.unlisted_floor(view.outcome), key=lambda line: sign * line.mean, reverse=True):
        table.insert(sum(sign * row.mean <= sign * line.mean + EQUAL for row in best), _floor_row(line))
    return table


def _merge_ties(best: Sequence[Row], table: list[dict[str, object]], winner: str) -> tuple[list[Row], list[dict[str, object]]]:
    """Make one row of neighbours of an entry that tie exactly: the same scores, standard errors and complexity."""
    kept: list[Row] = []
    rows: list[dict[str, Any]] = []
    for row, line in zip(best, table, strict=True):
        last = kept[-1] if kept else None
        if last is not None and winner not in (last.id, row.id) and _behaviour(last) == _behaviour(row):
            rows[-1]["alike"] += 1
        else:
            kept.append(row)
            rows.append(line)
    return kept, rows


def _behaviour(row: Row) -> tuple[object, ...]:
    return row.label, row.mean, row.se, row.difference_se, row.training_error, row.complexity


def _floor_row(line: verdict.BaselineLine) -> dict[str, object]:
    """Write the row of a line of the floor."""
    blank = dict.fromkeys(("complexity", "unit", "size", "training", "status", "reason", "apart"), "")
    words = {
        "entry": line.name,
        "settings": verdict.MEANING[line.learner],
        "mean": score(line.mean),
        "se": score(line.se, line.mean),
    }
    return {**blank, **words, "alike": 0, "rank": None, "series": 0, "id": line.id, "mark": "floor"}


# All measures of a few candidates side by side: the winner, each entry's best, those that cannot be told from it.


MEASURED = 12  # candidates; the others' measures are in candidates.csv
UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


def measures(view: View) -> dict[str, object]:
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
    found: Mapping[str, float] = view.details.predict_1000_rows or {}
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
    near = set(view.outcome.winner.indistinguishable)
    wanted = [view.winner, *view.best_of_each, *(row for row in view.ranked if row.id in near)]
    return list({row.id: row for row in wanted}.values())[:MEASURED]


def _names(view: View) -> list[str]:
    return list(dict.fromkeys(name for row in view.rows for name in row.measures))


def _score(row: Row, name: str) -> str:
    value = row.measures.get(name, math.nan)
    return score(value) if math.isfinite(value) else "–"


# The best of each learner against the winner on the same folds: differences with intervals, never scores side by side.


def paired_differences(view: View) -> dict[str, object]:
    """A row per pair, and the picture of their intervals around zero."""
    pairs, decimals = view.pairs, decimals_of(view.winner.mean)
    rows = [
        {
            "first": view.name_of(pair.first),
            "second": view.name_of(pair.second),
            "difference": with_sign(pair.difference, decimals),
            "interval": f"[{with_sign(pair.low, decimals)}, {with_sign(pair.high, decimals)}]",
            "p": p_value(pair.p),
            "adjusted": p_value(pair.adjusted),
            "told": pair.adjusted is not None and pair.adjusted < 0.05,
            "method": pair.method,
        }
        for pair in pairs
    ]
    methods = ", ".join(dict.fromkeys(pair.method for pair in pairs))
    return {"rows": rows, "methods": methods, **_pictures(view, pairs)}


def _pictures(view: View, pairs: list[PairFacts]) -> dict[str, str]:
    """Draw the intervals for wide windows and for narrow ones."""
    return {name: _picture(view, pairs, lanes) if pairs else "" for name, lanes in (("svg", WIDE), ("narrow", NARROW))}


def _picture(view: View, pairs: list[PairFacts], lanes: Lanes) -> str:
    """Draw differences to the winner with their intervals."""
    ends = [float(end) for pair in pairs for end in (pair.low, pair.high) if end is not None]
    scale = Scale.of([0.0, *ends], lanes.left, lanes.width - lanes.right, log=False)
    bottom = 12 + lanes.row * len(pairs)
    plot = Plot(lanes.width, bottom + 40, "differences to the winner with their intervals")
    label = f"difference in {view.outcome.measure}"
    plot.axis_below(scale, 6, bottom, label[: lanes.letters], lanes.ticks)
    plot.line(scale(0), 4, scale(0), bottom, "guide")
    for i, pair in enumerate(pairs):
        row = next((row for row in view.rows if row.id == pair.second), None)
        series = view.series(row) if row else 0
        y = lanes.name(plot, 12, i, view.name_of(pair.second), "name")
        if pair.low is not None and pair.high is not None:
            plot.line(scale(pair.low), y, scale(pair.high), y, f"bar s{series % 8}")
        plot.marks([(scale(pair.difference), y)], series)
    return plot.svg()
