"""Single rows that decide a log loss: a sure mistake costs −ln of what is left to the true class, up to −ln floor.

One probability of 0 costs 34.5 nats at the floor of 1e-15, as much as fifty rows of even odds.
"""

from collections.abc import Iterator
from math import log

import numpy as np

from modelsel.core.types import Finding, Floats, Integers

FEW = 0.01  # of the rows, three at least
MUCH = 0.25  # of the loss
NAMED = 3


def decided_by_few(losses: Floats, rows: Integers, floor: float) -> Iterator[Finding]:
    """Report the few rows that carry most of a log loss.

    `losses` are per row (NaN where not assessed), `rows` as the source counts them, from 0.

    >>> found = list(decided_by_few(np.array([34.5, *[0.4] * 99]), np.arange(100), 1e-15))
    >>> found[0].message.split(";")[0]
    'a few rows decide the log loss of the winner: row 0 carries 47 % of it'
    """
    there = np.flatnonzero(np.isfinite(losses))
    total = float(losses[there].sum())
    if not len(there) or total <= 0:
        return
    dearest = there[np.argsort(-losses[there], kind="stable")][: max(NAMED, int(FEW * len(there)))]
    share = np.cumsum(losses[dearest]) / total
    if len(there) <= 10 * NAMED or share[-1] < MUCH:
        return
    many = int(np.argmax(share >= MUCH)) + 1
    named = ", ".join(str(row) for row in rows[dearest[:many]][:NAMED]) + (f", +{many - NAMED} more" if many > NAMED else "")
    said = f"row{'s' if many > 1 else ''} {named} {'carry' if many > 1 else 'carries'} {share[many - 1]:.0%}".replace("%", " %")
    without = (total - losses[dearest[:many]].sum()) / (len(there) - many)
    message = (
        f"a few rows decide the log loss of the winner: {said} of it; {total / len(there):.4f} with, {without:.4f} without "
        f"them. A probability of 0 costs {-log(floor):.1f} (measure.floor={floor:g})"
    )
    yield Finding("FEW_ROWS_DECIDE", "medium", message, "look at these rows; smooth the scores, or judge by measure=brier")
