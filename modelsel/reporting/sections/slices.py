"""Charts of the score by one hyper-parameter at a time, by complexity and time, and by the number of candidates tried."""

from collections.abc import Sequence

import numpy as np

from modelsel.core.types import Booleans, Floats
from modelsel.record.candidates import Row
from modelsel.reporting.charts import Plot, Scale
from modelsel.reporting.roots import ROOTED
from modelsel.reporting.sections.leaderboard import duration, times
from modelsel.reporting.sections.view import View
from modelsel.reporting.words import brief

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 380, 250, 52, 14, 12, 208
PANELS = 18
MARKS = 700  # in a panel and series
Point = tuple[float, float]
TRAINED = ("error", ROOTED, "rmse")  # measures on the scale of training errors
JITTER = 0.26  # share of a column's width


def section(view: View) -> dict[str, object]:
    """Panels of one size: per entry and varied parameter, per unit of complexity, and the best so far."""
    near = _near_the_winner(view)
    drawn = [panel for entry in view.entries if entry in near for panel in _entry(view, entry)]
    lost = [panel for entry in view.entries if entry not in near for panel in _entry(view, entry)]
    room = max(0, PANELS - len(drawn))
    return {
        "slices": drawn[:PANELS],
        "lost": lost[:room],
        "left_out": max(0, len(drawn) - PANELS) + max(0, len(lost) - room),
        "complexity": [_complexity(view, unit) for unit in _units(view)],
        "so_far": _so_far(view),
    }


def panels(view: View) -> list[dict[str, str]]:
    """A panel per entry and parameter that it varies: `title` (`entry: parameter`) and `svg`."""
    return [panel for entry in view.entries for panel in _entry(view, entry)]


def _near_the_winner(view: View) -> set[str]:
    """The winner's entry, and those of candidates that cannot be told from it: the others' charts are folded away."""
    near = {view.outcome.winner.id, *view.outcome.winner.indistinguishable}
    return {row.label for row in view.ranked if row.id in near}


def _entry(view: View, entry: str) -> list[dict[str, str]]:
    """Draw a panel per setting of which an entry has several values."""
    rows = [row for row in view.ranked if row.label == entry]
    names = list(dict.fromkeys(name for row in rows for name in view.varied[row.id]))
    return [
        {"title": f"{entry}: {name}", "svg": _slice(view, entry, name, rows)}
        for name in names
        if len(_values(view, rows, name)) > 1
    ]


def _values(view: View, rows: Sequence[Row], name: str) -> list[str]:
    """The different values, numbers in order."""
    found = dict.fromkeys(_value(view, row, name) for row in rows)
    return sorted((value for value in found if value is not None), key=_order)


def _value(view: View, row: Row, name: str) -> str | None:
    """Return what a candidate has for a setting; None where it has none."""
    return view.varied.get(row.id, row.parameters).get(name)


def _order(value: str) -> tuple[int, float, str]:
    number = _number(value)
    return (1, 0.0, value) if number is None else (0, number, value)


def _number(value: str) -> float | None:
    """Read a number; None for a truth value or a word."""
    try:
        return float(value)
    except ValueError:
        return None


def _slice(view: View, entry: str, name: str, rows: Sequence[Row]) -> str:
    """Draw scores against one setting, with the best of each value."""
    told = [(row, value) for row in rows if (value := _value(view, row, name)) is not None]
    rows, own = [row for row, _ in told], [value for _, value in told]
    values, series = _values(view, rows, name), view.entries.index(entry)
    numbers = [_number(value) for value in values]
    known = [n for n in numbers if n is not None]
    continuous = len(known) == len(values) and len(values) > 6
    plot, up = _frame(view, rows, f"{entry}: {view.outcome.measure} against {name}")
    if continuous:
        across = Scale.of(known, LEFT + 10, WIDTH - RIGHT - 6)
        plot.axis_below(across, TOP, BOTTOM, name, 5)
        at = {value: across(float(value)) for value in values}
        points = [(at[value], up.within(row.mean)) for row, value in zip(rows, own, strict=True)]
    else:
        at = _columns(plot, values, name)
        aside = 0.0 if known else 1.0  # a mark beside a number would be read as another number
        points = [
            (at[value] + aside * _aside(i, len(values)), up.within(row.mean))
            for i, (row, value) in enumerate(zip(rows, own, strict=True))
        ]
    plot.marks(thin(points), series, "faint")
    means: dict[str, list[float]] = {value: [] for value in values}
    for row, value in zip(rows, own, strict=True):
        means[value].append(row.mean)
    best = [(at[value], up.within(_best(view, means[value]))) for value in values]
    if known:
        plot.path(best, f"trend s{series % 8}")
    else:  # words have no order that a line could follow
        for x, y in best:
            plot.line(x - 22, y, x + 22, y, f"bar s{series % 8}")
    return plot.svg()


