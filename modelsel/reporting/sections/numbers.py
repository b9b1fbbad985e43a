"""The winner's out-of-fold predictions where the target is a number: predicted against observed, residuals, error by size.

Nothing here comes from the sealed rows.
"""

import numpy as np

from modelsel.core.types import Floats
from modelsel.reporting.charts.svg import Plot, Scale
from modelsel.reporting.sections.view import View
from modelsel.reporting.text.words import with_unit

SIZE, LEFT, TOP, BOTTOM = 330, 62, 12, 290
POINTS = 1500  # rows that are drawn
PARTS = 10  # of the rows by predicted size


def section(view: View) -> dict[str, object]:
    """Root mean squared and mean absolute error of the winner out of fold, and its plots."""
    found = view.assessed
    if view.outcome.winner["id"] not in found.ids:
        return {}
    at = found.ids.index(view.outcome.winner["id"])
    known = found.known(at)
    truth, said = (np.asarray(each[known], np.float64) for each in (found.truth, found.predicted[at]))
    away, unit = said - truth, str(view.outcome.task.get("measured_in") or "")
    drawn = np.random.default_rng(0).permutation(len(truth))[:POINTS]
    return {
        "numbers": True,
        "rows": len(truth),
        "rmse": with_unit(float(np.sqrt(np.mean(np.square(away)))), unit),
        "mae": with_unit(float(np.mean(np.abs(away))), unit),
        "half": with_unit(float(np.median(np.abs(away))), unit),
        "curves": [
            _plot("Predicted against observed", "observed", truth[drawn], said[drawn], diagonal=True),
            _plot("Residuals, observed less predicted", "predicted", said[drawn], -away[drawn]),
            _by_size(said, np.abs(away)),
        ],
    }


def _plot(title: str, below: str, x: Floats, y: Floats, diagonal: bool = False) -> dict[str, object]:
    """Draw rows as points, with the line on which they would be right."""
    both = np.concatenate([x, y]) if diagonal else y
    plot, across, up = _frame(title, below, both if diagonal else x, both)
    low, high = (float(end) for end in ((both if diagonal else x).min(), (both if diagonal else x).max()))
    plot.line(across(low), up(low if diagonal else 0.0), across(high), up(high if diagonal else 0.0), "guide")
    plot.marks([(across(float(a)), up(float(b))) for a, b in zip(x, y)], 0)
    return {"title": title, "svg": plot.svg(), "legend": [], "notes": []}


def _by_size(said: Floats, away: Floats) -> dict[str, object]:
    """Draw the mean absolute error of each tenth of the rows, by what was predicted."""
    order = np.argsort(said, kind="stable")
    parts = [part for part in np.array_split(order, PARTS) if len(part)]
    x, y = (np.array([each[part].mean() for part in parts]) for each in (said, away))
    plot, across, up = _frame("Mean absolute error by size", "predicted", x, np.append(y, 0.0))
    points = [(across(float(a)), up(float(b))) for a, b in zip(x, y)]
    plot.path(points, "trend s0")
    plot.marks(points, 0)
    return {"title": f"Mean absolute error of {len(parts)} parts of the rows", "svg": plot.svg(), "legend": [], "notes": []}


def _frame(title: str, below: str, x: Floats, y: Floats) -> tuple[Plot, Scale, Scale]:
    """Prepare a plot whose axes hold these values."""
    plot, up = Plot(SIZE, BOTTOM + 42, title), Scale.of(y.tolist(), BOTTOM, TOP, log=False)
    left = up.room(LEFT)
    across = Scale.of(x.tolist(), left, SIZE - 14, log=False)
    plot.axis_left(up, left, SIZE - 14)
    plot.axis_below(across, TOP, BOTTOM, below, 4)
    return plot, across, up
