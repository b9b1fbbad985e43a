"""The simulations of the benchmark in short: what attacks show, and what the certificate makes of them, within their bands."""

import numpy as np
import pytest

from benchmarks.guard_simulations import ANALYSTS, STRENGTH, _as_expected, analyst, analysts, boosting, defended


def test_ladder_and_thresholdout_defend_against_boosting() -> None:
    assert defended(12, np.random.default_rng(3), ((2000, 200),))


@pytest.mark.parametrize("steps", [None, 100])
def test_an_ordinary_analyst_misleads_himself_by_what_was_measured(steps: int | None) -> None:
    rng = np.random.default_rng(5)
    found = [analyst(500, 100, STRENGTH, rng, steps) for _ in range(25)]
    assert _as_expected(found, 500, steps, ANALYSTS[500, 100, True])


@pytest.mark.soak
def test_the_whole_table() -> None:
    assert boosting(50)
    assert analysts(200, STRENGTH)
