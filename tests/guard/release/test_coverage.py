"""The coverage of the benchmark in short: in how few runs any look of an attack misses the truth."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.attacks.guard_coverage import RELEASES, SCENARIOS, gates, missed, table, through_the_gate
from modelsel.statistics.certificate import SpendingState


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_few_runs_have_a_look_that_misses(scenario: str) -> None:
    rng = np.random.default_rng([1, SCENARIOS.index(scenario)])
    runs = [missed(release, scenario, rng) for release in RELEASES for _ in range(8)]
    assert sum(runs) <= 8  # of 40, at 5 %: more happens once in ten thousand times


def test_the_attack_would_be_missed_by_an_interval_that_charges_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SpendingState, "nats", lambda self, delta: float(np.log(2 / delta)))
    rng = np.random.default_rng(2)
    assert sum(missed("full", "plain", rng) for _ in range(10)) == 10


@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES)
def test_the_gate_covers_the_attack_by_new_development_labels(tmp_path: Path, release: str) -> None:
    assert not any(through_the_gate(release, tmp_path / str(run), run, rows=60, looks=8) for run in range(2))


@pytest.mark.soak
def test_the_whole_table_of_coverage() -> None:
    assert table(500)
    assert gates(20)
