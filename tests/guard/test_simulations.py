"""The simulations of the benchmark in short: what attacks show, and what the certificate makes of them, within their bands."""

import numpy as np
import pytest

from benchmarks.attacks.guard_simulations import ANALYSTS, STRENGTH, analyst, analysts, as_expected, boosting, inside


def test_boosting_misleads_scores_and_neither_boards_nor_the_certificate() -> None:
    assert boosting(12, ((2000, 200),))


@pytest.mark.slow
@pytest.mark.parametrize("steps", [None, 100])
def test_an_ordinary_analyst_misleads_himself_by_what_was_measured(steps: int | None) -> None:
    rng = np.random.default_rng(5)
    found = [analyst(500, 100, STRENGTH, rng, steps) for _ in range(25)]
    assert as_expected(found, 500, steps, ANALYSTS[500, 100, True])


@pytest.mark.slow
def test_a_mean_outside_its_band_is_seen() -> None:
    found = [0.1, 0.2, 0.15, 0.15]
    assert inside(found, 0.16)
    assert not inside(found, 0.3)
    assert not as_expected(
        [analyst(500, 100, 0.5, np.random.default_rng(5), None) for _ in range(4)], 500, None, ANALYSTS[500, 100, True]
    )


@pytest.mark.soak
def test_the_whole_table() -> None:
    assert boosting(50)
    assert analysts(200)
