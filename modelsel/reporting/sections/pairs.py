"""The best of each learner against the winner on the same folds: differences with intervals, never scores side by side."""

from typing import Any

from modelsel.reporting.charts.svg import Plot, Scale
from modelsel.reporting.sections.view import View
from modelsel.reporting.text.words import p_value

ROW, LEFT, WIDTH, RIGHT = 30, 320, 940, 20
LETTERS = 44


def section(view: View) -> dict[str, Any]:
    """A row per pair, and the picture of their intervals around zero."""
    pairs = view.details.get("pairs", [])
    rows = [
        {
            "first": view.called(pair["first"]),
            "second": view.called(pair["second"]),
            "difference": _signed(pair["difference"]),
            "interval": f"[{_signed(pair['low'])}, {_signed(pair['high'])}]",
            "p": p_value(pair["p"]),
            "adjusted": p_value(pair["adjusted"]),
            "told": pair["adjusted"] is not None and pair["adjusted"] < 0.05,
            "method": pair["method"],
        }
        for pair in pairs
    ]
    methods = ", ".join(dict.fromkeys(pair["method"] for pair in pairs))
    return {"rows": rows, "svg": _picture(view, pairs) if pairs else "", "methods": methods}


def _picture(view: View, pairs: list[dict[str, Any]]) -> str:
    ends = [float(pair[key]) for pair in pairs for key in ("low", "high") if pair[key] is not None]
    scale = Scale.of([0.0, *ends], LEFT, WIDTH - RIGHT, log=False)
    bottom = 12 + ROW * len(pairs)
    plot = Plot(WIDTH, bottom + 40, "differences to the winner with their intervals")
    plot.axis_below(scale, 6, bottom, f"difference in {view.outcome.measure} to {view.called(pairs[0]['first'])}"[:90], 8)
    plot.line(scale(0), 4, scale(0), bottom, "guide")
    for i, pair in enumerate(pairs):
        y = 12 + ROW * i + ROW / 2
        row = next((row for row in view.rows if row.id == pair["second"]), None)
        series = view.series(row) if row else 0
        name = view.called(pair["second"])
        plot.text(LEFT - 12, y + 4, name if len(name) <= LETTERS else f"{name[: LETTERS - 1]}…", "name", "end")
        if pair["low"] is not None:
            plot.line(scale(pair["low"]), y, scale(pair["high"]), y, f"bar s{series % 8}")
        plot.marks([(scale(pair["difference"]), y)], series)
    return plot.svg()


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.4f}".replace("-", "−")
