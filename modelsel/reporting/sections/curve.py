"""The learning curve on the page: score by rows to fit on, with intervals over folds."""

from modelsel.record.documents import CandidateCurveFacts, IntervalFacts
from modelsel.reporting.charts import Plot, Scale
from modelsel.reporting.roots import is_squared, root, root_difference
from modelsel.reporting.sections.view import View
from modelsel.reporting.words import decimals_of, in_unit, interval, number, score, with_sign

WIDE, NARROW = 940, 330
HEIGHT, LEFT, TOP, BOTTOM = 330, 58, 12, 280
APART = 5.0  # pixels between the intervals of two candidates at the same share


def section(view: View) -> dict[str, object]:
    """Drawing, legend and a table; empty where no curve was asked for."""
    found = view.folder.explanation().curve
    if not found:
        return {}
    squared, half = is_squared(view.recorded), found.shares.index(0.5)
    lines = [_take_roots(one, half) if squared else one for one in found.candidates]
    names = [view.name_of(one.candidate) for one in lines]
    return {
        "measure": f"{view.outcome.measure}{in_unit(view.outcome)}",
        "svg": _draw(view, found.rows, lines, WIDE),
        "narrow": _draw(view, found.rows, lines, NARROW),
        "legend": [{"name": name, "series": series} for series, name in enumerate(names)],
        "rows": [number(round(rows)) for rows in found.rows],
        "lines": [{"name": name, "cells": _cells(line)} for name, line in zip(names, lines, strict=True)],
        "answer": _answer(view, lines[0].doubling, lines[0].points[-1].mean),
    }


def _answer(view: View, doubling: IntervalFacts, whole: float | None) -> str:
    """Say what the second half of the rows brought, and so whether more rows would help."""
    mean, low, high = doubling.mean, doubling.low, doubling.high
    if mean is None or low is None or high is None:
        return "These folds do not tell what the second half of the rows brought."
    gain = mean if view.higher else -mean
    change = f"{with_sign(mean, decimals_of(whole or 0.0))} {interval([low, high], whole)}"
    told = f"Going from half of the rows to all changed the winner’s {view.outcome.measure} by {change}"
    if low <= 0 <= high:
        return f"{told}: the folds cannot tell whether more rows helped."
    return f"{told}: more rows {'helped, and further ones may' if gain > 0 else 'did harm'}."


def _take_roots(line: CandidateCurveFacts, half: int) -> CandidateCurveFacts:
    """A candidate's mean squared errors by their roots; what the second half brought is a difference of these."""
    points, doubling = line.points, line.doubling
    half_mean, whole_mean = points[half].mean, points[-1].mean

    def brought(value: float | None) -> float | None:
        if value is None or half_mean is None or whole_mean is None:
            return None
        return root_difference(value, half_mean, whole_mean)

    return line.but(
        points=[IntervalFacts(mean=root(one.mean), low=root(one.low), high=root(one.high)) for one in points],
        doubling=IntervalFacts(mean=brought(doubling.mean), low=brought(doubling.low), high=brought(doubling.high)),
    )


def _cells(line: CandidateCurveFacts) -> list[str]:
    return [f"{score(one.mean)} {interval(_ends(one))}" if one.mean is not None else "–" for one in line.points]


def _ends(one: IntervalFacts) -> list[float] | None:
    return None if one.low is None or one.high is None else [one.low, one.high]


def _draw(view: View, rows: list[float], lines: list[CandidateCurveFacts], width: int) -> str:
    """Draw the mean scores and their intervals by rows to fit on."""
    low, high = _reach(view, lines)
    room = (high - low) * 0.04 or 0.5
    across = Scale.of(rows, LEFT, width - 20, log=False, zero=True)
    up = Scale(low - room, high + room, BOTTOM, TOP)
    plot = Plot(width, HEIGHT, f"{view.outcome.measure} by rows to fit on")
    plot.axis_left(up, LEFT, width - 20)
    plot.axis_below(across, TOP, BOTTOM, "rows to fit on")
    for series, line in enumerate(lines):
        shift = APART * (series - (len(lines) - 1) / 2)
        known = [(across(x) + shift, one) for x, one in zip(rows, line.points) if one.mean is not None]
        for x, one in known:
            if (ends := _ends(one)) is not None:
                plot.line(x, up.within(ends[0]), x, up.within(ends[1]), f"bar s{series}")
        points = [(x, up.within(one.mean)) for x, one in known if one.mean is not None]
        plot.path(points, f"curve c{series} s{series}")
        plot.marks(points, series)
    return plot.svg()


def _reach(view: View, lines: list[CandidateCurveFacts]) -> tuple[float, float]:
    """Choose the range to draw: all of the winner's intervals, and as far as the means of most; the rest ends at the edge."""
    own = [end for one in lines[0].points for end in (one.low, one.high) if end is not None]
    ends = [*view.reach([one.mean for line in lines for one in line.points if one.mean is not None]), *own]
    return min(ends), max(ends)
