"""The extra width of an interval that holds for more than one look, compared with one of this look alone."""

from modelsel.core.outcome import TestResult
from modelsel.statistics.intervals import clopper_pearson

EXACT = ("full", "predicted")  # releases that show the count


def sentence(result: TestResult) -> str:
    """One line where errors were counted and an interval was certified, else empty."""
    if result.interval is None or result.errors is None or result.replay or result.release not in EXACT:
        return ""
    low, high = clopper_pearson(result.errors, result.n, result.level)
    wider = (result.interval[1] - result.interval[0]) / (high - low) - 1
    share = f"{100 * wider:.0f} % wider than for a single test (why: `modelsel explain interval`)"
    return f"valid for all looks at these rows together; {share}"
