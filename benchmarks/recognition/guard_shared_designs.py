"""Pairs of tables that share a design and no answer: one look at each, and whether the second is taken for the first.

Twelve kinds by rule: shops on the same days, variables on one grid, surveys at the same sites, a panel in two years, and eight
more in which what is shared has from two to twelve columns, and what was measured hangs on it or does not. What is shared is
the same in both tables, to the last digit; what was measured is not. An
accusation is a finding of severity medium or more about earlier studies (G01x, G02x). That persons of a panel were met a year
before may be said as information.

    python -m benchmarks.recognition.guard_shared_designs [--pairs 50]
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import date, timedelta
from itertools import product

import numpy as np

from benchmarks.common.timing import Row
from benchmarks.recognition.guard_false_alarms import Pair, Rng, accusations
from modelsel.core.types import Feature, Floats, Task

Column = tuple[str, Floats, tuple[str, ...]]  # name, values, levels (none: numbers)
WEEK = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = tuple(f"month {i}" for i in range(1, 13))


def shops(index: int, rng: Rng) -> Pair:
    """The same days in both: a date or its number, the weekday, the month; takings and visitors of each shop's own."""
    days = int(rng.choice([120, 250, 365, 730]))
    first = date(2023, 1, 1) + timedelta(int(rng.integers(0, 300)))
    calendar = [first + timedelta(i) for i in range(days)]
    weekday = np.array([day.weekday() for day in calendar], np.float64)
    dates = tuple(day.isoformat() for day in calendar)
    ways: tuple[Column, ...] = (
        ("day", np.arange(days, dtype=np.float64), ()), ("day", np.arange(days, dtype=np.float64), dates),
        ("day", np.array([float(day.strftime("%Y%m%d")) for day in calendar]), ()),
        ("day", np.array([day.toordinal() * 86400.0 for day in calendar]), ()),
    )  # fmt: skip
    shared: list[Column] = [ways[index % 4], ("weekday", weekday, WEEK if index % 2 else ())]
    if index % 3:
        shared.append(("month", np.array([day.month - 1.0 for day in calendar]), MONTHS if index % 3 == 1 else ()))
    if index % 5 == 0:  # the weather of the town
        season = 10 - 9 * np.cos(2 * np.pi * np.arange(days) / 365)
        shared.append(("temperature", (season + rng.normal(0, 3, days)).round(1), ()))

    def shop() -> Task:
        size, weekend, trend = rng.uniform(50, 900), rng.uniform(0.8, 1.9), rng.normal(0, 0.2)
        visitors = size * np.where(weekday >= 5, weekend, 1.0) * np.exp(trend * np.arange(days) / days)
        visitors = rng.poisson(visitors * np.exp(rng.normal(0, 0.15, days))).astype(np.float64)
        takings = (visitors * rng.uniform(8, 40) * np.exp(rng.normal(0, 0.2, days))).round(2)
        own: list[Column] = [("visitors", visitors, ()), ("takings", takings, ())]
        own += [("staff", np.round(visitors / size * 4 + rng.normal(0, 0.6, days)), ())] if index % 2 else []
        own += [("returns", rng.poisson(visitors / 60 + 0.5).astype(np.float64), ())] if index % 4 == 3 else []
        return _task([*shared, *own], takings > np.median(takings))

    return shop(), shop()


def grids(index: int, rng: Rng) -> Pair:
    """Latitude and longitude of one grid, often height and distance too; smooth fields of each table's own."""
    rows, columns = (int(one) for one in rng.choice([12, 16, 20, 25], 2))
    u, v = (np.array(one, np.float64) for one in zip(*product(range(rows), range(columns))))
    step = float(rng.choice([0.25, 0.5, 1.0, 2.5]))
    shared: list[Column] = [("latitude", 40 + step * u, ()), ("longitude", -10 + step * v, ())]
    if index % 2:
        shared.append(("height", (300 + 200 * _field(u, v, rng) + rng.normal(0, 20, len(u))).round(1), ()))
    if index % 4 == 3:
        shared.append(("distance", np.hypot(u - rows / 3, v).round(3), ()))

    def table(names: Sequence[str]) -> Task:
        common = _field(u, v, rng)
        fields = [common * rng.normal() + _field(u, v, rng) + rng.normal(0, 0.5, len(u)) for _ in names]
        own: list[Column] = [(name, (10 + 3 * one).round(3), ()) for name, one in zip(names, fields)]
        return _task([*shared, *own], common + rng.normal(0, 0.5, len(u)) > 0)

    count = 2 + index % 3
    other = [f"{name} {i}" for i in range(count) for name in ("field" if index % 3 else "rain",)]
    return table([f"field {i}" for i in range(count)]), table(other)


