"""The interval of a bounded loss, from the facts of the plan in an intent and the symbols that were released."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypedDict

from modelsel.statistics.unit_intervals import Limits, Method, ReleasedSymbols, ReleasePlan, released_interval


class StatedPlan(TypedDict):
    """The facts of a plan in an intent; `statistics.unit_intervals.ReleasePlan` has the first of them."""

    method: Method
    nats: float
    units: float
    steps: int
    expected: float
    spread: float
    forecast: float
    bets: Sequence[float] | None
    reach: Sequence[float] | None
    of: str
    origin: float
    width: float
    cap: float | None
    score_only: tuple[Method, float] | None


def limits_of(plan: StatedPlan, cell: int, k: int | None, nats: float) -> Limits | None:
    """The interval of symbols on the measure's own scale, at a level that is the plan's or another one.

    Wealth is computed from losses of units at the plan's level. At a lower level it holds as well; at a higher one (after looks
    that nobody knew of are merged in) the score alone is left, and nothing where labels decide the sizes of units.
    """
    found = plan_of(plan)
    if nats > found.nats * (1 + 1e-12) and found.bets is not None:
        if plan["score_only"] is None:
            return None
        method, units = plan["score_only"]
        found, k = replace(found, method=method, units=float(units), bets=None, reach=None), None
    found = replace(found, nats=found.nats if found.bets is not None else nats)
    return on_scale(plan, released_interval(found, ReleasedSymbols(cell, k)))


def on_scale(plan: StatedPlan, limits: Limits) -> Limits:
    """Limits of a loss in [0, 1] as limits of the measure."""
    ends = sorted(float(plan["origin"]) + float(plan["width"]) * end for end in limits)
    return ends[0], ends[1]


def plan_of(plan: StatedPlan) -> ReleasePlan:
    """Read a plan back from an intent."""

    def pair(of: Sequence[float] | None) -> tuple[float, float] | None:
        return None if of is None else (float(of[0]), float(of[1]))

    return ReleasePlan(
        method=plan["method"], nats=plan["nats"], units=plan["units"], steps=plan["steps"], expected=plan["expected"],
        spread=plan["spread"], forecast=plan["forecast"], bets=pair(plan["bets"]), reach=pair(plan["reach"]),
    )  # fmt: skip
