"""Choose the correction of the winner's score for having been chosen: BBC, nested cross-validation, or BBC with a caution.

BBC resamples out-of-fold losses of one sample, whose chance all candidates share; where there is little to learn it stays
optimistic. Nested cross-validation chooses anew on other rows and is not; it costs a selection per outer fold. With `auto`
that is paid where BBC lies within two standard errors of the floor, or where there is no BBC
(`benchmarks/simulations/nested_worth.py`).
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from modelsel.comparison.nested import NestedResult
from modelsel.core.outcome import CorrectedShape
from modelsel.core.selection import Selection
from modelsel.core.types import Integers

BBC, AUTO = "bbc", "auto"
HELD_FROM = 300  # rows (units) from which the interval of a log loss held in the simulations of docs/corrected.md
NOT_HELD = "on {units} {what} the interval of a log loss holds less often than it says (79 to 97 % in simulations, for 95 %)"
CAUTION = "near the floor BBC stays optimistic: candidates share the rows' chance; corrected=nested does not"


def near_floor(selection: Selection, floor: Iterable[float]) -> bool:
    """Say whether the winner's corrected score lies within two standard errors of what guessing costs."""
    found = selection.corrected
    return found is not None and is_near(found["mean"], float(selection.board.se[selection.winner]), floor)


def needs_nested(how: str, selection: Selection, near: bool) -> bool:
    """Say whether the outer scheme is run: always, except under `auto` where BBC can be trusted."""
    return how != AUTO or near or selection.corrected is None


def with_caution(selection: Selection, near: bool) -> Selection:
    """Add a caution to a selection whose corrected score lies near the floor."""
    if not near or selection.corrected is None:
        return selection
    before = selection.corrected.get("caution")
    return replace(selection, corrected={**selection.corrected, "caution": f"{before}; {CAUTION}" if before else CAUTION})


def not_held(measure: str, rows: int, groups: Integers | None) -> str | None:
    """A caution where an interval of a log loss does not hold what it says: a few rows that are sure and wrong decide it.

    >>> not_held("log_loss", 80, None)[:15], not_held("log_loss", 300, None), not_held("brier", 80, None)
    ('on 80 rows the ', None, None)
    """
    units = rows if groups is None else len(np.unique(groups))
    if measure != "log_loss" or units >= HELD_FROM:
        return None
    return NOT_HELD.format(units=units, what="rows" if groups is None else "groups")


def with_nested(selection: Selection, found: NestedResult, how: str) -> Selection:
    """Put the nested estimate first and keep BBC's beside it; `bbc` keeps BBC's first."""
    if how == BBC and selection.corrected is not None:
        return selection
    own: CorrectedShape = {
        "method": found.method, "mean": found.mean, "low": found.low, "high": found.high, "label": found.label,
        "bbc": selection.corrected,
    }  # fmt: skip
    if selection.corrected is not None and "tibshirani" in selection.corrected:  # the cross-check of the selection's own folds
        own["tibshirani"] = selection.corrected["tibshirani"]
    return replace(selection, corrected=own)


# Scores near the floor: within two standard errors of what guessing costs, so that little or nothing was learnt.

REACH = 2.0  # standard errors


def is_near(value: float, se: float | None, floor: Iterable[float]) -> bool:
    """Say whether a value lies within two standard errors of any score of the floor.

    >>> is_near(0.46, 0.03, [0.5]), is_near(0.30, 0.03, [0.5])
    (True, False)
    """
    return any(abs(guess - value) <= REACH * (se or 0.0) for guess in floor)
