"""All candidates, best first, with the floor where it belongs; those without a valid score stand at the end with the reason."""

import math
from collections.abc import Sequence, Set
from typing import Any, TypedDict

from modelsel.core.outcome import mean_size
from modelsel.core.spec import class_of
from modelsel.record.candidates import Row
from modelsel.reporting.sections.view import View
from modelsel.reporting.text import verdict
from modelsel.reporting.text import words as difference
from modelsel.reporting.text.words import number, score, settings

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
    equal = set(view.outcome.winner.get("indistinguishable", ()))
    best, rest = view.ranked[:SHOWN], [row for row in view.rows if not row.rank][:INVALID]
    return {
        "rows": [*_with_floor(view, best, equal), *(_row(view, row, equal) for row in rest)],
        "entries": [(entry, i % 8) for i, entry in enumerate(view.entries)],
        "equal": len(equal),
        "more": len(view.rows) - len(best) - len(rest),
        "floor": verdict.sentence(view.outcome, view.higher),
        "training": "training root mse" if view.outcome.task.get("kind") == "numbers" else "training error",
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
        "apart": difference.words(row, view.winner),
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
    if row.id == view.outcome.winner["id"]:
        return "winner"
    return "equal" if row.id in equal else "" if row.rank else "invalid"


def _with_floor(view: View, best: Sequence[Row], equal: Set[str]) -> list[dict[str, object]]:
    """The best candidates with the floor where its scores belong: below those that are as good."""
    sign = -1 if view.higher else 1
    table = [_row(view, row, equal) for row in best]
    best, table = _merge_ties(best, table, view.outcome.winner["id"])
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
