"""One line says what a 95 % interval pays for holding for all looks and for the declared space."""

from dataclasses import replace

import pytest
from scipy.stats import binomtest

from modelsel.core.outcome import TestResult
from modelsel.reporting.words import extra_width
from modelsel.statistics.certificate import SpendingState, interval


def result(errors: int, n: int, standing: SpendingState) -> TestResult:
    ends = interval(errors, errors, n, standing.nats(0.05))
    return TestResult(score=errors / n, errors=errors, n=n, look=standing.look, replay=False, price=1.0, spent=standing.spent,
                      interval=ends, level=0.95, policy="warn", release="full")  # fmt: skip


def exact(errors: int, n: int, tail: float) -> float:
    """Width of the two-sided interval of SciPy's binomial test."""
    ends = binomtest(errors, n).proportion_ci(1 - 2 * tail, "exact")
    return float(ends.high - ends.low)


@pytest.mark.parametrize(("errors", "n"), [(10, 60), (80, 400), (200, 2000), (0, 100), (400, 400)])
def test_a_first_look_at_a_declared_space_says_by_how_much_it_is_wider(errors: int, n: int) -> None:
    """.01 a side (.05 / 2 · 4/5 / 2) in the place of .025: 12 to 24 % by counts."""
    line = extra_width(result(errors, n, SpendingState(1, 0.0, 12, member=False)))
    wider = 100 * (exact(errors, n, 0.01) / exact(errors, n, 0.025) - 1)
    assert line.startswith(f"valid for all looks at these rows together; {wider:.0f} % wider than for a single test")
    assert "`modelsel explain interval`" in line


def test_a_later_look_is_wider() -> None:
    shares = [
        int(extra_width(result(80, 400, standing)).split("; ")[1].split()[0])
        for standing in (SpendingState(1, 0.0), SpendingState(1, 0.0, 12, member=False), SpendingState(2, 6.0))
    ]
    assert 0 < shares[0] < shares[1] < shares[2]


def test_nothing_is_said_where_no_errors_were_shown() -> None:
    shown = result(80, 400, SpendingState(1, 0.0))
    silent = [replace(shown, errors=None), replace(shown, interval=None), replace(shown, replay=True)]
    assert [extra_width(one) for one in (*silent, replace(shown, release="ladder"))] == [""] * 4
