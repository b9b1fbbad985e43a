"""Permutation importance on the page: a bar of each column's interval, the noise as a line, groups that go together.

Of a mean squared error it is read as what its root rises by from the candidate's cross-validated one.
"""

from typing import TypeVar

import numpy as np

from modelsel.record.documents import ColumnLossShape, ImportanceShape, LossShape
from modelsel.reporting.charts.svg import NARROW, WIDE, Lanes, Plot, Scale
from modelsel.reporting.sections.view import View
from modelsel.reporting.text.roots import is_squared, risen
from modelsel.reporting.text.words import in_unit, interval, percent, score

SHOWN = 15
Loss = TypeVar("Loss", bound=LossShape)


def importance(view: View) -> list[dict[str, object]]:
    """One part per candidate that was asked for."""
    return [_part(view, _as_read(view, one)) for one in view.folder.explanation().get("importance", ())]


def _as_read(view: View, one: ImportanceShape) -> ImportanceShape:
    """Importances in the unit of the target where the measure is a mean squared error."""
    if not is_squared(view.recorded) or one.get("failed"):
        return one
    mean = next(row.mean for row in view.folder.candidates() if row.id == one["candidate"])

    def rooted(line: Loss) -> Loss:
        read = line.copy()
        read["mean"], read["low"], read["high"] = (
            risen(line["mean"], mean),
            _risen(line["low"], mean),
            _risen(line["high"], mean),
        )
        return read

    noise = None if one["noise"] is None else rooted(one["noise"])
    return {**one, "noise": noise, "columns": [*map(rooted, one["columns"])], "together": [*map(rooted, one["together"])]}


def _risen(rise: float | None, mean: float) -> float | None:
    return None if rise is None else risen(rise, mean)


def _share(view: View, mean: float) -> str:
    """An impurity importance: of classes as it is, of numbers as a share of the variance of the target."""
    if view.classes:
        return score(mean)
    spread = float(np.var(view.assessed.truth))
    return percent(mean / spread) if spread > 0 else "–"


def _part(view: View, one: ImportanceShape) -> dict[str, object]:
    """Describe the importances of one candidate."""
    part: dict[str, object] = {
        "called": view.name_of(one["candidate"]),
        "failed": one.get("failed"),
        "rows": [],
        "together": [],
        "more": 0,
        "impurity": [{"name": line["column"], "mean": _share(view, line["mean"])} for line in one.get("impurity", [])[:SHOWN]],
    }
    if part["failed"]:
        return part
    lines = one["columns"][:SHOWN]
    return {
        **part,
        "svg": _draw(view, lines, one["noise"], WIDE),
        "narrow": _draw(view, lines, one["noise"], NARROW),
        "rows": [_row(line["column"], line) for line in lines],
        "together": [_row(", ".join(line["columns"]), line) for line in one["together"][:SHOWN]],
        "noise": None if one["noise"] is None else f"{score(one['noise']['mean'])} {_ends(one['noise'])}",
        "more": max(0, len(one["columns"]) - SHOWN),
        "no_noise": one.get("no_noise"),
        "repeats": one["repeats"],
    }


def _row(name: str, line: LossShape) -> dict[str, object]:
    above = "" if "above_noise" not in line else "yes" if line["above_noise"] else "no"
    return {"name": name, "mean": score(line["mean"]), "interval": _ends(line), "above": above}


def _ends(line: LossShape) -> str:
    return interval(None if line["low"] is None or line["high"] is None else [line["low"], line["high"]])


def _draw(view: View, lines: list[ColumnLossShape], noise: LossShape | None, lanes: Lanes) -> str:
    """Draw the columns' means and intervals, with the noise as a line."""
    ends = [end for line in lines for end in (line["low"], line["high"], line["mean"]) if end is not None]
    scale = Scale.of([0.0, *ends], lanes.left, lanes.width - lanes.right, log=False)
    bottom = 14 + lanes.row * len(lines)
    plot = Plot(lanes.width, bottom + 40, "permutation importance of the columns, with intervals over folds")
    plot.axis_below(scale, 6, bottom, f"how much worse {view.outcome.measure} gets{in_unit(view.outcome)}", lanes.ticks)
    plot.line(scale(0.0), 6, scale(0.0), bottom, "grid")
    if noise is not None:
        plot.line(scale.within(noise["mean"]), 6, scale.within(noise["mean"]), bottom, "guide")
    for at, line in enumerate(lines):
        y = lanes.name(plot, 14, at, line["column"], "name")
        if line["low"] is not None and line["high"] is not None:
            plot.line(scale(line["low"]), y, scale(line["high"]), y, "bar s0")
        plot.marks([(scale(line["mean"]), y)], 0)
    return plot.svg()
