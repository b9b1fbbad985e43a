"""The winner explained on the page: importance of columns, partial dependence, weak spots.

Permutation importance is a bar of each column's interval, the noise as a line, and groups that go together. Of a mean squared
error it is read as what its root rises by from the candidate's cross-validated one.
"""

from collections.abc import Sequence
from typing import TypedDict, TypeVar

import numpy as np

from modelsel.core.column_kind.base import kind_named
from modelsel.core.reading import moment
from modelsel.record.documents import ColumnLossFacts, DependenceFacts, ImportanceFacts, LossFacts, SliceFacts, SlicesFacts
from modelsel.reporting.charts import NARROW, WIDE, Lanes, Plot, Scale
from modelsel.reporting.roots import is_squared, rise_of_root
from modelsel.reporting.sections.view import View
from modelsel.reporting.words import in_unit, interval, p_value, percent, score, with_unit

SHOWN = 15
Loss = TypeVar("Loss", bound=LossFacts)


def importance(view: View) -> list[dict[str, object]]:
    """A part for each candidate that was asked for."""
    return [_part(view, _as_read(view, one)) for one in view.folder.explanation().importance]


def _as_read(view: View, one: ImportanceFacts) -> ImportanceFacts:
    """Importances in the unit of the target where the measure is a mean squared error."""
    if not is_squared(view.recorded) or one.failed:
        return one
    mean = next(row.mean for row in view.folder.candidates() if row.id == one.candidate)

    def take_roots(line: Loss) -> Loss:
        rises = _rise_of_root(line.low, mean), _rise_of_root(line.high, mean)
        return line.but(mean=rise_of_root(line.mean, mean), low=rises[0], high=rises[1])

    noise = None if one.noise is None else take_roots(one.noise)
    return one.but(noise=noise, columns=[*map(take_roots, one.columns)], together=[*map(take_roots, one.together)])


def _rise_of_root(rise: float | None, mean: float) -> float | None:
    return None if rise is None else rise_of_root(rise, mean)


def _share(view: View, mean: float) -> str:
    """An impurity importance: of classes as it is, of numbers as a share of the variance of the target."""
    if view.classes:
        return score(mean)
    spread = float(np.var(view.assessed.truth))
    return percent(mean / spread) if spread > 0 else "–"


def _part(view: View, one: ImportanceFacts) -> dict[str, object]:
    """Describe the importances of one candidate."""
    part: dict[str, object] = {
        "called": view.name_of(one.candidate),
        "failed": one.failed,
        "rows": [],
        "together": [],
        "more": 0,
        "impurity": [{"name": line.column, "mean": _share(view, line.mean)} for line in one.impurity[:SHOWN]],
    }
    if part["failed"]:
        return part
    lines = one.columns[:SHOWN]
    return {
        **part,
        "svg": _draw(view, lines, one.noise, WIDE),
        "narrow": _draw(view, lines, one.noise, NARROW),
        "rows": [_row(line.column, line) for line in lines],
        "together": [_row(", ".join(line.columns), line) for line in one.together[:SHOWN]],
        "noise": None if one.noise is None else f"{score(one.noise.mean)} {_ends(one.noise)}",
        "more": max(0, len(one.columns) - SHOWN),
        "no_noise": one.no_noise,
        "repeats": one.repeats,
    }


def _row(name: str, line: LossFacts) -> dict[str, object]:
    above = {None: "", True: "yes", False: "no"}[line.above_noise]
    return {"name": name, "mean": score(line.mean), "interval": _ends(line), "above": above}


def _ends(line: LossFacts) -> str:
    return interval(None if line.low is None or line.high is None else [line.low, line.high])


def _draw(view: View, lines: Sequence[ColumnLossFacts], noise: LossFacts | None, lanes: Lanes) -> str:
    """Draw the columns' means and intervals, with the noise as a line."""
    ends = [end for line in lines for end in (line.low, line.high, line.mean) if end is not None]
    scale = Scale.of([0.0, *ends], lanes.left, lanes.width - lanes.right, log=False)
    bottom = 14 + lanes.row * len(lines)
    plot = Plot(lanes.width, bottom + 40, "permutation importance of the columns, with intervals over folds")
    plot.axis_below(scale, 6, bottom, f"how much worse {view.outcome.measure} gets{in_unit(view.outcome)}", lanes.ticks)
    plot.line(scale(0.0), 6, scale(0.0), bottom, "grid")
    if noise is not None:
        plot.line(scale.within(noise.mean), 6, scale.within(noise.mean), bottom, "guide")
    for at, line in enumerate(lines):
        y = lanes.name(plot, 14, at, line.column, "name")
        if line.low is not None and line.high is not None:
            plot.line(scale(line.low), y, scale(line.high), y, "bar s0")
        plot.marks([(scale(line.mean), y)], 0)
    return plot.svg()


# Partial dependence on the page: the mean score of each class (or the mean prediction) along a column, and single rows.


