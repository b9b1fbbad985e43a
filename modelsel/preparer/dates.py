"""Dates in parts: year, month, weekday and hour of each column of moments, and its age, in place of the seconds since 1970.

    age = (latest moment of the analysis rows − moment) / 86,400, in days: below 0 for what is later

Moments are read in UTC. A missing date has no parts.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from modelsel.core.spec import plain
from modelsel.core.types import AnyTable, Booleans, Candidate, Description, Feature, Floats, Integers, Table, Task
from modelsel.preparer.base import BasePreparer, FittedPreparer

DAY, HOUR = 86_400, 3_600
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
LEVELS = {"month": MONTHS, "weekday": WEEKDAYS}  # nominal; the other parts are numbers
ALL = ("year", "month", "weekday", "hour", "age")


def in_parts(candidate: Candidate) -> bool:
    """Say whether a candidate takes dates in parts, in one of its steps."""
    return any(isinstance(step, Dates) for step in candidate.steps)


@dataclass(frozen=True)
class Dates(BasePreparer):
    """Every column of dates becomes as many features as there are parts, under its name and the part's."""

    parts: tuple[str, ...] = plain(ALL, help="of year, month, weekday, hour, age")

    def problems(self, task: Table | None = None) -> Iterable[str]:
        """Yield parts that dates do not have, and a table without dates."""
        if wrong := [part for part in self.parts if part not in ALL]:
            yield f"a date has no part {wrong[0]!r}: its parts are {', '.join(ALL)}"
        if not self.parts:
            yield f"dates leaves nothing of a date: give preparer.parts, of {', '.join(ALL)}"
        if task is not None and not any(feature.dates for feature in task.features):
            yield "no feature is a date: leave preparer=dates out"

    def fit(self, task: Task, rows: Integers, rng: np.random.Generator) -> "DatesInParts":
        values = np.where(task.row_weights[rows, None] > 0, task.values[rows], np.nan)
        dates = np.array([feature.dates for feature in task.features], np.bool_)
        known = np.where(np.isnan(values), -np.inf, values).max(axis=0, initial=-np.inf)
        return DatesInParts(tuple(self.parts), dates, np.where(dates & np.isfinite(known), known, 0.0))


@dataclass(frozen=True, eq=False)
class DatesInParts(FittedPreparer):
    """`dates` marks the columns of dates, `latest` has their latest moments."""

    parts: tuple[str, ...]
    dates: Booleans
    latest: Floats

    def __post_init__(self) -> None:
        """Check what was read back."""
        dates, latest = np.asarray(self.dates), np.asarray(self.latest, np.float64)
        if set(self.parts) - set(ALL) or dates.ndim != 1 or dates.shape != latest.shape or not np.isfinite(latest).all():
            raise ValueError("dates: known parts, and a mark and a latest moment per column are needed")

    def describe(self) -> Description:
        return replace(super().describe(), kind="dates")

    def apply(self, table: AnyTable) -> AnyTable:
        """Put the parts where the date stood."""
        features: list[Feature] = []
        columns: list[Floats] = []
        for place, feature in enumerate(table.features):
            own = table.values[:, place]
            if not self.dates[place]:
                features.append(feature)
                columns.append(own)
                continue
            for part in self.parts:
                levels = LEVELS.get(part, ())
                made = (
                    Feature.of_levels(f"{feature.name}.{part}", levels)
                    if levels
                    else Feature.of_numbers(f"{feature.name}.{part}")
                )
                features.append(replace(made, cost=feature.cost))
                columns.append(part_of(own, part, float(self.latest[place])))
        return table.with_features(tuple(features), np.column_stack(columns))


def part_of(seconds: Floats, part: str, latest: float) -> Floats:
    """A part of moments that are seconds since 1970; NaN where there is none.

    >>> monday = np.array([1704110400.0, np.nan])  # 2024-01-01 12:00
    >>> [part_of(monday, part, 1704110400.0 + DAY)[0].item() for part in ALL]
    [2024.0, 0.0, 0.0, 12.0, 1.0]
    """
    known = np.isfinite(seconds)
    found = np.full(len(seconds), np.nan)
    found[known] = (latest - seconds[known]) / DAY if part == "age" else _calendar(np.floor(seconds[known]), part)
    return found


def _calendar(seconds: Floats, part: str) -> Floats:
    """A part by the calendar, of whole seconds."""
    if part == "hour":
        return np.asarray(seconds % DAY // HOUR)
    if part == "weekday":
        return np.asarray((seconds // DAY + 3) % 7)  # 1970 began on a Thursday
    months = seconds.astype("datetime64[s]").astype("datetime64[M]").astype(np.int64)
    return np.asarray(months // 12 + 1970 if part == "year" else months % 12, np.float64)
