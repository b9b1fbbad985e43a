"""What of the sealed rows is independent of each other, settled before labels are opened: rows, units (groups), or nothing.

An interval for n independent rows does not hold for 60 groups of 30 rows, for rows in time, or for copies of development rows.
Groups are units. For units of these sizes the released score s alone excludes rates μ by Chernoff's D·KL(s‖μ) ≥ nats, with
D = rows / largest unit, or by Hoeffding's bound with (Σ size)² / Σ size² units; whichever a forecast makes narrower is fixed in
the intent. Every unit with one row is a table of rows, with the exact binomial.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from modelsel.core.types import Integers
from modelsel.guard.requests import TestSetDeclaration

TIME, COPIES, FEW, MEASURE = "time", "copies", "few units", "measure"  # why no interval is certified
FEWEST_UNITS = 5


@dataclass(frozen=True, eq=False)
class Independence:
    """`units` is the unit of each sealed row, None where rows are units; `withheld` says why nothing can be certified."""

    withheld: str = ""
    units: Integers | None = None

    @classmethod
    def of(cls, sealing: TestSetDeclaration, counted: bool, copies: bool) -> "Independence":
        """Read off a declaration what is independent; `counted` says that the answer is a plain error count."""
        units = sealing.sealed.groups
        units = None if units is None or len(np.unique(units)) == len(units) else units
        if in_time(sealing.config):
            return cls(TIME, units)
        if units is not None:
            return cls("" if counted else MEASURE, units)
        return cls(COPIES if copies and sealing.sealed.groups is None else "")


OF_ROWS = Independence()


def in_time(config: Mapping[str, Any]) -> bool:
    """Say whether a study takes its rows as ordered in time.

    >>> in_time({"split": {"kind": "time"}}), in_time({"split": "random", "scheme": {"kind": "time_split"}}), in_time({})
    (True, True, False)
    """
    return bool(_kind(config.get("split")) == "time" or _kind(config.get("scheme")) == "time_split")


def _kind(part: Any) -> Any:
    return part.get("kind") if isinstance(part, Mapping) else part


def sizes(units: Integers, rate: float, nats: float) -> dict[str, Any]:
    """The facts of an intent about units: their number, the largest, and the bound that is narrower at the foreseen rate."""
    from modelsel.statistics.units.intervals import chernoff_limits, effective_units, hoeffding_limits

    den = np.unique(units, return_counts=True)[1].astype(np.float64)
    chernoff, hoeffding = effective_units(den, float(den.max()))
    low, high = chernoff_limits(rate, chernoff, nats)
    first, last = hoeffding_limits(rate, hoeffding, nats)
    method, effective = ("chernoff", chernoff) if high - low <= last - first else ("hoeffding", hoeffding)
    return {"count": len(den), "largest": int(den.max()), "method": method, "effective": effective}
