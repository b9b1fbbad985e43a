"""Fold scores of the best candidates on one axis: a mark per fold, the mean, one standard error to each side."""

from modelsel.record.candidates import Row
from modelsel.reporting.charts.svg import NARROW, WIDE, Lanes, Plot, Scale
from modelsel.reporting.sections.view import View
from modelsel.reporting.text.words import score

SHOWN = 14


def section(view: View) -> dict[str, object]:
    """The best few overall and the best of each entry, best first."""
    rows = choose_strips(view)
    return {
        "svg": _draw_strips(view, rows, WIDE),
        "narrow": _draw_strips(view, rows, NARROW),
        "shown": len(rows),
        "of": len(view.ranked),
    }


def _draw_strips(view: View, rows: list[Row], lanes: Lanes) -> str:
    """Draw a strip per candidate."""
    reach = view.reach([fold for row in rows for fold in row.folds])
    scale = Scale.of(reach, lanes.left, lanes.width - lanes.right, log=False)
    bottom = 14 + lanes.row * len(rows)
    plot = Plot(lanes.width, bottom + 40, f"{view.outcome.measure} on each fold, best candidates first")
    plot.axis_below(scale, 6, bottom, f"{view.outcome.measure} on the assessment part of each fold", lanes.ticks)
    plot.line(scale(rows[0].mean), 6, scale(rows[0].mean), bottom, "guide")
    for i, row in enumerate(rows):
        strong = "name strong" if row.id == view.winner.id else "name"
        _strip(plot, view, row, scale, lanes.name(plot, 14, i, view.name_of(row.id), strong))
    return plot.svg()


def choose_strips(view: View) -> list[Row]:
    """Choose at most SHOWN of the best, and the best of each entry wherever it stands."""
    wanted = {row.id for row in (*view.ranked[:SHOWN], *view.best_of_each)} | {view.winner.id}
    return [row for row in view.ranked if row.id in wanted]


def _strip(plot: Plot, view: View, row: Row, scale: Scale, y: float) -> None:
    """Draw one candidate's strip: folds, mean, one standard error to each side."""
    series = view.series(row)
    if not scale.low <= row.mean <= scale.high:
        _beyond(plot, row, scale, y)
        return
    plot.line(scale.within(row.mean - row.se), y, scale.within(row.mean + row.se), y, f"bar s{series % 8}")
    plot.marks(((scale(s), y) for s in row.folds if scale.low <= s <= scale.high), series, "faint")
    plot.line(scale(row.mean), y - 7, scale(row.mean), y + 7, f"mean s{series % 8}")


def _beyond(plot: Plot, row: Row, scale: Scale, y: float) -> None:
    """A candidate off the axis: an arrow and its mean, so that it does not squeeze the others."""
    right = row.mean > scale.high
    words = f"{score(row.mean)} →" if right else f"← {score(row.mean)}"
    plot.text(scale.end if right else scale.start, y + 4, words, "tick", "end" if right else "start")