CLASSES = 6
LETTER = 8.0  # pixels of a wide one
WIDTH, LEFT, TOP, BOTTOM, HEIGHT = 330, 48, 12, 180, 215


def dependence(view: View) -> list[dict[str, object]]:
    """A panel per column."""
    return [_panel(view, one) for one in view.folder.explanation().dependence if one.grid]


def _panel(view: View, one: DependenceFacts) -> dict[str, object]:
    """Draw the dependence on one column."""
    classes = [str(name) for name in view.outcome.task.classes]
    shown = [1] if len(classes) == 2 else list(range(min(len(classes), CLASSES))) if classes else [0]
    numeric = not kind_named(one.kind).has_levels
    places = one.grid if numeric else [float(place) for place in range(len(one.grid))]
    side = 14 if numeric else 32  # room for half of the last level's name
    up = _upwards(one, classes)
    left = up.room(LEFT)
    across = Scale.of(places, left, WIDTH - side, log=False)
    plot = Plot(WIDTH, HEIGHT, f"partial dependence on {one.column}")
    plot.axis_left(up, left, WIDTH - 14)
    _below(plot, one, across, places)
    for course in one.lines["scores"]:
        plot.path([(across(x), up(y)) for x, y in zip(places, course)], "course")
    for series, k in enumerate(shown):
        line = [(across(x), up(mean[k])) for x, mean in zip(places, one.mean)]
        plot.path(line, f"curve c{series} s{series}")
        plot.marks(line[:0] if numeric else line, series)
    legend = [{"name": classes[k], "series": series} for series, k in enumerate(shown if classes else ())]
    return {"title": one.column, "svg": plot.svg(), "legend": legend, "of": one.lines.get("class")}


def _upwards(one: DependenceFacts, classes: list[str]) -> Scale:
    """The vertical scale: 0 to 1 for class scores, for numbers the range of what is shown."""
    if classes:
        return Scale(0.0, 1.0, BOTTOM, TOP)
    return Scale.of([value for row in (*one.mean, *one.lines["scores"]) for value in row], BOTTOM, TOP, log=False)


def _below(plot: Plot, one: DependenceFacts, across: Scale, places: list[float]) -> None:
    """Label the axis below: dates, numbers or levels."""
    if one.dates:
        for at in (places[0], places[len(places) // 2], places[-1]):
            plot.text(across(at), BOTTOM + 15, moment(at)[:10], "tick", "middle")
        return
    if not kind_named(one.kind).has_levels:
        plot.axis_below(across, TOP, BOTTOM, "", 5)
        return
    every = -(-len(places) // 6)
    letters = min(9, int((across(every) - across(0)) / LETTER)) if len(places) > every else 9
    for at, name in enumerate(one.levels):
        if at % every == 0:
            plot.text(across(at), BOTTOM + 15, name if len(name) <= letters else f"{name[: letters - 1]}…", "tick", "middle")


# Weak spots of the winner: slices that were found, and groups that were declared.


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
    found, shown = kept.weak_slices, kept.declared_slices
    if found is None and shown is None:
        return {}
    unit = view.outcome.task.measured_in or ""
    return {"found": _slice_table(found, unit), "declared": _slice_table(shown, unit)}


def worst(part: WeakSpots) -> str:
    """The slice that stands, for what to worry about; empty where none does."""
    found = part.get("found")
    line = next((row for row in found["rows"] if row["stands"]), None) if found else None
    return (
        ""
        if line is None or found is None
        else f"More errors where {line['name']}: {line['rate']}{found['said']}, and {found['rate']} of all rows that tested it"
    )


def _slice_table(found: SlicesFacts | None, unit: str) -> SlicesShown | None:
    """Describe the slices that were found or declared."""
    if found is None:
        return None
    rate = found.wrong / found.rows if found.rows else 0.0
    rows = [_slice_row(line) for line in found.slices]
    tolerance, mae = found.tolerance, found.mae
    numbers = tolerance is not None
    wrong = "wrong" if tolerance is None else f"off by more than {with_unit(tolerance, unit)}"
    return {
        "rows": rows, "of": found.rows, "rate": percent(rate), "stand": sum(row["stands"] for row in rows),
        "wrong": wrong, "said": f" are {wrong}" if numbers else "", "numbers": numbers,
        "mae": with_unit(mae, unit) if numbers and mae is not None else "",
    }  # fmt: skip


def _slice_row(line: SliceFacts) -> SliceShown:
    """Write one slice: rows, error rate, interval, p."""
    return {
        "name": line.slice,
        "rows": line.rows,
        "mae": score(line.mae),
        "rate": "–" if line.rate is None else percent(line.rate),
        "interval": "–" if line.low is None or line.high is None else f"{percent(line.low)} to {percent(line.high)}",
        "p": p_value(line.p),
        "adjusted": p_value(line.adjusted),
        "stands": line.adjusted is not None and line.adjusted <= LEVEL,
    }