def _columns(plot: Plot, values: Sequence[str], name: str) -> dict[str, float]:
    """Label the values below the axis, and return the place of each."""
    step = (WIDTH - RIGHT - LEFT) / len(values)
    at = {value: LEFT + step * (i + 0.5) for i, value in enumerate(values)}
    every = max(1, len(values) // 8)
    letters = max(3, int(step * every / 6.5))
    for value in values[::every]:
        short = brief(value)
        plot.text(at[value], BOTTOM + 15, short if len(short) <= letters else f"{short[: letters - 1]}…", "tick", "middle")
    plot.text((LEFT + WIDTH - RIGHT) / 2, BOTTOM + 33, name, "label", "middle")
    return at


def _aside(index: int, columns: int) -> float:
    """A fixed scatter (golden ratio), so that equal points are seen and the page is the same every time."""
    fraction = index * 0.6180339887 % 1
    return (fraction - 0.5) * 2 * JITTER * (WIDTH - RIGHT - LEFT) / columns


def _best(view: View, means: Sequence[float]) -> float:
    return max(means) if view.higher else min(means)


def _units(view: View) -> list[str]:
    """Units of complexity in which candidates differ."""
    found = {
        unit: {row.complexity for row in view.ranked if row.unit == unit} for unit in dict.fromkeys(r.unit for r in view.ranked)
    }
    return [unit for unit, values in found.items() if len(values) > 2]


def _complexity(view: View, unit: str) -> dict[str, str]:
    """Draw training and assessment scores against complexity."""
    rows = sorted(
        (row for row in view.ranked if row.unit == unit and np.isfinite(row.complexity)), key=lambda row: row.complexity
    )
    plot, up = _frame(view, rows, f"training and assessment against {unit}", training=view.outcome.measure in TRAINED)
    across = Scale.of((row.complexity for row in rows), LEFT + 10, WIDTH - RIGHT - 6)
    plot.axis_below(across, TOP, BOTTOM, unit, 5)
    for series in dict.fromkeys(view.series(row) for row in rows):
        mine = [row for row in rows if view.series(row) == series]
        plot.marks(thin([(across(row.complexity), up.within(row.mean)) for row in mine]), series, "faint")
    if view.outcome.measure in TRAINED:
        trained = [row for row in rows if np.isfinite(row.training_error)]
        plot.marks(thin([(across(row.complexity), up.within(row.training_error)) for row in trained]), 4, "training")
        plot.path(_medians([(across(r.complexity), up.within(r.training_error)) for r in trained]), "trend dashed")
    plot.path(_medians([(across(row.complexity), up.within(row.mean)) for row in rows]), "trend")
    return {"title": f"Training and assessment by {unit}", "svg": plot.svg()}


def thin(points: Sequence[Point]) -> list[Point]:
    """Every n-th of very many points: more would be a blot, and megabytes."""
    return list(points[:: max(1, -(-len(points) // MARKS))])


def _medians(points: Sequence[tuple[float, float]], groups: int = 9) -> list[tuple[float, float]]:
    """Medians of runs of neighbouring points: the course of a cloud."""
    if len(points) < groups:
        return []
    parts = [np.array(part) for part in np.array_split(np.array(points), groups)]
    return [(float(np.median(part[:, 0])), float(np.median(part[:, 1]))) for part in parts]


def _so_far(view: View) -> str:
    """Draw the best score so far in declared order."""
    rows = [row for row in view.rows if row.rank]
    sign = -1 if view.higher else 1
    best = sign * np.minimum.accumulate(np.array([sign * row.mean for row in rows]))
    plot, up = _frame(view, rows, "best so far, in declared order")
    across = Scale(0.5, len(rows) + 0.5, LEFT + 4, WIDTH - RIGHT)
    plot.axis_below(across, TOP, BOTTOM, "candidates in declared order", 5)
    for series in range(len(view.entries)):
        points = [(across(i + 1), up.within(row.mean)) for i, row in enumerate(rows) if view.series(row) == series]
        plot.marks(thin(points), series, "faint")
    turns = [i for i in range(len(rows)) if i in (0, len(rows) - 1) or best[i] != best[i - 1]]
    plot.steps([(across(i + 1), up.within(float(best[i]))) for i in turns], "trend")
    return plot.svg()


def _frame(view: View, rows: Sequence[Row], title: str, training: bool = False) -> tuple[Plot, Scale]:
    """An empty panel with its upward scale; the worst scores stand at its edge and do not squeeze the rest."""
    low, high = view.reach([row.mean for row in rows])
    trained = [row.training_error for row in rows if training and row.training_error <= high]
    plot = Plot(WIDTH, HEIGHT, title)
    up = Scale.of([low, high, *trained], BOTTOM - 4, TOP + 4, log=False)
    plot.axis_left(up, LEFT, WIDTH - RIGHT)
    return plot, up


# Score against size and against time: who is beaten in neither, which is the Pareto front.


FRONT_WIDTH, FRONT_LEFT = 420, 56
NAMED = 6  # points of a front that are called by name in a figure of few


def pareto(view: View) -> list[dict[str, str]]:
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
    plot = Plot(FRONT_WIDTH, HEIGHT, f"{view.outcome.measure} against {title}, with the Pareto front")
    up = Scale.of([low, high], BOTTOM - 4, TOP + 4, log=False)
    across = Scale.of(sizes, FRONT_LEFT + 10, FRONT_WIDTH - RIGHT - 6)
    plot.axis_left(up, FRONT_LEFT, FRONT_WIDTH - RIGHT)
    plot.axis_below(across, TOP, BOTTOM, label, 5)
    points = [(across(size), up.within(row.mean)) for row, size in zip(rows, sizes, strict=True)]
    for series in dict.fromkeys(view.series(row) for row in rows):
        own = [point for row, point in zip(rows, points, strict=True) if view.series(row) == series]
        plot.marks(thin(own), series, "" if few else "faint")
    sign = -1.0 if view.higher else 1.0
    on = np.flatnonzero(front(np.array([sign * row.mean for row in rows]), np.array(sizes)))
    corners = sorted({points[place] for place in on})
    plot.steps([*corners, (FRONT_WIDTH - RIGHT - 6, corners[-1][1])], "trend")
    for place in on[:NAMED] if few else ():
        x, y = points[place]
        plot.text(min(x + 7, FRONT_WIDTH - RIGHT - 90), y - 6, f"{rows[place].label}, {duration(sizes[place] / 1e3)}", "tick")
    return {"title": f"{view.outcome.measure} against {title}", "svg": plot.svg()}
