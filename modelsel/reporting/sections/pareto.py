"""Score against size and against time: who is beaten in neither, which is the Pareto front."""

from collections.abc import Sequence

import numpy as np

from modelsel.core.types import Booleans, Floats
from modelsel.record.candidates import Row
from modelsel.reporting.charts.svg import Plot, Scale
from modelsel.reporting.sections.measures import duration, times
from modelsel.reporting.sections.slices import thin
from modelsel.reporting.sections.view import View

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 420, 250, 56, 14, 12, 208
NAMED = 6  # points of a front that are called by name in a figure of few


def section(view: View) -> list[dict[str, str]]:
    """A figure per unit of complexity in which candidates differ, and one over the time to predict."""
    units = dict.fromkeys(row.unit for row in view.ranked)
    drawn = [
        _figure(view, rows, [row.complexity for row in rows], unit, unit)
        for unit in units
        if (rows := _candidates_of_unit(view, unit))
    ]
    timed = [row for row in view.ranked if row.id in times(view)]
    if len(timed) > 1:
        milliseconds = [1e3 * times(view)[row.id] for row in timed]
        drawn.append(_figure(view, timed, milliseconds, "time to predict 1,000 rows", "milliseconds for 1,000 rows", few=True))
    return drawn


def front(cost: Floats, size: Floats) -> Booleans:
    """Mask the points that no other one beats: none is at least as good in both and better in one.

    >>> front(np.array([0.1, 0.2, 0.2, 0.3]), np.array([9.0, 3.0, 4.0, 3.0])).tolist()
    [True, True, False, False]
    """
    order = np.lexsort((cost, size))
    best = np.minimum.accumulate(np.concatenate([[np.inf], cost[order][:-1]]))
    kept = np.zeros(len(cost), bool)
    kept[order] = cost[order] < best
    for place in np.flatnonzero(kept):  # those of equal size and cost stand beside each other
        kept |= (cost == cost[place]) & (size == size[place])
    return kept


def _candidates_of_unit(view: View, unit: str) -> list[Row]:
    """Candidates of a unit, where they differ in size."""
    rows = [row for row in view.ranked if row.unit == unit and np.isfinite(row.complexity)]
    return rows if len({row.complexity for row in rows}) > 2 else []


def _figure(
    view: View, rows: Sequence[Row], sizes: Sequence[float], title: str, label: str, few: bool = False
) -> dict[str, str]:
    """Draw scores against sizes, with the front."""
    low, high = view.reach([row.mean for row in rows])
    plot = Plot(WIDTH, HEIGHT, f"{view.outcome.measure} against {title}, with the Pareto front")
    up, across = Scale.of([low, high], BOTTOM - 4, TOP + 4, log=False), Scale.of(sizes, LEFT + 10, WIDTH - RIGHT - 6)
    plot.axis_left(up, LEFT, WIDTH - RIGHT)
    plot.axis_below(across, TOP, BOTTOM, label, 5)
    points = [(across(size), up.within(row.mean)) for row, size in zip(rows, sizes, strict=True)]
    for series in dict.fromkeys(view.series(row) for row in rows):
        own = [point for row, point in zip(rows, points, strict=True) if view.series(row) == series]
        plot.marks(thin(own), series, "" if few else "faint")
    sign = -1.0 if view.higher else 1.0
    on = np.flatnonzero(front(np.array([sign * row.mean for row in rows]), np.array(sizes)))
    corners = sorted({points[place] for place in on})
    plot.steps([*corners, (WIDTH - RIGHT - 6, corners[-1][1])], "trend")
    for place in on[:NAMED] if few else ():
        x, y = points[place]
        plot.text(min(x + 7, WIDTH - RIGHT - 90), y - 6, f"{rows[place].label}, {duration(sizes[place] / 1e3)}", "tick")
    return {"title": f"{view.outcome.measure} against {title}", "svg": plot.svg()}