def sites(index: int, rng: Rng) -> Pair:
    """Altitude, slope, acidity and more of the same sites, to all digits; counts and amounts of another survey."""
    n, few = int(rng.choice([80, 150, 300, 600])), 3 + index % 4
    cause = rng.normal(size=(n, 2))
    names = ("altitude", "slope", "acidity", "rain", "shade", "nitrogen")
    places = [(20 + 7 * (cause @ rng.normal(size=2) + rng.normal(size=n))).round(3) for _ in names]
    shared: list[Column] = [(name, values, ()) for name, values in zip(names[:few], places)]
    if index % 3 == 0:
        shared.append(("soil", rng.integers(0, 4, n).astype(np.float64), ("clay", "loam", "sand", "peat")))
    there = np.arange(n) if index % 5 else np.sort(rng.permutation(n)[: round(0.9 * n)])  # some sites were not reached again

    def survey(rows: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> Task:
        level = cause @ rng.normal(size=2) + rng.normal(size=n)
        own: list[Column] = []
        for i in range(2 + index % 3):
            likes = 0.8 * level + 0.5 * (cause @ rng.normal(size=2)) + rng.normal(0, 0.6, n)
            counted = rng.poisson(np.exp(3 + np.clip(likes, -2, 2))).astype(np.float64)
            own.append((f"species {i}", counted if index % 2 and i else (5 + likes).round(3), ()))
        return _task([(name, values[rows], levels) for name, values, levels in [*shared, *own]], (level > 0)[rows])

    return survey(np.arange(n)), survey(there)


def panels(index: int, rng: Rng) -> Pair:
    """The same persons a year later: sex, schooling and birth the same, all else moved on; some did not answer again."""
    n = int(rng.choice([150, 300, 600, 1200]))
    ability, age = rng.normal(size=n), rng.integers(18, 70, n).astype(np.float64)
    lasting = rng.uniform(0.6, 0.97)
    means = np.column_stack([ability * rng.normal() + (age - 40) / 20 * rng.normal() + rng.normal(size=n) for _ in range(5)])

    def year(later: int, rows: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> Task:
        now = lasting**0.5 * means + (1 - lasting) ** 0.5 * means.std(axis=0) * rng.normal(size=means.shape)
        fixed: list[Column] = [
            ("sex", (sex > 0).astype(np.float64), ("f", "m")), ("schooling", school, ("low", "middle", "high", "highest")),
            ("age", age + later, ()),
        ]  # fmt: skip
        moved: list[Column] = [
            ("income", np.exp(7 + 0.4 * now[:, 0] + 0.02 * later).round(2), ()),
            ("hours", np.clip(np.round(38 + 6 * now[:, 1]), 0, 70), ()),
            ("health", np.clip(np.round(6 + 2 * now[:, 2]), 0, 10), ()), ("savings", (100 * now[:, 3]).round(1), ()),
            ("weight", (70 + 9 * now[:, 4]).round(1), ()),
        ]  # fmt: skip
        table = [*fixed, *moved[: 3 + index % 3]]
        return _task([(name, values[rows], levels) for name, values, levels in table], (now[:, 0] + now[:, 2] > 0)[rows])

    sex, school = rng.normal(size=n), np.digitize(ability + rng.normal(size=n), [-1, 0.3, 1.3]).astype(np.float64)
    again = np.arange(n) if index % 2 else np.sort(rng.permutation(n)[: round(0.85 * n)])
    return year(0, np.arange(n)), year(1, again)


# Eight kinds more: a design, and measurements of which a part r² hangs on it (none, half, or four fifths).


def _town(n: int, rng: Rng) -> list[Column]:
    days = np.arange(n)
    season = 12 + 10 * np.sin(days / 58)
    return [("temperature", (season + 3 * rng.normal(size=n)).round(1), ()),
            ("rain", np.maximum(0, rng.normal(0, 4, n)).round(1), ()), ("wind", rng.gamma(3, 2, n).round(1), ()),
            ("weekday", days % 7.0, WEEK), ("month", (days // 30) % 12.0, MONTHS)]  # fmt: skip


def _places(n: int, rng: Rng) -> list[Column]:
    return [("latitude", rng.uniform(45, 48, n).round(4), ()), ("longitude", rng.uniform(6, 10, n).round(4), ()),
            ("height", rng.gamma(4, 150, n).round(0), ())]  # fmt: skip


def _squares(n: int, rng: Rng) -> list[Column]:
    del rng
    side = int(n**0.5)
    at = np.array([*product(range(side), range(side))], np.float64)
    return [("east", at[:, 0], ()), ("north", at[:, 1], ())]


def _compounds(n: int, rng: Rng) -> list[Column]:
    cause = rng.normal(size=(n, 3))
    found: list[Column] = [
        (f"descriptor {i}", (cause @ rng.normal(size=3) + rng.normal(size=n)).round(3), ()) for i in range(9)
    ]
    return [*found, *((f"atoms {i}", rng.poisson(4, n).astype(np.float64), ()) for i in range(3))]


def _market(n: int, rng: Rng) -> list[Column]:
    common = rng.normal(size=n)
    return [(f"index {i}", (common + rng.normal(size=n)).round(5), ()) for i in range(6)]


def _factorial(n: int, rng: Rng) -> list[Column]:
    del n, rng
    at = np.array([*product(range(3), repeat=5)], np.float64)
    return [(f"factor {i}", at[:, i], ()) for i in range(5)]


def _hours(n: int, rng: Rng) -> list[Column]:
    hours = np.arange(n)
    return [("time", hours * 3600.0 + 1.7e9, ()), ("hour", hours % 24.0, ()), ("load", rng.gamma(5, 20, n).round(2), ())]


def _districts(n: int, rng: Rng) -> list[Column]:
    levels = tuple(f"district {i}" for i in range(30))
    return [("district", rng.integers(0, 30, n).astype(np.float64), levels), ("income", rng.gamma(9, 300, n).round(2), ()),
            ("rural", rng.integers(0, 2, n).astype(np.float64), ("no", "yes"))]  # fmt: skip


def beside(design: Callable[[int, Rng], list[Column]]) -> Callable[[int, Rng], Pair]:
    """Two tables with one design: one to four columns measured in each, numbers or counts."""

    def made(index: int, rng: Rng) -> Pair:
        shared = design(int(rng.choice([144, 225, 400, 900])), rng)
        numbers = np.column_stack([(values - values.mean()) / values.std() for _, values, _ in shared])

        def table() -> Task:
            hangs = (0.0, 0.5, 0.8)[index % 3] ** 0.5
            own: list[Column] = []
            for i in range(1 + index % 4):
                cause = numbers @ rng.normal(size=numbers.shape[1])
                value = hangs * cause / cause.std() + (1 - hangs**2) ** 0.5 * rng.normal(size=len(numbers))
                counted = rng.poisson(np.exp(2 + 0.7 * value)).astype(np.float64)
                own.append((f"measured {i}", counted if (index + i) % 3 == 2 else (50 + 9 * value).round(2), ()))
            return _task([*shared, *own], own[0][1] + rng.normal(size=len(numbers)) * own[0][1].std() > np.median(own[0][1]))

        return table(), table()

    return made


KINDS: dict[str, Callable[[int, Rng], Pair]] = {
    "shops on the same days": shops, "variables on one grid": grids, "surveys at the same sites": sites,
    "a panel a year later": panels, "in one town": beside(_town), "soil at the same places": beside(_places),
    "on the squares of a map": beside(_squares), "of the same compounds": beside(_compounds),
    "under one market": beside(_market), "by one complete design": beside(_factorial), "at the same hours": beside(_hours),
    "in the same districts": beside(_districts),
}  # fmt: skip


def pair(kind: str, index: int) -> Pair:
    """The pair of this number; in every third the columns of the second table have other names."""
    first, second = KINDS[kind](index, np.random.default_rng([index, 7, list(KINDS).index(kind)]))
    if index % 3 == 2:
        second = second.with_features(tuple(replace(f, name=f"{f.name} again") for f in second.features), second.values)
    return first, second


def _field(u: Floats, v: Floats, rng: Rng) -> Floats:
    """A smooth field over a grid: a few waves."""
    waves = rng.normal(0, 0.35, (4, 2))
    phases = rng.uniform(0, 6, 4)
    field: Floats = sum(np.sin(a * u + b * v + c) for (a, b), c in zip(waves, phases)) / 2**0.5
    return field


def _task(columns: Sequence[Column], target: "np.ndarray[tuple[int], np.dtype[np.bool_]]") -> Task:
    features = tuple(Feature(name, "nominal" if levels else "numeric", levels) for name, _, levels in columns)
    values = np.column_stack([values for _, values, _ in columns]).astype(np.float64)
    return Task(
        name="t", features=features, values=values, rows=np.arange(len(values)), classes=("no", "yes"),
        target=target.astype(np.int32),
    )  # fmt: skip


def rows(pairs: int = 50) -> Iterator[Row]:
    """No timing: that nobody is accused is asserted."""
    assert main(pairs) == 0
    yield from ()


def main(pairs: int) -> int:
    accused = 0
    for kind in KINDS:
        found = {index: codes for index in range(pairs) if (codes := accusations(pair(kind, index)))}
        accused += len(found)
        print(f"{kind:34}{len(found)} of {pairs} accused", dict(Counter(found.values())), list(found)[:20], flush=True)
    return 1 if accused else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=50, help="of each kind")
    sys.exit(main(parser.parse_args().pairs))
