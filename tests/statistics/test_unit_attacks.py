"""Attacks on the formulas of units, in short: `benchmarks.simulations.units` has 500 runs a case, `guard/attacks` the gate."""

import numpy as np
import pytest

from benchmarks.simulations import units as simulation
from benchmarks.simulations.units import KINDS, missed, undeclared


@pytest.mark.parametrize("units", KINDS)
def test_choosing_by_the_answers_does_not_make_intervals_miss(monkeypatch, units: str) -> None:
    monkeypatch.setattr(simulation, "LOOKS", 6)
    assert missed(units, "boosting", 4) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("attack", simulation.ATTACKS)
def test_no_attack_makes_intervals_miss(attack: str) -> None:
    assert missed("groups", attack, 20) <= 4


def test_rows_of_groups_that_are_sent_as_rows_are_missed() -> None:
    """The simulation can fail: this is what the declaration of units is for."""
    rng = np.random.default_rng(0)
    assert sum(undeclared(rng) for _ in range(20)) >= 8
