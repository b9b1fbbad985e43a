"""Partial dependence on the page: the mean score of each class (or the mean prediction) along a column, and single rows."""

from modelsel.core.types import moment
from modelsel.record.documents import DependenceShape
from modelsel.reporting.charts.svg import Plot, Scale
from modelsel.reporting.sections.view import View

CLASSES = 6
LETTER = 8.0  # pixels of a wide one
WIDTH, LEFT, TOP, BOTTOM, HEIGHT = 330, 48, 12, 180, 215


def dependence(view: View) -> list[dict[str, object]]:
    """A panel per column."""
    return [_panel(view, one) for one in view.folder.explanation().get("dependence", ()) if one["grid"]]


def _panel(view: View, one: DependenceShape) -> dict[str, object]:
    """Draw the dependence on one column."""
    classes = [str(name) for name in view.outcome.task.get("classes", ())]
    shown = [1] if len(classes) == 2 else list(range(min(len(classes), CLASSES))) if classes else [0]
    places = one["grid"] if one["kind"] == "numeric" else [float(place) for place in range(len(one["grid"]))]
    side = 14 if one["kind"] == "numeric" else 32  # room for half of the last level's name
    up = _upwards(one, classes)
    left = up.room(LEFT)
    across = Scale.of(places, left, WIDTH - side, log=False)
    plot = Plot(WIDTH, HEIGHT, f"partial dependence on {one['column']}")
    plot.axis_left(up, left, WIDTH - 14)
    _below(plot, one, across, places)
    for course in one["lines"]["scores"]:
        plot.path([(across(x), up(y)) for x, y in zip(places, course)], "course")
    for series, k in enumerate(shown):
        line = [(across(x), up(mean[k])) for x, mean in zip(places, one["mean"])]
        plot.path(line, f"curve c{series} s{series}")
        plot.marks(line if one["kind"] != "numeric" else line[:0], series)
    legend = [{"name": classes[k], "series": series} for series, k in enumerate(shown if classes else ())]
    return {"title": one["column"], "svg": plot.svg(), "legend": legend, "of": one["lines"].get("class")}


def _upwards(one: DependenceShape, classes: list[str]) -> Scale:
    """From 0 to 1 for class scores; of numbers from the least to the largest that is shown."""
    if classes:
        return Scale(0.0, 1.0, BOTTOM, TOP)
    return Scale.of([value for row in (*one["mean"], *one["lines"]["scores"]) for value in row], BOTTOM, TOP, log=False)


def _below(plot: Plot, one: DependenceShape, across: Scale, places: list[float]) -> None:
    """Label the axis below: dates, numbers or levels."""
    if one.get("dates"):
        for at in (places[0], places[len(places) // 2], places[-1]):
            plot.text(across(at), BOTTOM + 15, moment(at)[:10], "tick", "middle")
        return
    if one["kind"] == "numeric":
        plot.axis_below(across, TOP, BOTTOM, "", 5)
        return
    every = -(-len(places) // 6)
    letters = min(9, int((across(every) - across(0)) / LETTER)) if len(places) > every else 9
    for at, name in enumerate(one["levels"]):
        if at % every == 0:
            plot.text(across(at), BOTTOM + 15, name if len(name) <= letters else f"{name[: letters - 1]}…", "tick", "middle")
