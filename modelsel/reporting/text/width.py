"""The extra width of an interval that holds for more than one look, compared with one of this look alone."""

from modelsel.core.outcome import TestResult
from modelsel.reporting.text.words import number
from modelsel.statistics.intervals import clopper_pearson
from modelsel.statistics.reuse.certificate import SpendingState, index_weight, interval

EXACT = ("full", "predicted")  # releases that show the count


def sentence(result: TestResult) -> str:
    """One line where errors were counted and an interval was certified, else empty."""
    if result.interval is None or result.errors is None or result.replay or result.release not in EXACT:
        return ""
    low, high = clopper_pearson(result.errors, result.n, result.level)
    wider = (result.interval[1] - result.interval[0]) / (high - low) - 1
    delta = 1 - result.level
    spent = f", {number(result.spent)} nats more for answers before it" if result.spent else ""
    tested = f"it holds for all looks together: this one is tested at {delta * index_weight(result.look):.2g}, not {delta:.2g}"
    space = ", and ln 2 more for the declared space" if _pays_for_space(result, delta) else ""
    return f"{tested}{spent}{space}; {wider:.0%} wider than plain Clopper–Pearson"


def _pays_for_space(result: TestResult, delta: float) -> bool:
    """Say whether the interval is wider than the look's index and earlier spending make it."""
    assert result.interval is not None
    assert result.errors is not None
    low, high = interval(result.errors, result.errors, result.n, SpendingState(result.look, result.spent).nats(delta))
    return result.interval[1] - result.interval[0] > high - low + 1e-9
