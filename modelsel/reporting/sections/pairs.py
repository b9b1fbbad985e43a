"""The best of each learner against the winner on the same folds: differences with intervals, never scores side by side."""

from modelsel.record.documents import PairShape
from modelsel.reporting.charts.svg import NARROW, WIDE, Lanes, Plot, Scale
from modelsel.reporting.sections.view import View
from modelsel.reporting.text.words import decimals_of, p_value, with_sign


def section(view: View) -> dict[str, object]:
    """A row per pair, and the picture of their intervals around zero."""
    pairs, decimals = view.pairs, decimals_of(view.winner.mean)
    rows = [
        {
            "first": view.name_of(pair["first"]),
            "second": view.name_of(pair["second"]),
            "difference": with_sign(pair["difference"], decimals),
            "interval": f"[{with_sign(pair['low'], decimals)}, {with_sign(pair['high'], decimals)}]",
            "p": p_value(pair["p"]),
            "adjusted": p_value(pair["adjusted"]),
            "told": pair["adjusted"] is not None and pair["adjusted"] < 0.05,
            "method": pair["method"],
        }
        for pair in pairs
    ]
    methods = ", ".join(dict.fromkeys(pair["method"] for pair in pairs))
    return {"rows": rows, "methods": methods, **_pictures(view, pairs)}


def _pictures(view: View, pairs: list[PairShape]) -> dict[str, str]:
    """Draw the intervals for wide windows and for narrow ones."""
    return {name: _picture(view, pairs, lanes) if pairs else "" for name, lanes in (("svg", WIDE), ("narrow", NARROW))}


def _picture(view: View, pairs: list[PairShape], lanes: Lanes) -> str:
    """Draw differences to the winner with their intervals."""
    ends = [float(pair[key]) for pair in pairs for key in ("low", "high") if pair[key] is not None]
    scale = Scale.of([0.0, *ends], lanes.left, lanes.width - lanes.right, log=False)
    bottom = 12 + lanes.row * len(pairs)
    plot = Plot(lanes.width, bottom + 40, "differences to the winner with their intervals")
    label = f"difference in {view.outcome.measure}"
    plot.axis_below(scale, 6, bottom, label[: lanes.letters], lanes.ticks)
    plot.line(scale(0), 4, scale(0), bottom, "guide")
    for i, pair in enumerate(pairs):
        row = next((row for row in view.rows if row.id == pair["second"]), None)
        series = view.series(row) if row else 0
        y = lanes.name(plot, 12, i, view.name_of(pair["second"]), "name")
        if pair["low"] is not None:
            plot.line(scale(pair["low"]), y, scale(pair["high"]), y, f"bar s{series % 8}")
        plot.marks([(scale(pair["difference"]), y)], series)
    return plot.svg()
