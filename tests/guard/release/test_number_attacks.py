"""Attacks on sealed numbers in short: in how few runs any look, whatever is asked, misses the truth."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.attacks.guard_numbers import HEAVY, LAWS, MEDIANS, SCENARIOS, STEP, missed, truth
from modelsel.measure.capped import CappedError
from modelsel.measure.within import Within
from modelsel.statistics.certificate import SpendingState

COUNTS = ("share", "tolerances")  # of which a look costs next to nothing


@pytest.mark.slow
def test_few_runs_have_a_look_that_misses() -> None:
    runs = [
        missed(scenario, np.random.default_rng([run, 7, place]))
        for place, scenario in enumerate(SCENARIOS)
        for run in range(6 if scenario in COUNTS else 1 if scenario in (*HEAVY, *MEDIANS) else 2)
    ]
    assert len(runs) == 27
    assert sum(runs) <= 4  # at 5 %: more happens once in four hundred times


def test_the_attack_would_be_missed_by_an_interval_that_charges_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SpendingState, "nats", lambda self, delta: float(np.log(2 / delta)))
    assert sum(missed("share", np.random.default_rng([run, 8])) for run in range(5)) >= 4


@pytest.mark.parametrize("name", LAWS)
def test_the_truth_is_that_of_a_large_sample(name: str) -> None:
    law, rng = LAWS[name], np.random.default_rng(0)
    away = np.abs(law.draw(rng, 400_000) - STEP * rng.choice([-1.0, 1.0], 400_000))
    for tolerance in (1.0, law.cap):
        assert truth(law, Within(tolerance)) == pytest.approx((away > tolerance).mean(), abs=0.003)
    for power in (1, 2):
        capped = np.minimum(away, law.cap) ** power
        assert truth(law, CappedError(1.0, law.cap, power)) == pytest.approx(capped.mean(), rel=0.01)


@pytest.mark.slow
def test_the_gate_covers_the_attack(tmp_path: Path) -> None:
    assert not any(
        missed(scenario, np.random.default_rng(3), tmp_path / scenario) for scenario in ("turns", "shrunk", "quantiles")
    )
